#pragma once

#include <chrono>
#include <set>
#include <string>
#include <unordered_map>

#include <kopp/informer/object_key.hpp>
#include <kopp/workqueue/clock.hpp>
#include <kopp/workqueue/guarded.hpp>

namespace kopp {

/// Remembers, for each object of a controller, the creations and deletions that the controller has
/// requested and not observed yet, so that it does not act on a stale view. Thread-safe; does not
/// block. k8s.io/kubernetes: UIDTrackingControllerExpectations.
///
/// Reads of Context::cache already contain the writes of Context::client. Use Expectations for
/// effects that the cache does not await: of writes through another client, of writes whose
/// response was lost, of other programs, or outside of the cluster.
///
///     if (!expectations.Satisfied(context.key)) return {};  // an observation enqueues the key
///     expectations.Expect(context.key, {.creations = 2});   // before the calls
///     …                                                     // create two machines
///
/// Call CreationObserved and DeletionObserved where you learn of the effect, for example in a
/// handler, and when a call fails, because its effect will not come. Both may be called without an
/// expectation. If an observation is missed, Satisfied returns true after the timeout.
class Expectations {
 public:
  /// What to wait for.
  struct Effects {
    int creations = 0;
    std::set<std::string> deletions = {};  ///< the uids, or other unique names
  };

  static constexpr Duration kDefaultTimeout = std::chrono::minutes(5);

  /// `clock` must outlive the object. Throws std::invalid_argument unless `timeout` is positive.
  explicit Expectations(Clock& clock = Clock::Real(), Duration timeout = kDefaultTimeout);

  /// Replaces what is expected for `key`, and starts its timeout.
  void Expect(const ObjectKey& key, Effects effects);
  /// Removes one expected creation of `key`.
  void CreationObserved(const ObjectKey& key);
  /// Removes the expected deletion of `uid`. Has no effect if it was observed before.
  void DeletionObserved(const ObjectKey& key, const std::string& uid);
  /// Returns whether nothing is expected for `key` any more, or since longer than the timeout.
  [[nodiscard]] bool Satisfied(const ObjectKey& key);
  /// Forgets `key`. Call it after the object was deleted.
  void Forget(const ObjectKey& key);

 private:
  struct Expected {
    Effects effects = {};
    TimePoint expires_at{};
  };
  using Entries = std::unordered_map<ObjectKey, Expected>;

  static void EraseIfObserved(Entries& entries, Entries::iterator entry);

  Clock& clock_;
  const Duration timeout_;
  detail::Guarded<Entries> entries_;
};

}  // namespace kopp
