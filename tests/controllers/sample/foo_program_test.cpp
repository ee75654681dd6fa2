// Tests of the program sample-controller as a child process.
#include "foo_environment.hpp"
#include "support/hang_timeout.hpp"

#include <array>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <string>
#include <vector>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <kopp/kinds.hpp>
#include <kopp/testing/api_server.hpp>

namespace sample {
namespace {

using nlohmann::json;

/// A pipe that accepts nothing.
class FullPipe {
 public:
  FullPipe() {
    EXPECT_EQ(::pipe2(ends_.data(), O_CLOEXEC), 0);
    ::fcntl(writer(), F_SETFL, O_NONBLOCK);
    const std::string text(4096, '.');
    while (::write(writer(), text.data(), text.size()) > 0) {
    }
    ::fcntl(writer(), F_SETFL, 0);
  }
  ~FullPipe() {
    ::close(ends_[0]);
    ::close(ends_[1]);
  }
  FullPipe(const FullPipe&) = delete;
  FullPipe& operator=(const FullPipe&) = delete;

  [[nodiscard]] int writer() const { return ends_[1]; }

 private:
  std::array<int, 2> ends_{};
};

/// The program sample-controller. The destructor kills it.
class SampleController {
 public:
  SampleController(std::vector<std::string> arguments, int standard_error) {
    arguments.insert(arguments.begin(), SAMPLE_CONTROLLER);
    std::vector<char*> argv;
    for (std::string& argument : arguments) argv.push_back(argument.data());
    argv.push_back(nullptr);
    std::array<char*, 1> environment{};
    posix_spawn_file_actions_t actions{};
    ::posix_spawn_file_actions_init(&actions);
    ::posix_spawn_file_actions_adddup2(&actions, standard_error, STDERR_FILENO);
    EXPECT_EQ(::posix_spawn(&pid_, argv[0], &actions, nullptr, argv.data(), environment.data()), 0);
    ::posix_spawn_file_actions_destroy(&actions);
    ended_ = static_cast<int>(::syscall(SYS_pidfd_open, pid_, 0));
  }
  ~SampleController() {
    if (pid_ > 0) {
      ::kill(pid_, SIGKILL);
      ::waitpid(pid_, nullptr, 0);
    }
    ::close(ended_);
  }
  SampleController(const SampleController&) = delete;
  SampleController& operator=(const SampleController&) = delete;

  /// Sends SIGTERM. Returns the exit code, or -1 if the program has not ended after kHangTimeout or
  /// was killed by a signal.
  int Terminate() {
    ::kill(pid_, SIGTERM);
    pollfd ended{.fd = ended_, .events = POLLIN, .revents = 0};
    const std::chrono::milliseconds timeout = kopp::testing::kHangTimeout;
    if (::poll(&ended, 1, static_cast<int>(timeout.count())) != 1) return -1;
    int status = 0;
    ::waitpid(pid_, &status, 0);
    pid_ = 0;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }

 private:
  pid_t pid_ = 0;
  int ended_ = -1;
};

/// An Event of the program. Each successful reconcile increments the count.
struct SyncedEvent {
  static constexpr kopp::Kind kKind{"v1", "Event", "events"};
  struct Reference {
    std::string name = {};
  };
  kopp::ObjectMeta metadata = {};
  Reference involvedObject = {};
  int count = 0;
};
KOPP_FIELDS(SyncedEvent::Reference, name)
KOPP_FIELDS(SyncedEvent, metadata, involvedObject, count)

class FooProgramTest : public FooEnvironment {};

TEST_F(FooProgramTest, AStandardErrorThatNobodyReadsStopsNeitherReconcilesNorTheShutdown) {
  constexpr int kFoos = 300;
  for (int i = 0; i < kFoos; ++i) {
    const std::string name = "foo-" + std::to_string(i);
    env_.client().Create<Foo>({{"metadata", {{"name", name}, {"namespace", "default"}}},
                               {"spec", {{"deploymentName", name}, {"replicas", 1}}}});
  }
  const FullPipe full;

  SampleController program({"--master=" + env_.server().Listen().server, "-v=6"}, full.writer());
  EXPECT_TRUE(
      env_.Eventually([&] { return env_.client().List<kopp::Deployment>().size() == kFoos; }));

  EXPECT_EQ(program.Terminate(), 0);
}

TEST_F(FooProgramTest, ItsOwnStatusWritesCauseNoReconcile) {
  const auto eventually_available = [&](const kopp::ObjectKey& key, int replicas) {
    return env_.Eventually<Foo>(
        key, [=](const Foo& foo) { return foo.status.availableReplicas == replicas; });
  };
  SampleController program({"--master=" + env_.server().Listen().server}, STDERR_FILENO);
  CreateFoo();
  ASSERT_TRUE(eventually_available(foo_, 0));
  constexpr int kChanges = 3;
  for (int replicas = 1; replicas <= kChanges; ++replicas) {
    SetAvailableReplicas(replicas);
    ASSERT_TRUE(eventually_available(foo_, replicas));
    // When this object is reconciled, the program has got the event of the status write.
    const std::string last = "last-" + std::to_string(replicas);
    env_.client().Create<Foo>({{"metadata", {{"name", last}, {"namespace", "default"}}},
                               {"spec", {{"deploymentName", last}}}});
    ASSERT_TRUE(eventually_available({"default", last}, 0));
  }
  ASSERT_EQ(program.Terminate(), 0);

  int reconciles = 0;
  for (const SyncedEvent& event : env_.client().List<SyncedEvent>()) {
    if (event.involvedObject.name == "foo") reconciles += event.count;
  }
  EXPECT_GE(reconciles, 1 + kChanges);
  EXPECT_LE(reconciles, 2 + kChanges) << "for the Foo, its Deployment and each of its changes";
}

}  // namespace
}  // namespace sample
