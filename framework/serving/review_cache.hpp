#pragma once

#include "client/lru_map.hpp"

#include <condition_variable>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include <kopp/workqueue/clock.hpp>
#include <kopp/workqueue/guarded.hpp>

namespace kopp {

/// Keeps the results of reviews by key, each for its own time. Concurrent calls for one key share
/// one review. Thread-safe.
template <typename Result>
class ReviewCache {
 public:
  /// A result and how long it is valid; 0: it is not kept.
  struct Reviewed {
    Result result;
    Duration ttl{};
  };

  /// Keeps at most `capacity` results. `clock` must outlive the cache.
  ReviewCache(std::size_t capacity, Clock& clock) : clock_(clock), entries_(capacity) {}

  /// Returns the valid result for `key`; nullopt if there is none.
  [[nodiscard]] std::optional<Result> Find(const std::string& key) {
    const TimePoint now = clock_.Now();
    auto entries = entries_.Lock();
    const std::shared_ptr<Entry>* known = entries->Find(key);
    if (known == nullptr || !(*known)->result || (*known)->expires <= now) return std::nullopt;
    return (*known)->result;
  }

  /// Returns the result for `key`. If there is none, calls `review`, or blocks until the call of
  /// another thread has returned. If `review` throws, the threads that wait get `failed`, and the
  /// next call reviews again.
  Result Get(const std::string& key, const std::function<Reviewed()>& review,
             const Result& failed) {
    auto own = std::make_shared<Entry>();
    {
      const TimePoint now = clock_.Now();
      auto entries = entries_.Lock();
      std::shared_ptr<Entry>& slot = entries->GetOr(key, [&] { return own; });
      const std::shared_ptr<Entry> known = slot;
      if (known != own && (!known->result || known->expires > now)) {
        entries.Wait(finished_, [&] { return known->result.has_value(); });
        return *known->result;
      }
      slot = own;
    }
    try {
      const Reviewed reviewed = review();
      Finish(*own, reviewed.result, SaturatingAdd(clock_.Now(), reviewed.ttl));
      return reviewed.result;
    } catch (...) {
      Finish(*own, failed, clock_.Now());
      throw;
    }
  }

 private:
  struct Entry {
    std::optional<Result> result;  // empty while the review runs
    TimePoint expires{};
  };

  void Finish(Entry& entry, const Result& result, TimePoint expires) {
    {
      auto entries = entries_.Lock();
      entry.result = result;
      entry.expires = expires;
    }
    finished_.notify_all();
  }

  Clock& clock_;
  detail::Guarded<LruMap<std::string, std::shared_ptr<Entry>>> entries_;
  std::condition_variable finished_;
};

}  // namespace kopp
