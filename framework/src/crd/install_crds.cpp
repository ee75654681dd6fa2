#include <algorithm>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include <kopp/conditions.hpp>
#include <kopp/crd.hpp>
#include <kopp/informer/fields.hpp>
#include <kopp/informer/object.hpp>
#include <kopp/wait_for.hpp>

namespace kopp {

/// A view of a CustomResourceDefinition with its state.
struct CrdState {
  static constexpr Kind kKind{"apiextensions.k8s.io/v1", "CustomResourceDefinition",
                              "customresourcedefinitions", Scope::kCluster};
  struct Status {
    std::vector<Condition> conditions = {};
  };
  ObjectMeta metadata = {};
  Status status = {};
};
KOPP_FIELDS(CrdState::Status, conditions)
KOPP_FIELDS(CrdState, metadata, status)

namespace {

/// Returns why the API server does not serve the kind, or "" if it does or is about to.
std::string ProblemOf(const CrdState& definition) {
  const Condition* accepted = FindCondition(definition.status.conditions, "NamesAccepted");
  if (accepted == nullptr || accepted->status != "False") return "";
  return accepted->reason + ": " + accepted->message.value_or("");
}

void AwaitEstablished(const Client& client, const std::string& name,
                      const WaitForOptions& options) {
  std::string problem;
  const auto is_decided = [&](const CrdState* definition) {
    if (definition == nullptr) return false;
    problem = ProblemOf(*definition);
    return !problem.empty() || IsConditionTrue(definition->status.conditions, "Established");
  };
  const bool decided = WaitFor<CrdState>(client, {"", name}, is_decided, options);
  const std::string failure = "cannot install the CustomResourceDefinition " + name + ": ";
  if (!decided) {
    throw std::runtime_error(failure + "the API server has not established it in time");
  }
  if (!problem.empty()) {
    throw std::runtime_error(failure + "its names are not accepted (" + problem +
                             "): change them, or delete the definition that has them");
  }
}

}  // namespace

void InstallCrds(const Client& client, std::span<const CustomResourceDefinition> definitions,
                 const InstallCrdsOptions& options) {
  const TimePoint deadline = After(options.clock.Now(), options.timeout);
  for (const CustomResourceDefinition& definition : definitions) {
    client.Apply<CrdState>(definition.object());
  }
  for (const CustomResourceDefinition& definition : definitions) {
    const TimePoint now = options.clock.Now();
    AwaitEstablished(
        client, definition.name(),
        {.timeout = now < deadline ? deadline - now : Duration::zero(), .clock = options.clock});
  }
}

}  // namespace kopp
