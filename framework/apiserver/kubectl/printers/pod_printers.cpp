// The cells of Pods, which summarize the states of their containers.
#include "printers/printers.hpp"

#include <algorithm>

namespace kopp::apiserver {
namespace {

using nlohmann::json;

/// A summary of the containers of a Pod.
struct Summary {
  std::string state{};
  std::size_t ready = 0;
  std::size_t containers = 0;
  std::int64_t restarts = 0;
  std::string last_restart{};  ///< when the container that restarted last had ended
};

const json& StateOf(const json& container, const char* state) {
  return ValueAt(container, std::string("/state/") + state);
}

bool IsReady(const json& container) { return IsTrueAt(container, "/ready"); }

void AddRestarts(const json& container, Summary& summary) {
  summary.restarts += IntegerAt(container, "/restartCount");
  // RFC 3339 times in UTC: text order is time order.
  summary.last_restart =
      std::max(summary.last_restart, StringAt(container, "/lastState/terminated/finishedAt"));
}

/// Returns why a container terminated: its reason, signal or exit code.
std::string TerminationReason(const json& terminated) {
  std::string reason = StringAt(terminated, "/reason");
  if (!reason.empty()) return reason;
  const std::int64_t signal = IntegerAt(terminated, "/signal");
  if (signal != 0) return "Signal:" + std::to_string(signal);
  return "ExitCode:" + std::to_string(IntegerAt(terminated, "/exitCode"));
}

/// Returns whether the container is a sidecar: an init container with restartPolicy Always, which
/// keeps running.
bool IsSidecar(const json& pod, const std::string& name) {
  const json& containers = ValueAt(pod, "/spec/initContainers");
  return std::any_of(containers.begin(), containers.end(), [&](const json& container) {
    return StringAt(container, "/name") == name &&
           StringAt(container, "/restartPolicy") == "Always";
  });
}

/// Returns the state of an init container that blocks the Pod. Returns "" if the container has
/// completed, or is a sidecar that has started.
std::string InitState(const json& container, bool is_sidecar) {
  const json& terminated = StateOf(container, "terminated");
  if (terminated.is_object() && IntegerAt(terminated, "/exitCode") == 0) return "";
  if (is_sidecar && IsTrueAt(container, "/started")) return "";
  if (terminated.is_object()) return TerminationReason(terminated);
  const std::string reason = StringAt(container, "/state/waiting/reason");
  return reason.empty() || reason == "PodInitializing" ? "Running" : reason;
}

/// Adds the init containers to `summary`, and the restarts of sidecars also to `sidecars`. Returns
/// whether the Pod still waits for an init container.
bool AddInitContainers(const json& pod, Summary& summary, Summary& sidecars) {
  std::size_t done = 0;
  for (const json& container : ValueAt(pod, "/status/initContainerStatuses")) {
    const bool is_sidecar = IsSidecar(pod, StringAt(container, "/name"));
    AddRestarts(container, summary);
    if (is_sidecar) AddRestarts(container, sidecars);
    const std::string state = InitState(container, is_sidecar);
    if (!state.empty()) {
      const std::size_t all = ValueAt(pod, "/spec/initContainers").size();
      summary.state =
          "Init:" + (state == "Running" ? std::to_string(done) + '/' + std::to_string(all) : state);
      return true;
    }
    ++done;
    const bool has_ended = StateOf(container, "terminated").is_object();
    if (is_sidecar && !has_ended && IsReady(container)) ++summary.ready;
  }
  return false;
}

/// Adds the containers to `summary`. The first container that waits or has terminated determines
/// the state.
void AddContainers(const json& pod, Summary& summary) {
  bool has_running = false;
  const json& containers = ValueAt(pod, "/status/containerStatuses");
  for (auto container = containers.rbegin(); container != containers.rend(); ++container) {
    AddRestarts(*container, summary);
    const std::string waiting_reason = StringAt(*container, "/state/waiting/reason");
    const json& terminated = StateOf(*container, "terminated");
    if (!waiting_reason.empty()) {
      summary.state = waiting_reason;
    } else if (terminated.is_object()) {
      summary.state = TerminationReason(terminated);
    } else if (IsReady(*container) && StateOf(*container, "running").is_object()) {
      has_running = true;
      ++summary.ready;
    }
  }
  if (summary.state == "Completed" && has_running) {
    summary.state = HasCondition(pod, "Ready") ? "Running" : "NotReady";
  }
}

std::string PhaseOrReason(const json& pod) {
  for (const json& condition : ValueAt(pod, "/status/conditions")) {
    if (StringAt(condition, "/type") == "PodScheduled" &&
        StringAt(condition, "/reason") == "SchedulingGated") {
      return "SchedulingGated";
    }
  }
  const std::string reason = StringAt(pod, "/status/reason");
  return reason.empty() ? StringAt(pod, "/status/phase") : reason;
}

Summary SummaryOf(const json& pod) {
  Summary summary{.state = PhaseOrReason(pod),
                  .containers = ValueAt(pod, "/spec/containers").size()};
  for (const json& container : ValueAt(pod, "/spec/initContainers")) {
    if (StringAt(container, "/restartPolicy") == "Always") ++summary.containers;
  }
  Summary sidecars;
  const bool is_initializing = AddInitContainers(pod, summary, sidecars);
  if (!is_initializing || HasCondition(pod, "Initialized")) {
    // After initialization, the restarts of completed init containers are not counted.
    summary.restarts = sidecars.restarts;
    summary.last_restart = sidecars.last_restart;
    AddContainers(pod, summary);
  }
  const std::string phase = StringAt(pod, "/status/phase");
  if (!IsBeingDeleted(pod)) return summary;
  if (StringAt(pod, "/status/reason") == "NodeLost") {
    summary.state = "Unknown";
  } else if (phase != "Succeeded" && phase != "Failed") {
    summary.state = "Terminating";
  }
  return summary;
}

json Ready(const json& pod, const std::string&) {
  const Summary summary = SummaryOf(pod);
  return std::to_string(summary.ready) + '/' + std::to_string(summary.containers);
}

json Status(const json& pod, const std::string&) { return SummaryOf(pod).state; }

json Restarts(const json& pod, const std::string& now) {
  const Summary summary = SummaryOf(pod);
  std::string restarts = std::to_string(summary.restarts);
  if (summary.restarts != 0 && !summary.last_restart.empty()) {
    restarts += " (" + FormatAge(summary.last_restart, now) + " ago)";
  }
  return restarts;
}

json ReadinessGates(const json& pod, const std::string&) {
  const json& gates = ValueAt(pod, "/spec/readinessGates");
  if (gates.empty()) return "<none>";
  const auto open = std::count_if(gates.begin(), gates.end(), [&](const json& gate) {
    return HasCondition(pod, StringAt(gate, "/conditionType"));
  });
  return std::to_string(open) + '/' + std::to_string(gates.size());
}

}  // namespace

CellsByKind PodCells() {
  return {{"Pod",
           {Name(), Ready, Status, Restarts, Age(), Text("/status/podIPs/0/ip", "<none>"),
            Text("/spec/nodeName", "<none>"), Text("/status/nominatedNodeName", "<none>"),
            ReadinessGates}}};
}

}  // namespace kopp::apiserver
