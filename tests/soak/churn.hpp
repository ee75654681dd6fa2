#pragma once

#include <cstddef>
#include <cstdint>
#include <random>
#include <set>
#include <string>

#include <kopp/client.hpp>

namespace kopp::soak {

/// Creates, updates and deletes ConfigMaps at random. Names are used again after a deletion, so
/// that objects with the same key and another uid follow each other. Not thread-safe.
class Churn {
 public:
  Churn(Client client, std::uint64_t seed) : client_(std::move(client)), random_(seed) {}

  /// Writes one object. Throws ApiError and TransportError.
  void Write();
  /// Creates or updates an object, so that last_version() is that of the last write.
  void WriteLast();

  /// Returns the version of the last create or update.
  [[nodiscard]] const std::string& last_version() const { return last_version_; }
  [[nodiscard]] std::size_t writes() const { return writes_; }

 private:
  void CreateOrUpdate(const std::string& name);

  Client client_;
  std::mt19937_64 random_;
  std::set<std::string> existing_;
  std::string last_version_;
  std::size_t writes_ = 0;
};

}  // namespace kopp::soak
