#include "base/stop_timer.hpp"

#include <utility>

#include <kopp/leader_election/boot_time_clock.hpp>
#include <kopp/leader_election/write_fence.hpp>

namespace kopp {
namespace {

bool IsRead(const ApiRequest& request) {
  return request.method == "GET" || request.method == "HEAD";
}

NotLeaderError NotSent(const ApiRequest& request) {
  return {request.method + " " + request.target +
              ": not sent, because this replica may have lost the leader's lease; another replica "
              "continues the work",
          false};
}

NotLeaderError Cancelled(const ApiRequest& request) {
  return {request.method + " " + request.target +
              ": cancelled without a response, because this replica may have lost the leader's "
              "lease; the API server may have executed it",
          true};
}

}  // namespace

class WriteFence::Impl {
 public:
  explicit Impl(Clock& clock) : timer(clock) {}

  detail::StopTimer timer;  // a period is the time during which the fence is open
};

WriteFence::WriteFence(Clock& clock) : impl_(std::make_unique<Impl>(CountingSuspends(clock))) {}

WriteFence::~WriteFence() = default;

std::stop_token WriteFence::Open(TimePoint until) { return impl_->timer.Start(until); }

bool WriteFence::Extend(TimePoint until) { return impl_->timer.Extend(until); }

void WriteFence::Close() { impl_->timer.End(); }

bool WriteFence::IsOpen() const { return OpenToken().has_value(); }

std::optional<std::stop_token> WriteFence::OpenToken() const { return impl_->timer.Current(); }

FencedTransport::FencedTransport(std::shared_ptr<Transport> next, const WriteFence& fence)
    : next_(std::move(next)), fence_(fence) {}

ApiResponse FencedTransport::Call(const ApiRequest& request, std::stop_token stop) {
  if (IsRead(request)) return next_->Call(request, std::move(stop));
  const auto open = fence_.OpenToken();
  if (!open) throw NotSent(request);
  std::stop_source cancel;
  const std::stop_callback on_stop(stop, [&] { cancel.request_stop(); });
  const std::stop_callback on_close(*open, [&] { cancel.request_stop(); });
  bool refused = false;  // a transport may change the type of the exception of before_send
  ApiRequest fenced = request;
  fenced.before_send = [&] {
    if (request.before_send) request.before_send();
    refused = fence_.OpenToken() != open;  // a fence that was opened again is another leadership
    if (refused) throw NotSent(request);
  };
  try {
    return next_->Call(fenced, cancel.get_token());
  } catch (const TransportError& error) {
    if (refused) throw NotSent(request);
    const bool closed = open->stop_requested() && !stop.stop_requested();
    if (!closed || error.kind() != TransportError::Kind::kCancelled) throw;
    throw Cancelled(request);
  }
}

std::unique_ptr<Stream> FencedTransport::Open(const ApiRequest& request, std::stop_token stop) {
  if (!IsRead(request) && !fence_.IsOpen()) throw NotSent(request);
  return next_->Open(request, std::move(stop));
}

}  // namespace kopp
