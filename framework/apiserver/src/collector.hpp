#pragma once

#include "resource.hpp"
#include "world.hpp"
#include "write_options.hpp"

#include <deque>
#include <functional>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

namespace kopp::apiserver {

/// Deletes objects, and does what a control plane's garbage collector and namespace controller do:
/// at once, in the thread of the write that it follows from. Safe to use from any thread.
class Collector {
 public:
  explicit Collector(World& world) : world_(world) {}

  /// Removes an object, or marks it where something keeps it: `gone` tells which. Returns it as it
  /// is, or was at last. Throws a Refusal where there is none or it is not the one that is meant.
  nlohmann::json Delete(const Resource& resource, const ObjectKey& key,
                        const DeleteOptions& options, bool& gone);

  /// Draws the consequences of a write that left `object` there, or for the last time.
  void Follow(const Resource& resource, const ObjectKey& key, const nlohmann::json& object,
              bool gone);
  /// Those of a write into a namespace that may have ended meanwhile.
  void FollowInto(const std::string& ns);

 private:
  /// A write whose consequences are still to be drawn.
  struct Written {
    Place place{};
    nlohmann::json metadata{};
    bool gone = false;
  };
  // One after the other: chains of owners are as long as clients make them, the stack is not.
  using Open = std::deque<Written>;

  void FollowAll(Open open);
  void FollowOne(const Written& written, Open& open);
  void FollowRemoval(const Written& written, Open& open);
  /// `propagation`: that of the dependents' deletion; "Orphan": they stay.
  void ReleaseDependents(const nlohmann::json& owner, const std::string& propagation, Open& open);
  void ReleaseOwners(const Written& written, Open& open);
  void LeaveAbsentOwners(const Written& written, Open& open);

  [[nodiscard]] bool IsEnding(const std::string& ns);
  void Empty(const std::string& ns);
  void End(const std::string& ns, Open& open);

  nlohmann::json DeleteOne(const Resource& resource, const ObjectKey& key,
                           const DeleteOptions& options, bool& gone, Open& open);
  void Discard(const Place& place, const std::string& propagation, Open& open);
  void DropOwner(const Place& place, const std::string& uid, Open& open);
  void DropFinalizer(const Place& place, std::string_view name, Open& open);
  void Rewrite(const Place& place, const std::function<bool(nlohmann::json& object)>& change,
               Open& open);

  World& world_;
};

}  // namespace kopp::apiserver
