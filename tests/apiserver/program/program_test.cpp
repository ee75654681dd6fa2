// kopp-apiserver as it is run.
#include "child.hpp"
#include "patience.hpp"
#include "scratch_folder.hpp"

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
  int Await(Child& child) { return AwaitCode(signals, child); }
  void AwaitFile(Child& child, const std::string& name) {
    AwaitThat(signals, &child, [&] { return fs::exists(folder / name); });
  }
  void AwaitOutput(Child& child, const std::string& text) {
    AwaitThat(signals, &child,
              [&] { return folder.Read("output").find(text) != std::string::npos; });
  }
  // The folders that a demo has left where it makes its own.
  std::string Folders() {
    std::string left;
    for (const auto& entry : fs::directory_iterator(folder / "")) {
      if (entry.is_directory()) left += entry.path().string();
    }
    return left;
  }
  std::unique_ptr<Transport> Reach(const std::string& kubeconfig) {
    return MakeTransport(LoadConfig({.kubeconfig = (folder / kubeconfig).string()}));
  }
  std::string File(const std::string& name) { return (folder / name).string(); }

  Signals signals;
  ScratchFolder folder;
};

TEST_F(ProgramTest, ItServesWhoHasItsKubeconfigsUntilItIsToldToEnd) {
  Child server = Run({"--write-kubeconfig", File("admin"), "--user", "alice=" + File("alice"),
                      "--user-certificate", "bob=" + File("bob"), "--audit-log", File("audit")});
  AwaitFile(server, "admin");

  for (const char* user : {"admin", "alice", "bob"}) {
    EXPECT_EQ(Reach(user)->Call({.target = "/api/v1/pods"}).status, 200) << user;
  }
  server.End(signals, 10s);

  EXPECT_EQ(server.code(), 0);
  EXPECT_THAT(folder.Read("output"), HasSubstr("in memory, at https://127.0.0.1:"));
  EXPECT_THAT(folder.Read("output"), Not(HasSubstr("NOT ON LOOPBACK")));
  EXPECT_THAT(folder.Read("audit"), HasSubstr(R"("username":"alice")"));
  EXPECT_THAT(folder.Read("audit"), HasSubstr(R"("username":"bob")"));
}

TEST_F(ProgramTest, WhenItServesAllOfTheMachineItSaysSo) {
  Child server = Run({"--plain", "--bind-address", ":0"});
  AwaitOutput(server, "NOT ON LOOPBACK ONLY");

  server.End(signals, 10s);
  EXPECT_THAT(folder.Read("output"), HasSubstr("whoever reaches this machine may do anything"));
}

TEST_F(ProgramTest, AFileThatCannotBeLoadedEndsItWithOneLine) {
  folder.Write("a.yaml", "{apiVersion: v1, kind: Sandwich, metadata: {name: a}}");

  Child server = Run({"--load", File("a.yaml"), "--write-kubeconfig", File("admin")});

  EXPECT_EQ(Await(server), 1);
  EXPECT_THAT(folder.Read("output"),
              HasSubstr("a.yaml, object 1 (Sandwich a): the server has no Sandwich in v1\n"));
  EXPECT_FALSE(fs::exists(folder / "admin"));
}

TEST_F(ProgramTest, ADemoEndsWithItsProgramAndItsCodeAndTellsWhatItSaidLast) {
  Child demo = Run({"--demo", "--", "sh", "-c", "echo it went wrong; exit 5"});

  EXPECT_EQ(Await(demo), 5);
  EXPECT_THAT(folder.Read("output"), HasSubstr("exit code 5. It said last:\n  it went wrong\n"));
}

TEST_F(ProgramTest, ADemosProgramHasAKubeconfigOfItsOwnAndNothingIsLeft) {
  const std::string keep = "cp $KUBECONFIG " + File("kept") + ".new && mv " + File("kept") +
                           ".new " + File("kept") + "; exec sleep 1000";
  Child demo = Run({"--demo", "--program-log", File("log"), "--", "sh", "-c", keep});
  AwaitFile(demo, "kept");

  EXPECT_EQ(Reach("kept")->Call({.target = "/api/v1/pods"}).status, 200);
  demo.End(signals, 10s);

  EXPECT_EQ(demo.code(), 0);
  EXPECT_THAT(Folders(), IsEmpty());
}

TEST_F(ProgramTest, ADemoWhoseProgramIsNotThereLeavesNothing) {
  Child demo = Run({"--demo", "--", "kopp-no-such-program"});

  EXPECT_EQ(Await(demo), 1);
  EXPECT_THAT(folder.Read("output"), HasSubstr("cannot run kopp-no-such-program"));
  EXPECT_THAT(Folders(), IsEmpty());
}

TEST_F(ProgramTest, ADemoThatIsToldToQuitLeavesNothing) {
  Child demo = Run({"--demo", "--program-log", File("log"), "--", "sh", "-c",
                    "echo $PPID >" + File("demo") + "; exec sleep 1000"});
  AwaitFile(demo, "demo");
  AwaitThat(signals, &demo, [&] { return folder.Read("demo").ends_with('\n'); });

  ::kill(std::stoi(folder.Read("demo")), SIGQUIT);

  EXPECT_EQ(Await(demo), 0);
  EXPECT_THAT(Folders(), IsEmpty());
}

}  // namespace
}  // namespace kopp::apiserver
