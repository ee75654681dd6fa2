#include "kinds/job_validation.hpp"

#include "kinds/job_policy_validation.hpp"
#include "pods/pod_spec_validation.hpp"
#include "pods/pod_warnings.hpp"
#include "schema/accessors.hpp"
#include "schema/field_validation.hpp"
#include "strategy/kind_strategy.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

namespace kopp::apiserver {
namespace {

using nlohmann::json;

struct GeneratedLabel {
  const char* key;
  const json& value;
};

/// Returns the labels of the Pods of a Job whose selector is generated.
std::array<GeneratedLabel, 4> GeneratedLabels(const json& job) {
  const json& uid = ValueAt(job, "/metadata/uid");
  const json& name = ValueAt(job, "/metadata/name");
  return {{{"controller-uid", uid},
           {"job-name", name},
           {"batch.kubernetes.io/controller-uid", uid},
           {"batch.kubernetes.io/job-name", name}}};
}

/// Generates the selector of a new Job, which matches its uid, and the labels of its Pod template.
/// A Job without labels gets those of the template.
void AssignJobFields(ServerContext&, const json& before, json& job) {
  json& spec = job["spec"];
  json& metadata = job["metadata"];
  const bool has_labels = FieldRef(metadata)["labels"].size() > 0;
  if (!before.is_null() || spec.value("manualSelector", false)) {
    const FieldRef labels = FieldRef(spec)["template"]["metadata"]["labels"];
    if (!has_labels && labels.size() > 0) metadata["labels"] = labels.value();
    return;
  }
  json& labels = spec["template"]["metadata"]["labels"];
  for (const auto& [key, value] : GeneratedLabels(job)) {
    if (!labels.contains(key)) labels[key] = value.is_null() ? "" : value;  // the name is validated
  }
  if (!has_labels) metadata["labels"] = labels;
  spec["selector"]["matchLabels"]["batch.kubernetes.io/controller-uid"] = metadata["uid"];
}

void ValidateJobSpec(const FieldRef& spec, FieldErrors& errors) {
  for (const char* number :
       {"parallelism", "completions", "activeDeadlineSeconds", "backoffLimit",
        "ttlSecondsAfterFinished", "backoffLimitPerIndex", "maxFailedIndexes"}) {
    ValidateNonNegative(spec[number], errors);
  }
  ValidateJobPolicies(spec, errors);
  ValidatePodTemplate(spec["template"], errors);
  const FieldRef policy = spec["template"]["spec"]["restartPolicy"];
  if (!policy.exists() || policy.is("Always")) {
    errors.push_back(Required(policy.path(), "valid values: \"OnFailure\", \"Never\""));
  } else {
    ValidateEnum(policy, {"OnFailure", "Never"}, errors);
    if (spec["podFailurePolicy"].exists() && policy.is("OnFailure")) {
      errors.push_back(
          InvalidValue(policy.path(), policy.value(),
                       "only \"Never\" is supported when podFailurePolicy is specified"));
    }
  }
}

/// Requires the generated selector and labels, unless the selector is manual.
void ValidateGeneratedSelector(const json& job, FieldErrors& errors) {
  const FieldRef spec = FieldRef(job)["spec"];
  if (spec["manualSelector"].is(true) || !spec["selector"].exists()) return;
  const FieldRef labels = spec["template"]["metadata"]["labels"];
  json expected = json::object();
  for (const auto& [key, value] : GeneratedLabels(job)) {
    expected[key] = value;
    if (labels[key].is(value)) continue;
    const std::string path = labels.path() + '[' + key + ']';
    const std::string detail = "must be '" + FieldRef(value).text() + '\'';
    errors.push_back(labels.value().contains(key) ? InvalidJson(path, labels.value(), detail)
                                                  : Required(path, detail));
  }
  FieldErrors selector_errors;  // reported by ValidateJob
  if (!ValidateLabelSelector(spec["selector"], selector_errors) ||
      SelectorMatches(spec["selector"], FieldRef(expected))) {
    return;
  }
  errors.push_back(InvalidFormattedValue(spec["selector"].path(), SelectorJson(spec["selector"]),
                                         "`selector` not auto-generated"));
}

void ValidateJob(const json& object, FieldErrors& errors) {
  ValidateGeneratedSelector(object, errors);
  const FieldRef spec = FieldRef(object)["spec"];
  ValidateJobSpec(spec, errors);
  const FieldRef selector = spec["selector"];
  if (!selector.exists()) {
    errors.push_back(Required(selector.path(), ""));
  } else if (!ValidateLabelSelector(selector, errors)) {
    return;
  }
  const FieldRef labels = spec["template"]["metadata"]["labels"];
  if (SelectorMatches(selector, labels)) return;
  errors.push_back(
      InvalidValue(labels.path(), labels.value(), "`selector` does not match template `labels`"));
}

/// Returns a Pod template without the fields that may change while a Job is suspended and has not
/// started: they decide where its Pods run.
json WithoutScheduling(json pod_template) {
  if (!pod_template.is_object()) return pod_template;
  json& metadata = pod_template["metadata"];
  for (const char* field : {"labels", "annotations"}) metadata.erase(field);
  json& spec = pod_template["spec"];
  for (const char* field : {"affinity", "nodeSelector", "tolerations", "schedulingGates"})
    spec.erase(field);
  return pod_template;
}

void ValidateJobTemplateUpdate(const json& before, const FieldRef& new_template,
                               FieldErrors& errors) {
  const FieldRef old_job(before);
  const FieldRef old_template = old_job["spec"]["template"];
  const bool is_waiting =
      old_job["spec"]["suspend"].is(true) && !old_job["status"]["startTime"].exists();
  if (is_waiting &&
      WithoutScheduling(old_template.value()) == WithoutScheduling(new_template.value()))
    return;
  ValidateImmutable(old_template, new_template, errors);
}

/// The completions of an Indexed Job may change together with its parallelism.
void ValidateCompletionsUpdate(const FieldRef& old_spec, const FieldRef& new_spec,
                               FieldErrors& errors) {
  const FieldRef before = old_spec["completions"];
  const FieldRef after = new_spec["completions"];
  if (!new_spec["completionMode"].is("Indexed")) return ValidateImmutable(before, after, errors);
  if (!before.exists() || !after.exists() || after.is(before.value()) ||
      after.is(new_spec["parallelism"].value()))
    return;
  errors.push_back(InvalidValue(after.path(), after.value(),
                                "can only be modified in tandem with spec.parallelism"));
}

void ValidateJobUpdate(const json& before, const json& after, FieldErrors& errors) {
  const FieldRef old_spec = FieldRef(before)["spec"];
  const FieldRef new_spec = FieldRef(after)["spec"];
  ValidateCompletionsUpdate(old_spec, new_spec, errors);
  for (const char* field : {"selector", "template", "completionMode", "podFailurePolicy",
                            "backoffLimitPerIndex", "managedBy", "successPolicy"}) {
    if (field == std::string("template")) {
      ValidateJobTemplateUpdate(before, new_spec[field], errors);
      continue;
    }
    ValidateImmutableJson(old_spec[field], new_spec[field], errors);
  }
}

std::vector<std::string> SplitWords(const std::string& text) {
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

/// Returns an error text if `text` has an unknown descriptor or not exactly 5 fields, or else "".
/// Does not check the values of the fields.
std::string ScheduleError(const std::string& text) {
  if (text.starts_with("@")) {
    constexpr const char* kDescriptors[] = {"@yearly", "@annually", "@monthly", "@weekly",
                                            "@daily",  "@midnight", "@hourly"};
    const bool is_descriptor =
        std::find(std::begin(kDescriptors), std::end(kDescriptors), text) != std::end(kDescriptors);
    return is_descriptor || text.starts_with("@every ") ? "" : "unrecognized descriptor: " + text;
  }
  const std::vector<std::string> fields = SplitWords(text);
  if (fields.size() == 5) return "";
  std::string joined;
  for (const std::string& field : fields) joined += (joined.empty() ? "" : " ") + field;
  return "expected exactly 5 fields, found " + std::to_string(fields.size()) + ": [" + joined + ']';
}

void ValidateCronJob(const json& object, FieldErrors& errors) {
  const FieldRef spec = FieldRef(object)["spec"];
  const FieldRef schedule = spec["schedule"];
  if (ValidateRequired(schedule, errors)) {
    if (const std::string detail = ScheduleError(schedule.text()); !detail.empty()) {
      errors.push_back(InvalidValue(schedule.path(), schedule.value(), detail));
    }
  }
  ValidateNonNegative(spec["startingDeadlineSeconds"], errors);
  ValidateEnum(spec["concurrencyPolicy"], {"Allow", "Forbid", "Replace"}, errors);
  const FieldRef job = spec["jobTemplate"]["spec"];
  ValidateJobSpec(job, errors);
  if (const FieldRef selector = job["selector"]; selector.exists()) {
    errors.push_back(InvalidFormattedValue(selector.path(), SelectorJson(selector),
                                           "`selector` will be auto-generated"));
  }
  ValidateNonNegative(spec["successfulJobsHistoryLimit"], errors);
  ValidateNonNegative(spec["failedJobsHistoryLimit"], errors);
  if (FieldRef(object)["metadata"]["name"].text().size() > 52) {
    errors.push_back(InvalidValue("metadata.name", object["metadata"]["name"],
                                  "must be no more than 52 characters"));
  }
}

}  // namespace

void AddJobStrategies(StrategiesByKind& strategies) {
  KindStrategy& jobs = strategies["jobs.batch"];
  jobs.generation = KindStrategy::Generation::kSpec;
  jobs.default_propagation = "Orphan";
  jobs.assign_fields = &AssignJobFields;
  jobs.validate = &ValidateJob;
  jobs.validate_update = &ValidateJobUpdate;
  jobs.warn = [](const json& object, Warnings& warnings) {
    WarnAboutLostItems(FieldRef(object)["spec"]["template"]["spec"], warnings);
  };
  KindStrategy& cron_jobs = strategies["cronjobs.batch"];
  cron_jobs.warn = [](const json& object, Warnings& warnings) {
    const FieldRef job = FieldRef(object)["spec"]["jobTemplate"]["spec"];
    WarnAboutLostItems(job["template"]["spec"], warnings);
  };
  cron_jobs.generation = KindStrategy::Generation::kSpec;
  cron_jobs.validate = &ValidateCronJob;
}

}  // namespace kopp::apiserver
