#include "client/list_response.hpp"
#include "client/open_stream.hpp"
#include "net/resource_path.hpp"

#include <chrono>
#include <deque>
#include <map>
#include <optional>

#include <kopp/http_source.hpp>
#include <kopp/informer/api_error.hpp>
#include <kopp/informer/json_splitter.hpp>

namespace kopp {
namespace {

using detail::CollectionPath;
using detail::WithQuery;
using namespace std::chrono_literals;

constexpr Duration kListIdleTimeout = 30s;  // a list fails if no byte arrives for this time

/// One event of a watch: metav1.WatchEvent.
struct WatchFrame {
  std::string type;
  RawJson object;
};
KOPP_FIELDS(WatchFrame, type, object)

/// The type, identity and version of an object.
struct ObjectHeader {
  struct Metadata {
    std::string name;
    std::string ns;
    std::string resourceVersion;
  };
  std::string apiVersion;
  std::string kind;
  Metadata metadata;
};
KOPP_FIELDS(ObjectHeader::Metadata, name, KOPP_FIELD(ns, "namespace"), resourceVersion)
KOPP_FIELDS(ObjectHeader, apiVersion, kind, metadata)

/// A BOOKMARK event. It has the annotation if the watch has sent all initial events.
struct Bookmark {
  struct Metadata {
    std::map<std::string, std::string> annotations;
  };
  Metadata metadata;
};
KOPP_FIELDS(Bookmark::Metadata, annotations)
KOPP_FIELDS(Bookmark, metadata)

struct MetadataOnly {
  ObjectMeta metadata;
};
KOPP_FIELDS(MetadataOnly, metadata)

/// Returns nullopt for BOOKMARK, ERROR and unknown types.
std::optional<informer::EventType> EventTypeOf(std::string_view type) {
  using informer::EventType;
  if (type == "ADDED") return EventType::kAdded;
  if (type == "MODIFIED") return EventType::kModified;
  if (type == "DELETED") return EventType::kDeleted;
  return std::nullopt;
}

/// Returns the key of an object that may have any shape; without a name if it has none.
ObjectKey KeyFromJson(std::string_view object) {
  try {
    const auto head = Decode<ObjectHeader>(object);
    return {head.metadata.ns, head.metadata.name};
  } catch (const DecodeError&) {
    return {};
  }
}

bool EndsInitialEvents(std::string_view bookmark) {
  const auto annotations = Decode<Bookmark>(bookmark).metadata.annotations;
  const auto found = annotations.find("k8s.io/initial-events-end");
  return found != annotations.end() && found->second == "true";
}

[[noreturn]] void ThrowMalformed(const std::string& problem) {
  throw DecodeError(DecodeError::Kind::kMalformed, "", problem);
}

}  // namespace

/// Returns an empty AnyObject and sets `problem` if the object does not fit the view or has no
/// name. Throws DecodeError for malformed JSON.
informer::AnyObject AnyHttpSource::TryDecode(std::string_view text, std::string& problem) const {
  try {
    informer::AnyObject object = decode_(text);
    if (!object.metadata().name.empty()) return object;
    problem = "skipped a " + std::string(kind_.kind) + " without metadata.name";
    return {};
  } catch (const DecodeError& error) {
    if (error.kind() == DecodeError::Kind::kMalformed) throw;
    problem = "skipped the " + std::string(kind_.kind) + " " + KeyFromJson(text).ToString() +
              ", which does not fit its view: " + error.what();
    return {};
  }
}

/// TryDecode for an item of a list: also skips malformed JSON, so that one object cannot hide all
/// others. A watch reads a malformed event again instead, and then lists.
informer::AnyObject AnyHttpSource::TryDecodeItem(std::string_view text,
                                                 std::string& problem) const {
  try {
    return TryDecode(text, problem);
  } catch (const DecodeError& error) {
    const ObjectKey key = KeyFromJson(text);
    problem = "skipped the " + std::string(kind_.kind) + " " +
              (key.name.empty() ? "with an unknown name" : key.ToString()) +
              ", which is not valid JSON: " + error.what();
    return {};
  }
}

informer::ListResult AnyHttpSource::List(const informer::ListOptions& options,
                                         const std::function<void(informer::AnyObject)>& on_object,
                                         std::stop_token stop) {
  const Request request{
      .target = WithQuery(CollectionPath(kind_, filter_.ns),
                          {{"labelSelector", filter_.label_selector},
                           {"fieldSelector", filter_.field_selector},
                           {"resourceVersion", options.resource_version},
                           {"limit", options.limit == 0 ? "" : std::to_string(options.limit)},
                           {"continue", options.continue_token}})};
  const auto stream = OpenStream(transport_, request, "LIST", stop);
  informer::ListResult result;
  JsonSplitter splitter(JsonSplitter::Mode::kListItems, [&](std::string_view item) {
    std::string problem;
    if (auto object = TryDecodeItem(item, problem)) {
      on_object(std::move(object));
    } else {
      result.skipped.push_back({KeyFromJson(item), std::move(problem)});
    }
  });
  for (auto chunk = stream->Read(kListIdleTimeout); chunk.state != Stream::State::kEnd;
       chunk = stream->Read(kListIdleTimeout)) {
    if (chunk.state == Stream::State::kSilent) {
      throw TransportError(TransportError::Kind::kTimeout,
                           "LIST " + request.target + ": no data for 30 s");
    }
    splitter.Feed(chunk.bytes);
  }
  auto list = DecodeListResponse(splitter);
  if (list.metadata.resourceVersion.empty()) ThrowMalformed("the list has no resource version");
  result.resource_version = std::move(list.metadata.resourceVersion);
  result.continue_token = std::move(list.metadata.continue_token);
  return result;
}

/// Splits the body of a watch response into events and decodes them.
class AnyHttpSource::HttpWatchStream final : public informer::WatchStream {
 public:
  /// `request` names the watch in messages, such as "WATCH /api/v1/pods?…".
  HttpWatchStream(const AnyHttpSource& source, std::string request, std::unique_ptr<Stream> stream)
      : source_(source), request_(std::move(request)), stream_(std::move(stream)) {}

  informer::WatchItem Next(Duration limit) override {
    if (events_.empty()) {
      const Stream::Chunk chunk = stream_->Read(limit);
      if (chunk.state == Stream::State::kSilent) return {.type = Type::kNoEvent};
      if (chunk.state == Stream::State::kEnd) {
        if (splitter_.IsComplete()) return {.type = Type::kEnd};
        ThrowMalformed("the watch ended in the middle of an event");
      }
      splitter_.Feed(chunk.bytes);
      if (events_.empty()) return {.type = Type::kNoEvent};  // part of an event
    }
    const std::string text = std::move(events_.front());
    events_.pop_front();
    return ItemOf(Decode<WatchFrame>(text));
  }

 private:
  using Type = informer::WatchItem::Type;

  [[nodiscard]] informer::WatchItem ItemOf(const WatchFrame& event) const {
    if (event.type == "ERROR") throw ApiError(request_, Decode<Status>(event.object.text));
    const auto type = EventTypeOf(event.type);
    const bool bookmark = event.type == "BOOKMARK";
    if (!type && !bookmark) return Skip("of the unknown type \"" + event.type + "\"");

    const auto header = Decode<ObjectHeader>(event.object.text);
    if (header.kind != source_.kind_.kind || header.apiVersion != source_.kind_.api_version) {
      return Skip("about a " + header.apiVersion + " " + header.kind);
    }
    const std::string& version = header.metadata.resourceVersion;
    if (bookmark) {
      return {.type = Type::kBookmark,
              .resource_version = version,
              .initial_events_end = !version.empty() && EndsInitialEvents(event.object.text)};
    }
    std::string problem;
    informer::AnyObject object = source_.TryDecode(event.object.text, problem);
    const bool metadata_only =
        !object && *type == informer::EventType::kDeleted && !header.metadata.name.empty();
    if (metadata_only) {  // a deletion identifies its object even if it does not fit the view
      object = source_.decode_(Encode(Decode<MetadataOnly>(event.object.text)));
    }
    ObjectKey skipped_key;
    if (!object) skipped_key = {header.metadata.ns, header.metadata.name};
    return {.type = object ? Type::kEvent : Type::kSkipped,
            .event_type = *type,
            .object = std::move(object),
            .metadata_only = metadata_only,
            .resource_version = version,
            .problem = std::move(problem),
            .skipped_key = std::move(skipped_key)};
  }
  [[nodiscard]] informer::WatchItem Skip(const std::string& description) const {
    return {.type = Type::kSkipped, .problem = request_ + ": skipped an event " + description};
  }

  const AnyHttpSource& source_;
  std::string request_;
  std::unique_ptr<Stream> stream_;
  std::deque<std::string> events_;  // complete, and not returned by Next yet
  JsonSplitter splitter_{JsonSplitter::Mode::kDocuments,
                         [this](std::string_view event) { events_.emplace_back(event); }};
};

std::unique_ptr<informer::WatchStream> AnyHttpSource::Watch(const informer::WatchOptions& options,
                                                            std::stop_token stop) {
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(options.timeout);
  const bool initial = options.send_initial_events;
  const Request request{.target =
                            WithQuery(CollectionPath(kind_, filter_.ns),
                                      {{"watch", "true"},
                                       {"labelSelector", filter_.label_selector},
                                       {"fieldSelector", filter_.field_selector},
                                       {"allowWatchBookmarks", "true"},
                                       {"resourceVersion", options.resource_version},
                                       {"sendInitialEvents", initial ? "true" : ""},
                                       {"resourceVersionMatch", initial ? "NotOlderThan" : ""},
                                       {"timeoutSeconds", std::to_string(seconds.count())}})};
  return std::make_unique<HttpWatchStream>(*this, "WATCH " + request.target,
                                           OpenStream(transport_, request, "WATCH", stop));
}

}  // namespace kopp
