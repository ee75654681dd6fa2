#pragma once

#include <stdexcept>

namespace kopp {

/// Thrown for a configuration that cannot be used. what() is one line with the problem, its
/// location and a remedy.
class ConfigError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace kopp
