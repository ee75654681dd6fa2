#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include <kopp/informer/fields.hpp>
#include <kopp/informer/json_splitter.hpp>

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

}  // namespace kopp
