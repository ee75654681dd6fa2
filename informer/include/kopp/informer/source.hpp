#pragma once

#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include <kopp/informer/any_object.hpp>
#include <kopp/workqueue/clock.hpp>

namespace kopp::informer {

/// metav1.ListOptions of a list request.
struct ListOptions {
  std::string resource_version = {};  ///< "0": any version in the server's cache; "": the newest
  int limit = 0;                      ///< objects per page; 0: all in one response
  std::string continue_token = {};    ///< from the previous page; empty for the first page
};

/// An object of a list that could not be decoded.
struct SkippedObject {
  ObjectKey key = {};
  std::string problem = {};  ///< the reason, for a log
};

/// One page of a list, without its objects.
struct ListResult {
  std::string resource_version = {};
  std::string continue_token = {};  ///< empty for the last page
  std::vector<SkippedObject> skipped = {};
};

/// metav1.ListOptions of a watch request.
struct WatchOptions {
  std::string resource_version = {};  ///< the watch sends the events after this version
  Duration timeout{};                 ///< the server ends the watch after this time
};

/// The type of a change.
enum class EventType {
  kAdded,
  kModified,
  kDeleted,
};

/// The result of WatchStream::Next. client-go: watch.Event.
struct WatchItem {
  enum class Type {
    kEvent,     ///< a change: see `event_type`, `object` and `resource_version`
    kBookmark,  ///< only `resource_version` is set
    kSkipped,   ///< an event that could not be decoded: see `problem`
    kNoEvent,   ///< the timeout passed, or only part of an event arrived; the watch is still open
    kEnd,       ///< the server ended the watch without an error
  };
  Type type = Type::kEnd;
  EventType event_type = EventType::kAdded;
  AnyObject object = {};
  std::string resource_version = {};  ///< of the object or the bookmark; may be empty
  std::string problem = {};
};

/// An open watch. The destructor closes it. Not thread-safe.
class WatchStream {
 public:
  virtual ~WatchStream() = default;
  WatchStream(const WatchStream&) = delete;
  WatchStream& operator=(const WatchStream&) = delete;

  /// Blocks until an item arrives or `timeout` has passed. Throws like AnySource; throws
  /// DecodeError (kMalformed) for a frame that is not valid JSON.
  virtual WatchItem Next(Duration timeout) = 0;

 protected:
  WatchStream() = default;
};

/// Provides the objects of an informer: an API server, or a FakeSource in a test. All objects of a
/// source are of the same view. A source need not be thread-safe. client-go: ListerWatcher.
///
/// List, Watch and WatchStream::Next throw ApiError if the server rejects the request or sends an
/// ERROR event in a watch. They throw other exceptions if there is no response, for example after a
/// connection failure. When `stop` is requested, they throw promptly.
class AnySource {
 public:
  virtual ~AnySource() = default;
  AnySource(const AnySource&) = delete;
  AnySource& operator=(const AnySource&) = delete;

  /// Requests one page of a list. Blocks until it is complete and calls `on_object` for each object
  /// as it arrives. If List throws, the caller must discard the objects that it has received.
  virtual ListResult List(const ListOptions& options,
                          const std::function<void(AnyObject)>& on_object,
                          std::stop_token stop) = 0;

  /// Opens a watch; blocks until the server has accepted it. `stop` also applies to the stream. The
  /// source must outlive the stream.
  virtual std::unique_ptr<WatchStream> Watch(const WatchOptions& options, std::stop_token stop) = 0;

 protected:
  AnySource() = default;
};

/// An AnySource of objects of the view `T`.
template <Object T>
class Source : public AnySource {};

}  // namespace kopp::informer
