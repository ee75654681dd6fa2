#pragma once

#include "api/resource.hpp"
#include "storage/store.hpp"

#include <cstdint>
#include <memory>
#include <random>
#include <string>
#include <utility>

#include <kopp/workqueue/clock.hpp>
#include <kopp/workqueue/guarded.hpp>

namespace kopp::apiserver {

/// The state that all handlers share: clock, random numbers, store and served resources.
/// Thread-safe. The clock must outlive the context.
class ServerContext {
 public:
  ServerContext(Clock& clock, std::uint64_t seed, Store::Options options)
      : clock_(clock),
        store_(options),
        random_(seed),
        catalog_(std::make_shared<const Catalog>(Catalog::BuiltIn())) {}

  [[nodiscard]] Clock& clock() { return clock_; }
  [[nodiscard]] Store& store() { return store_; }

  /// Returns the resources that are served now.
  [[nodiscard]] std::shared_ptr<const Catalog> catalog() { return *catalog_.Lock(); }
  /// Replaces the served versions of a storage resource. An empty list stops serving it.
  void SetServedVersions(const std::string& storage_resource, std::vector<ResourcePtr> versions);

  /// Returns the wall clock time plus `offset` as RFC 3339: "2026-01-02T03:04:05Z".
  [[nodiscard]] std::string Now(Duration offset = {});
  /// Returns the wall clock time with microseconds: "2026-01-02T03:04:05.000006Z".
  [[nodiscard]] std::string NowInMicroseconds();
  /// Returns a random UUID (version 4).
  [[nodiscard]] std::string NewUid();
  /// Returns `prefix` and five random characters, like metadata.generateName. The alphabet has no
  /// vowels, so no words result. A prefix that is too long is cut.
  [[nodiscard]] std::string GenerateName(const std::string& prefix);

 private:
  Clock& clock_;
  Store store_;
  Guarded<std::mt19937_64> random_;
  Guarded<std::shared_ptr<const Catalog>> catalog_;
};

}  // namespace kopp::apiserver
