#pragma once

#include "names.hpp"
#include "resource.hpp"
#include "status.hpp"

#include <functional>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

namespace kopp::apiserver {

class World;

/// What sets a kind apart from others, beyond its schema.
struct KindRules {
  enum class Generation {
    kNone,
    kSpec,           ///< raised when anything but metadata and status changes
    kSpecAndStatus,  ///< … but metadata
    kSpecOrAnnotations,
  };
  Why (*is_name)(std::string_view) = &NotADnsSubdomain;
  Generation generation = Generation::kNone;
  bool created_by_update = false;    ///< a PUT of what is not there creates it
  bool wins_unconditionally = true;  ///< a PUT without a version overwrites whatever is there
  bool takes_status_on_create = false;
  bool graceful = false;      ///< a deletion waits for a kubelet
  std::string propagation{};  ///< of deletions that do not say it: "Orphan"
  /// A finalizer of new objects that a cluster's own controllers take away again on deletion.
  std::string protection{};

  /// Sets what a client left out.
  std::function<void(nlohmann::json& object)> complete{};
  /// Sets what the server alone decides on, and nobody owns, of a complete object; `before` is null
  /// where it is new. Throws a Refusal.
  std::function<void(World&, const nlohmann::json& before, nlohmann::json& object)> assign{};
  std::function<void(const nlohmann::json& object, Causes&)> check{};
  std::function<void(const nlohmann::json& object, Causes&)> check_status{};
  std::function<void(const nlohmann::json& before, const nlohmann::json& after, Causes&)>
      check_change{};
};

[[nodiscard]] const KindRules& RulesOf(const Resource& resource);

}  // namespace kopp::apiserver
