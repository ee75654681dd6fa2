#pragma once

#include "log_file.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <random>
#include <string>
#include <utility>

#include <kopp/client.hpp>

namespace kopp::soak {

/// Creates, updates and deletes ConfigMaps at random, and logs the results. Names are used again
/// after a deletion, so that objects with the same key and another uid follow each other. Not
/// thread-safe.
class Churn {
 public:
  /// `log` must outlive the object.
  Churn(Client client, std::uint64_t seed, LogFile& log)
      : client_(std::move(client)), random_(seed), log_(log) {}

  /// Writes one object. Throws ApiError and TransportError.
  void Write();
  /// Creates or updates an object, so that last_version() is that of the last write.
  void WriteLast();

  /// Returns the version of the last create or update.
  [[nodiscard]] const std::string& last_version() const { return last_version_; }
  [[nodiscard]] std::size_t writes() const { return writes_; }

 private:
  void CreateOrUpdate(const std::string& name);
  void Log(const std::string& type, const ObjectMeta& metadata);

  Client client_;
  std::mt19937_64 random_;
  LogFile& log_;
  std::map<std::string, ObjectMeta> existing_;  // by name
  std::string last_version_;
  std::size_t writes_ = 0;
};

}  // namespace kopp::soak
