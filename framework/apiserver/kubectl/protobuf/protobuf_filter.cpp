#include "protobuf/protobuf_filter.hpp"

#include "api/virtual_resources.hpp"
#include "json/media_types.hpp"
#include "protobuf/protobuf.hpp"

#include <algorithm>
#include <exception>
#include <memory>
#include <string>
#include <utility>

#include <nlohmann/json.hpp>

namespace kopp::apiserver {
namespace {

using nlohmann::json;

/// Returns the Status for an object that has no form in protobuf, for example an invalid time.
json NotEncodable(const std::exception& error) {
  return {{"kind", "Status"},
          {"apiVersion", "v1"},
          {"metadata", json::object()},
          {"status", "Failure"},
          {"message", std::string("the object cannot be encoded in protobuf: ") + error.what()},
          {"reason", "InternalError"},
          {"code", 500}};
}

/// Encodes the events of a watch. A truncated or malformed event becomes a frame that clients
/// cannot decode, too.
class ProtobufWatch final : public WatchResponse {
 public:
  explicit ProtobufWatch(std::unique_ptr<WatchResponse> watch) : watch_(std::move(watch)) {}

  std::string ReadFrames() override {
    text_ += watch_->ReadFrames();
    std::string frames;
    std::size_t begin = 0;
    for (std::size_t end = 0; (end = text_.find('\n', begin)) != std::string::npos;) {
      frames += EncodeFrame(text_.substr(begin, end - begin));
      begin = end + 1;
    }
    text_.erase(0, begin);
    if (!text_.empty() && watch_->ended()) {
      std::string truncated = WithSizePrefix(std::exchange(text_, {}) + ' ');
      truncated.pop_back();
      frames += truncated;
    }
    return frames;
  }
  [[nodiscard]] bool ended() const override { return watch_->ended(); }
  [[nodiscard]] bool aborted() const override { return watch_->aborted(); }
  [[nodiscard]] TimePoint wake_time() const override { return watch_->wake_time(); }
  [[nodiscard]] const std::string& storage_resource() const override {
    return watch_->storage_resource();
  }

 private:
  static std::string EncodeFrame(const std::string& line) {
    const json event = json::parse(line, nullptr, false);
    if (!event.is_object()) return WithSizePrefix(line);
    try {
      return EncodeWatchFrame(event);
    } catch (const std::exception& error) {
      return EncodeWatchFrame({{"type", "ERROR"}, {"object", NotEncodable(error)}});
    }
  }

  const std::unique_ptr<WatchResponse> watch_;
  std::string text_;  // the begin of the next event
};

/// The kind of the object in the body of a request: the one that the object has if it names none.
struct BodyKind {
  std::string api_version{};
  std::string kind{};
  bool built_in = true;
};

BodyKind BodyKindOf(const Catalog& catalog, const ServerRequest& request) {
  if (request.method == "DELETE") return {"v1", "DeleteOptions"};
  const RequestInfo& target = request.target;
  const ResourcePtr resource = catalog.Find(target.group, target.version, target.plural);
  if (resource == nullptr) return {};
  if (target.subresource == "scale") return {"autoscaling/v1", "Scale"};
  const Resource* own_kind = FindVirtualSubresource(*resource, target.subresource);
  const Resource& kind = own_kind != nullptr ? *own_kind : *resource;
  return {kind.api_version(), kind.kind, kind.built_in};
}

/// Returns whether the client gets errors and discovery documents in protobuf.
bool PrefersProtobuf(const ServerRequest& request) {
  for (const MediaType& media : ParseAccept(request.accept)) {
    if (!media.as.empty()) continue;
    if (media.type == kProtobufType) return true;
    if (media.type == "application/json" || media.type == "*/*") return false;
  }
  return false;
}

void Encode(ServerResponse& response) {
  const json object = response.body.ToValue();
  if (object.is_discarded()) return;  // an injected fault
  std::optional<std::string> encoded;
  try {
    encoded = EncodeProtobuf(object);
  } catch (const std::exception& error) {
    response.status = 500;
    encoded = EncodeProtobuf(NotEncodable(error));
  }
  response.content_type = encoded ? kProtobufType : "application/json";
  if (!encoded) return;
  response.body = std::move(*encoded);
  auto& cut_after = response.injected_fault.cut_after;
  if (cut_after) cut_after = std::min(*cut_after, response.body.text().size() - 1);
}

}  // namespace

std::optional<ServerRequest> ProtobufFilter::WithJsonBody(const ServerRequest& request) {
  if (request.body.empty() || request.method == "PATCH" || request.media_type() != kProtobufType) {
    return std::nullopt;
  }
  const BodyKind expected = BodyKindOf(*context_.catalog(), request);
  ServerRequest converted = request;
  ProtobufEnvelope envelope;
  try {
    envelope = ReadProtobufEnvelope(request.body);
    if (envelope.kind.empty()) {
      envelope.api_version = expected.api_version;
      envelope.kind = expected.kind;
    }
    std::optional<json> object = DecodeProtobuf(envelope);
    if (!object && !expected.built_in) return std::nullopt;
    // The handler reports a kind that is not built in.
    if (!object) object = {{"apiVersion", envelope.api_version}, {"kind", envelope.kind}};
    converted.body = object->dump();
    converted.content_type = "application/json";
  } catch (const std::exception& error) {
    converted.body_error = {.reason = error.what(), .is_recognized = !envelope.kind.empty()};
  }
  return converted;
}

ServerResponse ProtobufFilter::Handle(const ServerRequest& request) {
  const std::optional<ServerRequest> converted = WithJsonBody(request);
  ServerResponse response = handler_.Handle(converted ? *converted : request);
  if (response.watch != nullptr) {
    if (response.content_type == kProtobufWatchType) {
      response.watch = std::make_unique<ProtobufWatch>(std::move(response.watch));
    }
    return response;
  }
  const bool is_general = response.status >= 400 || !request.target.is_resource;
  if (response.content_type == kProtobufType ||
      (is_general && response.content_type == "application/json" && PrefersProtobuf(request))) {
    Encode(response);
  }
  return response;
}

}  // namespace kopp::apiserver
