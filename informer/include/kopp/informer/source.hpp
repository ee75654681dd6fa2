#pragma once

#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include <kopp/informer/any_object.hpp>
#include <kopp/workqueue/clock.hpp>

namespace kopp::informer {

struct ListOptions {
  std::string resource_version = {};  ///< "0": any the server has at hand; "": the newest there is
  int limit = 0;                      ///< objects a page; 0: all at once
  std::string continue_token = {};    ///< from the page before
};

/// An object that could not be used.
struct Skipped {
  ObjectKey key = {};
  std::string problem = {};
};

struct ListResult {
  std::string resource_version = {};
  std::string continue_token = {};  ///< empty: this was the last page
  std::vector<Skipped> skipped = {};
};

struct WatchOptions {
  std::string resource_version = {};  ///< events after this version
  Duration timeout{};                 ///< the server ends the watch by itself then
};

enum class EventType {
  kAdded,
  kModified,
  kDeleted,
};

/// What a watch brings.
struct WatchItem {
  enum class What {
    kEvent,     ///< `type` and `object`
    kBookmark,  ///< nothing but `resource_version`
    kSkipped,   ///< an event that could not be used; `problem` says why
    kSilent,    ///< nothing came in time; the watch goes on
    kEnd,       ///< the server ended the watch in order
  };
  What what = What::kEnd;
  EventType type = EventType::kAdded;
  AnyObject object = {};
  std::string resource_version = {};  ///< of the object, or the bookmark's
  std::string problem = {};
};

/// A watch under way; ends with this object. Used by one thread.
class WatchStream {
 public:
  virtual ~WatchStream() = default;
  WatchStream(const WatchStream&) = delete;
  WatchStream& operator=(const WatchStream&) = delete;

  /// Blocks until something comes or `limit` passes. Throws as a source does; also DecodeError
  /// (malformed) for a frame that is not JSON.
  virtual WatchItem Next(Duration limit) = 0;

 protected:
  WatchStream() = default;
};

/// Where an informer's objects come from, all of them of one view: an API server, or a script in a
/// test. Used by one thread.
///
/// Throws ApiError for a refusal, the one sent within a stream included, and any other exception
/// when no answer could be had. Ends promptly when `stop` asks, by throwing too.
/// client-go: ListerWatcher.
class AnySource {
 public:
  virtual ~AnySource() = default;
  AnySource(const AnySource&) = delete;
  AnySource& operator=(const AnySource&) = delete;

  /// Calls `each` for each object as it arrives. Whatever came before a throw is void.
  virtual ListResult List(const ListOptions& options, const std::function<void(AnyObject)>& each,
                          std::stop_token stop) = 0;

  virtual std::unique_ptr<WatchStream> Watch(const WatchOptions& options, std::stop_token stop) = 0;

 protected:
  AnySource() = default;
};

/// An AnySource whose objects are of the view `T`.
template <Object T>
class Source : public AnySource {};

}  // namespace kopp::informer
