#include <array>
#include <cerrno>
#include <condition_variable>
#include <csignal>
#include <cstdlib>
#include <mutex>
#include <stop_token>
#include <thread>
#include <utility>

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <kopp/signals.hpp>

namespace kopp {
namespace {

// Signals from one process or thread to another, in one direction.
class Pipe {
 public:
  Pipe() { EXPECT_EQ(::pipe(ends_.data()), 0); }
  ~Pipe() {
    ::close(ends_[0]);
    if (ends_[1] >= 0) ::close(ends_[1]);
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;

  // Closes the writing end in this process, so that Await returns when the other process exits.
  void CloseWritingEnd() { ::close(std::exchange(ends_[1], -1)); }

  void Notify() const {
    const char byte = '.';
    EXPECT_EQ(::write(ends_[1], &byte, 1), 1);
  }
  void Await() const {
    char byte = 0;
    EXPECT_EQ(::read(ends_[0], &byte, 1), 1);
  }

 private:
  std::array<int, 2> ends_{};
};

// A child process, because signals and their handlers belong to a process. It runs `body` and exits
// with the returned code. `body` can notify the test through the pipe.
class Child {
 public:
  template <typename Body>
  explicit Child(Body body) : id_(::fork()) {
    if (id_ == 0) {
      ::alarm(10);  // ends a test that hangs
      std::exit(body(pipe_));
    }
    pipe_.CloseWritingEnd();
  }

  void Await() const { pipe_.Await(); }
  void Signal(int signal) const { ::kill(id_, signal); }

  // Blocks until the process has exited. Returns its exit code, or the negated signal number.
  [[nodiscard]] int WaitForExit() const {
    int status = 0;
    EXPECT_EQ(::waitpid(id_, &status, 0), id_);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
  }

 private:
  Pipe pipe_;
  pid_t id_;
};

// Blocks until a stop is requested. Uses a condition variable, because ThreadSanitizer delays
// signals while the thread blocks in a call that it does not intercept, such as a semaphore or a
// read.
void Await(const std::stop_token& stop) {
  std::mutex mutex;
  std::condition_variable_any requested;
  std::unique_lock lock(mutex);
  requested.wait(lock, stop, [] { return false; });
}

int ExitWith7AfterStop(const Pipe& pipe) {
  const std::stop_token stop = StopOnSignal();
  pipe.Notify();
  Await(stop);
  return 7;
}

TEST(SignalsTest, TheFirstSigtermRequestsTheStop) {
  const Child child(ExitWith7AfterStop);
  child.Await();

  child.Signal(SIGTERM);

  EXPECT_EQ(child.WaitForExit(), 7);
}

TEST(SignalsTest, TheFirstSigintRequestsTheStop) {
  const Child child(ExitWith7AfterStop);
  child.Await();

  child.Signal(SIGINT);

  EXPECT_EQ(child.WaitForExit(), 7);
}

TEST(SignalsTest, TheSecondSignalExitsTheProcessImmediately) {
  const Child child([](const Pipe& pipe) {
    const std::stop_token stop = StopOnSignal();
    pipe.Notify();
    Await(stop);
    pipe.Notify();
    ::pause();  // does not return
    return 7;
  });
  child.Await();
  child.Signal(SIGTERM);
  child.Await();

  child.Signal(SIGINT);

  EXPECT_EQ(child.WaitForExit(), 1);
}

TEST(SignalsTest, TheSecondSignalExitsTheProcessEvenIfAStopCallbackBlocks) {
  const Child child([](const Pipe& pipe) {
    const std::stop_callback blocking(StopOnSignal(), [&pipe] {
      pipe.Notify();
      ::pause();
      ::pause();
    });
    pipe.Notify();
    ::pause();
    ::pause();
    return 7;
  });
  child.Await();
  child.Signal(SIGTERM);
  child.Await();

  child.Signal(SIGTERM);

  EXPECT_EQ(child.WaitForExit(), 1);
}

TEST(SignalsTest, SignalsAreHandledIfOtherThreadsAreAlreadyRunning) {
  const Child child([](const Pipe& pipe) {
    const Pipe release;
    std::jthread earlier([&release] { release.Await(); });
    const int code = ExitWith7AfterStop(pipe);
    release.Notify();
    return code;
  });
  child.Await();

  child.Signal(SIGTERM);

  EXPECT_EQ(child.WaitForExit(), 7);
}

TEST(SignalsTest, EveryCallReturnsTheSameToken) {
  const Child child([](const Pipe& /*pipe*/) { return StopOnSignal() == StopOnSignal() ? 7 : 8; });

  EXPECT_EQ(child.WaitForExit(), 7);
}

TEST(SignalsTest, AProcessWithoutASignalExitsNormally) {
  const Child child([](const Pipe& /*pipe*/) { return StopOnSignal().stop_requested() ? 8 : 7; });

  EXPECT_EQ(child.WaitForExit(), 7);
}

TEST(SignalsTest, AWriteToAClosedPipeFailsWithEpipe) {
  const Child child([](const Pipe& /*pipe*/) {
    static_cast<void>(StopOnSignal());
    std::array<int, 2> ends{};
    if (::pipe(ends.data()) != 0) return 8;
    ::close(ends[0]);
    return ::write(ends[1], ".", 1) < 0 && errno == EPIPE ? 7 : 9;
  });

  EXPECT_EQ(child.WaitForExit(), 7);
}

TEST(SignalsTest, AProgramStartedWithExecHasTheDefaultSigpipeHandler) {
  const Child child([](const Pipe& /*pipe*/) {
    static_cast<void>(StopOnSignal());
    ::execl("/bin/sh", "sh", "-c", "kill -PIPE $$; exit 9", nullptr);
    return 8;
  });

  EXPECT_EQ(child.WaitForExit(), -SIGPIPE);
}

}  // namespace
}  // namespace kopp
