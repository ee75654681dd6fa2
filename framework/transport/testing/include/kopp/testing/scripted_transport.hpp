#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include <kopp/transport.hpp>
#include <kopp/workqueue/guarded.hpp>

namespace kopp::testing {

/// A Transport for tests that returns scripted responses and records all requests. It uses no
/// network. Thread-safe.
///
/// A request that matches no script gets 404. If several scripts match, the newest one is used.
class ScriptedTransport final : public Transport {
 public:
  using Handler = std::function<ApiResponse(const ApiRequest&)>;

  /// `clock` must outlive the transport.
  explicit ScriptedTransport(Clock& clock) : clock_(clock) {}

  /// Calls `handler` for each request with this method and path; the query is ignored. The handler
  /// runs on the calling thread of Call or Open, which rethrow its exceptions. Calls may be
  /// concurrent. The method of a watch is "WATCH". A watch without a
  /// script stays open, and receives the bytes of SendToWatch.
  void On(std::string method, std::string path, Handler handler);
  /// On() with a handler that always returns this response.
  void Respond(std::string method, std::string path, int status, std::string body);

  /// Sends bytes to the open watch of this path, or to the next watch if none is open.
  void SendToWatch(const std::string& path, std::string bytes);
  /// Ends the watch of this path as a server does at its timeout: its Read returns kEnd.
  void EndWatch(const std::string& path);

  /// Returns all requests so far, oldest first.
  [[nodiscard]] std::vector<ApiRequest> Requests();
  /// Blocks until a request with this method and path (any query) has arrived; returns the first.
  /// There is no timeout.
  ApiRequest Await(const std::string& method, const std::string& path);
  /// Blocks until at least `count` such requests have arrived; returns all of them. There is no
  /// timeout.
  std::vector<ApiRequest> Await(const std::string& method, const std::string& path,
                                std::size_t count);

  ApiResponse Call(const ApiRequest& request, std::stop_token stop = {}) override;
  /// Opens a watch for a request with watch=true. For any other request, the stream's body is the
  /// scripted response.
  std::unique_ptr<Stream> Open(const ApiRequest& request, std::stop_token stop = {}) override;

 private:
  class WatchStream;
  class ResponseStream;
  struct Rule {
    std::string method;
    std::string path;
    Handler handler;
  };
  struct WatchData {
    std::string path;
    std::optional<std::string> bytes;  // nullopt: end of the watch
  };
  struct State {
    std::deque<Rule> rules;  // newest first
    std::vector<ApiRequest> requests;
    std::deque<WatchData> watch_data;  // not read by a watch yet
  };

  ApiResponse Handle(const ApiRequest& request);

  Clock& clock_;
  kopp::detail::Guarded<State> state_;
  std::condition_variable changed_;
};

}  // namespace kopp::testing
