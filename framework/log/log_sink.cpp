#include "log_sink.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <exception>
#include <system_error>
#include <thread>
#include <utility>

#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

namespace kopp::detail {
namespace {

constexpr Duration kExitTimeout = std::chrono::seconds(1);
// The thread polls again after this time, because the descriptor may have been replaced by dup2.
constexpr int kPollMillis = 1000;
constexpr std::size_t kMaxKeptCapacity = std::size_t{64} << 10;

// Not cached, because dup2 may replace the descriptor.
DescriptorKind KindOf(int descriptor) {
  struct stat status {};
  if (::fstat(descriptor, &status) != 0) return DescriptorKind::kFile;  // the write reports it
  if (S_ISFIFO(status.st_mode)) return DescriptorKind::kPipe;
  if (S_ISSOCK(status.st_mode)) return DescriptorKind::kSocket;
  const bool is_terminal = S_ISCHR(status.st_mode) && ::isatty(descriptor) == 1;
  return is_terminal ? DescriptorKind::kTerminal : DescriptorKind::kFile;
}

// Returns the events of poll after at most `timeout` milliseconds, or 0.
int PollWritable(int descriptor, int timeout) {
  pollfd ready{.fd = descriptor, .events = POLLOUT, .revents = 0};
  return ::poll(&ready, 1, timeout) > 0 ? ready.revents : 0;
}

// A pipe that is ready accepts PIPE_BUF bytes without blocking, if only this process writes to it.
// If it has no reader, a write would raise SIGPIPE.
ssize_t WriteToPipe(int descriptor, std::string_view text) {
  const int events = PollWritable(descriptor, 0);
  if ((events & (POLLERR | POLLNVAL)) != 0) {
    errno = EPIPE;
    return -1;
  }
  if ((events & POLLOUT) == 0) return 0;
  return ::write(descriptor, text.data(), std::min<std::size_t>(text.size(), PIPE_BUF));
}

}  // namespace

LogSink::LogSink(int descriptor, Clock& clock, std::size_t max_waiting)
    : descriptor_(descriptor), clock_(clock), max_waiting_(max_waiting) {}

LogSink::~LogSink() { Flush(Duration::max()); }

LogSink& LogSink::StandardError() {
  static LogSink& sink = []() -> LogSink& {
    // NOLINTNEXTLINE(cppcoreguidelines-owning-memory): its thread may run until the process ends
    auto* const leaked = new LogSink(STDERR_FILENO, Clock::Real());
    std::atexit([] { StandardError().Flush(kExitTimeout); });
    return *leaked;
  }();
  return sink;
}

void LogSink::Write(std::string_view line, const std::shared_ptr<const DropNotice>& notice) {
  auto state = state_.Lock();
  if (!state->notice) state->notice = notice;
  Append(*state, line);
  if (!state->thread_runs) WriteWaiting(*state);
}

LogStatus LogSink::Status() {
  const TimePoint now = clock_.Now();
  auto state = state_.Lock();
  return {.dropped_lines = state->dropped_lines,
          .waiting_bytes = state->waiting.text.size() + state->in_flight,
          .blocked_for = state->thread_runs ? std::max(now - state->progress, Duration::zero())
                                            : Duration::zero()};
}

bool LogSink::Flush(Duration timeout) {
  const TimePoint deadline = SaturatingAdd(clock_.Now(), timeout);
  auto state = state_.Lock();
  if (!state->thread_runs) WriteWaiting(*state);  // no thread could be started
  while (state->thread_runs && clock_.Now() < deadline) {
    clock_.WaitUntil(state.lock(), thread_ended_, deadline);
  }
  return !state->thread_runs && state->waiting.text.empty();
}

// Adds the line, or counts it as dropped. A single line of any length is accepted.
void LogSink::Append(State& state, std::string_view line) const {
  const std::size_t size = state.waiting.text.size();
  const bool is_first = size == 0 && !state.thread_runs;
  if (!is_first && size + line.size() > max_waiting_) {
    Drop(state, {.count = 1});
    return;
  }
  AddNotice(state);
  state.waiting.text += line;
  ++state.waiting.count;
}

void LogSink::AddNotice(State& state) const {
  if (state.unreported == 0) return;
  state.waiting.text += state.notice->DroppedLines(state.unreported, clock_.WallNow());
  state.waiting.reported += std::exchange(state.unreported, 0);
}

// If a notice is among the lines, it has not been read, so what it reports is unreported again.
void LogSink::Drop(State& state, const Lines& lines) {
  state.dropped_lines += lines.count;
  state.unreported += lines.count + lines.reported;
}

// Writes what can be written without blocking. The rest is left to a thread.
void LogSink::WriteWaiting(State& state) {
  Lines& waiting = state.waiting;
  const Outcome outcome = WriteWithoutBlocking(waiting.text);
  if (outcome.failed) Drop(state, waiting);
  waiting.text.erase(0, outcome.failed ? waiting.text.size() : outcome.written);
  if (!waiting.text.empty()) {
    StartThread(state);
  } else if (waiting.text.capacity() > kMaxKeptCapacity) {
    waiting = {};
  } else {
    waiting.count = waiting.reported = 0;
  }
}

void LogSink::StartThread(State& state) {
  try {
    std::thread([this] { RunThread(); }).detach();
    state.thread_runs = true;
    state.progress = clock_.Now();
  } catch (const std::system_error&) {  // NOLINT(bugprone-empty-catch): the next line tries again
  }
}

void LogSink::RunThread() {
  while (const auto lines = NextLines()) {
    if (!WriteBlocking(lines->text)) return EndThread(*lines);
  }
}

// Returns the lines that wait, with a notice of what was dropped after them. Ends the thread and
// returns nullopt if no line waits.
std::optional<LogSink::Lines> LogSink::NextLines() {
  auto state = state_.Lock();
  try {
    if (state->waiting.text.empty()) AddNotice(*state);
  } catch (const std::exception&) {  // NOLINT(bugprone-empty-catch): the next line has the notice
  }
  if (state->waiting.text.empty()) {
    state->thread_runs = false;
    state->in_flight = 0;
    thread_ended_.notify_all();
    return std::nullopt;
  }
  state->in_flight = state->waiting.text.size();
  return std::exchange(state->waiting, {});
}

// Ends the thread after an error. Its lines and those that wait are lost.
void LogSink::EndThread(const Lines& lost) {
  auto state = state_.Lock();
  Drop(*state, lost);
  Drop(*state, std::exchange(state->waiting, {}));
  state->thread_runs = false;
  state->in_flight = 0;
  thread_ended_.notify_all();
}

// Returns false after an error.
bool LogSink::WriteBlocking(std::string_view text) {
  while (!text.empty()) {
    if (PollWritable(descriptor_, kPollMillis) == 0) continue;
    const Outcome outcome = WriteOnce(KindOf(descriptor_), text);
    if (outcome.failed) return false;
    text.remove_prefix(outcome.written);
    const TimePoint now = clock_.Now();
    auto state = state_.Lock();
    state->in_flight -= outcome.written;
    if (outcome.written > 0) state->progress = now;
  }
  return true;
}

LogSink::Outcome LogSink::WriteWithoutBlocking(std::string_view text) const {
  Outcome outcome;
  const DescriptorKind kind = KindOf(descriptor_);
  if (kind == DescriptorKind::kTerminal) return outcome;
  while (outcome.written < text.size()) {
    const Outcome once = WriteOnce(kind, text.substr(outcome.written));
    outcome.written += once.written;
    outcome.failed = once.failed;
    if (once.written == 0) break;
  }
  return outcome;
}

// Writes a part of `text`. Blocks only if the descriptor is a terminal or a file.
LogSink::Outcome LogSink::WriteOnce(DescriptorKind kind, std::string_view text) const {
  ssize_t written = -1;
  do {  // NOLINT(bugprone-infinite-loop): errno changes
    switch (kind) {
      case DescriptorKind::kPipe:
        written = WriteToPipe(descriptor_, text);
        break;
      case DescriptorKind::kSocket:
        written = ::send(descriptor_, text.data(), text.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
        break;
      case DescriptorKind::kFile:
      case DescriptorKind::kTerminal:
        written = ::write(descriptor_, text.data(), text.size());
        break;
    }
  } while (written < 0 && errno == EINTR);
  if (written >= 0) return {.written = static_cast<std::size_t>(written)};
  return {.failed = errno != EAGAIN};
}

}  // namespace kopp::detail
