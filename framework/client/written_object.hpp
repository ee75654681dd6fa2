#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include <kopp/read_your_writes.hpp>

namespace kopp {

/// Returns the objects that the response `body` to a write describes: one, or none if the response
/// has neither a version nor an identity, such as the Status of an eviction.
[[nodiscard]] std::vector<WrittenObject> WrittenObjects(const Kind& kind, std::string_view body);

/// The same for an object that was decoded from the response. Returns nullopt if only the response
/// tells the state: if the view has no metadata, or if the object is being deleted.
[[nodiscard]] std::optional<WrittenObject> WrittenObjectOf(const ObjectMeta& metadata);

/// The same for a DELETE of `key`.
[[nodiscard]] std::vector<WrittenObject> DeletedObjects(const Kind& kind, const ObjectKey& key,
                                                        std::string_view body);

/// The same for a DELETE of a collection. The response lists the objects as they were before.
[[nodiscard]] std::vector<WrittenObject> DeletedCollection(std::string_view body);

}  // namespace kopp
