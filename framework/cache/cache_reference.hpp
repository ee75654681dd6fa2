#pragma once

#include <condition_variable>

#include <kopp/cache.hpp>
#include <kopp/workqueue/guarded.hpp>

namespace kopp {

/// Refers to a cache, for users that may outlive it. Thread-safe.
class CacheReference {
 public:
  explicit CacheReference(Cache::Impl& cache) : state_(&cache) {}

  /// Calls `use` with the cache, unless Expire was called before. `use` must not throw.
  template <typename F>
  void Use(F use) {
    Cache::Impl* const cache = Acquire();
    if (cache == nullptr) return;
    use(*cache);
    --state_.Lock()->users;
    unused_.notify_all();
  }

  /// Blocks until the running calls of Use have returned; later calls have no effect. The caller
  /// keeps this object alive, because a call may still notify it.
  void Expire() {
    auto state = state_.Lock();
    state->cache = nullptr;
    state.Wait(unused_, [&] { return state->users == 0; });
  }

 private:
  struct State {
    Cache::Impl* cache = nullptr;
    int users = 0;  // running calls of Use
  };

  Cache::Impl* Acquire() {
    auto state = state_.Lock();
    if (state->cache != nullptr) ++state->users;
    return state->cache;
  }

  detail::Guarded<State> state_;
  std::condition_variable unused_;
};

}  // namespace kopp
