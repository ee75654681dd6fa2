#pragma once

#include "resource.hpp"
#include "store.hpp"

#include <cstdint>
#include <memory>
#include <random>
#include <string>
#include <utility>

#include <kopp/workqueue/clock.hpp>
#include <kopp/workqueue/guarded.hpp>

namespace kopp::apiserver {

/// What all parts of the server share: time, chance, the objects and what is served. Safe to use
/// from any thread.
class World {
 public:
  World(Clock& clock, std::uint64_t seed, Store::Options options)
      : clock_(clock),
        store_(options),
        chance_(seed),
        catalog_(std::make_shared<const Catalog>(Catalog::BuiltIn())) {}

  [[nodiscard]] Clock& clock() { return clock_; }
  [[nodiscard]] Store& store() { return store_; }

  [[nodiscard]] std::shared_ptr<const Catalog> catalog() { return *catalog_.Lock(); }
  void Serve(const std::string& kept_as, std::vector<Catalog::Entry> versions);

  /// The wall clock's time, or one `later`: "2026-01-02T03:04:05Z".
  [[nodiscard]] std::string Now(Duration later = {});
  /// "2026-01-02T03:04:05.000006Z".
  [[nodiscard]] std::string NowInMicroseconds();
  /// A random UUID.
  [[nodiscard]] std::string NewUid();
  /// `prefix` and five characters that make no words.
  [[nodiscard]] std::string NewName(const std::string& prefix);

 private:
  Clock& clock_;
  Store store_;
  Guarded<std::mt19937_64> chance_;
  Guarded<std::shared_ptr<const Catalog>> catalog_;
};

}  // namespace kopp::apiserver
