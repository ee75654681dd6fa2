#include "http/in_memory_transport.hpp"

#include "api/status.hpp"
#include "net/transport_failure.hpp"

#include <algorithm>
#include <optional>
#include <utility>

namespace kopp::apiserver {
namespace {

namespace failure = detail::failure;

ApiResponse ToClientResponse(ServerResponse& response) {
  ApiResponse head{.status = response.status, .body = std::move(response.body.text())};
  head.warnings = std::move(response.warnings);
  if (response.retry_after) head.retry_after = std::chrono::seconds(*response.retry_after);
  return head;
}

/// Throws TransportError if a fault truncates the body.
void CheckComplete(const ServerResponse& response, const InMemoryConnection& connection) {
  const auto& cut = response.injected_fault.cut_after;
  if (cut && *cut < response.body.text().size()) connection.Fail(failure::UnexpectedEnd());
}

class InMemoryStream final : public Stream {
 public:
  InMemoryStream(ServerContext& context, std::unique_ptr<InMemoryConnection> connection,
                 ServerResponse response)
      : clock_(context.clock()),
        connection_(std::move(connection)),
        remaining_(response.injected_fault.cut_after),
        watch_(std::move(response.watch)),
        head_(ToClientResponse(response)) {
    if (head_.status / 100 == 2) body_ = std::exchange(head_.body, {});
    if (watch_ != nullptr) {
      listener_.emplace(context.store(), watch_->storage_resource(),
                        [this] { connection_->Wake(); });
    }
  }

  [[nodiscard]] const ApiResponse& head() const override { return head_; }

  Chunk Read(Duration timeout) override {
    const TimePoint deadline = SaturatingAdd(clock_.Now(), timeout);
    for (;;) {
      connection_->ResetWake();
      connection_->Check(failure::UnexpectedEnd());
      bytes_ = Take();
      if (!bytes_.empty()) return {State::kBytes, bytes_};
      const bool ended = watch_ == nullptr || watch_->ended();
      if (remaining_ == 0 || (ended && watch_ != nullptr && watch_->aborted())) {
        connection_->Fail(failure::UnexpectedEnd());
      }
      if (ended) return {};
      if (clock_.Now() >= deadline) return {State::kSilent, {}};
      connection_->WaitUntil(std::min(deadline, watch_->wake_time()));
    }
  }

 private:
  /// Returns the bytes that are ready, up to the end that a fault sets.
  std::string Take() {
    std::string bytes = watch_ == nullptr ? std::exchange(body_, {}) : watch_->ReadFrames();
    if (remaining_) {
      bytes.resize(std::min(bytes.size(), *remaining_));
      *remaining_ -= bytes.size();
    }
    return bytes;
  }

  Clock& clock_;
  std::unique_ptr<InMemoryConnection> connection_;
  std::optional<std::size_t> remaining_;
  std::unique_ptr<WatchResponse> watch_;
  ApiResponse head_;
  std::string body_;   // of a response that is no watch; emptied by the first Read
  std::string bytes_;  // returned by the last Read
  std::optional<Store::Listener> listener_;
};

}  // namespace

InMemoryConnection::InMemoryConnection(Clock& clock, const ServerLifecycle& lifecycle,
                                       const ApiRequest& request, std::stop_token stop)
    : clock_(clock),
      request_(request.method + ' ' + request.target + ": "),
      stop_(std::move(stop)),
      run_(lifecycle.run()),
      on_stop_(stop_, [this] { Wake(); }),
      on_run_end_(run_, [this] { Wake(); }) {}

void InMemoryConnection::Fail(const TransportError& error) const {
  throw TransportError(error.kind(), request_ + error.what());
}

void InMemoryConnection::Check(const TransportError& error) const {
  if (stop_.stop_requested()) Fail(failure::Cancelled());
  if (run_.stop_requested()) Fail(error);
}

void InMemoryConnection::Wake() {
  { wake_.Lock()->requested = true; }
  changed_.notify_all();
}

void InMemoryConnection::WaitUntil(TimePoint deadline) {
  auto wake = wake_.Lock();
  if (!wake->requested) clock_.WaitUntil(wake.lock(), changed_, deadline);
}

void InMemoryConnection::Sleep(Duration duration, const TransportError& error) {
  const TimePoint end = SaturatingAdd(clock_.Now(), duration);
  for (;;) {
    ResetWake();
    Check(error);
    if (clock_.Now() >= end) return;
    WaitUntil(end);
  }
}

ServerRequest InMemoryTransport::ToServerRequest(const ApiRequest& request) const {
  return {.method = request.method,
          .target = ParseRequestInfo(request.target),
          .body = request.body,
          .content_type = request.body.empty() ? "" : request.content_type,
          .accept = request.accept,
          .user_agent = user_agent_,
          .user = user_};
}

ServerResponse InMemoryTransport::Exchange(const ApiRequest& request,
                                           InMemoryConnection& connection) {
  const Duration timeout = TransportOptions().call_timeout;
  connection.Check(failure::ClosedBeforeResponse());
  if (!lifecycle_.is_up()) connection.Fail(failure::ConnectionRefused());
  ServerResponse response = request.body.size() > kMaxBody
                                ? ToResponse(BodyTooLarge())
                                : server_.Handle(ToServerRequest(request));
  EncodeBody(response);
  if (response.injected_fault.refuse) connection.Fail(failure::ConnectionRefused());
  if (response.injected_fault.reset) connection.Fail(failure::ClosedBeforeResponse());
  connection.Sleep(std::min(response.injected_fault.delay, timeout),
                   failure::ClosedBeforeResponse());
  if (response.injected_fault.delay > timeout) connection.Fail(failure::ResponseTimeout());
  return response;
}

ApiResponse InMemoryTransport::Call(const ApiRequest& request, std::stop_token stop) {
  if (request.before_send) request.before_send();
  InMemoryConnection connection(context_.clock(), lifecycle_, request, std::move(stop));
  ServerResponse response = Exchange(request, connection);
  if (response.watch != nullptr) response.body = response.watch->ReadFrames();
  CheckComplete(response, connection);
  return ToClientResponse(response);
}

std::unique_ptr<Stream> InMemoryTransport::Open(const ApiRequest& request, std::stop_token stop) {
  auto connection =
      std::make_unique<InMemoryConnection>(context_.clock(), lifecycle_, request, std::move(stop));
  ServerResponse response = Exchange(request, *connection);
  if (response.status / 100 != 2) CheckComplete(response, *connection);
  return std::make_unique<InMemoryStream>(context_, std::move(connection), std::move(response));
}

}  // namespace kopp::apiserver
