#include "cpprest_progress.hpp"

#include "../http_client_messages.hpp"
#include "net/transport_failure.hpp"

#include <algorithm>
#include <cerrno>
#include <system_error>
#include <utility>

namespace kopp::detail {
namespace {

using ErrorKind = TransportError::Kind;

// The interval at which a running call is checked.
constexpr Duration kPollInterval = std::chrono::milliseconds(20);
// The time that cpprestsdk has to release an aborted call.
constexpr Duration kAbortTimeout = std::chrono::seconds(1);

TimePoint Now() { return Clock::Real().Now(); }

FileDescriptor DuplicateOrThrow(int socket) {
  FileDescriptor duplicate = DuplicateDescriptor(socket);
  if (duplicate.get() < 0) throw failure::CannotConnect(std::generic_category().message(errno));
  return duplicate;
}

}  // namespace

void CpprestProgress::StartCall(TimePoint deadline, TimePoint silence_deadline) {
  const std::lock_guard lock(mutex_);
  state_ = State{};
  state_.deadline = deadline;
  state_.silence_deadline = silence_deadline;
  state_.phase_deadline = SaturatingAdd(Now(), options_.connect_timeout);
  // Ignores the bytes that the previous call received. AttachSocket sets it for the new socket.
  state_.received_before = GetTcpStats(duplicate_.get()).received;
}

std::optional<ApiResponse> CpprestProgress::WaitForResponse(const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  while (!state_.finished && Now() < state_.abandon_at) {
    Clock::Real().WaitUntil(lock, changed_,
                            std::min(state_.deadline, SaturatingAdd(Now(), kPollInterval)));
    if (!state_.finished) AbortIfNeeded(stop);
  }
  if (state_.stale) return std::nullopt;
  if (state_.error) throw TransportError(*state_.error);
  if (!state_.has_body) throw failure::UnexpectedEnd();
  return std::move(state_.response);
}

void CpprestProgress::Wake() {
  const std::lock_guard lock(mutex_);
  changed_.notify_all();
}

bool CpprestProgress::NothingWasSent() const {
  const std::lock_guard lock(mutex_);
  return !state_.reused && GetTcpStats(duplicate_.get()).sent == 0;
}

bool CpprestProgress::ReusedConnectionWithoutResponse() const {
  const std::lock_guard lock(mutex_);
  return state_.reused && !state_.has_head;
}

bool CpprestProgress::ReusedConnectionWasSilent() const {
  const std::lock_guard lock(mutex_);
  return state_.silent;
}

TimePoint CpprestProgress::opened() const {
  const std::lock_guard lock(mutex_);
  return opened_;
}

// Aborts the call if there is a reason. Shuts the socket down at every check, because a shutdown
// has no effect on a socket that has not begun to connect; repeating it is harmless.
void CpprestProgress::AbortIfNeeded(const std::stop_token& stop) {
  if (!state_.error) state_.error = FindAbortReason(stop);
  if (!state_.error) return;
  if (state_.abandon_at == TimePoint::max()) {
    // After the shutdown, cpprestsdk may attach a new socket.
    state_.silent =
        state_.reused && GetTcpStats(duplicate_.get()).received == state_.received_before;
    state_.deadline = TimePoint::max();
    state_.abandon_at = SaturatingAdd(Now(), kAbortTimeout);
  }
  Interrupt(duplicate_.get());
}

std::optional<TransportError> CpprestProgress::FindAbortReason(const std::stop_token& stop) {
  if (stop.stop_requested()) return failure::Cancelled();
  if (Now() >= state_.deadline) return failure::ResponseTimeout();
  const TcpStats progress = GetTcpStats(duplicate_.get());
  if (auto timeout = CheckPhaseTimeout(progress.connecting)) return timeout;

  // The received bytes include the TLS handshake and record overhead, so both limits leave room.
  const std::uint64_t received = progress.received - state_.received_before;
  if (state_.reused && received == 0 && Now() >= state_.silence_deadline)
    return failure::ResponseTimeout();
  if (!state_.has_head && received > 2 * kMaxHeaderBytes)
    return failure::InvalidHttp("header limit exceeded");
  const std::uint64_t limit = options_.max_body + options_.max_body / 8 + 4 * kMaxHeaderBytes;
  return received > limit ? std::optional(failure::BodyTooLarge()) : std::nullopt;
}

std::optional<TransportError> CpprestProgress::CheckPhaseTimeout(bool connecting) {
  if (state_.connecting && !connecting && duplicate_.get() >= 0) {
    state_.connecting = false;
    state_.phase_deadline = SaturatingAdd(Now(), options_.handshake_timeout);
  }
  if (Now() < state_.phase_deadline) return std::nullopt;
  if (state_.connecting) return failure::ConnectTimeout();
  return IsInHandshake() ? std::optional(failure::HandshakeTimeout()) : std::nullopt;
}

void CpprestProgress::AttachReusedSocket(int socket) {
  const std::lock_guard lock(mutex_);
  state_.reused = true;
  state_.connecting = false;
  if (!IsOpenAndIdle(socket)) {
    state_.stale = true;
    throw failure::ClosedBeforeResponse();
  }
  if (original_fd_ != socket) duplicate_ = DuplicateOrThrow(socket);
  AttachSocket(socket);
}

void CpprestProgress::AttachNewSocket(int socket, SSL* session) {
  const std::lock_guard lock(mutex_);
  TuneSocket(socket);
  state_.reused = false;
  opened_ = Now();
  state_.connecting = true;
  state_.phase_deadline = SaturatingAdd(Now(), options_.connect_timeout);
  handshake_.done = false;
  handshake_.verify_error.clear();
  if (session != nullptr) TlsContext::Attach(session, handshake_);
  duplicate_ = DuplicateOrThrow(socket);
  AttachSocket(socket);
}

void CpprestProgress::AttachSocket(int socket) {
  original_fd_ = socket;
  state_.received_before = GetTcpStats(socket).received;
  if (state_.error) throw TransportError(*state_.error);
}

void CpprestProgress::SetHead(ApiResponse head) {
  const std::lock_guard lock(mutex_);
  state_.has_head = true;
  state_.response = std::move(head);
}

void CpprestProgress::SetBody(std::string body) {
  const std::lock_guard lock(mutex_);
  state_.response.body = std::move(body);
}

void CpprestProgress::SetBodyComplete() {
  const std::lock_guard lock(mutex_);
  state_.has_body = true;
}

void CpprestProgress::Fail(const TransportError& error) {
  const std::lock_guard lock(mutex_);
  if (!state_.error) state_.error = error;
  Interrupt(duplicate_.get());  // cpprestsdk may still be reading
}

void CpprestProgress::FailWithCpprestError(std::string_view message, int code) {
  const std::lock_guard lock(mutex_);
  if (!state_.error) state_.error = ExplainCpprestError(message, code);
}

void CpprestProgress::Finish() {
  const std::lock_guard lock(mutex_);
  state_.finished = true;
  changed_.notify_all();
}

// Converts an error of cpprestsdk. Its codes come from the failed system or TLS call; its messages
// only name the step that failed.
TransportError CpprestProgress::ExplainCpprestError(std::string_view message, int code) const {
  if (!handshake_.verify_error.empty()) return {ErrorKind::kUntrusted, handshake_.verify_error};
  if (message.starts_with("Failed to connect")) {
    // cpprestsdk reports a refused connection as EHOSTUNREACH.
    if (code == EHOSTUNREACH || code == ECONNREFUSED) return failure::ConnectionRefused();
    return failure::CannotConnect(std::generic_category().message(code));
  }
  const auto tls_code = static_cast<unsigned long>(code);
  const bool is_tls_error = code > 0xffff;  // larger than any errno, so it is an OpenSSL code
  if (is_tls_error && (IsInHandshake() || IsCertificateAlert(tls_code))) {
    return ToTransportError(tls_code);
  }
  if (IsInHandshake()) return failure::HandshakeClosed();
  if (message.starts_with("Invalid")) return failure::InvalidHttp(std::string(message));
  if (code == ETIMEDOUT) return failure::ResponseTimeout();
  return state_.has_head ? failure::UnexpectedEnd() : failure::ClosedBeforeResponse();
}

}  // namespace kopp::detail
