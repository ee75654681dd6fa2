#pragma once

#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include <kopp/informer/any_object.hpp>
#include <kopp/workqueue/clock.hpp>

namespace kopp::informer {

/// Options of a list request: the supported fields of metav1.ListOptions.
struct ListRequest {
  /// "": the newest version; "0": any version; otherwise: not older than this version.
  std::string resource_version = {};
  int limit = 0;                    ///< objects per page; 0: all in one response
  std::string continue_token = {};  ///< from the previous page; empty for the first page
  /// Lists exactly `resource_version`, which must not be "" or "0". Also set for the next pages.
  bool exact = false;
  /// Lists only the object with this key, if it exists; without a name: all objects.
  ObjectKey object = {};
  /// The caller reads only the metadata of the objects. A source may then request only metadata,
  /// and pass objects that must not be converted to the view with As: see
  /// ListResult::metadata_only.
  bool metadata_only = false;
};

/// An object of a list that could not be decoded.
struct SkippedItem {
  ObjectKey key = {};        ///< without a name if it could not be read
  std::string problem = {};  ///< the reason, for a log
};

/// One page of a list, without its objects.
struct ListResult {
  std::string resource_version = {};  ///< of the whole list; a watch continues from it
  std::string continue_token = {};    ///< empty for the last page
  std::vector<SkippedItem> skipped = {};
  /// ListRequest::metadata_only was applied. The page then also has objects that do not fit the
  /// view.
  bool metadata_only = false;
};

/// Options of a watch request: the supported fields of metav1.ListOptions.
struct WatchRequest {
  std::string resource_version = {};  ///< the watch sends the events after this version
  Duration timeout{};                 ///< the server ends the watch after this time
  /// A streaming list: the watch first sends kAdded for each existing object, in a state that is
  /// not older than `resource_version` ("": the newest), and then a bookmark with
  /// WatchItem::initial_events_end. A server that does not support this rejects the request, sends
  /// an ERROR event or never sends the bookmark.
  bool send_initial_events = false;
};

/// The type of a watch event: ADDED, MODIFIED or DELETED.
enum class EventType {
  kAdded,
  kModified,
  kDeleted,
};

/// The result of WatchStream::Next. Go: watch.Event in k8s.io/apimachinery.
struct WatchItem {
  enum class Type {
    kEvent,     ///< a change: see `event_type`, `object` and `resource_version`
    kBookmark,  ///< only `resource_version` is set
    kSkipped,   ///< an event that cannot be applied (not decodable, unknown type or another kind):
                ///< only `problem` is guaranteed to be set
    kNoEvent,   ///< the timeout passed, or only part of an event arrived; the watch is still open
    kEnd,       ///< the server ended the watch without an error
  };
  Type type = Type::kEnd;
  EventType event_type = EventType::kAdded;
  AnyObject object = {};
  /// For a deletion: `object` did not fit the view. It has only its metadata, and must not be
  /// converted to the view with As.
  bool metadata_only = false;
  std::string resource_version = {};  ///< of the object or the bookmark; may be empty
  std::string problem = {};           ///< the reason for kSkipped, for a log
  ObjectKey skipped_key = {};         ///< for kSkipped; without a name if it could not be read
  /// For a bookmark: the watch has sent all initial events (WatchRequest::send_initial_events).
  bool initial_events_end = false;
};

/// An open watch. The destructor closes it. Not thread-safe.
class WatchStream {
 public:
  virtual ~WatchStream() = default;
  WatchStream(const WatchStream&) = delete;
  WatchStream& operator=(const WatchStream&) = delete;

  /// Blocks until an item arrives or `timeout` has passed. Throws as described for AnySource. Do
  /// not call it again after kEnd or an exception.
  virtual WatchItem Next(Duration timeout) = 0;

 protected:
  WatchStream() = default;
};

/// Lists and watches the objects of one kind for an informer: AnyHttpSource for an API server,
/// testing::FakeSource in tests. All objects have the same C++ type. A source need not be
/// thread-safe: an informer calls it on one thread. client-go: cache.ListerWatcher.
///
/// List, Watch and WatchStream::Next throw
/// - ApiError if the server rejects the request or sends an ERROR event in a watch,
/// - DecodeError if the response is not valid JSON or has an unexpected form,
/// - another exception derived from std::exception, such as TransportError, if there is no complete
///   response. After a stop request, they throw such an exception without waiting for the server.
class AnySource {
 public:
  virtual ~AnySource() = default;
  AnySource(const AnySource&) = delete;
  AnySource& operator=(const AnySource&) = delete;

  /// Requests one page of a list. Blocks until it is complete and calls `on_object` for each object
  /// as it arrives, on the calling thread. An exception of `on_object` ends the request and is
  /// rethrown. If List throws, the caller must discard the objects that it has received.
  virtual ListResult List(const ListRequest& options,
                          const std::function<void(AnyObject)>& on_object,
                          std::stop_token stop) = 0;

  /// Opens a watch; blocks until the server has accepted it. `stop` also applies to the stream. The
  /// source must outlive the stream.
  virtual std::unique_ptr<WatchStream> Watch(const WatchRequest& options, std::stop_token stop) = 0;

 protected:
  AnySource() = default;
};

/// An AnySource of objects of the view `T`.
template <ApiObject T>
class Source : public AnySource {};

}  // namespace kopp::informer
