// The policies of Jobs: which failures count, when a Job has succeeded, and limits per index.
#include "kinds/job_policy_validation.hpp"

#include "fields/field_rules.hpp"
#include "schema/field_validation.hpp"
#include "schema/go_quoted.hpp"

#include <algorithm>
#include <cstdint>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include <fmt/format.h>

namespace kopp::apiserver {
namespace {

constexpr std::size_t kMaxRules = 20;
constexpr std::int64_t kMaxIndexes = 100'000;
constexpr std::int64_t kMaxParallelFailures = 10'000;  // with more completions than kMaxIndexes

void AddInvalidPolicy(const FieldRef& field, const std::string& detail, FieldErrors& errors) {
  errors.push_back(InvalidValue(field.path(), field.value(), detail));
}

void ValidateAtMostItems(const FieldRef& list, std::size_t max, FieldErrors& errors) {
  if (list.size() <= max) return;
  errors.push_back({"FieldValueTooMany",
                    fmt::format("Too many: {}: must have at most {} items", list.size(), max),
                    list.path()});
}

/// Requires one of the strings in `values`; a missing one is a "Required value".
void ValidateRequiredEnum(const FieldRef& field, const std::vector<std::string>& values,
                          FieldErrors& errors) {
  std::string names;
  for (const std::string& value : values) names += (names.empty() ? "\"" : " \"") + value + '"';
  if (ValidateRequired(field, errors, "valid values: [" + names + ']'))
    ValidateEnum(field, values, errors);
}

/// Requires a number of at most `max`. `condition` ends the message.
void ValidateAtMost(const FieldRef& field, std::int64_t max, const std::string& condition,
                    FieldErrors& errors) {
  if (field.number() > max)
    AddInvalidPolicy(field, fmt::format("must be less than or equal to {}{}", max, condition),
                     errors);
}

void ValidateIndexedJob(const FieldRef& spec, FieldErrors& errors) {
  const FieldRef max_failed = spec["maxFailedIndexes"];
  if (!spec["completions"].exists())
    errors.push_back(Required(spec["completions"].path(), "when completion mode is Indexed"));
  ValidateAtMost(spec["parallelism"], kMaxIndexes, " when completion mode is Indexed", errors);
  if (!spec["backoffLimitPerIndex"].exists()) return;
  ValidateAtMost(max_failed, kMaxIndexes, "", errors);
  if (spec["completions"].number() <= kMaxIndexes) return;
  constexpr const char* kCondition =
      " when completions are above 100000 and used with backoff limit per index";
  ValidateAtMost(spec["parallelism"], kMaxParallelFailures, kCondition, errors);
  if (!max_failed.exists())
    errors.push_back(
        Required(max_failed.path(), "must be specified when completions is above 100000"));
  ValidateAtMost(max_failed, kMaxParallelFailures, kCondition, errors);
}

void ValidateFailureLimits(const FieldRef& spec, FieldErrors& errors) {
  const FieldRef per_index = spec["backoffLimitPerIndex"];
  const FieldRef max_failed = spec["maxFailedIndexes"];
  if (max_failed.exists() && !per_index.exists())
    errors.push_back(Required(per_index.path(), "when maxFailedIndexes is specified"));
  if (spec["completions"].exists() && max_failed.number() > spec["completions"].number())
    AddInvalidPolicy(max_failed, "must be less than or equal to completions", errors);
}

void ValidateCompletionMode(const FieldRef& spec, FieldErrors& errors) {
  const FieldRef mode = spec["completionMode"];
  if (mode.is("Indexed")) return ValidateIndexedJob(spec, errors);
  if (mode.exists() && !mode.is("NonIndexed")) {
    errors.push_back(NotSupported(mode.path(), mode.value(), {"NonIndexed", "Indexed"}));
    return;
  }
  for (const char* field : {"backoffLimitPerIndex", "maxFailedIndexes"}) {
    if (spec[field].exists())
      AddInvalidPolicy(spec[field], "requires indexed completion mode", errors);
  }
}

std::set<std::string> ContainerNames(const FieldRef& pod) {
  std::set<std::string> names;
  for (const char* list : {"containers", "initContainers"}) {
    for (const FieldRef& container : pod[list].items()) names.insert(container["name"].text());
  }
  return names;
}

void ValidateExitCodeValues(const FieldRef& on_exit_codes, FieldErrors& errors) {
  constexpr std::size_t kMaxValues = 255;
  const FieldRef values = on_exit_codes["values"];
  if (values.size() == 0) AddInvalidPolicy(values, "at least one value is required", errors);
  if (values.size() > kMaxValues) return ValidateAtMostItems(values, kMaxValues, errors);
  std::set<std::int64_t> seen;
  const auto codes = values.items();
  for (const FieldRef& code : codes) {
    if (on_exit_codes["operator"].is("In") && code.number() == 0)
      AddInvalidPolicy(code, "must not be 0 for the In operator", errors);
    if (!seen.insert(code.number()).second) errors.push_back(Duplicate(code.path(), code.value()));
  }
  const bool is_ordered =
      std::is_sorted(codes.begin(), codes.end(),
                     [](const FieldRef& a, const FieldRef& b) { return a.number() < b.number(); });
  if (!is_ordered) AddInvalidPolicy(values, "must be ordered", errors);
}

void ValidateOnExitCodes(const FieldRef& on_exit_codes, const std::set<std::string>& containers,
                         FieldErrors& errors) {
  ValidateRequiredEnum(on_exit_codes["operator"], {"In", "NotIn"}, errors);
  const FieldRef container = on_exit_codes["containerName"];
  if (container.exists() && !containers.contains(container.text())) {
    AddInvalidPolicy(container,
                     "must be one of the container or initContainer names in the pod template",
                     errors);
  }
  ValidateExitCodeValues(on_exit_codes, errors);
}

void ValidateOnPodConditions(const FieldRef& conditions, FieldErrors& errors) {
  if (conditions.size() > kMaxRules) return ValidateAtMostItems(conditions, kMaxRules, errors);
  for (const FieldRef& condition : conditions.items()) {
    for (const std::string& detail : ValidateQualifiedName(condition["type"].text()))
      errors.push_back(InvalidValue(condition["type"].path(), condition["type"].text(), detail));
    ValidateRequiredEnum(condition["status"], {"False", "True", "Unknown"}, errors);
  }
}

void ValidateFailureRule(const FieldRef& rule, const FieldRef& spec,
                         const std::set<std::string>& containers, FieldErrors& errors) {
  const FieldRef action = rule["action"];
  ValidateRequiredEnum(action, {"Count", "FailIndex", "FailJob", "Ignore"}, errors);
  if (action.is("FailIndex") && !spec["backoffLimitPerIndex"].exists())
    AddInvalidPolicy(action, "requires the backoffLimitPerIndex to be set", errors);
  const auto add_invalid = [&](const std::string& detail) {
    errors.push_back({"FieldValueInvalid", "Invalid value: " + detail, rule.path()});
  };
  const FieldRef exit_codes = rule["onExitCodes"];
  const FieldRef conditions = rule["onPodConditions"];
  if (exit_codes.exists()) ValidateOnExitCodes(exit_codes, containers, errors);
  ValidateOnPodConditions(conditions, errors);
  if (exit_codes.exists() && conditions.size() > 0) {
    add_invalid("specifying both OnExitCodes and OnPodConditions is not supported");
  } else if (!exit_codes.exists() && conditions.size() == 0) {
    add_invalid("specifying one of OnExitCodes and OnPodConditions is required");
  }
}

void ValidatePodFailurePolicy(const FieldRef& spec, FieldErrors& errors) {
  const FieldRef rules = spec["podFailurePolicy"]["rules"];
  if (rules.size() > kMaxRules) return ValidateAtMostItems(rules, kMaxRules, errors);
  const std::set<std::string> containers = ContainerNames(spec["template"]["spec"]);
  for (const FieldRef& rule : rules.items()) ValidateFailureRule(rule, spec, containers, errors);
}

std::vector<std::string> SplitIndexes(const std::string& text, char separator) {
  std::vector<std::string> parts(1);
  for (const char c : text) {
    if (c == separator) {
      parts.emplace_back();
    } else {
      parts.back() += c;
    }
  }
  return parts;
}

/// Parses indexes such as "0,3-5", which must increase and be below `completions`. Returns their
/// number. Throws std::invalid_argument with the message of the API server.
std::int64_t CountIndexes(const std::string& text, std::int64_t completions) {
  std::int64_t count = 0;
  std::int64_t previous = -1;
  const auto parse = [&](const std::string& index) {
    const bool is_number = !index.empty() && index.size() < 10 &&
                           index.find_first_not_of("0123456789") == std::string::npos;
    if (!is_number) {
      throw std::invalid_argument("cannot convert string to integer for index: " + GoQuoted(index));
    }
    const std::int64_t value = std::stoll(index);
    if (value >= completions) throw std::invalid_argument("too large index: " + GoQuoted(index));
    if (value <= previous) {
      throw std::invalid_argument(
          fmt::format("non-increasing order, previous: {}, current: {}", previous, value));
    }
    previous = value;
    return value;
  };
  for (const std::string& interval : SplitIndexes(text, ',')) {
    const std::vector<std::string> limits = SplitIndexes(interval, '-');
    if (limits.size() > 2) {
      throw std::invalid_argument("the fragment " + GoQuoted(interval) +
                                  " violates the requirement that an index interval can have at "
                                  "most two parts separated by '-'");
    }
    const std::int64_t first = parse(limits.front());
    const std::int64_t last = limits.size() == 1 ? first : parse(limits.back());
    count += last - first + 1;
  }
  return count;
}

void ValidateSuccessRule(const FieldRef& rule, std::int64_t completions, FieldErrors& errors) {
  const FieldRef indexes = rule["succeededIndexes"];
  const FieldRef count = rule["succeededCount"];
  if (!indexes.exists() && !count.exists()) {
    errors.push_back(Required(
        rule.path(), "at least one of succeededCount or succeededIndexes must be specified"));
  }
  ValidateNonNegative(count, errors);
  std::int64_t index_count = 0;
  if (!indexes.text().empty()) {
    try {
      index_count = CountIndexes(indexes.text(), completions);
    } catch (const std::invalid_argument& error) {
      AddInvalidPolicy(indexes, std::string("error parsing succeededIndexes: ") + error.what(),
                       errors);
    }
  }
  if (!count.exists()) return;
  ValidateAtMost(count, completions, " (the number of specified completions)", errors);
  if (indexes.exists())
    ValidateAtMost(count, index_count,
                   " (the number of indexes in the specified succeededIndexes field)", errors);
}

void ValidateSuccessPolicy(const FieldRef& spec, FieldErrors& errors) {
  const FieldRef policy = spec["successPolicy"];
  if (!spec["completionMode"].is("Indexed")) {
    AddInvalidPolicy(policy, "requires indexed completion mode", errors);
    return;
  }
  const FieldRef rules = policy["rules"];
  if (rules.size() == 0) {
    errors.push_back(Required(
        rules.path(), "at least one rules must be specified when the successPolicy is specified"));
  }
  ValidateAtMostItems(rules, kMaxRules, errors);
  if (rules.size() > kMaxRules) return;
  for (const FieldRef& rule : rules.items())
    ValidateSuccessRule(rule, spec["completions"].number(), errors);
}

void ValidateManagedBy(const FieldRef& manager, FieldErrors& errors) {
  constexpr std::size_t kMaxLength = 63;
  ValidateDomainPrefixedPath(manager, errors);
  if (manager.text().size() > kMaxLength) errors.push_back(TooLong(manager.path(), kMaxLength));
}

}  // namespace

void ValidateJobPolicies(const FieldRef& spec, FieldErrors& errors) {
  ValidateFailureLimits(spec, errors);
  if (spec["managedBy"].exists()) ValidateManagedBy(spec["managedBy"], errors);
  ValidateCompletionMode(spec, errors);
  if (spec["podFailurePolicy"].exists()) ValidatePodFailurePolicy(spec, errors);
  if (spec["successPolicy"].exists()) ValidateSuccessPolicy(spec, errors);
  const FieldRef replacement = spec["podReplacementPolicy"];
  if (replacement.exists() && spec["podFailurePolicy"].exists()) {
    ValidateEnum(replacement, {"Failed"}, errors);
  } else if (replacement.exists()) {
    ValidateEnum(replacement, {"Failed", "TerminatingOrFailed"}, errors);
  }
}

}  // namespace kopp::apiserver
