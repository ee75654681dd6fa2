#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include <kopp/transport.hpp>
#include <kopp/workqueue/guarded.hpp>

namespace kopp::testing {

/// An API server that says what a test tells it to, without a network. Safe to use from any thread.
///
/// A request that no answer was given for gets 404. Of several answers for one the last given
/// counts.
class ScriptedTransport final : public Transport {
 public:
  using Answer = std::function<Response(const Request&)>;

  explicit ScriptedTransport(Clock& clock) : clock_(clock) {}

  /// How requests with this method and path (of any query) are answered. The method of a watch is
  /// "WATCH"; one that no answer was given for stays open for SendToWatch. Throws of `answer` are
  /// the transport's.
  void On(std::string method, std::string path, Answer answer);
  void Reply(std::string method, std::string path, int status, std::string body);

  /// What watches of this path get: bytes for the one that is open, or for the next.
  void SendToWatch(const std::string& path, std::string bytes);
  /// The watch of this path ends in order.
  void EndWatch(const std::string& path);

  /// All requests so far, oldest first.
  [[nodiscard]] std::vector<Request> Requests();
  /// Blocks until a request of this method and path (of any query) has come; returns the first.
  Request Await(const std::string& method, const std::string& path);
  /// Blocks until `count` of them have come; returns all there are.
  std::vector<Request> Await(const std::string& method, const std::string& path, std::size_t count);

  Response Call(const Request& request, std::stop_token stop = {}) override;
  /// A request with watch=true is a watch; any other stream is one answer of `On`.
  std::unique_ptr<Stream> Open(const Request& request, std::stop_token stop = {}) override;

 private:
  class WatchStream;
  class WholeStream;
  struct Rule {
    std::string method;
    std::string path;
    Answer answer;
  };
  struct Sent {
    std::string path;
    std::optional<std::string> bytes;  // nullopt: the end
  };
  struct State {
    std::deque<Rule> rules;  // the last given first
    std::vector<Request> requests;
    std::deque<Sent> sent;  // to watches, and not read yet
  };

  Response AnswerTo(const Request& request);

  Clock& clock_;
  Guarded<State> state_;
  std::condition_variable changed_;
};

}  // namespace kopp::testing
