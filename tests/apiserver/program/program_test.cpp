// Tests of the program kopp-apiserver as a child process.
#include "child.hpp"
#include "support/scratch_folder.hpp"
#include "wait_until.hpp"

#include <chrono>
#include <csignal>
#include <filesystem>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <kopp/config.hpp>
#include <kopp/transport.hpp>

namespace kopp::apiserver {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

class ProgramTest : public ::testing::Test {
 protected:
  Child Run(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), KOPP_APISERVER);
    return {arguments, {{"TMPDIR", (folder / "").string()}}, folder / "output"};
  }
  int WaitForExitCode(Child& child) { return WaitForExit(signals, child); }
  void WaitForFile(Child& child, const std::string& name) {
    WaitUntil(signals, &child, [&] { return fs::exists(folder / name); });
  }
  void WaitForOutput(Child& child, const std::string& text) {
    WaitUntil(signals, &child,
              [&] { return folder.Read("output").find(text) != std::string::npos; });
  }
  // Returns the directories that a demo has left in its $TMPDIR.
  std::string LeftDirectories() {
    std::string left;
    for (const auto& entry : fs::directory_iterator(folder / "")) {
      if (entry.is_directory()) left += entry.path().string();
    }
    return left;
  }
  std::unique_ptr<Transport> Connect(const std::string& kubeconfig) {
    return MakeTransport(LoadConfig({.kubeconfig = (folder / kubeconfig).string()}));
  }
  std::string File(const std::string& name) { return (folder / name).string(); }

  Signals signals;
  testing::ScratchFolder folder;
};

TEST_F(ProgramTest, EachKubeconfigGivesAccessUntilTheServerIsTerminated) {
  Child server = Run({"--write-kubeconfig", File("admin"), "--user", "alice=" + File("alice"),
                      "--user-certificate", "bob=" + File("bob"), "--audit-log", File("audit")});
  WaitForFile(server, "admin");

  for (const char* user : {"admin", "alice", "bob"}) {
    EXPECT_EQ(Connect(user)->Call({.target = "/api/v1/pods"}).status, 200) << user;
  }
  server.Terminate(signals, testing::kHangTimeout);

  EXPECT_EQ(server.exit_code(), 0);
  EXPECT_THAT(folder.Read("output"), HasSubstr("API server listening at https://127.0.0.1:"));
  EXPECT_THAT(folder.Read("output"), Not(HasSubstr("not limited to loopback")));
  EXPECT_THAT(folder.Read("audit"), HasSubstr(R"("username":"alice")"));
  EXPECT_THAT(folder.Read("audit"), HasSubstr(R"("username":"bob")"));
}

TEST_F(ProgramTest, ListeningOnAllAddressesPrintsAWarning) {
  Child server = Run({"--plain", "--bind-address", ":0"});
  WaitForOutput(server, "WARNING: not limited to loopback");

  server.Terminate(signals, testing::kHangTimeout);
  EXPECT_THAT(folder.Read("output"),
              HasSubstr("anyone who can reach this address has full access"));
}

TEST_F(ProgramTest, AManifestOfAnUnknownKindStopsTheServerWithOneErrorLine) {
  folder.Write("a.yaml", "{apiVersion: v1, kind: Sandwich, metadata: {name: a}}");

  Child server = Run({"--load", File("a.yaml"), "--write-kubeconfig", File("admin")});

  EXPECT_EQ(WaitForExitCode(server), 1);
  EXPECT_THAT(
      folder.Read("output"),
      HasSubstr("a.yaml, object 1 (Sandwich a): the server does not serve kind Sandwich in v1\n"));
  EXPECT_FALSE(fs::exists(folder / "admin"));
}

TEST_F(ProgramTest, ADemoExitsWithTheCodeOfItsProgramAndPrintsTheEndOfItsOutput) {
  Child demo = Run({"--demo", "--", "sh", "-c", "echo it went wrong; exit 5"});

  EXPECT_EQ(WaitForExitCode(demo), 5);
  EXPECT_THAT(folder.Read("output"),
              HasSubstr("exit code 5. End of its output:\n  it went wrong\n"));
}

TEST_F(ProgramTest, TheProgramOfADemoHasItsOwnKubeconfigAndTheDemoLeavesNoDirectory) {
  const std::string copy_kubeconfig = "cp $KUBECONFIG " + File("kept") + ".new && mv " +
                                      File("kept") + ".new " + File("kept") + "; exec sleep 1000";
  Child demo = Run({"--demo", "--program-log", File("log"), "--", "sh", "-c", copy_kubeconfig});
  WaitForFile(demo, "kept");

  EXPECT_EQ(Connect("kept")->Call({.target = "/api/v1/pods"}).status, 200);
  demo.Terminate(signals, testing::kHangTimeout);

  EXPECT_EQ(demo.exit_code(), 0);
  EXPECT_THAT(LeftDirectories(), IsEmpty());
}

TEST_F(ProgramTest, ADemoOfAMissingProgramFailsAndLeavesNoDirectory) {
  Child demo = Run({"--demo", "--", "kopp-no-such-program"});

  EXPECT_EQ(WaitForExitCode(demo), 1);
  EXPECT_THAT(folder.Read("output"), HasSubstr("cannot run kopp-no-such-program"));
  EXPECT_THAT(LeftDirectories(), IsEmpty());
}

TEST_F(ProgramTest, ADemoStoppedBySigquitLeavesNoDirectory) {
  Child demo = Run({"--demo", "--program-log", File("log"), "--", "sh", "-c",
                    "echo $PPID >" + File("demo") + "; exec sleep 1000"});
  WaitForFile(demo, "demo");
  WaitUntil(signals, &demo, [&] { return folder.Read("demo").ends_with('\n'); });

  ::kill(std::stoi(folder.Read("demo")), SIGQUIT);

  EXPECT_EQ(WaitForExitCode(demo), 0);
  EXPECT_THAT(LeftDirectories(), IsEmpty());
}

}  // namespace
}  // namespace kopp::apiserver
