#pragma once

#include "api/resource.hpp"

#include <span>
#include <string_view>
#include <vector>

// Resources and subresources whose objects are not stored. Clients create them only to trigger an
// action: access reviews, token requests, bindings and evictions.

namespace kopp::apiserver {

/// The group of a virtual kind, whose version is v1, and where clients create its objects.
struct VirtualKind {
  const char* group;
  const char* kind;
  const char* plural;  ///< or "" if it is only the kind of a subresource
  bool namespaced;
  const char* parent;       ///< the plural of the resource with the subresource, or ""
  const char* subresource;  ///< or ""
};

/// Several virtual kinds. Their schemas are in data/virtual_schemas.txt. Immutable.
class VirtualKinds {
 public:
  /// `kinds` must outlive the object.
  explicit VirtualKinds(std::span<const VirtualKind> kinds);

  /// Returns the kinds with a path of their own, in the order of the constructor.
  [[nodiscard]] const std::vector<ResourcePtr>& resources() const { return resources_; }
  /// Adds the virtual subresources of `resource`. Returns whether it has any.
  bool AddSubresources(Resource& resource) const;

 private:
  const std::span<const VirtualKind> kinds_;
  std::vector<ResourcePtr> resources_;
};

/// Returns the virtual kinds of the server: the reviews that operators create.
[[nodiscard]] const VirtualKinds& Reviews();

/// Adds the name of a subresource, unless `resource` has it.
void AddSubresource(Resource& resource, const char* name);

/// Returns whether objects of the resource are not stored.
[[nodiscard]] bool IsVirtual(const Resource& resource);

/// Returns the kind of a virtual subresource, such as Eviction for "eviction". Its only verb is
/// create. Returns nullptr for a subresource that shows the object itself or its Scale.
[[nodiscard]] const Resource* FindVirtualSubresource(const Resource& resource,
                                                     std::string_view subresource);

}  // namespace kopp::apiserver
