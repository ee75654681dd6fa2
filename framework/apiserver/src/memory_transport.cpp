#include "memory_transport.hpp"

#include "body.hpp"
#include "failures.hpp"
#include "status_reply.hpp"

#include <algorithm>
#include <optional>
#include <utility>

namespace kopp::apiserver {
namespace {

namespace failure = detail::failure;

Response HeadOf(Reply& reply) {
  Response head{.status = reply.status, .body = std::move(reply.body)};
  head.warnings = std::move(reply.warnings);
  if (reply.retry_after) head.retry_after = std::chrono::seconds(*reply.retry_after);
  return head;
}

/// Fails where the body was cut before its end.
void CheckWhole(const Reply& reply, const MemoryWire& wire) {
  const auto& cut = reply.mishap.cut_after;
  if (cut && *cut < reply.body.size()) wire.Fail(failure::CutShort());
}

class MemoryStream final : public Stream {
 public:
  MemoryStream(World& world, std::unique_ptr<MemoryWire> wire, Reply reply)
      : clock_(world.clock()),
        wire_(std::move(wire)),
        left_(reply.mishap.cut_after),
        feed_(std::move(reply.feed)),
        head_(HeadOf(reply)) {
    if (head_.status / 100 == 2) body_ = std::exchange(head_.body, {});
    if (feed_ != nullptr) {
      listener_.emplace(world.store(), feed_->resource(), [this] { wire_->Wake(); });
    }
  }

  [[nodiscard]] const Response& head() const override { return head_; }

  Chunk Read(Duration limit) override {
    const TimePoint deadline = After(clock_.Now(), limit);
    for (;;) {
      wire_->Look();
      wire_->Check(failure::CutShort());
      bytes_ = Take();
      if (!bytes_.empty()) return {State::kBytes, bytes_};
      const bool ended = feed_ == nullptr || feed_->ended();
      if (left_ == 0 || (ended && feed_ != nullptr && feed_->broken())) {
        wire_->Fail(failure::CutShort());
      }
      if (ended) return {};
      if (clock_.Now() >= deadline) return {State::kSilent, {}};
      wire_->WaitUntil(std::min(deadline, feed_->next()));
    }
  }

 private:
  /// What is there, up to where it is cut.
  std::string Take() {
    std::string bytes = feed_ == nullptr ? std::exchange(body_, {}) : feed_->Take();
    if (left_) {
      bytes.resize(std::min(bytes.size(), *left_));
      *left_ -= bytes.size();
    }
    return bytes;
  }

  Clock& clock_;
  std::unique_ptr<MemoryWire> wire_;
  std::optional<std::size_t> left_;
  std::unique_ptr<Feed> feed_;
  Response head_;
  std::string body_;   // of what is no feed, until it is read
  std::string bytes_;  // what the last Read gave
  std::optional<Store::Listener> listener_;
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

Reply MemoryTransport::Exchange(const Request& request, MemoryWire& wire) {
  const Duration timeout = TransportOptions().call_timeout;
  wire.Check(failure::Unanswered());
  if (!uptime_.is_up()) wire.Fail(failure::Refused());
  if (request.body.size() > kMaxBody) return ReplyOf(BodyTooLarge());
  Reply reply = server_.Answer(AskFor(request));
  if (reply.mishap.refused) wire.Fail(failure::Refused());
  if (reply.mishap.reset) wire.Fail(failure::Unanswered());
  wire.Rest(std::min(reply.mishap.delay, timeout), failure::Unanswered());
  if (reply.mishap.delay > timeout) wire.Fail(failure::Timeout());
  return reply;
}

Response MemoryTransport::Call(const Request& request, std::stop_token stop) {
  MemoryWire wire(world_.clock(), uptime_, request, std::move(stop));
  Reply reply = Exchange(request, wire);
  if (reply.feed != nullptr) reply.body = reply.feed->Take();
  CheckWhole(reply, wire);
  return HeadOf(reply);
}

std::unique_ptr<Stream> MemoryTransport::Open(const Request& request, std::stop_token stop) {
  auto wire = std::make_unique<MemoryWire>(world_.clock(), uptime_, request, std::move(stop));
  Reply reply = Exchange(request, *wire);
  if (reply.status / 100 != 2) CheckWhole(reply, *wire);
  return std::make_unique<MemoryStream>(world_, std::move(wire), std::move(reply));
}

}  // namespace kopp::apiserver
