#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace kopp::apiserver {

/// A resourceVersion. All resources share one sequence: each write gets the next number.
using ResourceVersion = std::uint64_t;

/// The parts of an object that selectors and garbage collection need. They are stored beside the
/// object's text, so that reading them requires no parsing.
struct ObjectAttributes {
  std::string uid{};
  std::map<std::string, std::string> labels{};
  std::map<std::string, std::string> fields{};  ///< values of the fields that selectors may name
  std::vector<std::string> owner_uids{};
  std::vector<std::string> blocked_owners{};  ///< uids of owners with blockOwnerDeletion
  bool foreground_deletion = false;  ///< is being deleted with propagationPolicy Foreground
};

}  // namespace kopp::apiserver
