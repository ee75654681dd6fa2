#include "memory_transport.hpp"

#include <algorithm>
#include <condition_variable>
#include <functional>
#include <utility>

namespace kopp::apiserver {
namespace {

Response HeadOf(Reply& reply) {
  Response head{.status = reply.status, .body = std::move(reply.body)};
  head.warnings = std::move(reply.warnings);
  if (reply.retry_after) head.retry_after = std::chrono::seconds(*reply.retry_after);
  return head;
}

/// An answer that is there at once.
class WholeStream final : public Stream {
 public:
  explicit WholeStream(Reply reply) : head_(HeadOf(reply)) {
    if (head_.status / 100 == 2) left_ = std::exchange(head_.body, {});
  }
  [[nodiscard]] const Response& head() const override { return head_; }
  Chunk Read(Duration) override {
    last_ = std::exchange(left_, {});
    return last_.empty() ? Chunk{} : Chunk{State::kBytes, last_};
  }

 private:
  Response head_;
  std::string left_;
  std::string last_;
};

/// A watch.
class FeedStream final : public Stream {
 public:
  FeedStream(World& world, Reply reply, std::stop_token stop)
      : clock_(world.clock()),
        head_(HeadOf(reply)),
        feed_(std::move(reply.feed)),
        stop_(std::move(stop)),
        listener_(world.store(), feed_->resource(), [this] { Wake(); }),
        on_stop_(stop_, [this] { Wake(); }) {}

  [[nodiscard]] const Response& head() const override { return head_; }

  Chunk Read(Duration limit) override {
    const TimePoint deadline = After(clock_.Now(), limit);
    for (;;) {
      if (stop_.stop_requested()) {
        throw TransportError(TransportError::Kind::kCancelled, "the watch was told to stop");
      }
      { happened_.Lock()->something = false; }
      bytes_ = feed_->Take();
      if (!bytes_.empty()) return {State::kBytes, bytes_};
      if (feed_->ended()) return {};
      if (clock_.Now() >= deadline) return {State::kSilent, {}};
      auto state = happened_.Lock();
      if (!state->something) {
        clock_.WaitUntil(state.lock(), changed_, std::min(deadline, feed_->next()));
      }
    }
  }

 private:
  struct Happened {
    bool something = false;
  };
  void Wake() {
    { happened_.Lock()->something = true; }
    changed_.notify_all();
  }

  Clock& clock_;
  Response head_;
  std::unique_ptr<Feed> feed_;
  std::string bytes_;
  Guarded<Happened> happened_;
  std::condition_variable changed_;
  std::stop_token stop_;
  Store::Listener listener_;
  std::stop_callback<std::function<void()>> on_stop_;
};

}  // namespace

Ask MemoryTransport::AskFor(const Request& request) const {
  return {.method = request.method,
          .target = ParseTarget(request.target),
          .body = request.body,
          .content_type = request.body.empty() ? "" : request.content_type,
          .accept = request.accept,
          .user_agent = user_agent_,
          .user = user_};
}

Response MemoryTransport::Call(const Request& request, std::stop_token stop) {
  if (stop.stop_requested()) {
    throw TransportError(TransportError::Kind::kCancelled,
                         request.method + ' ' + request.target + ": the call was told to stop");
  }
  Reply reply = server_.Answer(AskFor(request));
  if (reply.feed != nullptr) reply.body = reply.feed->Take();
  return HeadOf(reply);
}

std::unique_ptr<Stream> MemoryTransport::Open(const Request& request, std::stop_token stop) {
  Reply reply = server_.Answer(AskFor(request));
  if (reply.feed == nullptr) return std::make_unique<WholeStream>(std::move(reply));
  return std::make_unique<FeedStream>(world_, std::move(reply), std::move(stop));
}

}  // namespace kopp::apiserver
