#pragma once

#include <memory>
#include <stop_token>
#include <utility>
#include <vector>

#include <kopp/informer/event_handler.hpp>

namespace kopp {

class InformerSet;

/// A watch that a program has started while it runs; see Controller::Watch. Owns the watch: when
/// the last handle of a view is stopped or destroyed, its informers stop and the cache forgets the
/// objects, unless a controller or InformerFor has added the view for good. May outlive the
/// manager. Not thread-safe.
class [[nodiscard]] WatchHandle {
 public:
  /// Creates a handle without a watch.
  WatchHandle() = default;
  WatchHandle(std::shared_ptr<InformerSet> informers,
              std::vector<informer::HandlerRegistration> registrations)
      : informers_(std::move(informers)), registrations_(std::move(registrations)) {}
  ~WatchHandle() { Stop(); }
  WatchHandle(WatchHandle&& other) noexcept = default;
  WatchHandle& operator=(WatchHandle&& other) noexcept {
    Stop();
    informers_ = std::move(other.informers_);
    registrations_ = std::move(other.registrations_);
    return *this;
  }

  /// Returns whether the handle has a watch that was not stopped.
  [[nodiscard]] bool active() const { return informers_ != nullptr; }
  /// Blocks until the first list is complete and the handler has been called for it, until `stop`
  /// is requested, or until the watch ends. Returns whether the list is complete. Requires:
  /// active().
  bool WaitForSync(const std::stop_token& stop) const;

  /// Stops the watch. Blocks until a running call of its handler has returned and, if it is the
  /// last handle of the view, until its threads have ended. Must not be called by a handler. The
  /// keys that are already queued are still reconciled. May be called again.
  void Stop();

 private:
  std::shared_ptr<InformerSet> informers_;  // from Cache::Acquire
  std::vector<informer::HandlerRegistration> registrations_;
};

}  // namespace kopp
