#include "child.hpp"

#include "patience.hpp"
#include "scratch_folder.hpp"

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

// No such process, or one that has ended and that nobody reaps.
bool IsGone(const std::string& id) {
  std::ifstream file("/proc/" + id + "/stat");
  const std::string stat{std::istreambuf_iterator<char>(file), {}};
  const auto name_end = stat.rfind(") ");
  return name_end == std::string::npos || stat.substr(name_end + 2, 1) == "Z";
}

// The signal is ignored, as by nohup, until the end.
class Ignoring {
 public:
  explicit Ignoring(int signal) : signal_(signal) { ::signal(signal_, SIG_IGN); }
  ~Ignoring() {
    ::signal(signal_, SIG_IGN);  // forgets one that is pending
    ::signal(signal_, SIG_DFL);
  }
  Ignoring(const Ignoring&) = delete;
  Ignoring& operator=(const Ignoring&) = delete;

 private:
  const int signal_;
};

class ChildTest : public ::testing::Test {
 protected:
  int Await(Child& child) { return AwaitCode(signals, child); }
  // A line that the child has printed, without its end.
  std::string AwaitLine(Child& child) {
    AwaitThat(signals, &child, [&] { return folder.Read("output").ends_with('\n'); });
    const std::string output = folder.Read("output");
    return output.substr(0, output.find('\n'));
  }

  Signals signals;
  ScratchFolder folder;
};

TEST_F(ChildTest, ItRunsWithItsArgumentsAndVariablesAndPrintsIntoAFile) {
  ::setenv("KOPP_TEST_GIVEN", "mine", 1);
  Child child({"sh", "-c", "echo $1 $KOPP_TEST_GIVEN $KOPP_TEST_OWN; echo err >&2; exit 3", "sh",
               "argument"},
              {{"KOPP_TEST_OWN", "own"}}, folder / "output");

  EXPECT_EQ(Await(child), 3);
  EXPECT_EQ(folder.Read("output"), "argument mine own\nerr\n");
}

TEST_F(ChildTest, OneThatASignalEndedHasItsNumberAnd128) {
  Child child({"sh", "-c", "kill -9 $$"}, {}, folder / "output");

  EXPECT_EQ(Await(child), 128 + SIGKILL);
}

TEST_F(ChildTest, AProgramThatIsNotThereIsNamed) {
  try {
    const Child child({"kopp-no-such-program"}, {}, folder / "output");
    ADD_FAILURE() << "it runs";
  } catch (const std::system_error& error) {
    EXPECT_THAT(error.what(), HasSubstr("cannot run kopp-no-such-program"));
  }
}

TEST_F(ChildTest, AskedToEndItMayEndInOrder) {
  Child child({"sh", "-c", "trap 'exit 7' TERM; echo ready; while :; do sleep 0.01; done"}, {},
              folder / "output");
  AwaitLine(child);

  child.End(signals, 10s);

  EXPECT_EQ(child.code(), 7);
}

TEST_F(ChildTest, NothingOfItIsLeftWhenItDoesNotWantToEnd) {
  std::string inner;
  {
    Child child({"sh", "-c", "trap '' TERM; sh -c 'while :; do sleep 0.01; done' & echo $!; wait"},
                {}, folder / "output");
    inner = AwaitLine(child);
    child.End(signals, 50ms);
    EXPECT_EQ(child.code(), std::nullopt);
  }

  AwaitThat(signals, nullptr, [&] { return IsGone(inner); });
}

TEST_F(ChildTest, WhatItLeavesBehindEndsWithIt) {
  Child child({"sh", "-c", "sleep 1000 & echo $!"}, {}, folder / "output");

  EXPECT_EQ(Await(child), 0);

  const std::string left = AwaitLine(child);
  AwaitThat(signals, nullptr, [&] { return IsGone(left); });
}

TEST_F(ChildTest, ItActsOnSignalsThatItsParentIgnores) {
  const Ignoring hang_up(SIGHUP);

  Child child({"sh", "-c", "kill -HUP $$"}, {}, folder / "output");

  EXPECT_EQ(Await(child), 128 + SIGHUP);
}

TEST_F(ChildTest, ItsExitCodeIsSeenThoughTheEndOfChildrenWasIgnored) {
  const Ignoring ends(SIGCHLD);
  const Signals again;

  Child child({"sh", "-c", "exit 3"}, {}, folder / "output");

  EXPECT_EQ(Await(child), 3);
}

TEST(SignalsTest, OneThatWasIgnoredFromTheStartIsNotActedOn) {
  const Ignoring hang_up(SIGHUP);
  const Signals signals;

  ::raise(SIGHUP);

  EXPECT_EQ(signals.Wait({}), std::nullopt);
}

TEST(SignalsTest, OneFromTheKeyboardIsActedOn) {
  ::signal(SIGQUIT, SIG_DFL);  // a test that runs behind a shell's & ignores it
  const Signals signals;

  ::raise(SIGQUIT);

  EXPECT_EQ(signals.Wait({}), SIGQUIT);
}

}  // namespace
}  // namespace kopp::apiserver
