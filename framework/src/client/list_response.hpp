#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include <kopp/informer/fields.hpp>

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

}  // namespace kopp
