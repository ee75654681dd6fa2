#pragma once

#include <string_view>

/// The contents of the files in data/ that only kubectl and Go clients need, embedded at build
/// time.
namespace kopp::apiserver::data {

extern const std::string_view messages;
extern const std::string_view openapi;

}  // namespace kopp::apiserver::data
