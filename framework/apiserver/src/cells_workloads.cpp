// The cells of what makes Pods.
#include "age.hpp"
#include "cells.hpp"

#include <algorithm>
#include <cctype>
#include <utility>

namespace kopp::apiserver {
namespace {

using nlohmann::json;

const std::string in_template = "/spec/template/spec";

Cell Containers(const std::string& pod_spec = in_template) {
  return Each(pod_spec + "/containers", "/name");
}

Cell Images(const std::string& pod_spec = in_template) {
  return Each(pod_spec + "/containers", "/image");
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
  const std::string done = std::to_string(NumberAt(job, "/status/succeeded")) + '/';
  const std::string wanted = TextAt(job, "/spec/completions");
  if (!wanted.empty()) return done + wanted;
  const std::int64_t at_once = NumberAt(job, "/spec/parallelism");
  return done + '1' + (at_once > 1 ? " of " + std::to_string(at_once) : "");
}

json JobDuration(const json& job, const std::string& now) {
  const std::string start = TextAt(job, "/status/startTime");
  return start.empty() ? "" : AgeOf(start, TextAt(job, "/status/completionTime", now));
}

json IsSuspended(const json& job, const std::string&) {
  return IsTrueAt(job, "/spec/suspend") ? "True" : "False";
}

/// "daemonset.apps/NAME", of the owner that is the controller.
json Controller(const json& object, const std::string&) {
  for (const json& owner : At(object, "/metadata/ownerReferences")) {
    if (!IsTrueAt(owner, "/controller")) continue;
    std::string kind = TextAt(owner, "/kind");
    std::transform(kind.begin(), kind.end(), kind.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    const std::string api_version = TextAt(owner, "/apiVersion");
    const auto slash = api_version.find('/');
    if (slash != std::string::npos) kind += '.' + api_version.substr(0, slash);
    return kind + '/' + TextAt(owner, "/name");
  }
  return "<none>";
}

}  // namespace

CellsOfKinds WorkloadCells() {
  const Cell wanted = Number("/spec/replicas");
  const Cell current = Number("/status/replicas");
  const Cell ready = Number("/status/readyReplicas");
  const Cell selector = Selects("/spec/selector");
  const std::string of_a_job = "/spec/jobTemplate/spec";
  return {
      {"Deployment",
       {Name(), OutOf("/status/readyReplicas", "/spec/replicas"), Number("/status/updatedReplicas"),
        Number("/status/availableReplicas"), Age(), Containers(), Images(), selector}},
      {"ReplicaSet", {Name(), wanted, current, ready, Age(), Containers(), Images(), selector}},
      {"ReplicationController",
       {Name(), wanted, current, ready, Age(), Containers(), Images(), Labels("/spec/selector")}},
      {"StatefulSet",
       {Name(), OutOf("/status/readyReplicas", "/spec/replicas"), Age(), Containers(), Images()}},
      {"DaemonSet",
       {Name(), Number("/status/desiredNumberScheduled"), Number("/status/currentNumberScheduled"),
        Number("/status/numberReady"), Number("/status/updatedNumberScheduled"),
        Number("/status/numberAvailable"), Labels(in_template + "/nodeSelector"), Age(),
        Containers(), Images(), selector}},
      {"Scale", {Name(), wanted, current, Age()}},
      {"ControllerRevision", {Name(), Controller, Number("/revision"), Age()}},
      {"PodTemplate",
       {Name(), Containers("/template/spec"), Images("/template/spec"),
        Labels("/template/metadata/labels")}},
      {"Job",
       {Name(), JobStatus, JobCompletions, JobDuration, Age(), Containers(), Images(), selector}},
      {"CronJob",
       {Name(), Text("/spec/schedule"), Text("/spec/timeZone", "<none>"), IsSuspended,
        CountOf({"/status/active"}), Age("/status/lastScheduleTime", "<none>"), Age(),
        Containers(of_a_job + "/template/spec"), Images(of_a_job + "/template/spec"),
        Selects(of_a_job + "/selector")}},
  };
}

}  // namespace kopp::apiserver
