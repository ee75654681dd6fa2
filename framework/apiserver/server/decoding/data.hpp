#pragma once

#include <string_view>

/// The contents of the files in data/ that the server needs, embedded at build time.
namespace kopp::apiserver::data {

/// The version of Kubernetes that the files describe, such as "v1.34.4", and its second number.
extern const std::string_view kubernetes_version;
extern const std::string_view kubernetes_minor;

extern const std::string_view resources;
extern const std::string_view defaults;
extern const std::string_view virtual_schemas;
extern const std::string_view system_objects;

}  // namespace kopp::apiserver::data
