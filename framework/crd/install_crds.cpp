#include "base/option_checks.hpp"

#include <algorithm>
#include <chrono>
#include <functional>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include <kopp/conditions.hpp>
#include <kopp/crd.hpp>
#include <kopp/discovery.hpp>
#include <kopp/informer/fields.hpp>
#include <kopp/informer/object.hpp>
#include <kopp/transport.hpp>
#include <kopp/wait_for.hpp>
#include <kopp/workqueue/clock.hpp>

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

constexpr Duration kPollInterval = std::chrono::milliseconds(100);

/// Waits for one definition, after it was applied.
class Installation {
 public:
  Installation(const Client& client, const CustomResourceDefinition& definition, TimePoint deadline,
               const InstallCrdsOptions& options)
      : client_(client), definition_(definition), deadline_(deadline), options_(options) {}

  /// Blocks until all versions are served. Established is not sufficient: it is also True if only
  /// an earlier state of the definition is served.
  void Await() {
    while (true) {
      AwaitEstablished();
      const std::string missing = MissingVersion();
      if (missing.empty()) return;
      const TimePoint now = options_.clock.Now();
      if (now >= deadline_) {
        Fail("the API server does not serve its version " + missing + " in time");
      }
      const TimePoint next = std::min(deadline_, SaturatingAdd(now, kPollInterval));
      if (!SleepUntil(options_.clock, next, client_.stop())) {
        throw TransportError(TransportError::Kind::kCancelled, "stop was requested");
      }
    }
  }

 private:
  [[noreturn]] void Fail(const std::string& problem) const {
    throw std::runtime_error("cannot install the CustomResourceDefinition " + definition_.name() +
                             ": " + problem);
  }

  /// Returns why the names are not accepted, or "" if they are or are not judged yet.
  static std::string ConflictOf(const CrdState& state) {
    const Condition* accepted = FindCondition(state.status.conditions, "NamesAccepted");
    if (accepted == nullptr || accepted->status != "False") return "";
    return accepted->reason + ": " + accepted->message.value_or("");
  }

  /// Returns false if the condition does not become true until `deadline`.
  bool WaitUntil(TimePoint deadline, const std::function<bool(const CrdState*)>& condition) const {
    const TimePoint now = options_.clock.Now();
    return WaitFor<CrdState>(
        client_, {"", definition_.name()}, condition,
        {.timeout = now < deadline ? deadline - now : Duration::zero(), .clock = options_.clock});
  }

  /// Creates the definition again, once, if it was being deleted when it was applied: the API
  /// server accepts the apply, and then completes the deletion.
  void AwaitEstablished() {
    while (true) {
      std::string conflict;
      bool is_gone = false;
      bool is_being_deleted = false;
      const bool is_decided = WaitUntil(deadline_, [&](const CrdState* state) {
        is_gone = state == nullptr;
        if (is_gone) return true;
        is_being_deleted = state->metadata.deletionTimestamp.has_value();
        conflict = ConflictOf(*state);
        return !is_being_deleted &&
               (!conflict.empty() || IsConditionTrue(state->status.conditions, "Established"));
      });
      if (is_gone) {
        ApplyAgain();
      } else if (!is_decided) {
        Fail(is_being_deleted ? "it is still being deleted; see its finalizers"
                              : "the API server has not established it in time");
      } else if (conflict.empty()) {
        return;
      } else {
        AwaitEndOf(conflict);
      }
    }
  }

  void ApplyAgain() {
    if (std::exchange(applied_again_, true)) Fail("it was deleted meanwhile");
    client_.Apply<CrdState>(definition_.object());
  }

  /// Blocks until the names are accepted or conflict otherwise.
  void AwaitEndOf(const std::string& conflict) const {
    const TimePoint end =
        std::min(deadline_, SaturatingAdd(options_.clock.Now(), options_.names_timeout));
    const bool has_ended = WaitUntil(end, [&](const CrdState* state) {
      return state == nullptr || ConflictOf(*state) != conflict;
    });
    if (has_ended) return;
    Fail("its names are not accepted (" + conflict +
         "): change them, or delete the definition that has them");
  }

  /// Returns a version that should be served, but is not yet; "" if there is none.
  [[nodiscard]] std::string MissingVersion() const {
    const DiscoveryClient discovery(client_.transport(), client_.stop());
    const nlohmann::json& spec = definition_.object().at("spec");
    const nlohmann::json& names = spec.at("names");
    for (const nlohmann::json& version : spec.at("versions")) {
      if (version.at("served") != true) continue;
      auto name = version.at("name").get<std::string>();
      const auto resources = discovery.Resources(spec.at("group").get<std::string>() + '/' + name);
      const bool is_served =
          std::any_of(resources.begin(), resources.end(), [&](const ApiResource& resource) {
            return names.at("plural") == resource.kind.plural &&
                   names.at("kind") == resource.kind.kind;
          });
      if (!is_served || IsNotFound(name)) return name;
    }
    return "";
  }

  /// Returns whether the objects of a version are not found. kube-apiserver updates its discovery
  /// documents a moment before the handler of an existing definition.
  [[nodiscard]] bool IsNotFound(const std::string& version) const {
    const nlohmann::json& spec = definition_.object().at("spec");
    const auto text = [&](const nlohmann::json& value) { return value.get<std::string>(); };
    const std::string target = "/apis/" + text(spec.at("group")) + '/' + version + '/' +
                               text(spec.at("names").at("plural")) + "?limit=1";
    return client_.transport().Call({.target = target}, client_.stop()).status == 404;
  }

  const Client& client_;
  const CustomResourceDefinition& definition_;
  TimePoint deadline_;
  const InstallCrdsOptions& options_;
  bool applied_again_ = false;
};

}  // namespace

void InstallCrds(const Client& client, std::span<const CustomResourceDefinition> definitions,
                 const InstallCrdsOptions& options) {
  detail::RequireNotNegative("InstallCrdsOptions::timeout", options.timeout);
  detail::RequireNotNegative("InstallCrdsOptions::names_timeout", options.names_timeout);
  const TimePoint deadline = SaturatingAdd(options.clock.Now(), options.timeout);
  for (const CustomResourceDefinition& definition : definitions) {
    client.Apply<CrdState>(definition.object());
  }
  for (const CustomResourceDefinition& definition : definitions) {
    Installation(client, definition, deadline, options).Await();
  }
}

}  // namespace kopp
