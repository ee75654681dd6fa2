#pragma once

#include "website.hpp"

#include <map>
#include <mutex>
#include <string>

namespace website {

/// Records in DNS, in memory: replace it by a client of your provider. Thread-safe.
class Dns {
 public:
  void Set(const std::string& owner, const std::string& host);
  /// Removes the records of `owner`, if there are any.
  void Remove(const std::string& owner);
  [[nodiscard]] std::map<std::string, std::string> Records() const;

 private:
  mutable std::mutex mutex_;
  std::map<std::string, std::string> records_;
};

/// Adds the controller for Websites to `manager`, with what it watches and the permissions that it
/// needs. `dns` must outlive the manager.
void AddController(kopp::Manager& manager, Dns& dns);

}  // namespace website
