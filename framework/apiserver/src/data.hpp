#pragma once

#include <string_view>

/// The files of data/, as they were when this was built.
namespace kopp::apiserver::data {

extern const std::string_view kResources;
extern const std::string_view kSchemas;
extern const std::string_view kDefaults;

}  // namespace kopp::apiserver::data
