#include "pods/pod_warnings.hpp"

#include "fields/field_rules.hpp"
#include "schema/go_quoted.hpp"

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace kopp::apiserver {
namespace {

/// Warns about a variable that hides an earlier one with the same name, unless it refers to it:
/// "$(NAME)".
void WarnAboutHiddenVariables(const FieldRef& variables, Warnings& warnings) {
  std::set<std::string> names;
  for (const FieldRef& variable : variables.items()) {
    const std::string name = variable["name"].text();
    const std::string value = variable["value"].text();
    const std::string reference = "$(" + name + ')';
    if (names.insert(name).second) continue;
    const bool refers = value != reference && value.find(reference) != std::string::npos;
    if (refers && !variable["valueFrom"].exists()) continue;
    warnings.push_back(variable.path() + ": hides previous definition of " + GoQuoted(name) +
                       ", which may be dropped when using apply");
  }
}

/// Returns how two ports of the same number and protocol conflict, or "" if they do not.
std::string ConflictOf(const FieldRef& port, const FieldRef& other) {
  const std::int64_t number = port["hostPort"].number();
  const std::int64_t other_number = other["hostPort"].number();
  const std::string address = port["hostIP"].text();
  const std::string other_address = other["hostIP"].text();
  if (number == other_number && address == other_address) return "duplicate";
  if (number == 0 || other_number == 0) return "overlapping";
  if (number == other_number && address.empty() != other_address.empty())
    return "dangerously ambiguous";
  return "";
}

void WarnAboutPortConflicts(const std::vector<FieldRef>& ports, Warnings& warnings) {
  for (std::size_t i = 0; i < ports.size(); ++i) {
    const FieldRef& port = ports[i];
    for (std::size_t k = 0; k < i; ++k) {
      const FieldRef& other = ports[k];
      if (!port["containerPort"].is(other["containerPort"].value()) ||
          !port["protocol"].is(other["protocol"].value())) {
        continue;
      }
      const std::string conflict = ConflictOf(port, other);
      if (conflict.empty()) continue;
      warnings.push_back(port.path() + ": " + conflict + " port definition with " + other.path());
    }
  }
}

void WarnAboutPortNames(const std::vector<FieldRef>& ports, Warnings& warnings) {
  std::map<std::string, std::string> paths;
  for (const FieldRef& port : ports) {
    const std::string name = port["name"].text();
    if (name.empty()) continue;
    const auto [first, is_new] = paths.emplace(name, port.path());
    if (is_new) continue;
    warnings.push_back(port.path() + ": duplicate port name \"" + name + "\" with " +
                       first->second + ", services and probes that select ports by name will use " +
                       first->second);
  }
}

void WarnAboutPorts(const FieldRef& spec, Warnings& warnings) {
  std::vector<FieldRef> ports;
  ForEachContainer(spec, [&](const FieldRef& container) {
    for (const FieldRef& port : container["ports"].items()) ports.push_back(port);
  });
  WarnAboutPortConflicts(ports, warnings);
  WarnAboutPortNames(ports, warnings);
}

}  // namespace

void WarnAboutLostItems(const FieldRef& pod_spec, Warnings& warnings) {
  ForEachContainer(pod_spec, [&](const FieldRef& container) {
    WarnAboutHiddenVariables(container["env"], warnings);
  });
  WarnAboutPorts(pod_spec, warnings);
}

}  // namespace kopp::apiserver
