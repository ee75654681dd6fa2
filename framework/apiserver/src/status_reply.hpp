#pragma once

#include "exchange.hpp"
#include "status.hpp"

namespace kopp::apiserver {

/// A Status as an answer, from who stands before the API.
[[nodiscard]] inline Reply ReplyOf(const Refusal& refusal) {
  return {.status = refusal.code(), .body = refusal.ToJson().dump() + '\n'};
}

}  // namespace kopp::apiserver
