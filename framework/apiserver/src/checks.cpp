#include "checks.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>
#include <utility>

namespace kopp::apiserver {
namespace {

using nlohmann::json;

constexpr const char* kNegative = "must be greater than or equal to 0";

bool IsPercentage(const std::string& text) {
  return text.size() > 1 && text.back() == '%' &&
         text.find_first_not_of("0123456789") == text.size() - 1;
}

/// Returns whether Go would make a selector of it.
bool CheckExpression(const Part& expression, Causes& causes) {
  const std::string how = expression["operator"].text();
  const Part values = expression["values"];
  const std::size_t before = causes.size();
  if (how == "In" || how == "NotIn") {
    if (values.size() == 0) {
      causes.push_back(
          Required(values.path(), "must be specified when `operator` is 'In' or 'NotIn'"));
    }
  } else if (how == "Exists" || how == "DoesNotExist") {
    if (values.size() > 0) {
      causes.push_back(ForbiddenField(
          values.path(), "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"));
    }
  } else {
    causes.push_back(
        InvalidValue(expression["operator"].path(), how, "not a valid selector operator"));
  }
  const Part key = expression["key"];
  for (const std::string& why : QualifiedNameProblems(key.text())) {
    causes.push_back(InvalidValue(key.path(), key.text(), why));
  }
  for (const Part& value : values.items()) CheckName(value, &NotALabelValue, causes);
  return causes.size() == before;
}

}  // namespace

bool CheckGiven(const Part& part, Causes& causes, const std::string& detail) {
  if (part.exists() && !part.is("")) return true;
  causes.push_back(Required(part.path(), detail));
  return false;
}

void CheckNotNegative(const Part& part, Causes& causes) {
  if (part.number() < 0) causes.push_back(InvalidValue(part.path(), part.value(), kNegative));
}

void CheckOneOf(const Part& part, const std::vector<std::string>& values, Causes& causes) {
  if (std::find(values.begin(), values.end(), part.text()) != values.end()) return;
  causes.push_back(NotSupported(part.path(), part.text(), values));
}

void CheckName(const Part& part, Why (*is_name)(std::string_view), Causes& causes) {
  if (const Why why = is_name(part.text())) {
    causes.push_back(InvalidValue(part.path(), part.text(), *why));
  }
}

void CheckPort(const Part& part, Causes& causes) {
  if (part.number() >= 1 && part.number() <= 65535) return;
  causes.push_back(
      InvalidValue(part.path(), part.number(), "must be between 1 and 65535, inclusive"));
}

void CheckId(const Part& part, Causes& causes) {
  if (part.number() >= 0 && part.number() <= std::numeric_limits<std::int32_t>::max()) return;
  causes.push_back(
      InvalidValue(part.path(), part.value(), "must be between 0 and 2147483647, inclusive"));
}

void CheckShare(const Part& part, Causes& causes) {
  if (!part.value().is_string()) return CheckNotNegative(part, causes);
  if (IsPercentage(part.text())) return;
  causes.push_back(InvalidValue(part.path(), part.value(),
                                "a valid percent string must be a numeric string followed by an "
                                "ending '%' (e.g. '1%',  or '93%', regex used for validation is "
                                "'[0-9]+%')"));
}

void CheckTaintEffect(const Part& part, Causes& causes) {
  CheckOneOf(part, {"NoSchedule", "PreferNoSchedule", "NoExecute"}, causes);
}

void CheckNew(const Part& part, std::set<std::string>& seen, Causes& causes) {
  if (!seen.insert(part.text()).second) causes.push_back(Duplicate(part.path(), part.value()));
}

void CheckLabels(const Part& part, Causes& causes) {
  for (const std::string& key : part.keys()) {
    for (const std::string& why : QualifiedNameProblems(key)) {
      causes.push_back(InvalidValue(part.path(), key, why));
    }
    const std::string value = part[key].text();
    if (const Why why = NotALabelValue(value)) {
      causes.push_back(InvalidValue(part.path(), value, *why));
    }
  }
}

void CheckUnchanged(const Part& before, const Part& after, Causes& causes) {
  if (before.value() == after.value()) return;
  causes.push_back(InvalidValue(after.path(), after.value(), "field is immutable"));
}

bool CheckSelector(const Part& selector, Causes& causes) {
  CheckLabels(selector["matchLabels"], causes);
  bool usable = true;
  for (const Part& expression : selector["matchExpressions"].items()) {
    usable &= CheckExpression(expression, causes);
  }
  return usable;
}

bool Selects(const Part& selector, const Part& labels) {
  if (!selector.exists()) return false;
  std::map<std::string, std::string> of;
  for (const std::string& key : labels.keys()) of[key] = labels[key].text();
  const Part wanted = selector["matchLabels"];
  const auto keys = wanted.keys();
  const bool equal = std::all_of(keys.begin(), keys.end(), [&](const std::string& key) {
    const auto found = of.find(key);
    return found != of.end() && found->second == wanted[key].text();
  });
  const auto expressions = selector["matchExpressions"].items();
  return equal && std::all_of(expressions.begin(), expressions.end(), [&](const Part& each) {
           const auto found = of.find(each["key"].text());
           const std::string how = each["operator"].text();
           if (how == "Exists") return found != of.end();
           if (how == "DoesNotExist") return found == of.end();
           const json& values = each["values"].value();
           const bool among = found != of.end() && std::find(values.begin(), values.end(),
                                                             found->second) != values.end();
           return among == (how == "In");
         });
}

Cause InvalidShown(std::string field, const std::string& shown, const std::string& detail) {
  return {"FieldValueInvalid", "Invalid value: " + shown + ": " + detail, std::move(field)};
}

std::string ShownSelector(const Part& selector) {
  nlohmann::ordered_json shown = nlohmann::ordered_json::object();
  for (const char* name : {"matchLabels", "matchExpressions"}) {
    if (selector[name].exists()) shown[name] = selector[name].value();
  }
  return shown.dump();
}

}  // namespace kopp::apiserver
