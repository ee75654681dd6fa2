#pragma once

#include "body.hpp"
#include "exchange.hpp"
#include "kind_rules.hpp"
#include "managed_fields.hpp"
#include "world.hpp"

#include <functional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace kopp::apiserver {

/// The verbs that change objects. Each takes a request to a resource that is served, and throws a
/// Refusal. Safe to use from any thread: of two writers who saw the same state one begins anew.
class Writes {
 public:
  explicit Writes(World& world) : world_(world) {}

  Reply Create(const Ask& ask, const Resource& resource);
  Reply Update(const Ask& ask, const Resource& resource);
  Reply Patch(const Ask& ask, const Resource& resource);
  Reply Delete(const Ask& ask, const Resource& resource);
  Reply DeleteCollection(const Ask& ask, const Resource& resource);

 private:
  /// What a write makes of the object that is there.
  using Next = std::function<nlohmann::json(const nlohmann::json& live)>;
  enum class How { kPut, kPatch, kApply };
  /// A change of an object that is there, as it was asked for.
  struct Edit {
    const Ask& ask;
    const Resource& resource;
    const WriteOptions& options;
    How how = How::kPut;
    Next next{};
  };

  [[nodiscard]] Writer WriterOf(const Ask& ask, const Resource& resource);
  nlohmann::json CreateObject(const Ask& ask, const Resource& resource, nlohmann::json object,
                              const WriteOptions& options, std::vector<std::string>& warnings,
                              How how);
  nlohmann::json Change(const Edit& edit, std::vector<std::string>& warnings);
  [[nodiscard]] nlohmann::json Edited(const Edit& edit, const nlohmann::json& live,
                                      std::vector<std::string>& warnings);
  Reply Apply(const Ask& ask, const Resource& resource);
  Reply WriteScale(const Ask& ask, const Resource& resource);
  void CheckNamespace(const Resource& resource, const std::string& ns, const std::string& name);
  /// What follows from a write that was made: `object` is gone, or waits for its end.
  void Settle(const Resource& resource, const ObjectKey& key, const nlohmann::json& object,
              bool gone);
  void SettleDependents(const nlohmann::json& owner, bool gone);
  void SettleOwners(const nlohmann::json& object);
  void Empty(const std::string& ns);
  void EndNamespace(const std::string& ns);
  void DropOwner(const Place& place, const std::string& uid);
  void DropFinalizer(const Resource& resource, const ObjectKey& key, std::string_view name);
  void Rewrite(const Place& place, const std::function<bool(nlohmann::json& object)>& change);

  [[nodiscard]] nlohmann::json Marked(const Resource& resource, nlohmann::json object,
                                      const DeleteOptions& options, bool& gone);
  nlohmann::json DeleteOne(const Resource& resource, const ObjectKey& key,
                           const DeleteOptions& options, bool& gone);

  World& world_;
};

}  // namespace kopp::apiserver
