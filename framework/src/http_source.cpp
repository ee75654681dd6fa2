#include "list_head.hpp"
#include "resource_path.hpp"

#include <chrono>
#include <deque>
#include <optional>

#include <kopp/http_source.hpp>
#include <kopp/informer/api_error.hpp>
#include <kopp/informer/json_splitter.hpp>

namespace kopp {
namespace {

using namespace std::chrono_literals;

constexpr Duration kListSilence = 30s;  // a list that stops coming for so long is broken

/// One line of a watch.
struct Frame {
  std::string type;
  RawJson object;
};
KOPP_FIELDS(Frame, type, object)

/// What each object says of itself.
struct ObjectHead {
  struct Metadata {
    std::string name;
    std::string ns;
    std::string resourceVersion;
  };
  std::string apiVersion;
  std::string kind;
  Metadata metadata;
};
KOPP_FIELDS(ObjectHead::Metadata, name, KOPP_FIELD(ns, "namespace"), resourceVersion)
KOPP_FIELDS(ObjectHead, apiVersion, kind, metadata)

struct MetadataOnly {
  ObjectMeta metadata;
};
KOPP_FIELDS(MetadataOnly, metadata)

std::unique_ptr<Stream> OpenOrThrow(Transport& transport, const Request& request,
                                    std::string_view verb, const std::stop_token& stop) {
  std::unique_ptr<Stream> stream = transport.Open(request, stop);
  const Response& head = stream->head();
  if (head.status == 200) return stream;
  throw ApiError::FromBody(std::string(verb) + " " + request.target, head.status, head.body,
                           head.retry_after);
}

std::optional<informer::EventType> TypeOf(std::string_view type) {
  using informer::EventType;
  if (type == "ADDED") return EventType::kAdded;
  if (type == "MODIFIED") return EventType::kModified;
  if (type == "DELETED") return EventType::kDeleted;
  return std::nullopt;
}

/// Of an object that may be of any shape.
ObjectKey KeyIn(std::string_view object) {
  try {
    const auto head = Decode<ObjectHead>(object);
    return {head.metadata.ns, head.metadata.name};
  } catch (const DecodeError&) {
    return {"", "of unknown name"};
  }
}

[[noreturn]] void ThrowMalformed(const std::string& problem) {
  throw DecodeError(DecodeError::Kind::kMalformed, "", problem);
}

}  // namespace

/// Empty, and the problem, for an object that cannot be used.
informer::AnyObject AnyHttpSource::DecodeFitting(std::string_view text,
                                                 std::string& problem) const {
  try {
    informer::AnyObject object = decode_(text);
    if (!object.metadata().name.empty()) return object;
    problem = "a " + std::string(kind_.kind) + " without a name is skipped";
    return {};
  } catch (const DecodeError& error) {
    if (error.kind() == DecodeError::Kind::kMalformed) throw;
    problem = "the " + std::string(kind_.kind) + " " + KeyIn(text).ToString() +
              " does not fit its view and is skipped: " + error.what();
    return {};
  }
}

informer::ListResult AnyHttpSource::List(const informer::ListOptions& options,
                                         const std::function<void(informer::AnyObject)>& each,
                                         std::stop_token stop) {
  const Request request{
      .target = WithQuery(CollectionPath(kind_, ns_),
                          {{"resourceVersion", options.resource_version},
                           {"limit", options.limit == 0 ? "" : std::to_string(options.limit)},
                           {"continue", options.continue_token}})};
  const auto stream = OpenOrThrow(transport_, request, "LIST", stop);
  informer::ListResult result;
  JsonSplitter splitter(JsonSplitter::Of::kItems, [&](std::string_view item) {
    std::string problem;
    if (auto object = DecodeFitting(item, problem)) {
      each(std::move(object));
    } else {
      result.skipped.push_back({KeyIn(item), std::move(problem)});
    }
  });
  for (auto chunk = stream->Read(kListSilence); chunk.state != Stream::State::kEnd;
       chunk = stream->Read(kListSilence)) {
    if (chunk.state == Stream::State::kSilent) {
      throw TransportError(TransportError::Kind::kTimeout,
                           "LIST " + request.target + ": nothing came for 30 s");
    }
    splitter.Feed(chunk.bytes);
  }
  if (!splitter.AtEnd()) ThrowMalformed("the answer is not a whole list");
  auto head = Decode<ListHead>(splitter.envelope());
  if (head.kind == "Table" || head.kind == "Status" || head.metadata.resourceVersion.empty()) {
    ThrowMalformed("the answer is not a list but a \"" + head.kind + "\"");
  }
  result.resource_version = std::move(head.metadata.resourceVersion);
  result.continue_token = std::move(head.metadata.continue_token);
  return result;
}

/// A watch, cut into its frames.
class AnyHttpSource::Events final : public informer::WatchStream {
 public:
  Events(const AnyHttpSource& source, std::string asked, std::unique_ptr<Stream> stream)
      : source_(source), asked_(std::move(asked)), stream_(std::move(stream)) {}

  informer::WatchItem Next(Duration limit) override {
    if (frames_.empty()) {
      const Stream::Chunk chunk = stream_->Read(limit);
      if (chunk.state == Stream::State::kSilent) return {.what = What::kSilent};
      if (chunk.state == Stream::State::kEnd) {
        if (splitter_.AtEnd()) return {.what = What::kEnd};
        ThrowMalformed("the watch ended within an event");
      }
      splitter_.Feed(chunk.bytes);
      if (frames_.empty()) return {.what = What::kSilent};  // part of an event
    }
    const std::string text = std::move(frames_.front());
    frames_.pop_front();
    return Read(Decode<Frame>(text));
  }

 private:
  using What = informer::WatchItem::What;

  [[nodiscard]] informer::WatchItem Read(const Frame& frame) const {
    if (frame.type == "ERROR") throw ApiError(asked_, Decode<Status>(frame.object.text));
    const auto type = TypeOf(frame.type);
    const bool bookmark = frame.type == "BOOKMARK";
    if (!type && !bookmark) return Skip("of the unknown type \"" + frame.type + "\"");

    const auto head = Decode<ObjectHead>(frame.object.text);
    if (head.kind != source_.kind_.kind || head.apiVersion != source_.kind_.api_version) {
      return Skip("about a " + head.apiVersion + " " + head.kind);
    }
    const std::string& version = head.metadata.resourceVersion;
    if (bookmark) return {.what = What::kBookmark, .resource_version = version};
    std::string problem;
    informer::AnyObject object = source_.DecodeFitting(frame.object.text, problem);
    if (!object && *type == informer::EventType::kDeleted && !head.metadata.name.empty()) {
      // Who is gone is known all the same.
      object = source_.decode_(Encode(Decode<MetadataOnly>(frame.object.text)));
    }
    const What what = object ? What::kEvent : What::kSkipped;
    return {what, *type, std::move(object), version, std::move(problem)};
  }
  [[nodiscard]] informer::WatchItem Skip(const std::string& what) const {
    return {.what = What::kSkipped, .problem = asked_ + ": an event " + what + " is skipped"};
  }

  const AnyHttpSource& source_;
  std::string asked_;
  std::unique_ptr<Stream> stream_;
  std::deque<std::string> frames_;  // cut, and not told yet
  JsonSplitter splitter_{JsonSplitter::Of::kDocuments,
                         [this](std::string_view frame) { frames_.emplace_back(frame); }};
};

std::unique_ptr<informer::WatchStream> AnyHttpSource::Watch(const informer::WatchOptions& options,
                                                            std::stop_token stop) {
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(options.timeout);
  const Request request{.target = WithQuery(CollectionPath(kind_, ns_),
                                            {{"watch", "true"},
                                             {"allowWatchBookmarks", "true"},
                                             {"resourceVersion", options.resource_version},
                                             {"timeoutSeconds", std::to_string(seconds.count())}})};
  return std::make_unique<Events>(*this, "WATCH " + request.target,
                                  OpenOrThrow(transport_, request, "WATCH", stop));
}

}  // namespace kopp
