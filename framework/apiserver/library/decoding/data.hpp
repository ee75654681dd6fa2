#pragma once

#include <string_view>

/// The contents of the files in data/, embedded at build time.
namespace kopp::apiserver::data {

extern const std::string_view resources;
extern const std::string_view defaults;
extern const std::string_view messages;
extern const std::string_view openapi;

}  // namespace kopp::apiserver::data
