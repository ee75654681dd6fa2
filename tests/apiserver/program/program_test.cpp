// kopp-apiserver as it is run.
#include "child.hpp"
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
  int Await(Child& child) {
    while (!child.code()) static_cast<void>(signals.Wait(10s));
    return *child.code();
  }
  void AwaitFile(const std::string& name) {
    while (!fs::exists(folder / name)) static_cast<void>(signals.Wait(1ms));
  }
  void AwaitOutput(const std::string& text) {
    while (folder.Read("output").find(text) == std::string::npos) {
      static_cast<void>(signals.Wait(1ms));
    }
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
  AwaitFile("admin");

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
  AwaitOutput("NOT ON LOOPBACK ONLY");

  server.End(signals, 10s);
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
  AwaitFile("kept");

  EXPECT_EQ(Reach("kept")->Call({.target = "/api/v1/pods"}).status, 200);
  demo.End(signals, 10s);

  EXPECT_EQ(demo.code(), 0);
  std::string left;
  for (const auto& entry : fs::directory_iterator(folder / "")) {
    if (entry.is_directory()) left += entry.path().string();
  }
  EXPECT_THAT(left, IsEmpty());
}

}  // namespace
}  // namespace kopp::apiserver
