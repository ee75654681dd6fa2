#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <kopp/informer/detail/json_splitter.hpp>
#include <kopp/informer/fields.hpp>
#include <kopp/read_your_writes.hpp>

namespace kopp {

/// `kind` and `metadata` of a list response, and its `items` as text.
struct ListResponse {
  struct Metadata {
    std::string resourceVersion;
    std::string continue_token;
    std::optional<std::int64_t> remainingItemCount;
  };
  std::string kind;
  Metadata metadata;
  RawJson items;
};
KOPP_FIELDS(ListResponse::Metadata, resourceVersion, KOPP_FIELD(continue_token, "continue"),
            remainingItemCount)
KOPP_FIELDS(ListResponse, kind, metadata, items)

/// Returns `kind` and `metadata` of a list that `splitter` has read. Throws DecodeError if the
/// response is not a complete list: a Table, a Status, an object, part of a list, or a list without
/// `items`.
[[nodiscard]] ListResponse DecodeListResponse(const JsonSplitter& splitter);

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
