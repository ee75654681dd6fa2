#pragma once

#include "body.hpp"
#include "collector.hpp"
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
  explicit Writes(World& world) : world_(world), collector_(world) {}

  Reply Create(const Ask& ask, const Resource& resource, Warnings& warnings);
  Reply Update(const Ask& ask, const Resource& resource, Warnings& warnings);
  Reply Patch(const Ask& ask, const Resource& resource, Warnings& warnings);
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
                              const WriteOptions& options, Warnings& warnings, How how);
  /// Sets a new object's name and namespace. Returns where it is kept.
  [[nodiscard]] ObjectKey KeyOfNew(const Ask& ask, const Resource& resource,
                                   nlohmann::json& metadata);
  /// Sets what the server alone says of a new object.
  void Begin(const Resource& resource, nlohmann::json& object, Warnings& warnings);
  /// `ns`: its namespace, as it was found. Returns the object as it is from now on.
  [[nodiscard]] nlohmann::json Keep(const Resource& resource, const ObjectKey& key,
                                    nlohmann::json object, const StoredPtr& ns);
  nlohmann::json Change(const Edit& edit, Warnings& warnings);
  [[nodiscard]] nlohmann::json Edited(const Edit& edit, const nlohmann::json& live,
                                      Warnings& warnings);
  Reply Apply(const Ask& ask, const Resource& resource, Warnings& warnings);
  Reply WriteScale(const Ask& ask, const Resource& resource, Warnings& warnings);
  /// Returns the namespace as it is; nullptr where the resource has none.
  StoredPtr CheckNamespace(const Resource& resource, const std::string& ns,
                           const std::string& name);

  World& world_;
  Collector collector_;
};

}  // namespace kopp::apiserver
