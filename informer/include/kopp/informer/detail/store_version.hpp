#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <stop_token>
#include <string>
#include <string_view>

#include <kopp/workqueue/clock.hpp>
#include <kopp/workqueue/guarded.hpp>

namespace kopp::informer {

/// The resource version up to which a store contains all changes of its kind, and waits for it. An
/// informer advances it with lists, events and bookmarks, after the store has their objects.
/// Changes of objects that could not be decoded are missing: the store keeps the state before.
///
/// Thread-safe.
class StoreVersion {
 public:
  /// `clock` must outlive the object.
  explicit StoreVersion(Clock& clock) : clock_(clock) {}

  /// Sets the version and wakes the waiting threads. An older version than the current one means
  /// that etcd was restored from a backup.
  void Set(const std::string& resource_version);
  /// Call before Set if the store may follow a restore although its version did not go back.
  void OnRestore();

  /// Returns the version; empty before the first list. client-go: LastSyncResourceVersion.
  [[nodiscard]] std::string Get() const;
  /// Returns whether the store contains the change that has made `resource_version`. Returns false
  /// if the versions are not comparable; see IsOlderResourceVersion.
  [[nodiscard]] bool HasReached(std::string_view resource_version) const;
  /// Returns how often etcd was restored, or may have been. Versions from before a restore cannot
  /// be compared with later ones.
  [[nodiscard]] std::uint64_t restores() const;

  /// Blocks until HasReached(resource_version), `deadline` or `stop`. Returns whether the version
  /// was reached.
  [[nodiscard]] bool WaitFor(std::string_view resource_version, TimePoint deadline,
                             const std::stop_token& stop) const;
  /// Blocks until `ready` returns true, `deadline` or `stop`. Returns the last result of `ready`,
  /// which is called at once and after each change of the store, without a lock.
  [[nodiscard]] bool WaitUntil(const std::function<bool()>& ready, TimePoint deadline,
                               const std::stop_token& stop) const;

 private:
  struct State {
    std::string resource_version = {};
    std::uint64_t restores = 0;
    std::uint64_t changes = 0;  // calls of Set and OnRestore
  };

  Clock& clock_;
  mutable kopp::detail::Guarded<State> state_;
  mutable std::condition_variable changed_;
};

}  // namespace kopp::informer
