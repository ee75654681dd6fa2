#include "checks.hpp"
#include "rules_by_kind.hpp"

#include <algorithm>
#include <string>
#include <vector>

namespace kopp::apiserver {
namespace {

using nlohmann::json;

/// A Job's Pods are told from all others by its uid, and it has their labels unless it has its own.
void Assign(World&, const json& before, json& job) {
  json& spec = job["spec"];
  if (!before.is_null() || spec.value("manualSelector", false)) return;
  json& metadata = job["metadata"];
  json& labels = spec["template"]["metadata"]["labels"];
  const bool shared = metadata.value("labels", json()) == labels;
  const json& uid = metadata["uid"];
  const std::string name = metadata.value("name", "");  // who leaves it out is refused later
  const json own{{"batch.kubernetes.io/controller-uid", uid},
                 {"controller-uid", uid},
                 {"batch.kubernetes.io/job-name", name},
                 {"job-name", name}};
  for (const auto& [key, value] : own.items()) {
    if (!labels.contains(key)) labels[key] = value;
  }
  if (shared) metadata["labels"] = labels;
  spec["selector"]["matchLabels"]["batch.kubernetes.io/controller-uid"] = uid;
}

void CheckSpec(const Part& spec, Causes& causes) {
  for (const char* number :
       {"parallelism", "completions", "activeDeadlineSeconds", "backoffLimit",
        "ttlSecondsAfterFinished", "backoffLimitPerIndex", "maxFailedIndexes"}) {
    CheckNotNegative(spec[number], causes);
  }
  const Part mode = spec["completionMode"];
  if (mode.exists()) CheckOneOf(mode, {"NonIndexed", "Indexed"}, causes);
  if (mode.is("Indexed") && !spec["completions"].exists()) {
    causes.push_back(Required(spec["completions"].path(), "when completion mode is Indexed"));
  }
  CheckPodTemplate(spec["template"], causes);
  const Part policy = spec["template"]["spec"]["restartPolicy"];
  if (!policy.exists() || policy.is("Always")) {
    causes.push_back(Required(policy.path(), "valid values: \"OnFailure\", \"Never\""));
  } else {
    CheckOneOf(policy, {"OnFailure", "Never"}, causes);
  }
}

void CheckJob(const json& object, Causes& causes) {
  const Part spec = Part(object)["spec"];
  CheckSpec(spec, causes);
  const Part selector = spec["selector"];
  if (!selector.exists()) {
    causes.push_back(Required(selector.path(), ""));
  } else if (!CheckSelector(selector, causes)) {
    return;
  }
  const Part labels = spec["template"]["metadata"]["labels"];
  if (Selects(selector, labels)) return;
  causes.push_back(
      InvalidValue(labels.path(), labels.value(), "`selector` does not match template `labels`"));
}

void CheckJobChange(const json& before, const json& after, Causes& causes) {
  const Part was = Part(before)["spec"];
  const Part is = Part(after)["spec"];
  // An indexed Job may be scaled.
  const bool scales =
      is["completionMode"].is("Indexed") && is["completions"].is(is["parallelism"].value());
  for (const char* field :
       {"completions", "selector", "template", "completionMode", "podFailurePolicy",
        "backoffLimitPerIndex", "managedBy", "successPolicy"}) {
    if (field == std::string("completions") && scales) continue;
    CheckUnchanged(was[field], is[field], causes);
  }
}

std::vector<std::string> Words(const std::string& text) {
  std::vector<std::string> words;
  std::string word;
  for (const char c : text + ' ') {
    if (c != ' ' && c != '\t') {
      word += c;
    } else if (!word.empty()) {
      words.push_back(std::exchange(word, ""));
    }
  }
  return words;
}

/// Why it is no schedule; "" where it is one.
std::string NotASchedule(const std::string& text) {
  if (text.starts_with("@")) {
    constexpr const char* kNamed[] = {"@yearly", "@annually", "@monthly", "@weekly",
                                      "@daily",  "@midnight", "@hourly"};
    const bool known = std::find(std::begin(kNamed), std::end(kNamed), text) != std::end(kNamed);
    return known || text.starts_with("@every ") ? "" : "unrecognized descriptor: " + text;
  }
  const std::vector<std::string> fields = Words(text);
  if (fields.size() == 5) return "";
  std::string found;
  for (const std::string& field : fields) found += (found.empty() ? "" : " ") + field;
  return "expected exactly 5 fields, found " + std::to_string(fields.size()) + ": [" + found + ']';
}

void CheckCronJob(const json& object, Causes& causes) {
  const Part spec = Part(object)["spec"];
  const Part schedule = spec["schedule"];
  if (CheckGiven(schedule, causes)) {
    if (const std::string why = NotASchedule(schedule.text()); !why.empty()) {
      causes.push_back(InvalidValue(schedule.path(), schedule.value(), why));
    }
  }
  CheckNotNegative(spec["startingDeadlineSeconds"], causes);
  CheckOneOf(spec["concurrencyPolicy"], {"Allow", "Forbid", "Replace"}, causes);
  const Part job = spec["jobTemplate"]["spec"];
  CheckSpec(job, causes);
  if (const Part selector = job["selector"]; selector.exists()) {
    causes.push_back(InvalidShown(selector.path(), ShownSelector(selector),
                                  "`selector` will be auto-generated"));
  }
  CheckNotNegative(spec["successfulJobsHistoryLimit"], causes);
  CheckNotNegative(spec["failedJobsHistoryLimit"], causes);
  if (Part(object)["metadata"]["name"].text().size() > 52) {
    causes.push_back(InvalidValue("metadata.name", object["metadata"]["name"],
                                  "must be no more than 52 characters"));
  }
}

}  // namespace

void AddJobRules(RulesByKind& rules) {
  KindRules& jobs = rules["jobs.batch"];
  jobs.generation = KindRules::Generation::kSpec;
  jobs.propagation = "Orphan";
  jobs.assign = &Assign;
  jobs.check = &CheckJob;
  jobs.check_change = &CheckJobChange;
  KindRules& cron_jobs = rules["cronjobs.batch"];
  cron_jobs.generation = KindRules::Generation::kSpec;
  cron_jobs.check = &CheckCronJob;
}

}  // namespace kopp::apiserver
