#include "http/protobuf_handler.hpp"

#include "json/media_types.hpp"
#include "protobuf/protobuf.hpp"

#include <algorithm>
#include <exception>
#include <memory>
#include <optional>
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

/// Returns the request with its body in JSON, or nullopt if it has no protobuf body of a built-in
/// kind.
std::optional<ServerRequest> WithJsonBody(const ServerRequest& request) {
  if (request.body.empty() || request.method == "PATCH" || request.media_type() != kProtobufType) {
    return std::nullopt;
  }
  try {
    const std::optional<json> object = DecodeProtobuf(ReadProtobufEnvelope(request.body));
    if (!object) return std::nullopt;
    ServerRequest converted = request;
    converted.body = object->dump();
    converted.content_type = "application/json";
    return converted;
  } catch (const std::exception&) {  // the handler reports it
    return std::nullopt;
  }
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
  const json object = json::parse(response.body, nullptr, false);
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
  if (cut_after) cut_after = std::min(*cut_after, response.body.size() - 1);
}

}  // namespace

ServerResponse ProtobufHandler::Handle(const ServerRequest& request) {
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
