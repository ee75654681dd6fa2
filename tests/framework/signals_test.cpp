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

// One way: what the child says to the test, or the test to the child.
class Pipe {
 public:
  Pipe() { EXPECT_EQ(::pipe(ends_.data()), 0); }
  ~Pipe() {
    ::close(ends_[0]);
    if (ends_[1] >= 0) ::close(ends_[1]);
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;

  // So that Await ends when the other process does.
  void OnlyAwait() { ::close(std::exchange(ends_[1], -1)); }

  void Say() const {
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

// A process of its own, since signals and their handlers belong to the process. It runs `body`,
// which may `Say` through the pipe, and ends with what that returns.
class Child {
 public:
  template <typename Body>
  explicit Child(Body body) : id_(::fork()) {
    if (id_ == 0) {
      ::alarm(10);  // a test that hangs ends all the same
      std::exit(body(says_));
    }
    says_.OnlyAwait();
  }

  void Await() const { says_.Await(); }
  void Signal(int signal) const { ::kill(id_, signal); }

  // The exit code; negative: the signal that killed it.
  [[nodiscard]] int End() const {
    int status = 0;
    EXPECT_EQ(::waitpid(id_, &status, 0), id_);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
  }

 private:
  Pipe says_;
  pid_t id_;
};

// Blocks until `stop` is requested. By a condition variable: ThreadSanitizer holds a signal back
// while its thread waits for what it does not know as a wait, such as a semaphore or a read.
void Await(const std::stop_token& stop) {
  std::mutex mutex;
  std::condition_variable_any requested;
  std::unique_lock lock(mutex);
  requested.wait(lock, stop, [] { return false; });
}

int StopsInOrder(const Pipe& says) {
  const std::stop_token stop = StopOnSignal();
  says.Say();
  Await(stop);
  return 7;
}

TEST(SignalsTest, TheFirstTerminationRequestsTheStop) {
  const Child child(StopsInOrder);
  child.Await();

  child.Signal(SIGTERM);

  EXPECT_EQ(child.End(), 7);
}

TEST(SignalsTest, TheFirstInterruptRequestsTheStop) {
  const Child child(StopsInOrder);
  child.Await();

  child.Signal(SIGINT);

  EXPECT_EQ(child.End(), 7);
}

TEST(SignalsTest, TheSecondSignalEndsTheProgramAtOnce) {
  const Child child([](const Pipe& says) {
    const std::stop_token stop = StopOnSignal();
    says.Say();
    Await(stop);
    says.Say();
    ::pause();  // work that does not end
    return 7;
  });
  child.Await();
  child.Signal(SIGTERM);
  child.Await();

  child.Signal(SIGINT);

  EXPECT_EQ(child.End(), 1);
}

TEST(SignalsTest, TheSecondSignalGetsThroughAStopCallbackThatBlocks) {
  const Child child([](const Pipe& says) {
    const std::stop_callback blocking(StopOnSignal(), [&says] {
      says.Say();
      ::pause();
      ::pause();
    });
    says.Say();
    ::pause();
    ::pause();
    return 7;
  });
  child.Await();
  child.Signal(SIGTERM);
  child.Await();

  child.Signal(SIGTERM);

  EXPECT_EQ(child.End(), 1);
}

TEST(SignalsTest, ThreadsThatRunAlreadyAreNoObstacle) {
  const Child child([](const Pipe& says) {
    const Pipe release;
    std::jthread earlier([&release] { release.Await(); });
    const int code = StopsInOrder(says);
    release.Say();
    return code;
  });
  child.Await();

  child.Signal(SIGTERM);

  EXPECT_EQ(child.End(), 7);
}

TEST(SignalsTest, EveryCallReturnsTheSameToken) {
  const Child child([](const Pipe& /*says*/) { return StopOnSignal() == StopOnSignal() ? 7 : 8; });

  EXPECT_EQ(child.End(), 7);
}

TEST(SignalsTest, AProgramThatGetsNoSignalEndsInOrder) {
  const Child child([](const Pipe& /*says*/) { return StopOnSignal().stop_requested() ? 8 : 7; });

  EXPECT_EQ(child.End(), 7);
}

TEST(SignalsTest, AWriteToABrokenPipeDoesNotEndTheProgram) {
  const Child child([](const Pipe& /*says*/) {
    static_cast<void>(StopOnSignal());
    std::array<int, 2> ends{};
    if (::pipe(ends.data()) != 0) return 8;
    ::close(ends[0]);
    return ::write(ends[1], ".", 1) < 0 && errno == EPIPE ? 7 : 9;
  });

  EXPECT_EQ(child.End(), 7);
}

TEST(SignalsTest, AProgramThatWeStartIsEndedByABrokenPipe) {
  const Child child([](const Pipe& /*says*/) {
    static_cast<void>(StopOnSignal());
    ::execl("/bin/sh", "sh", "-c", "kill -PIPE $$; exit 9", nullptr);
    return 8;
  });

  EXPECT_EQ(child.End(), -SIGPIPE);
}

}  // namespace
}  // namespace kopp
