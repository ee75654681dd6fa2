#include "resource_path.hpp"

#include <chrono>
#include <deque>

#include <kopp/http_source.hpp>
#include <kopp/informer/api_error.hpp>
#include <kopp/informer/json_splitter.hpp>

namespace kopp::detail {
namespace {

using namespace std::chrono_literals;

constexpr Duration kListSilence = 30s;  // a list that stops coming for so long is broken

/// What a list says of itself.
struct ListHead {
  struct Metadata {
    std::string resourceVersion;
    std::string continue_token;
  };
  std::string kind;
  Metadata metadata;
};
KOPP_FIELDS(ListHead::Metadata, resourceVersion, KOPP_FIELD(continue_token, "continue"))
KOPP_FIELDS(ListHead, kind, metadata)

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

std::unique_ptr<Stream> OpenOrThrow(Transport& transport, const Request& request,
                                    std::string_view verb, const std::stop_token& stop) {
  std::unique_ptr<Stream> stream = transport.Open(request, stop);
  const Response& head = stream->head();
  if (head.status == 200) return stream;
  throw ApiError::FromBody(std::string(verb) + " " + request.target, head.status, head.body,
                           head.retry_after);
}

EventReader::What WhatOf(std::string_view type) {
  using What = EventReader::What;
  if (type == "ADDED") return What::kAdded;
  if (type == "MODIFIED") return What::kModified;
  if (type == "DELETED") return What::kDeleted;
  if (type == "BOOKMARK") return What::kBookmark;
  return What::kSkipped;
}

}  // namespace

informer::ListResult ListItems(Transport& transport, const Kind& kind, std::string_view ns,
                               const informer::ListOptions& options,
                               const std::function<void(std::string_view)>& each,
                               const std::stop_token& stop) {
  const Request request{
      .target = WithQuery(CollectionPath(kind, ns),
                          {{"resourceVersion", options.resource_version},
                           {"limit", options.limit == 0 ? "" : std::to_string(options.limit)},
                           {"continue", options.continue_token}})};
  const auto stream = OpenOrThrow(transport, request, "LIST", stop);
  JsonSplitter splitter(JsonSplitter::Of::kItems, each);
  while (true) {
    const Stream::Chunk chunk = stream->Read(kListSilence);
    if (chunk.state == Stream::State::kEnd) break;
    if (chunk.state == Stream::State::kSilent) {
      throw TransportError(TransportError::Kind::kTimeout,
                           "LIST " + request.target + ": nothing came for 30 s");
    }
    splitter.Feed(chunk.bytes);
  }
  if (!splitter.AtEnd()) {
    throw DecodeError(DecodeError::Kind::kMalformed, "", "the answer is not a whole list");
  }
  ListHead head = Decode<ListHead>(splitter.envelope());
  if (!head.kind.ends_with("List")) {
    throw DecodeError(DecodeError::Kind::kMalformed, "",
                      "the answer is not a list but a \"" + head.kind + "\"");
  }
  return {std::move(head.metadata.resourceVersion), std::move(head.metadata.continue_token), {}};
}

struct EventReader::State {
  State(Kind kind_, std::string asked_, std::unique_ptr<Stream> stream_)
      : kind(kind_), asked(std::move(asked_)), stream(std::move(stream_)) {}

  Event Read(std::string_view text) const;

  Kind kind;
  std::string asked;
  std::unique_ptr<Stream> stream;
  std::deque<std::string> frames;  // cut, and not told yet
  JsonSplitter splitter{JsonSplitter::Of::kDocuments,
                        [this](std::string_view frame) { frames.emplace_back(frame); }};
};

EventReader::EventReader(Transport& transport, const Kind& kind, std::string_view ns,
                         const informer::WatchOptions& options, const std::stop_token& stop) {
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(options.timeout);
  const Request request{.target = WithQuery(CollectionPath(kind, ns),
                                            {{"watch", "true"},
                                             {"allowWatchBookmarks", "true"},
                                             {"resourceVersion", options.resource_version},
                                             {"timeoutSeconds", std::to_string(seconds.count())}})};
  state_ = std::make_unique<State>(kind, "WATCH " + request.target,
                                   OpenOrThrow(transport, request, "WATCH", stop));
}

EventReader::~EventReader() = default;

EventReader::Event EventReader::Next(Duration limit) {
  while (state_->frames.empty()) {
    const Stream::Chunk chunk = state_->stream->Read(limit);
    if (chunk.state == Stream::State::kSilent) return {.what = What::kSilent};
    if (chunk.state == Stream::State::kEnd) {
      if (state_->splitter.AtEnd()) return {.what = What::kEnd};
      throw DecodeError(DecodeError::Kind::kMalformed, "", "the watch ended within an event");
    }
    state_->splitter.Feed(chunk.bytes);
  }
  const std::string frame = std::move(state_->frames.front());
  state_->frames.pop_front();
  return state_->Read(frame);
}

EventReader::Event EventReader::State::Read(std::string_view text) const {
  Frame frame = Decode<Frame>(text);
  if (frame.type == "ERROR") throw ApiError(asked, Decode<Status>(frame.object.text));
  const ObjectHead head = Decode<ObjectHead>(frame.object.text);
  Event event{.what = WhatOf(frame.type)};
  if (event.what == What::kSkipped) {
    event.problem = asked + ": an event of the unknown type \"" + frame.type + "\" is skipped";
  } else if (head.kind != kind.kind || head.apiVersion != kind.api_version) {
    event.what = What::kSkipped;
    event.problem =
        asked + ": an event about a " + head.apiVersion + " " + head.kind + " is skipped";
  } else if (event.what != What::kBookmark && head.metadata.name.empty()) {
    event.what = What::kSkipped;
    event.problem = asked + ": an event about an object without a name is skipped";
  } else {
    event.object = std::move(frame.object.text);
    event.resource_version = head.metadata.resourceVersion;
  }
  return event;
}

std::string DescribeMisfit(const Kind& kind, std::string_view object, const char* problem) {
  std::string name;
  try {
    const ObjectHead head = Decode<ObjectHead>(object);
    name = ObjectKey{head.metadata.ns, head.metadata.name}.ToString();
  } catch (const DecodeError&) {
    name = "without a name";
  }
  return "the " + std::string(kind.kind) + " " + name +
         " does not fit its view and is skipped: " + problem;
}

}  // namespace kopp::detail
