#include "rest_progress.hpp"

#include "failures.hpp"
#include "http_rules.hpp"

#include <algorithm>
#include <cerrno>
#include <system_error>
#include <utility>

namespace kopp::detail {
namespace {

using Kind = TransportError::Kind;

constexpr Duration kGlance = std::chrono::milliseconds(20);  // how often a long call is looked at
constexpr Duration kGrace = std::chrono::seconds(1);  // for cpprestsdk to let go of a dead socket

TimePoint Now() { return Clock::Real().Now(); }

Descriptor Duplicated(int socket) {
  Descriptor second = Duplicate(socket);
  if (second.get() < 0) throw failure::CannotConnect(std::generic_category().message(errno));
  return second;
}

}  // namespace

void RestProgress::Begin(TimePoint deadline) {
  const std::lock_guard lock(mutex_);
  state_ = State{};
  state_.deadline = deadline;
  state_.phase_deadline = After(Now(), options_.connect_timeout);
  state_.received_before = ProgressOf(socket_.get()).received;  // of the last call, until Adopt
}

std::optional<Response> RestProgress::Await(const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  while (!state_.ended && Now() < state_.abandon_at) {
    Clock::Real().WaitUntil(lock, changed_, std::min(state_.deadline, After(Now(), kGlance)));
    if (!state_.ended) Supervise(stop);
  }
  if (state_.stale) return std::nullopt;
  if (state_.error) throw TransportError(*state_.error);
  if (!state_.complete) throw failure::CutShort();
  return std::move(state_.response);
}

void RestProgress::Wake() {
  const std::lock_guard lock(mutex_);
  changed_.notify_all();
}

bool RestProgress::Unsent() const {
  const std::lock_guard lock(mutex_);
  return !state_.kept && ProgressOf(socket_.get()).sent == 0;
}

bool RestProgress::WasKeptAndUnanswered() const {
  const std::lock_guard lock(mutex_);
  return state_.kept && !state_.head;
}

// A socket that had not begun to connect when it was shut down has to be shut down again, which is
// no harm to the others.
void RestProgress::Supervise(const std::stop_token& stop) {
  if (!state_.error) state_.error = ReasonToGiveUp(stop);
  if (!state_.error) return;
  if (state_.abandon_at == TimePoint::max()) {
    state_.deadline = TimePoint::max();
    state_.abandon_at = After(Now(), kGrace);
  }
  Interrupt(socket_.get());
}

std::optional<TransportError> RestProgress::ReasonToGiveUp(const std::stop_token& stop) {
  if (stop.stop_requested()) return failure::Stopped();
  if (Now() >= state_.deadline) return failure::Timeout();
  const TcpProgress progress = ProgressOf(socket_.get());
  if (auto late = LateForItsPhase(progress.connecting)) return late;

  // What came by the wire is a handshake and frames more than the bytes that are bounded.
  const std::uint64_t received = progress.received - state_.received_before;
  if (!state_.head && received > 2 * kHeaderLimit) return failure::NotHttp("header limit exceeded");
  const std::uint64_t most = options_.max_body + options_.max_body / 8 + 4 * kHeaderLimit;
  return received > most ? std::optional(failure::TooLarge()) : std::nullopt;
}

std::optional<TransportError> RestProgress::LateForItsPhase(bool connecting) {
  if (state_.connecting && !connecting && socket_.get() >= 0) {
    state_.connecting = false;
    state_.phase_deadline = After(Now(), options_.handshake_timeout);
  }
  if (Now() < state_.phase_deadline) return std::nullopt;
  if (state_.connecting) return failure::ConnectTimeout();
  return IsShakingHands() ? std::optional(failure::HandshakeTimeout()) : std::nullopt;
}

void RestProgress::AdoptKept(int socket) {
  const std::lock_guard lock(mutex_);
  state_.kept = true;
  state_.connecting = false;
  if (!IsQuiet(socket)) {
    state_.stale = true;
    throw failure::Unanswered();
  }
  if (number_ != socket) socket_ = Duplicated(socket);
  Adopt(socket);
}

void RestProgress::AdoptNew(int socket, SSL* session) {
  const std::lock_guard lock(mutex_);
  TuneSocket(socket);
  state_.kept = false;
  state_.connecting = true;
  state_.phase_deadline = After(Now(), options_.connect_timeout);
  report_.done = false;
  report_.refusal.clear();
  if (session != nullptr) TlsContext::Attach(session, report_);
  socket_ = Duplicated(socket);
  Adopt(socket);
}

void RestProgress::Adopt(int socket) {
  number_ = socket;
  state_.received_before = ProgressOf(socket).received;
  if (state_.error) throw TransportError(*state_.error);
}

void RestProgress::TakeHead(Response head) {
  const std::lock_guard lock(mutex_);
  state_.head = true;
  state_.response = std::move(head);
}

void RestProgress::TakeBody(std::string body) {
  const std::lock_guard lock(mutex_);
  state_.response.body = std::move(body);
}

void RestProgress::Complete() {
  const std::lock_guard lock(mutex_);
  state_.complete = true;
}

void RestProgress::Fail(const TransportError& error) {
  const std::lock_guard lock(mutex_);
  if (!state_.error) state_.error = error;
  Interrupt(socket_.get());  // cpprestsdk may be reading on
}

void RestProgress::FailAt(std::string_view step, int code) {
  const std::lock_guard lock(mutex_);
  if (!state_.error) state_.error = Explained(step, code);
}

void RestProgress::End() {
  const std::lock_guard lock(mutex_);
  state_.ended = true;
  changed_.notify_all();
}

// cpprestsdk's codes are true of where they come from, its texts only of the step that failed.
TransportError RestProgress::Explained(std::string_view step, int code) const {
  if (!report_.refusal.empty()) return {Kind::kUntrusted, report_.refusal};
  if (step.starts_with("Failed to connect")) {
    // It makes "no route to host" of "refused".
    if (code == EHOSTUNREACH || code == ECONNREFUSED) return failure::Refused();
    return failure::CannotConnect(std::generic_category().message(code));
  }
  const auto tls_code = static_cast<unsigned long>(code);
  const bool by_tls = code > 0xffff;  // beyond any errno: OpenSSL's
  if (by_tls && (IsShakingHands() || IsCertificateAlert(tls_code))) {
    return ExplainHandshake(tls_code);
  }
  if (IsShakingHands()) return failure::HandshakeClosed();
  if (step.starts_with("Invalid")) return failure::NotHttp(std::string(step));
  if (code == ETIMEDOUT) return failure::Timeout();
  return state_.head ? failure::CutShort() : failure::Unanswered();
}

}  // namespace kopp::detail
