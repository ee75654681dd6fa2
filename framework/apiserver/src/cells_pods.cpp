// The cells of Pods: what their containers do, in one word.
#include "age.hpp"
#include "cells.hpp"

#include <algorithm>
#include <utility>

namespace kopp::apiserver {
namespace {

using nlohmann::json;

/// What the containers of a Pod add up to.
struct Summary {
  std::string state{};
  std::size_t ready = 0;
  std::size_t containers = 0;
  std::int64_t restarts = 0;
  std::string last_restart{};  ///< when the last of them ended that was started again
};

const json& StateOf(const json& container, const char* state) {
  return At(container, std::string("/state/") + state);
}

bool IsReady(const json& container) { return IsTrueAt(container, "/ready"); }

void AddRestarts(const json& container, Summary& summary) {
  summary.restarts += NumberAt(container, "/restartCount");
  // Times of one form: the later is the greater text.
  summary.last_restart =
      std::max(summary.last_restart, TextAt(container, "/lastState/terminated/finishedAt"));
}

/// How a container ended.
std::string EndInWords(const json& terminated) {
  std::string reason = TextAt(terminated, "/reason");
  if (!reason.empty()) return reason;
  const std::int64_t signal = NumberAt(terminated, "/signal");
  if (signal != 0) return "Signal:" + std::to_string(signal);
  return "ExitCode:" + std::to_string(NumberAt(terminated, "/exitCode"));
}

/// A sidecar is an init container that goes on beside the others.
bool IsSidecar(const json& pod, const std::string& name) {
  const json& containers = At(pod, "/spec/initContainers");
  return std::any_of(containers.begin(), containers.end(), [&](const json& container) {
    return TextAt(container, "/name") == name && TextAt(container, "/restartPolicy") == "Always";
  });
}

/// What the Pod waits for at an init container; "" where that is done, or is a sidecar that runs.
std::string InitState(const json& container, bool is_sidecar) {
  const json& terminated = StateOf(container, "terminated");
  if (terminated.is_object() && NumberAt(terminated, "/exitCode") == 0) return "";
  if (is_sidecar && IsTrueAt(container, "/started")) return "";
  if (terminated.is_object()) return EndInWords(terminated);
  const std::string waits = TextAt(container, "/state/waiting/reason");
  return waits.empty() || waits == "PodInitializing" ? "Running" : waits;
}

/// Whether the Pod still waits for an init container. `sidecars` gets the restarts of those alone.
bool AddInitContainers(const json& pod, Summary& summary, Summary& sidecars) {
  std::size_t done = 0;
  for (const json& container : At(pod, "/status/initContainerStatuses")) {
    const bool is_sidecar = IsSidecar(pod, TextAt(container, "/name"));
    AddRestarts(container, summary);
    if (is_sidecar) AddRestarts(container, sidecars);
    const std::string state = InitState(container, is_sidecar);
    if (!state.empty()) {
      const std::size_t all = At(pod, "/spec/initContainers").size();
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

/// The first container that has something to tell gives the Pod's state.
void AddContainers(const json& pod, Summary& summary) {
  bool runs = false;
  const json& containers = At(pod, "/status/containerStatuses");
  for (auto container = containers.rbegin(); container != containers.rend(); ++container) {
    AddRestarts(*container, summary);
    const std::string waits = TextAt(*container, "/state/waiting/reason");
    const json& terminated = StateOf(*container, "terminated");
    if (!waits.empty()) {
      summary.state = waits;
    } else if (terminated.is_object()) {
      summary.state = EndInWords(terminated);
    } else if (IsReady(*container) && StateOf(*container, "running").is_object()) {
      runs = true;
      ++summary.ready;
    }
  }
  if (summary.state == "Completed" && runs) {
    summary.state = HasCondition(pod, "Ready") ? "Running" : "NotReady";
  }
}

std::string PhaseInWords(const json& pod) {
  for (const json& condition : At(pod, "/status/conditions")) {
    if (TextAt(condition, "/type") == "PodScheduled" &&
        TextAt(condition, "/reason") == "SchedulingGated") {
      return "SchedulingGated";
    }
  }
  const std::string reason = TextAt(pod, "/status/reason");
  return reason.empty() ? TextAt(pod, "/status/phase") : reason;
}

Summary SummaryOf(const json& pod) {
  Summary summary{.state = PhaseInWords(pod), .containers = At(pod, "/spec/containers").size()};
  for (const json& container : At(pod, "/spec/initContainers")) {
    if (TextAt(container, "/restartPolicy") == "Always") ++summary.containers;
  }
  Summary sidecars;
  const bool waits = AddInitContainers(pod, summary, sidecars);
  if (!waits || HasCondition(pod, "Initialized")) {
    // From then on the restarts of init containers that are done are of no interest.
    summary.restarts = sidecars.restarts;
    summary.last_restart = sidecars.last_restart;
    AddContainers(pod, summary);
  }
  const std::string phase = TextAt(pod, "/status/phase");
  if (!IsBeingDeleted(pod)) return summary;
  if (TextAt(pod, "/status/reason") == "NodeLost") {
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
    restarts += " (" + AgeOf(summary.last_restart, now) + " ago)";
  }
  return restarts;
}

json ReadinessGates(const json& pod, const std::string&) {
  const json& gates = At(pod, "/spec/readinessGates");
  if (gates.empty()) return "<none>";
  const auto open = std::count_if(gates.begin(), gates.end(), [&](const json& gate) {
    return HasCondition(pod, TextAt(gate, "/conditionType"));
  });
  return std::to_string(open) + '/' + std::to_string(gates.size());
}

}  // namespace

CellsOfKinds PodCells() {
  return {{"Pod",
           {Name(), Ready, Status, Restarts, Age(), Text("/status/podIPs/0/ip", "<none>"),
            Text("/spec/nodeName", "<none>"), Text("/status/nominatedNodeName", "<none>"),
            ReadinessGates}}};
}

}  // namespace kopp::apiserver
