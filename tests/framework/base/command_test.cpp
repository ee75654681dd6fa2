#include "base/command.hpp"

#include "support/hang_timeout.hpp"
#include "support/scratch_folder.hpp"

#include <chrono>
#include <csignal>
#include <fstream>
#include <stop_token>
#include <string>
#include <system_error>
#include <thread>

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

namespace kopp::testing {
namespace {

using ::testing::EndsWith;
using ::testing::StartsWith;
using namespace std::chrono_literals;
using detail::Command;
using detail::CommandResult;
using End = CommandResult::End;

TimePoint In(Duration delay) { return SaturatingAdd(Clock::Real().Now(), delay); }

CommandResult RunShell(const std::string& code, TimePoint deadline = In(kHangTimeout),
                       const std::stop_token& stop = {}) {
  return detail::RunCommand({.arguments = {"sh", "-c", code}, .max_output = 1 << 16}, deadline,
                            stop);
}

// Returns whether process `pid` exists and is not a zombie.
bool IsRunning(const std::string& pid) {
  std::string text;
  std::getline(std::ifstream("/proc/" + pid + "/stat"), text);
  const auto end_of_name = text.rfind(')');
  return end_of_name != std::string::npos && text.at(end_of_name + 2) != 'Z';
}

bool AwaitEnd(const std::string& pid) {
  for (const TimePoint deadline = In(kHangTimeout); Clock::Real().Now() < deadline;) {
    if (!IsRunning(pid)) return true;
    std::this_thread::yield();
  }
  return false;
}

TEST(CommandTest, OutputErrorsAndExitCodeAreReturned) {
  const CommandResult result = RunShell("echo out; echo err >&2; exit 3");

  EXPECT_EQ(result.end, End::kExited);
  EXPECT_EQ(result.code, 3);
  EXPECT_EQ(result.output.Reveal(), "out\n");
  EXPECT_EQ(result.errors, "err\n");
}

TEST(CommandTest, SignalThatKillsTheCommandIsReturned) {
  const CommandResult result = RunShell("kill -TERM $$");

  EXPECT_EQ(result.end, End::kSignaled);
  EXPECT_EQ(result.code, SIGTERM);
}

TEST(CommandTest, ArgumentsAreNotInterpretedByAShell) {
  const CommandResult result =
      detail::RunCommand({.arguments = {"printf", "%s", "$HOME; `id` *"}}, In(kHangTimeout), {});

  EXPECT_EQ(result.output.Reveal(), "$HOME; `id` *");
}

TEST(CommandTest, VariablesAreAddedToTheEnvironment) {
  const CommandResult result =
      detail::RunCommand({.arguments = {"sh", "-c", "echo $HOME $KOPP_TEST"},
                          .variables = {{"HOME", "replaced"}, {"KOPP_TEST", "added"}}},
                         In(kHangTimeout), {});

  EXPECT_EQ(result.output.Reveal(), "replaced added\n");
}

TEST(CommandTest, MissingProgramThrowsSystemErrorWithEnoent) {
  try {
    static_cast<void>(
        detail::RunCommand({.arguments = {"kopp-no-such-program"}}, In(kHangTimeout), {}));
    FAIL() << "the program exists";
  } catch (const std::system_error& error) {
    EXPECT_EQ(error.code().value(), ENOENT);
  }
}

TEST(CommandTest, StandardInputIsEmpty) { EXPECT_EQ(RunShell("cat; echo end").output, "end\n"); }

TEST(CommandTest, NoOtherDescriptorIsInherited) {
  const int inheritable = ::open("/dev/null", O_RDONLY);

  const CommandResult result = RunShell("ls /proc/$$/fd");

  ::close(inheritable);
  EXPECT_EQ(result.output, "0\n1\n2\n");
}

// Returns the value of a field of /proc/self/status, a set of signals in hexadecimal.
unsigned long long SignalsOf(const CommandResult& status, const std::string& field) {
  const std::string text(status.output.Reveal());
  return std::stoull(text.substr(text.find(field) + field.size()), nullptr, 16);
}

TEST(CommandTest, SignalMaskAndIgnoredSignalsAreNotInherited) {
  sigset_t blocked;
  sigset_t previous;
  sigemptyset(&blocked);
  sigaddset(&blocked, SIGTERM);
  ::pthread_sigmask(SIG_BLOCK, &blocked, &previous);
  const auto handler = std::signal(SIGPIPE, SIG_IGN);

  const CommandResult status =
      detail::RunCommand({.arguments = {"cat", "/proc/self/status"}}, In(kHangTimeout), {});

  std::signal(SIGPIPE, handler);
  ::pthread_sigmask(SIG_SETMASK, &previous, nullptr);
  EXPECT_EQ(SignalsOf(status, "\nSigBlk:"), 0U);
  constexpr auto kStandardSignals = 0x7fffffffULL;  // glibc ignores two signals of its own
  EXPECT_EQ(SignalsOf(status, "\nSigIgn:") & kStandardSignals, 0U);
}

TEST(CommandTest, CommandHasASessionOfItsOwn) {
  const CommandResult result = RunShell("test $$ = \"$(cut -d' ' -f6 /proc/$$/stat)\"");

  EXPECT_EQ(result.code, 0) << "the session is not that of the command";
}

TEST(CommandTest, HangingCommandIsKilledAtTheDeadline) {
  EXPECT_EQ(RunShell("sleep 1000", In(100ms)).end, End::kTimeout);
}

TEST(CommandTest, ChildrenAreKilledWithTheCommand) {
  const ScratchFolder folder;
  std::stop_source stop;
  const std::jthread stopper([&] {
    while (!folder.Read("child").ends_with('\n')) std::this_thread::yield();
    stop.request_stop();
  });

  const CommandResult result =
      RunShell("sleep 1000 & echo $! > " + (folder / "child").string() + "; sleep 1000",
               In(kHangTimeout), stop.get_token());

  EXPECT_EQ(result.end, End::kStopped);
  std::string child = folder.Read("child");
  child.pop_back();
  EXPECT_TRUE(AwaitEnd(child)) << "process " << child << " still runs";
}

// The command ends at about the time at which its output is found to be too large.
TEST(CommandTest, ChildrenAreKilledIfTheCommandEndsAfterTooMuchOutput) {
  for (int i = 0; i < 20; ++i) {
    const CommandResult result = detail::RunCommand(
        {.arguments = {"sh", "-c", "sleep 1000 & echo $!"}, .max_output = 0}, In(kHangTimeout), {});

    EXPECT_EQ(result.end, End::kTooMuchOutput);
    std::string child(result.output.Reveal());
    child.pop_back();
    ASSERT_TRUE(AwaitEnd(child)) << "process " << child << " still runs";
  }
}

TEST(CommandTest, CommandThatWritesTooMuchIsKilled) {
  const CommandResult result = RunShell("exec cat /dev/zero");

  EXPECT_EQ(result.end, End::kTooMuchOutput);
}

TEST(CommandTest, OutputOfTheMaximumSizeIsReturned) {
  const CommandResult result = RunShell("head -c 65536 /dev/zero");

  EXPECT_EQ(result.end, End::kExited);
  EXPECT_EQ(result.output.Reveal().size(), 65536U);
}

TEST(CommandTest, OnlyTheLastKilobyteOfStandardErrorIsKept) {
  const CommandResult result =
      RunShell("echo begin >&2; head -c 100000 /dev/zero >&2; echo end >&2");

  EXPECT_EQ(result.end, End::kExited);
  EXPECT_EQ(result.errors.size(), 1024U);
  EXPECT_THAT(result.errors, EndsWith("end\n"));
}

TEST(CommandTest, ResultDoesNotWaitForAChildThatKeepsStandardOutputOpen) {
  const CommandResult result = RunShell("sleep 1000 & echo $!");

  EXPECT_EQ(result.end, End::kExited);
  const std::string child(result.output.Reveal());
  ASSERT_THAT(child, EndsWith("\n"));
  EXPECT_TRUE(IsRunning(child.substr(0, child.size() - 1)));
  ::kill(std::stoi(child), SIGKILL);
}

TEST(CommandTest, StopKillsTheCommand) {
  const ScratchFolder folder;
  std::stop_source stop;
  const std::jthread stopper([&] {
    while (folder.Read("started").empty()) std::this_thread::yield();
    stop.request_stop();
  });

  const CommandResult result =
      RunShell("echo started > " + (folder / "started").string() + "; sleep 1000", In(kHangTimeout),
               stop.get_token());

  EXPECT_EQ(result.end, End::kStopped);
}

TEST(CommandTest, CommandLeavesNoZombie) {
  static_cast<void>(RunShell("exit 0"));
  static_cast<void>(RunShell("sleep 1000", In(10ms)));

  EXPECT_EQ(::waitpid(-1, nullptr, WNOHANG), -1);
  EXPECT_EQ(errno, ECHILD);
}

TEST(CommandTest, CommandSucceedsIfTheProgramIgnoresSigchld) {
  const auto handler = std::signal(SIGCHLD, SIG_IGN);

  const CommandResult result = RunShell("echo out");

  std::signal(SIGCHLD, handler);
  EXPECT_EQ(result.end, End::kExited);
  EXPECT_EQ(result.output, "out\n");
}

}  // namespace
}  // namespace kopp::testing
