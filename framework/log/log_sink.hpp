#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <kopp/log.hpp>
#include <kopp/workqueue/clock.hpp>
#include <kopp/workqueue/guarded.hpp>

namespace kopp::detail {

/// What a descriptor refers to, as far as it matters for writing without blocking.
enum class DescriptorKind { kFile, kPipe, kSocket, kTerminal };

/// Formats the line that replaces dropped lines.
class DropNotice {
 public:
  virtual ~DropNotice() = default;
  /// Returns a complete line that says that `lines` lines were dropped. Called with a lock held.
  [[nodiscard]] virtual std::string DroppedLines(std::uint64_t lines, WallTime now) const = 0;

 protected:
  DropNotice() = default;
  DropNotice(const DropNotice&) = default;
  DropNotice& operator=(const DropNotice&) = default;
};

/// Writes lines to a descriptor without blocking the caller. Thread-safe.
///
/// The caller writes its line itself, as long as that cannot block. A crash therefore loses no
/// line. Otherwise the line waits for a thread, which ends when no line waits. Waiting lines use at
/// most `max_waiting` bytes, and as many again while the thread writes them; further lines are
/// dropped. A terminal can block in the middle of a line, so only the thread writes to it.
class LogSink {
 public:
  /// `descriptor` and `clock` must outlive the sink. The destructor blocks until no line waits.
  LogSink(int descriptor, Clock& clock, std::size_t max_waiting = std::size_t{1} << 20);
  ~LogSink();
  LogSink(const LogSink&) = delete;
  LogSink& operator=(const LogSink&) = delete;

  /// The sink of standard error. Never destroyed; exit waits up to one second for its lines.
  static LogSink& StandardError();

  /// Writes `line`, which ends with '\n'. If lines are dropped, the `notice` of the first line that
  /// was written formats the line that says so.
  void Write(std::string_view line, const std::shared_ptr<const DropNotice>& notice);

  [[nodiscard]] LogStatus Status();
  /// Blocks until no line waits or `timeout` has passed. Returns whether no line waits.
  bool Flush(Duration timeout);

 private:
  /// Complete lines, except that the first one may have been written in part.
  struct Lines {
    std::string text{};
    std::uint64_t count = 0;     // without notices
    std::uint64_t reported = 0;  // dropped lines that its notices report
  };
  struct State {
    Lines waiting{};
    bool thread_runs = false;
    std::size_t in_flight = 0;     // bytes that the thread writes
    TimePoint progress{};          // when the thread started or last wrote something
    std::uint64_t unreported = 0;  // dropped lines without a notice
    std::uint64_t dropped_lines = 0;
    std::shared_ptr<const DropNotice> notice{};  // of the first line
  };
  struct Outcome {
    std::size_t written = 0;
    bool failed = false;
  };

  void Append(State& state, std::string_view line) const;
  void AddNotice(State& state) const;
  void WriteWaiting(State& state);
  void StartThread(State& state);
  void RunThread();
  [[nodiscard]] std::optional<Lines> NextLines();
  bool WriteBlocking(std::string_view text);
  void EndThread(const Lines& lost);
  static void Drop(State& state, const Lines& lines);
  [[nodiscard]] Outcome WriteWithoutBlocking(std::string_view text) const;
  [[nodiscard]] Outcome WriteOnce(DescriptorKind kind, std::string_view text) const;

  const int descriptor_;
  Clock& clock_;
  const std::size_t max_waiting_;
  detail::Guarded<State> state_;
  std::condition_variable thread_ended_;
};

}  // namespace kopp::detail
