#pragma once

#include <string_view>

/// The files of data/, as they were when this was built.
namespace kopp::apiserver::data {

extern const std::string_view resources;
extern const std::string_view schemas;
extern const std::string_view defaults;

}  // namespace kopp::apiserver::data
