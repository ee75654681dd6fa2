#include "child.hpp"

#include "support/scratch_folder.hpp"
#include "wait_until.hpp"

#include <chrono>
#include <csignal>
#include <fstream>
#include <iterator>
#include <string>
#include <system_error>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kopp::apiserver {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

// Returns whether the process does not exist or is a zombie.
bool IsGone(const std::string& id) {
  std::ifstream file("/proc/" + id + "/stat");
  const std::string stat{std::istreambuf_iterator<char>(file), {}};
  const auto name_end = stat.rfind(") ");
  return name_end == std::string::npos || stat.substr(name_end + 2, 1) == "Z";
}

// Ignores a signal, as nohup does, until the destructor.
class IgnoreSignal {
 public:
  explicit IgnoreSignal(int signal) : signal_(signal) { ::signal(signal_, SIG_IGN); }
  ~IgnoreSignal() {
    ::signal(signal_, SIG_IGN);  // discards a pending signal
    ::signal(signal_, SIG_DFL);
  }
  IgnoreSignal(const IgnoreSignal&) = delete;
  IgnoreSignal& operator=(const IgnoreSignal&) = delete;

 private:
  const int signal_;
};

class ChildTest : public ::testing::Test {
 protected:
  int WaitForExitCode(Child& child) { return WaitForExit(signals, child); }
  // Waits for the first line of the child's output; returns it without the line break.
  std::string WaitForLine(Child& child) {
    WaitUntil(signals, &child, [&] { return folder.Read("output").ends_with('\n'); });
    const std::string output = folder.Read("output");
    return output.substr(0, output.find('\n'));
  }

  Signals signals;
  testing::ScratchFolder folder;
};

TEST_F(ChildTest, RunsWithArgumentsAndVariablesAndWritesOutputToAFile) {
  ::setenv("KOPP_TEST_GIVEN", "mine", 1);
  Child child({"sh", "-c", "echo $1 $KOPP_TEST_GIVEN $KOPP_TEST_OWN; echo err >&2; exit 3", "sh",
               "argument"},
              {{"KOPP_TEST_OWN", "own"}}, folder / "output");

  EXPECT_EQ(WaitForExitCode(child), 3);
  EXPECT_EQ(folder.Read("output"), "argument mine own\nerr\n");
}

TEST_F(ChildTest, ExitCodeAfterASignalIs128PlusTheSignalNumber) {
  Child child({"sh", "-c", "kill -9 $$"}, {}, folder / "output");

  EXPECT_EQ(WaitForExitCode(child), 128 + SIGKILL);
}

TEST_F(ChildTest, AMissingProgramIsAnErrorWithItsName) {
  try {
    const Child child({"kopp-no-such-program"}, {}, folder / "output");
    ADD_FAILURE() << "the constructor did not throw";
  } catch (const std::system_error& error) {
    EXPECT_THAT(error.what(), HasSubstr("cannot run kopp-no-such-program"));
  }
}

TEST_F(ChildTest, TerminateLetsTheChildHandleSigterm) {
  Child child({"sh", "-c", "trap 'exit 7' TERM; echo ready; while :; do sleep 0.01; done"}, {},
              folder / "output");
  WaitForLine(child);

  child.Terminate(signals, testing::kHangTimeout);

  EXPECT_EQ(child.exit_code(), 7);
}

TEST_F(ChildTest, DestructorKillsTheProcessGroupIfTheChildIgnoresSigterm) {
  std::string inner;
  {
    Child child({"sh", "-c", "trap '' TERM; sh -c 'while :; do sleep 0.01; done' & echo $!; wait"},
                {}, folder / "output");
    inner = WaitForLine(child);
    child.Terminate(signals, 50ms);
    EXPECT_EQ(child.exit_code(), std::nullopt);
  }

  WaitUntil(signals, nullptr, [&] { return IsGone(inner); });
}

TEST_F(ChildTest, BackgroundProcessesAreKilledWhenTheChildExits) {
  Child child({"sh", "-c", "sleep 1000 & echo $!"}, {}, folder / "output");

  EXPECT_EQ(WaitForExitCode(child), 0);

  const std::string left = WaitForLine(child);
  WaitUntil(signals, nullptr, [&] { return IsGone(left); });
}

TEST_F(ChildTest, SignalsThatTheParentIgnoresHaveTheirDefaultActionInTheChild) {
  const IgnoreSignal ignore_sighup(SIGHUP);

  Child child({"sh", "-c", "kill -HUP $$"}, {}, folder / "output");

  EXPECT_EQ(WaitForExitCode(child), 128 + SIGHUP);
}

TEST_F(ChildTest, ExitCodeIsAvailableEvenIfSigchldWasIgnored) {
  const IgnoreSignal ignore_sigchld(SIGCHLD);
  const Signals again;

  Child child({"sh", "-c", "exit 3"}, {}, folder / "output");

  EXPECT_EQ(WaitForExitCode(child), 3);
}

TEST(SignalsTest, ASignalIgnoredAtTheStartIsNotDelivered) {
  const IgnoreSignal ignore_sighup(SIGHUP);
  const Signals signals;

  ::raise(SIGHUP);

  EXPECT_EQ(signals.Wait({}), std::nullopt);
}

TEST(SignalsTest, SigquitIsDelivered) {
  ::signal(SIGQUIT, SIG_DFL);  // a shell starts background processes with SIGQUIT ignored
  const Signals signals;

  ::raise(SIGQUIT);

  EXPECT_EQ(signals.Wait({}), SIGQUIT);
}

}  // namespace
}  // namespace kopp::apiserver
