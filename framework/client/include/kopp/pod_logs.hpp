#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <kopp/transport.hpp>

namespace kopp {

/// Options of Client::PodLogs: v1.PodLogOptions.
struct PodLogOptions {
  std::string container = {};  ///< empty: the only or default container of the Pod
  bool follow = false;         ///< waits for new lines until the container ends
  bool previous = false;       ///< returns the log of the container before its last restart
  bool timestamps = false;     ///< prefixes each line with its RFC 3339 timestamp
  std::optional<std::int64_t> tail_lines = {};     ///< only the last lines
  std::optional<std::chrono::seconds> since = {};  ///< only lines that are not older than this
};

/// The log of a container, read while it arrives. The destructor closes the connection. Not
/// thread-safe. The transport of the client must outlive it.
///
///     auto logs = client.PodLogs({"shop", "web-0"}, {.follow = true, .tail_lines = 10});
///     while (const auto line = logs.ReadLine()) std::cout << *line << '\n';
///
/// Both functions throw TransportError if the connection breaks, if a stop is requested by the
/// token of the client, and, unless the log is followed, if no byte arrives for 30 seconds.
class PodLogStream {
 public:
  static constexpr std::size_t kMaxLine = 1U << 20U;  ///< bytes

  /// Reads `stream`. Waits at most `idle_timeout` for the next bytes.
  PodLogStream(std::unique_ptr<Stream> stream, Duration idle_timeout)
      : stream_(std::move(stream)), idle_timeout_(idle_timeout) {}

  /// Blocks until a line is complete and returns it without the line break. Returns nullopt at the
  /// end of the log. A line that is longer than kMaxLine is returned in parts.
  std::optional<std::string> ReadLine();

  /// Blocks until bytes arrive and returns them. Returns "" at the end of the log. The bytes are
  /// valid until the next call. May be mixed with ReadLine.
  std::string_view ReadChunk();

 private:
  std::unique_ptr<Stream> stream_;
  Duration idle_timeout_;
  bool ended_ = false;
  std::string buffer_;     // received bytes
  std::size_t start_ = 0;  // index in buffer_ of the first byte that was not returned yet
};

}  // namespace kopp
