#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

#include <kopp/informer/object.hpp>

namespace kopp {

/// "/apis/apps/v1/namespaces/ns/deployments", without a namespace over all of them. Throws
/// std::invalid_argument for a namespace that cannot stand in a path.
[[nodiscard]] std::string CollectionPath(const Kind& kind, std::string_view ns);

/// The path of one object, or of a part of it such as "status". Throws std::invalid_argument for a
/// name that cannot stand in a path, and for a namespace where there is none to be, or none given.
[[nodiscard]] std::string ObjectPath(const Kind& kind, const ObjectKey& key,
                                     std::string_view subresource = {});

/// `path` with those parameters that have a value, percent-encoded.
[[nodiscard]] std::string WithQuery(
    std::string path,
    std::initializer_list<std::pair<std::string_view, std::string_view>> parameters);

}  // namespace kopp
