#pragma once

#include "api/request.hpp"
#include "api/resource.hpp"
#include "api/write_options.hpp"
#include "api/write_request.hpp"

#include <optional>
#include <string>

#include <nlohmann/json.hpp>

#include <kopp/workqueue/clock.hpp>

namespace kopp::apiserver {

/// A write that webhooks are asked about.
struct AdmissionAttributes {
  const Resource& resource;
  const RequestInfo& target;
  const User& user;
  /// The end of the time for all webhooks of the request. The first call sets it.
  std::optional<TimePoint>& deadline;
  std::string operation{};  ///< "CREATE", "UPDATE" or "DELETE"
  std::string name{};       ///< "" if it is not known yet, and for a deletecollection
  /// The stored object in the version of `resource`. Null if there is none. It must outlive the
  /// attributes.
  const nlohmann::json* live = nullptr;
  nlohmann::json options{};  ///< CreateOptions, UpdateOptions or DeleteOptions
  bool dry_run = false;
  /// The kind of the objects if it is not that of `resource`, but of a subresource such as scale.
  const Resource* subresource_kind = nullptr;

  /// Returns the stored object, or null.
  [[nodiscard]] const nlohmann::json& old_object() const {
    static const nlohmann::json none;
    return live == nullptr ? none : *live;
  }
  /// Returns the kind of the objects.
  [[nodiscard]] const Resource& kind() const {
    return subresource_kind != nullptr ? *subresource_kind : resource;
  }
};

/// Returns the attributes of a create, or of an update of `live` unless it is null. `parent` is the
/// resource to which a subresource with objects of another kind belongs: Pods for an Eviction.
[[nodiscard]] AdmissionAttributes AttributesOfWrite(const WriteRequest& write,
                                                    const std::string& name,
                                                    const nlohmann::json* live,
                                                    const Resource* parent = nullptr);

/// Returns the attributes of the deletion of `live` by `request`. All parameters must outlive them.
[[nodiscard]] AdmissionAttributes AttributesOfDeletion(const ServerRequest& request,
                                                       const Resource& resource,
                                                       const DeleteOptions& deletion,
                                                       const nlohmann::json& live,
                                                       std::optional<TimePoint>& deadline);

}  // namespace kopp::apiserver
