// The cells of HorizontalPodAutoscalers.
#include "kubectl/printers/printers.hpp"

#include <string>
#include <vector>

namespace kopp::apiserver {
namespace {

using nlohmann::json;

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

CellsByKind AutoscalingCells() {
  return {{"HorizontalPodAutoscaler",
           {Name(), ScaleTarget, Targets, Text("/spec/minReplicas", "<unset>"),
            Number("/spec/maxReplicas"), Number("/status/currentReplicas"), Age()}}};
}

}  // namespace kopp::apiserver
