#pragma once

#include "api/request.hpp"

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <nlohmann/json.hpp>

#include <kopp/workqueue/clock.hpp>

namespace kopp::apiserver {

/// The streamed body of a watch response. Not thread-safe: one thread uses it at a time.
class WatchResponse {
 public:
  virtual ~WatchResponse() = default;
  WatchResponse(const WatchResponse&) = delete;
  WatchResponse& operator=(const WatchResponse&) = delete;

  /// Removes and returns the frames that are ready. A frame is one watch event, encoded for the
  /// client and ended by a newline. Returns "" if no frame is ready. Does not block.
  virtual std::string ReadFrames() = 0;
  /// Returns whether the stream has ended, so that no more frames follow.
  [[nodiscard]] virtual bool ended() const = 0;
  /// Returns whether an ended stream is incomplete. The server then resets the connection instead
  /// of ending the body.
  [[nodiscard]] virtual bool aborted() const { return false; }
  /// Returns the time at which ReadFrames() may return frames although no object has changed, or
  /// TimePoint::max() if there is no such time.
  [[nodiscard]] virtual TimePoint wake_time() const = 0;
  /// Returns the storage resource whose changes may produce frames.
  [[nodiscard]] virtual const std::string& storage_resource() const = 0;

 protected:
  WatchResponse() = default;
};

/// A fault to inject while the response is sent.
struct InjectedFault {
  Duration delay{};    ///< before the first byte
  bool reset = false;  ///< resets the connection instead of responding
  /// Set only together with `reset`. The in-memory transport reports a refused connection, and the
  /// audit log omits the request.
  bool refuse = false;
  std::optional<std::size_t> cut_after{};  ///< resets the connection after this many body bytes
};

/// The body of a response: a JSON value, or text that is ready to be sent. A stored object or list
/// is text too, so that the server does not parse it to send it as JSON.
class ResponseBody {
 public:
  ResponseBody() = default;
  ResponseBody(std::string text) : content_(std::move(text)) {}       // NOLINT: implicit
  ResponseBody(const char* text) : content_(std::string(text)) {}     // NOLINT: implicit
  ResponseBody(nlohmann::json value) : content_(std::move(value)) {}  // NOLINT: implicit

  /// Returns nullptr if the body is text.
  [[nodiscard]] const nlohmann::json* value() const {
    return std::get_if<nlohmann::json>(&content_);
  }
  /// Returns the text. Throws std::bad_variant_access if the body is a value.
  std::string& text() { return std::get<std::string>(content_); }
  [[nodiscard]] const std::string& text() const { return std::get<std::string>(content_); }
  /// Returns the body as a value. Parses text; the result is discarded, as in
  /// nlohmann::json::parse, if the text is not JSON.
  [[nodiscard]] nlohmann::json ToValue() const;

 private:
  std::variant<std::string, nlohmann::json> content_;
};

/// Values of Warning headers, which clients show to their user.
using Warnings = std::vector<std::string>;

/// Returns `warnings` without duplicates and without those that a header cannot contain. If they
/// have more than 4096 characters, they are cut to 256 characters each, and the last ones are
/// dropped.
[[nodiscard]] Warnings LimitWarnings(const Warnings& warnings);

/// A response to a ServerRequest.
struct ServerResponse {
  int status = 200;
  ResponseBody body{};
  std::string content_type = "application/json";
  Warnings warnings{};
  std::optional<int> retry_after{};        ///< in seconds
  std::unique_ptr<WatchResponse> watch{};  ///< streams the rest of a watch's body after `body`
  InjectedFault injected_fault{};
  std::optional<User> impersonated_user{};  ///< for the audit log
};

/// Replaces a body that is a value by its JSON text. The servers call it once for each response,
/// where it leaves the server. Does not throw: invalid UTF-8 is replaced.
void EncodeBody(ServerResponse& response);

/// Handles requests: the API itself, or a filter in front of it.
class RequestHandler {
 public:
  virtual ~RequestHandler() = default;
  RequestHandler(const RequestHandler&) = delete;
  RequestHandler& operator=(const RequestHandler&) = delete;

  /// Returns the response to a request. Thread-safe. Does not throw: an error becomes a Status
  /// response.
  virtual ServerResponse Handle(const ServerRequest& request) = 0;

 protected:
  RequestHandler() = default;
};

}  // namespace kopp::apiserver
