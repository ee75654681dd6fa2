#include "child.hpp"

#include "scratch_folder.hpp"

#include <chrono>
#include <csignal>
#include <system_error>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kopp::apiserver {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

class ChildTest : public ::testing::Test {
 protected:
  // The exit code, once there is one.
  int Await(Child& child) {
    while (!child.code()) static_cast<void>(signals.Wait(10s));
    return *child.code();
  }
  // Until the child has printed something.
  void AwaitOutput() {
    while (folder.Read("output").empty()) static_cast<void>(signals.Wait(1ms));
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
  AwaitOutput();

  child.End(signals, 10s);

  EXPECT_EQ(child.code(), 7);
}

TEST_F(ChildTest, NothingOfItIsLeftWhenItDoesNotWantToEnd) {
  pid_t group = 0;
  {
    Child child({"sh", "-c", "trap '' TERM; sh -c 'while :; do sleep 0.01; done' & echo $$; wait"},
                {}, folder / "output");
    AwaitOutput();
    group = std::stoi(folder.Read("output"));
    child.End(signals, 50ms);
    EXPECT_EQ(child.code(), std::nullopt);
  }

  while (::kill(-group, 0) == 0)
    static_cast<void>(signals.Wait(1ms));  // until init has reaped them
}

}  // namespace
}  // namespace kopp::apiserver
