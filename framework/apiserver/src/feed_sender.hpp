#pragma once

#include "exchange.hpp"
#include "store.hpp"
#include "wire.hpp"

#include <atomic>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include <kopp/workqueue/clock.hpp>

namespace kopp::apiserver {

/// Sends what a watch has to say as it comes to be: the last thing that goes over its connection.
/// It asks for more only when the client has taken what there was, so a slow one costs no memory.
/// In the network's thread.
class FeedSender {
 public:
  struct Options {
    std::string head{};     ///< of the answer
    bool in_chunks = true;  ///< else the connection's end is the body's
    Duration write_timeout{};
    std::function<void()> wake{};              ///< asks for a call of Pump; from any thread
    std::function<void(TimePoint)> wake_at{};  ///< likewise, for then
  };

  /// `reply` has a feed. The wire and the store outlive the sender.
  FeedSender(Wire& wire, Store& store, Reply reply, Options options);

  /// Sends what there is, unless something is being sent.
  void Pump();

 private:
  /// The next bytes of the body; they end where the connection is to be cut.
  std::string TakeFrames();
  void GoOn();

  Wire& wire_;
  const Options options_;
  std::string begin_;  // what was not sent of the head
  std::string ready_;  // what was not sent of the reply's own body
  std::unique_ptr<Feed> feed_;
  std::optional<std::size_t> left_;  // until the connection is cut
  bool sending_ = false;
  bool cut_ = false;                 // after what is being sent
  std::atomic<bool> woken_ = false;  // and not pumped since then
  Store::Listener listener_;         // last: it uses the above
};

}  // namespace kopp::apiserver
