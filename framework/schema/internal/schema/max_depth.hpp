#pragma once

#include <cstddef>

namespace kopp::schema {

/// The maximum nesting depth of JSON and YAML from clients. It limits the stack that recursive
/// functions on a value need.
constexpr std::size_t kMaxJsonDepth = 512;

}  // namespace kopp::schema
