#pragma once

#include <utility>

#include <kopp/cache.hpp>

namespace kopp {

/// A Cache for a program or a test without a manager. Add its informers, start it, and wait:
///
///     kopp::StandaloneCache cache(transport, {}, log, kopp::Clock::Real());
///     cache.InformerFor<kopp::Pod>();
///     cache.Start();
///     cache.WaitForSync({});
class StandaloneCache : public Cache {
 public:
  /// `transport` and `clock` must outlive the cache. InformerFor throws std::invalid_argument if
  /// a namespace in `options` is not valid.
  StandaloneCache(Transport& transport, CacheOptions options, Logger log, Clock& clock)
      : Cache(transport, std::move(options), std::move(log), clock) {}

  /// Starts one thread for each informer, which lists and watches. Call it once. Does nothing after
  /// Stop.
  void Start();
  /// Stops the threads and blocks until they have ended. Reads that wait throw. The objects remain
  /// readable. May be called again. Does not wait for running calls of handlers; the destructor
  /// does.
  void Stop();
  /// Returns the observer for the clients whose writes the reads of this cache contain; see
  /// Client::WithWriteObserver.
  [[nodiscard]] WriteObserver& write_observer();
};

}  // namespace kopp
