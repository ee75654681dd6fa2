// The cells of workload kinds: Deployments, StatefulSets, DaemonSets, Jobs and others, and of
// HorizontalPodAutoscalers.
#include "printers/printers.hpp"

#include <algorithm>
#include <cctype>
#include <string>
#include <vector>

namespace kopp::apiserver {
namespace {

using nlohmann::json;

const std::string pod_template_spec = "/spec/template/spec";

Cell Containers(const std::string& pod_spec = pod_template_spec) {
  return JoinedItems(pod_spec + "/containers", "/name");
}

Cell Images(const std::string& pod_spec = pod_template_spec) {
  return JoinedItems(pod_spec + "/containers", "/image");
}

json JobStatus(const json& job, const std::string&) {
  for (const char* end : {"Complete", "Failed"}) {
    if (HasCondition(job, end)) return end;
  }
  if (IsBeingDeleted(job)) return "Terminating";
  for (const char* state : {"Suspended", "FailureTarget", "SuccessCriteriaMet"}) {
    if (HasCondition(job, state)) return state;
  }
  return "Running";
}

json JobCompletions(const json& job, const std::string&) {
  const std::string done = std::to_string(IntegerAt(job, "/status/succeeded")) + '/';
  const std::string desired = StringAt(job, "/spec/completions");
  if (!desired.empty()) return done + desired;
  const std::int64_t at_once = IntegerAt(job, "/spec/parallelism");
  return done + '1' + (at_once > 1 ? " of " + std::to_string(at_once) : "");
}

json JobDuration(const json& job, const std::string& now) {
  const std::string start = StringAt(job, "/status/startTime");
  return start.empty() ? "" : FormatAge(start, StringAt(job, "/status/completionTime", now));
}

json IsSuspended(const json& job, const std::string&) {
  return IsTrueAt(job, "/spec/suspend") ? "True" : "False";
}

/// Returns the owner with controller=true: "daemonset.apps/NAME".
json Controller(const json& object, const std::string&) {
  for (const json& owner : ValueAt(object, "/metadata/ownerReferences")) {
    if (!IsTrueAt(owner, "/controller")) continue;
    std::string kind = StringAt(owner, "/kind");
    std::transform(kind.begin(), kind.end(), kind.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    const std::string api_version = StringAt(owner, "/apiVersion");
    const auto slash = api_version.find('/');
    if (slash != std::string::npos) kind += '.' + api_version.substr(0, slash);
    return kind + '/' + StringAt(owner, "/name");
  }
  return "<none>";
}

constexpr const char* kUnknown = "<unknown>";

/// Returns the field of a metric that contains its source.
std::string SourceField(const std::string& type) {
  if (type == "ContainerResource") return "/containerResource";
  if (type == "External") return "/external";
  if (type == "Object") return "/object";
  return type == "Pods" ? "/pods" : "/resource";
}

/// Formats the current and the target value of a metric: "cpu: 30%/50%".
std::string FormatMetric(const json& metric, const json& status) {
  const std::string type = StringAt(metric, "/type");
  const std::string source = SourceField(type);
  const auto target = [&](const char* field) {
    return StringAt(metric, source + "/target/" + field);
  };
  const auto current = [&](const char* field) {
    return StringAt(status, source + "/current/" + field);
  };
  const std::string average = target("averageValue");
  if (type == "Resource" || type == "ContainerResource") {
    const std::string name = StringAt(metric, source + "/name") + ": ";
    if (!average.empty())
      return name + OrDefault(current("averageValue"), kUnknown) + '/' + average;
    const std::string utilization = current("averageUtilization");
    return name + (utilization.empty() ? kUnknown : utilization + '%') + '/' +
           OrDefault(target("averageUtilization"), "<auto>") + '%';
  }
  if (average.empty()) return OrDefault(current("value"), kUnknown) + '/' + target("value");
  return OrDefault(current("averageValue"), kUnknown) + '/' + average +
         (type == "Pods" ? "" : " (avg)");
}

/// Shows the first two metrics.
json Targets(const json& autoscaler, const std::string&) {
  constexpr std::size_t kMaxTargets = 2;
  const json& metrics = ValueAt(autoscaler, "/spec/metrics");
  const json& statuses = ValueAt(autoscaler, "/status/currentMetrics");
  if (metrics.empty()) return "<none>";
  std::vector<std::string> words;
  for (const json& metric : metrics) {
    if (words.size() == kMaxTargets) break;
    static const json none;
    words.push_back(
        FormatMetric(metric, words.size() < statuses.size() ? statuses[words.size()] : none));
  }
  const std::string text = Join(words, ", ");
  if (metrics.size() <= kMaxTargets) return text;
  return text + " + " + std::to_string(metrics.size() - kMaxTargets) + " more...";
}

json ScaleTarget(const json& autoscaler, const std::string&) {
  return StringAt(autoscaler, "/spec/scaleTargetRef/kind") + '/' +
         StringAt(autoscaler, "/spec/scaleTargetRef/name");
}

}  // namespace

CellsByKind WorkloadCells() {
  const Cell desired = Number("/spec/replicas");
  const Cell current = Number("/status/replicas");
  const Cell ready = Number("/status/readyReplicas");
  const Cell selector = LabelSelectorCell("/spec/selector");
  const std::string of_a_job = "/spec/jobTemplate/spec";
  return {
      {"Deployment",
       {Name(), Fraction("/status/readyReplicas", "/spec/replicas"),
        Number("/status/updatedReplicas"), Number("/status/availableReplicas"), Age(), Containers(),
        Images(), selector}},
      {"ReplicaSet", {Name(), desired, current, ready, Age(), Containers(), Images(), selector}},
      {"ReplicationController",
       {Name(), desired, current, ready, Age(), Containers(), Images(), Labels("/spec/selector")}},
      {"StatefulSet",
       {Name(), Fraction("/status/readyReplicas", "/spec/replicas"), Age(), Containers(),
        Images()}},
      {"DaemonSet",
       {Name(), Number("/status/desiredNumberScheduled"), Number("/status/currentNumberScheduled"),
        Number("/status/numberReady"), Number("/status/updatedNumberScheduled"),
        Number("/status/numberAvailable"), Labels(pod_template_spec + "/nodeSelector"), Age(),
        Containers(), Images(), selector}},
      {"Scale", {Name(), desired, current, Age()}},
      {"ControllerRevision", {Name(), Controller, Number("/revision"), Age()}},
      {"PodTemplate",
       {Name(), Containers("/template/spec"), Images("/template/spec"),
        Labels("/template/metadata/labels")}},
      {"Job",
       {Name(), JobStatus, JobCompletions, JobDuration, Age(), Containers(), Images(), selector}},
      {"CronJob",
       {Name(), Text("/spec/schedule"), Text("/spec/timeZone", "<none>"), IsSuspended,
        ItemCount({"/status/active"}), Age("/status/lastScheduleTime", "<none>"), Age(),
        Containers(of_a_job + "/template/spec"), Images(of_a_job + "/template/spec"),
        LabelSelectorCell(of_a_job + "/selector")}},
  };
}

CellsByKind AutoscalingCells() {
  return {{"HorizontalPodAutoscaler",
           {Name(), ScaleTarget, Targets, Text("/spec/minReplicas", "<unset>"),
            Number("/spec/maxReplicas"), Number("/status/currentReplicas"), Age()}}};
}

}  // namespace kopp::apiserver
