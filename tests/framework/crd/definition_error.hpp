#pragma once

#include <stdexcept>
#include <string>

#include <kopp/crd.hpp>

namespace kopp::testing {

/// Returns the error of the definition of a kind, or "valid: " and its name.
template <typename... Versions>
std::string ErrorOfDefinition() {
  try {
    return "valid: " + CustomResourceDefinitionOf<Versions...>().name();
  } catch (const std::logic_error& error) {
    return error.what();
  }
}

}  // namespace kopp::testing
