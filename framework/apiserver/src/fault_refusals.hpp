#pragma once

#include "exchange.hpp"
#include "world.hpp"

#include <optional>

#include <kopp/testing/fault.hpp>

namespace kopp::apiserver {

/// What a real server answers when this goes wrong, with nothing done; none where the fault is of
/// another sort, or the request names nothing that is served.
[[nodiscard]] std::optional<Reply> RefusalBy(const testing::Fault& fault, const Ask& ask,
                                             World& world);

}  // namespace kopp::apiserver
