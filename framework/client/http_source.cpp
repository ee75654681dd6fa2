#include "client/resource_path.hpp"
#include "client/response_check.hpp"
#include "open_stream.hpp"
#include "written_object.hpp"

#include <algorithm>
#include <chrono>
#include <optional>

#include <kopp/http_source.hpp>
#include <kopp/informer/api_error.hpp>
#include <kopp/informer/detail/json_splitter.hpp>
#include <kopp/informer/metadata_only.hpp>

namespace kopp {
namespace {

using detail::CollectionPath;
using detail::WithQuery;
using namespace std::chrono_literals;

// A list fails if no byte arrives for this time.
constexpr Duration kListIdleTimeout = 30s;
// A list fails if it takes longer than this time plus the time of its bytes at the minimum rate: a
// slow link (64 kbit/s are 8,000 bytes/s) completes, and a server that sends a byte now and then
// does not block the list for ever.
constexpr Duration kListBaseTimeout = 1min;
constexpr std::size_t kListMinBytesPerSecond = 4U << 10U;

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
    std::string resourceVersion;
    std::map<std::string, std::string> annotations;
  };
  Metadata metadata;
};
KOPP_FIELDS(Bookmark::Metadata, resourceVersion, annotations)
KOPP_FIELDS(Bookmark, metadata)

constexpr Kind kPartialObjectMetadata{"meta.k8s.io/v1", "PartialObjectMetadata"};

/// Returns the Accept header for a list or for the events of a watch.
std::string AcceptHeader(ObjectForm form, std::string_view metadata_kind) {
  if (form == ObjectForm::kComplete) return "application/json";
  return "application/json;as=" + std::string(metadata_kind) +
         ";g=meta.k8s.io;v=v1,application/json";
}

/// Returns nullopt for BOOKMARK, ERROR and unknown types.
std::optional<informer::EventType> EventTypeOf(std::string_view type) {
  using informer::EventType;
  if (type == "ADDED") return EventType::kAdded;
  if (type == "MODIFIED") return EventType::kModified;
  if (type == "DELETED") return EventType::kDeleted;
  return std::nullopt;
}

/// Returns the key of an object that may have any shape; without a name if it has none.
ObjectKey KeyFromText(std::string_view object) {
  try {
    const auto head = Decode<ObjectHeader>(object);
    return {head.metadata.ns, head.metadata.name};
  } catch (const DecodeError&) {
    return {};
  }
}

bool EndsInitialEvents(const Bookmark& bookmark) {
  const auto& annotations = bookmark.metadata.annotations;
  const auto found = annotations.find("k8s.io/initial-events-end");
  return !bookmark.metadata.resourceVersion.empty() && found != annotations.end() &&
         found->second == "true";
}

/// The body of a list response.
class ListBody {
 public:
  /// `request` names the list in messages, such as "LIST /api/v1/pods?…".
  ListBody(Stream& stream, Clock& clock, std::string request)
      : stream_(stream), clock_(clock), request_(std::move(request)), start_(clock.Now()) {}

  /// Returns the next bytes, which are valid until the next call, or nullopt at the end. Throws
  /// TransportError (kTimeout) if the list is too slow.
  std::optional<std::string_view> Read() {
    const auto seconds = std::chrono::seconds(received_ / kListMinBytesPerSecond);
    const Duration left = start_ + kListBaseTimeout + seconds - clock_.Now();
    const auto chunk = stream_.Read(std::clamp(left, Duration::zero(), kListIdleTimeout));
    if (chunk.state == Stream::State::kSilent) ThrowTimeout(left < kListIdleTimeout);
    if (chunk.state == Stream::State::kEnd) return std::nullopt;
    if (received_ == 0) detail::RequireJsonObjectStart(request_, chunk.bytes);
    received_ += chunk.bytes.size();
    return chunk.bytes;
  }

 private:
  [[noreturn]] void ThrowTimeout(bool too_slow) const {
    const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(clock_.Now() - start_);
    throw TransportError(TransportError::Kind::kTimeout,
                         request_ + (too_slow ? ": too slow: " + std::to_string(received_) +
                                                    " bytes in " + std::to_string(seconds.count()) +
                                                    " s, expected 4 KiB/s after the first minute"
                                              : ": no data for 30 s"));
  }

  Stream& stream_;
  Clock& clock_;
  std::string request_;
  TimePoint start_;
  std::size_t received_ = 0;
};

/// Returns the text of `fields`, restricted to `object` if it has a name.
std::string FieldSelectorOf(FieldSelector fields, const ObjectKey& object) {
  if (!object.name.empty()) fields.Equals("metadata.name", object.name);
  return fields.ToString();
}

/// Returns a PartialObjectMetadata.
informer::AnyObject DecodeMetadata(const JsonObject& object) {
  return std::make_shared<const PartialObjectMetadata>(object.Decode<PartialObjectMetadata>());
}

[[noreturn]] void ThrowMalformed(const std::string& problem) {
  throw DecodeError(DecodeError::Kind::kMalformed, "", problem);
}

/// Returns `kind` and `metadata` of the response to a list of `target`. Throws DecodeError if the
/// list is incomplete.
ListResponse DecodeListMetadata(const JsonSplitter& splitter, const std::string& target) {
  try {
    ListResponse list = DecodeListResponse(splitter);
    if (list.metadata.resourceVersion.empty()) ThrowMalformed("the list has no resource version");
    return list;
  } catch (const DecodeError& error) {
    throw DecodeError(error.kind(), "", "LIST " + target + ": " + error.what());
  }
}

}  // namespace

/// Returns an empty AnyObject and sets `problem` if the object does not fit the view or has no
/// name. Throws DecodeError for malformed JSON.
informer::AnyObject AnyHttpSource::TryDecode(const JsonObject& object, const Decoder& decode,
                                             std::string& problem) const {
  try {
    informer::AnyObject decoded = decode(object);
    if (!decoded.metadata().name.empty()) return decoded;
    problem = "skipped a " + std::string(kind_.kind) + " without metadata.name";
    return {};
  } catch (const DecodeError& error) {
    if (error.kind() == DecodeError::Kind::kMalformed) throw;
    problem = "skipped the " + std::string(kind_.kind) + " " +
              KeyFromText(object.text()).ToString() +
              ", which does not fit its view: " + error.what();
    return {};
  }
}

void AnyHttpSource::ReportSkipped(const JsonObject& object, const std::string& problem) const {
  if (!on_skipped_) return;
  try {
    const auto metadata = object.Decode<PartialObjectMetadata>().metadata;
    if (!metadata.name.empty()) on_skipped_({kind_, metadata, problem});
  } catch (const DecodeError&) {  // NOLINT(bugprone-empty-catch): the metadata is invalid, too
  }
}

/// TryDecode for an item of a list: also skips malformed JSON, so that one object cannot hide all
/// others. A watch reads a malformed event again instead, and then lists.
informer::AnyObject AnyHttpSource::TryDecodeItem(PaddedText item, const Decoder& decode,
                                                 std::string& problem) const {
  try {
    informer::AnyObject decoded;
    ParseObject(item, [&](const JsonObject& object) {
      decoded = TryDecode(object, decode, problem);
      if (!decoded) ReportSkipped(object, problem);
    });
    return decoded;
  } catch (const DecodeError& error) {
    const ObjectKey key = KeyFromText(item.text);
    problem = "skipped the " + std::string(kind_.kind) + " " +
              (key.name.empty() ? "with an unknown name" : key.ToString()) +
              ", which is not valid JSON: " + error.what();
    return {};
  }
}

ApiRequest AnyHttpSource::ApiRequestFor(const informer::ListRequest& options,
                                        ObjectForm form) const {
  const bool exact_version = options.exact && options.continue_token.empty();
  const std::string& ns = options.object.name.empty() ? selector_.ns : options.object.ns;
  return {.target = WithQuery(CollectionPath(kind_, ns),
                              {{"labelSelector", selector_.labels.ToString()},
                               {"fieldSelector", FieldSelectorOf(selector_.fields, options.object)},
                               {"resourceVersion", options.resource_version},
                               {"resourceVersionMatch", exact_version ? "Exact" : ""},
                               {"limit", options.limit == 0 ? "" : std::to_string(options.limit)},
                               {"continue", options.continue_token}}),
          .accept = AcceptHeader(form, "PartialObjectMetadataList")};
}

informer::ListResult AnyHttpSource::List(const informer::ListRequest& options,
                                         const std::function<void(informer::AnyObject)>& on_object,
                                         std::stop_token stop) {
  static const Decoder decode_metadata = DecodeMetadata;
  const bool metadata_only = options.metadata_only && form_ == ObjectForm::kComplete;
  const Decoder& decode = metadata_only ? decode_metadata : decode_;
  const ApiRequest request =
      ApiRequestFor(options, metadata_only ? ObjectForm::kMetadataOnly : form_);
  const auto stream = OpenStream(transport_, request, "LIST", stop);
  informer::ListResult result{.metadata_only = metadata_only};
  JsonSplitter splitter(JsonSplitter::Mode::kListItems);
  ListBody body(*stream, clock_, "LIST " + request.target);
  while (const auto bytes = body.Read()) {
    splitter.Feed(*bytes);
    while (const auto item = splitter.Next()) {
      std::string problem;
      if (auto object = TryDecodeItem(*item, decode, problem)) {
        on_object(std::move(object));
      } else {
        result.skipped.push_back({KeyFromText(item->text), std::move(problem)});
      }
    }
  }
  auto list = DecodeListMetadata(splitter, request.target);
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
    auto event = splitter_.Next();
    if (!event) {
      const Stream::Chunk chunk = stream_->Read(limit);
      if (chunk.state == Stream::State::kSilent) return {.type = Type::kNoEvent};
      if (chunk.state == Stream::State::kEnd) {
        if (splitter_.IsComplete()) return {.type = Type::kEnd};
        ThrowMalformed(request_ + ": the watch ended in the middle of an event");
      }
      if (!started_) detail::RequireJsonObjectStart(request_, chunk.bytes);
      started_ = true;
      splitter_.Feed(chunk.bytes);
      event = splitter_.Next();
      if (!event) return {.type = Type::kNoEvent};  // part of an event
    }
    informer::WatchItem item;
    ParseWatchEvent(*event, [&](std::string_view type, const JsonObject& object) {
      item = ItemOf(type, object);
    });
    return item;
  }

 private:
  using Type = informer::WatchItem::Type;

  [[nodiscard]] informer::WatchItem ItemOf(std::string_view type, const JsonObject& object) const {
    if (type == "ERROR") throw ApiError(request_, object.Decode<Status>());
    const auto event_type = EventTypeOf(type);
    const bool bookmark = type == "BOOKMARK";
    if (!event_type && !bookmark) return Skip("of the unknown type \"" + std::string(type) + "\"");
    if (!IsOfKind(object)) {
      const auto header = object.Decode<ObjectHeader>();
      return Skip("about a " + header.apiVersion + " " + header.kind);
    }
    return bookmark ? BookmarkOf(object) : EventOf(*event_type, object);
  }

  [[nodiscard]] static informer::WatchItem BookmarkOf(const JsonObject& object) {
    auto bookmark = object.Decode<Bookmark>();
    const bool initial_events_end = EndsInitialEvents(bookmark);
    return {.type = Type::kBookmark,
            .resource_version = std::move(bookmark.metadata.resourceVersion),
            .initial_events_end = initial_events_end};
  }

  [[nodiscard]] informer::WatchItem EventOf(informer::EventType type,
                                            const JsonObject& object) const {
    informer::WatchItem item{.type = Type::kEvent, .event_type = type};
    item.object = source_.TryDecode(object, source_.decode_, item.problem);
    if (item.object) {
      item.resource_version = item.object.metadata().resourceVersion;
      return item;
    }
    const auto metadata = object.Decode<ObjectHeader>().metadata;
    item.resource_version = metadata.resourceVersion;
    if (type == informer::EventType::kDeleted && !metadata.name.empty()) {
      // A deletion identifies its object even if the object does not fit the view.
      item.metadata_only = true;
      item.object = DecodeMetadata(object);
    } else {
      source_.ReportSkipped(object, item.problem);
      item.type = Type::kSkipped;
      item.skipped_key = {metadata.ns, metadata.name};
    }
    return item;
  }

  [[nodiscard]] bool IsOfKind(const JsonObject& object) const {
    if (object.IsOfKind(source_.kind_)) return true;
    return source_.form_ == ObjectForm::kMetadataOnly && object.IsOfKind(kPartialObjectMetadata);
  }
  [[nodiscard]] informer::WatchItem Skip(const std::string& description) const {
    return {.type = Type::kSkipped, .problem = request_ + ": skipped an event " + description};
  }

  const AnyHttpSource& source_;
  std::string request_;
  std::unique_ptr<Stream> stream_;
  bool started_ = false;  // bytes have arrived
  JsonSplitter splitter_{JsonSplitter::Mode::kDocuments};
};

std::unique_ptr<informer::WatchStream> AnyHttpSource::Watch(const informer::WatchRequest& options,
                                                            std::stop_token stop) {
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(options.timeout);
  const bool initial = options.send_initial_events;
  const ApiRequest request{
      .target = WithQuery(CollectionPath(kind_, selector_.ns),
                          {{"watch", "true"},
                           {"labelSelector", selector_.labels.ToString()},
                           {"fieldSelector", selector_.fields.ToString()},
                           {"allowWatchBookmarks", "true"},
                           {"resourceVersion", options.resource_version},
                           {"sendInitialEvents", initial ? "true" : ""},
                           {"resourceVersionMatch", initial ? "NotOlderThan" : ""},
                           {"timeoutSeconds", std::to_string(seconds.count())}}),
      .accept = AcceptHeader(form_, "PartialObjectMetadata")};
  return std::make_unique<HttpWatchStream>(*this, "WATCH " + request.target,
                                           OpenStream(transport_, request, "WATCH", stop));
}

}  // namespace kopp
