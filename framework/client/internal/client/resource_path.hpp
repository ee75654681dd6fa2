#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

#include <kopp/informer/object.hpp>

namespace kopp::detail {

/// The Accept header of a read that needs only the metadata. Any server may send the whole object.
inline constexpr std::string_view kAcceptMetadata =
    "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json";

/// Returns the path of a group and version, such as "apps/v1": "/apis/apps/v1"; of "v1": "/api/v1".
/// Throws std::invalid_argument if a part is not a valid path segment.
[[nodiscard]] std::string VersionPath(std::string_view api_version);

/// Returns the path of a collection. With `ns`: "/apis/apps/v1/namespaces/ns/deployments". With an
/// empty `ns`, all namespaces: "/apis/apps/v1/deployments". Ignores `ns` for a cluster-scoped kind.
/// Throws std::invalid_argument if `ns`, or a part of `kind`, is not a valid path segment.
[[nodiscard]] std::string CollectionPath(const Kind& kind, std::string_view ns);

/// Returns the path of an object, or of its subresource such as "status". Throws
/// std::invalid_argument for a name or subresource that is not allowed in a path, for a missing
/// namespace, and for a namespace of a cluster-scoped kind.
[[nodiscard]] std::string ObjectPath(const Kind& kind, const ObjectKey& key,
                                     std::string_view subresource = {});

/// Appends `parameters` to `path` as a query and percent-encodes their values. Omits parameters
/// with an empty value. `path` must not contain a query.
[[nodiscard]] std::string WithQuery(
    std::string path,
    std::initializer_list<std::pair<std::string_view, std::string_view>> parameters);

}  // namespace kopp::detail
