#pragma once

#include <cstdint>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>

#include <kopp/client_options.hpp>
#include <kopp/http_source.hpp>
#include <kopp/workqueue/clock.hpp>
#include <kopp/workqueue/owned_ptr.hpp>
#include <kopp/workqueue/random_source.hpp>

namespace kopp {

/// Options of Client::Watch.
struct WatchOptions {
  /// The watch reports the changes after this version, for example ListPage::resource_version.
  /// Required; must not be "0".
  std::string resource_version = {};
  Clock& clock = Clock::Real();  ///< must outlive the watcher
  /// The seed of the jitter of timeouts and delays.
  std::uint64_t seed = workqueue::RandomSeed();
};

/// The type of a watch event.
enum class WatchEventType {
  kAdded,     ///< the object was created, or matches the selector now
  kModified,  ///< the object was changed
  kDeleted,   ///< the object was deleted, or does not match the selector any more
  kBookmark,  ///< only `resource_version` is set
  /// Only `problem` is set. The watch broke and continues from the last version, or an event could
  /// not be decoded and was skipped.
  kError,
};

/// An event of a watch: watch.Event of apimachinery.
template <typename T>
struct WatchEvent {
  WatchEventType type = WatchEventType::kError;
  /// The new state of the object; for kDeleted, its last state, or only its metadata if the last
  /// state cannot be decoded as T.
  T object = {};
  std::string resource_version = {};  ///< of the object or the bookmark
  std::string problem = {};           ///< a text for a log
};

/// The type-erased implementation of Watcher, which documents reconnection and exceptions.
class AnyWatcher {
 public:
  /// Throws std::invalid_argument if options.resource_version is "" or "0". `decode` decodes the
  /// objects. `transport` must outlive the watcher.
  AnyWatcher(Transport& transport, const Kind& kind, AnyHttpSource::Decoder decode,
             Selector selector, const WatchOptions& options, std::stop_token stop);
  ~AnyWatcher();
  AnyWatcher(AnyWatcher&&) noexcept;
  AnyWatcher& operator=(AnyWatcher&&) noexcept;

  /// Like Watcher::Next: returns kEvent, kBookmark, kSkipped for a problem or kNoEvent.
  informer::WatchItem Next(Duration timeout);
  [[nodiscard]] const std::string& resource_version() const;

 private:
  class Impl;
  detail::OwnedPtr<Impl> impl_;
};

/// Watches objects: reads their changes as they happen. Created by Client::Watch.
///
///     const auto page = client.ListPage<Pod>({.ns = "shop"}, {.limit = 0});
///     auto pods = client.Watch<Pod>({.ns = "shop"}, {.resource_version = page.resource_version});
///     while (const auto event = pods.Next()) {
///       if (event->type == WatchEventType::kBookmark) continue;  // it has no object
///       if (event->type == WatchEventType::kError) continue;     // log event->problem
///       …
///     }
///
/// When the server ends the watch, or the connection breaks or is silent for too long, the watcher
/// opens the watch again from the version of the last event or bookmark, so no change is lost. It
/// opens a watch at most once a second, less often after repeated failures, and not before the
/// Retry-After of the server (at most a minute, plus jitter) has passed. It may first check the
/// newest version with a list of one object. Go: RetryWatcher of client-go.
///
/// A controller does not need it: informers watch and also list again. Movable, not copyable. Not
/// thread-safe. The client's transport must outlive it. The destructor closes the connection.
template <typename T>
class Watcher {
 public:
  explicit Watcher(AnyWatcher watcher) : watcher_(std::move(watcher)) {}

  /// Blocks until an event arrives, or `timeout` has passed; then it returns nullopt. If it has to
  /// send a request, it may block longer, up to TransportOptions::call_timeout for each request.
  /// Next(0s) returns an event that has already arrived. Throws
  /// - ApiError if the watch cannot continue. With IsGone(), the version has expired, or etcd was
  ///   restored from a backup: list again, and watch from the version of the list. Other errors are
  ///   of a request that the server rejects, for example with IsForbidden(),
  /// - DecodeError after three events in a row that are not JSON,
  /// - TransportError (kCancelled) if a stop is requested by the token of the client.
  /// Do not call it again after an exception.
  std::optional<WatchEvent<T>> Next(Duration timeout = Duration::max()) {
    informer::WatchItem item = watcher_.Next(timeout);
    if (item.type == informer::WatchItem::Type::kNoEvent) return std::nullopt;
    return WatchEvent<T>{TypeOf(item), ObjectOf(item), std::move(item.resource_version),
                         std::move(item.problem)};
  }

  /// Returns the version of the last event or bookmark. A later watch can continue from it.
  [[nodiscard]] const std::string& resource_version() const { return watcher_.resource_version(); }

 private:
  static WatchEventType TypeOf(const informer::WatchItem& item) {
    using Type = informer::WatchItem::Type;
    if (item.type == Type::kBookmark) return WatchEventType::kBookmark;
    if (item.type != Type::kEvent) return WatchEventType::kError;
    switch (item.event_type) {
      case informer::EventType::kAdded:
        return WatchEventType::kAdded;
      case informer::EventType::kModified:
        return WatchEventType::kModified;
      case informer::EventType::kDeleted:
        break;
    }
    return WatchEventType::kDeleted;
  }
  static T ObjectOf(const informer::WatchItem& item) {
    if (!item.object) return {};
    if (!item.metadata_only) return *item.object.As<T>();
    T object;
    object.metadata = item.object.metadata();
    return object;
  }

  AnyWatcher watcher_;
};

}  // namespace kopp
