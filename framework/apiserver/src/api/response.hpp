#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <kopp/workqueue/clock.hpp>

namespace kopp::apiserver {

/// The streamed body of a watch response. Not thread-safe: one thread uses it at a time.
class WatchResponse {
 public:
  virtual ~WatchResponse() = default;
  WatchResponse(const WatchResponse&) = delete;
  WatchResponse& operator=(const WatchResponse&) = delete;

  /// Removes and returns the frames that are ready, each ending with a newline. Returns "" if
  /// there are none yet. Does not block.
  virtual std::string ReadFrames() = 0;
  /// Whether the stream has ended: no more frames follow.
  [[nodiscard]] virtual bool ended() const = 0;
  /// Whether an ended stream was interrupted: the server then closes the connection without
  /// ending the body.
  [[nodiscard]] virtual bool broken() const { return false; }
  /// The time at which ReadFrames() may return frames although no object has changed.
  [[nodiscard]] virtual TimePoint wake_time() const = 0;
  /// The storage resource whose changes may produce frames.
  [[nodiscard]] virtual const std::string& resource() const = 0;

 protected:
  WatchResponse() = default;
};

/// A fault to inject while the response is sent.
struct InjectedFault {
  Duration delay{};      ///< before the first byte
  bool reset = false;    ///< resets the connection instead of responding
  bool refused = false;  ///< with `reset`: a transport that can refuse the connection does so
  std::optional<std::size_t> cut_after{};  ///< closes the connection after this many body bytes
};

/// Values of Warning headers, which clients show to their user.
using Warnings = std::vector<std::string>;

/// A response to a ServerRequest.
struct ServerResponse {
  int status = 200;
  std::string body{};
  std::string content_type = "application/json";
  Warnings warnings{};
  std::optional<int> retry_after{};        ///< in seconds
  std::unique_ptr<WatchResponse> watch{};  ///< of a watch: streams the body that follows `body`
  InjectedFault injected_fault{};
};

}  // namespace kopp::apiserver
