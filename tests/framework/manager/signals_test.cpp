#include <array>
#include <cerrno>
#include <condition_variable>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <mutex>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <kopp/signals.hpp>

namespace kopp {
namespace {

// A one-way notification between processes or threads, based on a pipe.
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
  // Blocks until Notify is called. Fails the test if the writing end is closed instead.
  void Await() const {
    char byte = 0;
    EXPECT_EQ(::read(ends_[0], &byte, 1), 1);
  }

 private:
  std::array<int, 2> ends_{};
};

// Does not return. Not ::pause(), which ThreadSanitizer does not intercept: see Child::SendSignal.
[[noreturn]] void BlockForEver() {
  while (true) ::poll(nullptr, 0, -1);
}

// Returns true if the main thread of a process sleeps in a system call.
bool IsAsleep(pid_t process) {
  std::ifstream file("/proc/" + std::to_string(process) + "/stat");
  const std::string stat((std::istreambuf_iterator<char>(file)), {});
  return stat.find(") S ") != std::string::npos;
}

// Runs `body` in a child process, because signal handlers are a property of the process. The child
// exits with the value that `body` returns. `body` can notify the test through the pipe.
class Child {
 public:
  template <typename Body>
  explicit Child(Body body) : id_(::fork()) {
    if (id_ == 0) {
      ::alarm(60);  // ends a test that hangs
      std::exit(body(pipe_));
    }
    pipe_.CloseWritingEnd();
  }

  void Await() const { pipe_.Await(); }
  // Sends a signal when the main thread blocks: ThreadSanitizer of GCC 12 loses a signal that
  // interrupts other code. It runs the handler at once only in a blocking call that it intercepts.
  void SendSignal(int signal) const {
    // A short sleep, such as for a mutex, is no blocking call that ThreadSanitizer intercepts.
    for (int asleep = 0; asleep < 200; asleep = IsAsleep(id_) ? asleep + 1 : 0) {
      std::this_thread::yield();
    }
    ::kill(id_, signal);
  }

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

// Blocks until a stop is requested.
void Await(const std::stop_token& stop) {
  std::mutex mutex;
  std::condition_variable_any requested;
  std::unique_lock lock(mutex);
  requested.wait(lock, stop, [] { return false; });
}

int Return7AfterStop(const Pipe& pipe) {
  const std::stop_token stop = StopOnSignal();
  pipe.Notify();
  Await(stop);
  return 7;
}

TEST(SignalsTest, TheFirstSigtermRequestsTheStop) {
  const Child child(Return7AfterStop);
  child.Await();

  child.SendSignal(SIGTERM);

  EXPECT_EQ(child.WaitForExit(), 7);
}

TEST(SignalsTest, TheFirstSigintRequestsTheStop) {
  const Child child(Return7AfterStop);
  child.Await();

  child.SendSignal(SIGINT);

  EXPECT_EQ(child.WaitForExit(), 7);
}

TEST(SignalsTest, TheSecondSignalExitsTheProcessImmediately) {
  const Child child([](const Pipe& pipe) {
    const std::stop_token stop = StopOnSignal();
    pipe.Notify();
    Await(stop);
    pipe.Notify();
    BlockForEver();  // until the second signal exits the process
    return 7;
  });
  child.Await();
  child.SendSignal(SIGTERM);
  child.Await();

  child.SendSignal(SIGINT);

  EXPECT_EQ(child.WaitForExit(), 1);
}

TEST(SignalsTest, TheSecondSignalExitsTheProcessEvenIfAStopCallbackBlocks) {
  const Child child([](const Pipe& pipe) {
    const std::stop_callback blocking(StopOnSignal(), [&pipe] {
      pipe.Notify();
      BlockForEver();  // until the second signal exits the process
    });
    pipe.Notify();
    BlockForEver();
    return 7;
  });
  child.Await();
  child.SendSignal(SIGTERM);
  child.Await();

  child.SendSignal(SIGTERM);

  EXPECT_EQ(child.WaitForExit(), 1);
}

TEST(SignalsTest, SignalsAreHandledIfOtherThreadsAreAlreadyRunning) {
  const Child child([](const Pipe& pipe) {
    const Pipe release;
    std::jthread earlier([&release] { release.Await(); });
    const int code = Return7AfterStop(pipe);
    release.Notify();
    return code;
  });
  child.Await();

  child.SendSignal(SIGTERM);

  EXPECT_EQ(child.WaitForExit(), 7);
}

TEST(SignalsTest, StopOnSignalReturnsTheSameTokenOnEachCall) {
  const Child child([](const Pipe& /*pipe*/) { return StopOnSignal() == StopOnSignal() ? 7 : 8; });

  EXPECT_EQ(child.WaitForExit(), 7);
}

TEST(SignalsTest, AProcessThatReceivesNoSignalExitsNormally) {
  const Child child([](const Pipe& /*pipe*/) { return StopOnSignal().stop_requested() ? 8 : 7; });

  EXPECT_EQ(child.WaitForExit(), 7);
}

TEST(SignalsTest, AWriteToAClosedPipeFailsWithEpipeAfterStopOnSignal) {
  const Child child([](const Pipe& /*pipe*/) {
    static_cast<void>(StopOnSignal());
    std::array<int, 2> ends{};
    if (::pipe(ends.data()) != 0) return 8;
    ::close(ends[0]);
    return ::write(ends[1], ".", 1) < 0 && errno == EPIPE ? 7 : 9;
  });

  EXPECT_EQ(child.WaitForExit(), 7);
}

TEST(SignalsTest, AProgramStartedWithExecHasTheDefaultSigpipeDisposition) {
  const Child child([](const Pipe& /*pipe*/) {
    static_cast<void>(StopOnSignal());
    ::execl("/bin/sh", "sh", "-c", "kill -PIPE $$; exit 9", nullptr);
    return 8;
  });

  EXPECT_EQ(child.WaitForExit(), -SIGPIPE);
}

}  // namespace
}  // namespace kopp
