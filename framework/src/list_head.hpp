#pragma once

#include <string>

#include <kopp/informer/fields.hpp>

namespace kopp {

/// What a list says of itself.
struct ListHead {
  struct Metadata {
    std::string resourceVersion;
    std::string continue_token;
  };
  std::string kind;
  Metadata metadata;
};
KOPP_FIELDS(ListHead::Metadata, resourceVersion, KOPP_FIELD(continue_token, "continue"))
KOPP_FIELDS(ListHead, kind, metadata)

}  // namespace kopp
