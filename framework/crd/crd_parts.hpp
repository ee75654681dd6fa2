#pragma once

#include <set>
#include <string>

#include <nlohmann/json.hpp>

#include <kopp/crd.hpp>

namespace kopp::detail {

/// The parts of a CustomResourceDefinition that one version of a kind defines.
struct CrdBuilder::Parts {
  std::string group{};
  std::string scope{};
  nlohmann::json names = nlohmann::json::object();  ///< without the lists below
  std::set<std::string> short_names{};
  std::set<std::string> categories{};
  nlohmann::json labels = nlohmann::json::object();
  nlohmann::json annotations = nlohmann::json::object();
  nlohmann::json version = nlohmann::json::object();  ///< an item of spec.versions
};

}  // namespace kopp::detail
