#pragma once

#include "api/resource.hpp"

#include <string_view>
#include <vector>

// Resources and subresources whose objects are not stored. Clients create them only to trigger an
// action: access reviews, token requests, bindings and evictions.

namespace kopp::apiserver {

/// Returns the virtual resources: the reviews and `bindings`.
[[nodiscard]] std::vector<Resource> VirtualResources();

/// Adds the subresources that data/resources.txt does not list to `resource`.
void AddVirtualSubresources(Resource& resource);

/// Returns whether objects of the resource are not stored.
[[nodiscard]] bool IsVirtual(const Resource& resource);

/// Returns the kind of a virtual subresource, such as Eviction for "eviction". Its only verb is
/// create. Returns nullptr for a subresource that shows the object itself or its Scale.
[[nodiscard]] const Resource* FindVirtualSubresource(const Resource& resource,
                                                     std::string_view subresource);

}  // namespace kopp::apiserver
