// Runs the examples as processes against an API server, and checks their effects.
#include "child.hpp"
#include "kubeconfig_file.hpp"
#include "support/hang_timeout.hpp"
#include "support/scratch_folder.hpp"

#include <chrono>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <kopp/client.hpp>
#include <kopp/kinds.hpp>
#include <kopp/owner.hpp>
#include <kopp/testing/api_server.hpp>
#include <kopp/transport.hpp>

namespace kopp {
namespace {

using namespace std::chrono_literals;
using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::Not;

class ExamplesTest : public ::testing::Test {
 protected:
  ExamplesTest() {
    const Config config = server_.Listen({.tls = true});
    folder_.Write("kubeconfig", apiserver::KubeconfigText(config, "admin"));
  }
  /// Starts an example in the scratch folder. Its output is in the file `output`.
  std::unique_ptr<apiserver::Child> Run(const std::string& example,
                                        const std::string& output = "output") {
    const std::vector<std::string> command{"sh",
                                           "-c",
                                           R"(cd "$0" && exec "$@")",
                                           (folder_ / "").string(),
                                           std::string(KOPP_EXAMPLES) + '/' + example,
                                           "--kubeconfig",
                                           "kubeconfig"};
    return std::make_unique<apiserver::Child>(
        command, std::map<std::string, std::string>{{"WATCH_NAMESPACE", "default"}},
        folder_ / output);
  }
  /// Stops an example with SIGTERM and expects exit code 0.
  void Stop(apiserver::Child& example) {
    example.Terminate(signals_, testing::kHangTimeout);
    EXPECT_EQ(example.exit_code(), 0) << Output();
  }
  std::string Output(const std::string& output = "output") { return folder_.Read(output); }
  /// Blocks until `condition` returns true. Returns false after kHangTimeout.
  bool Eventually(const std::function<bool()>& condition) {
    const Clock& clock = Clock::Real();
    for (const TimePoint deadline = clock.Now() + testing::kHangTimeout; clock.Now() < deadline;) {
      if (condition()) return true;
      static_cast<void>(signals_.Wait(2ms));
    }
    return condition();
  }
  bool EventuallyPrints(const std::string& text, const std::string& output = "output") {
    return Eventually([&] { return Output(output).find(text) != std::string::npos; });
  }
  void CreateMap(const std::string& name, const json& metadata, const json& data) {
    json object{{"metadata", metadata}, {"data", data}};
    object["metadata"]["name"] = name;
    object["metadata"]["namespace"] = "default";
    client_.Create<ConfigMap>(object);
  }

  apiserver::Signals signals_;  // first: it blocks the signals of later threads
  testing::ScratchFolder folder_;
  testing::ApiServer server_;
  std::unique_ptr<Transport> transport_ = server_.FaultFreeTransport();
  Client client_{*transport_, "test"};
};

TEST_F(ExamplesTest, WatchPodsPrintsEachChange) {
  const auto example = Run("02_watch_pods");
  const ObjectKey key{"default", "web"};
  client_.Create<Pod>(json::parse(R"({"metadata":{"name":"web","namespace":"default"},
      "spec":{"containers":[{"name":"main","image":"web:1"}]}})"));
  EXPECT_TRUE(EventuallyPrints("added default/web Pending")) << Output();
  client_.PatchStatus<Pod>(key, Patch::Merge({{"status", {{"phase", "Running"}}}}));
  EXPECT_TRUE(EventuallyPrints("changed default/web Running")) << Output();
  client_.Delete<Pod>(key, {.grace_period = 0s});
  EXPECT_TRUE(EventuallyPrints("deleted default/web")) << Output();

  Stop(*example);
}

TEST_F(ExamplesTest, ConfigMapControllerKeepsTheCopyEqualToTheOriginal) {
  const auto example = Run("03_configmap_controller");
  const ObjectKey key{"default", "copy"};
  const auto is_copied = [&](const std::string& color) {
    return Eventually([&] {
      const auto copy = client_.Get<ConfigMap>(key);
      return copy && copy->data.contains("color") && copy->data.at("color") == color;
    });
  };
  CreateMap("original", {{"annotations", {{"example.com/copy-to", "copy"}}}}, {{"color", "red"}});
  EXPECT_TRUE(is_copied("red")) << Output();

  client_.Patch<ConfigMap>({"default", "original"}, Patch::Merge({{"data", {{"color", "blue"}}}}));
  EXPECT_TRUE(is_copied("blue")) << Output();
  client_.Patch<ConfigMap>(key, Patch::Merge({{"data", {{"color", "green"}}}}));
  EXPECT_TRUE(is_copied("blue")) << "a foreign change is undone\n" << Output();
  client_.Delete<ConfigMap>({"default", "original"});
  EXPECT_TRUE(Eventually([&] { return !client_.Get<ConfigMap>(key); })) << "garbage collection";

  Stop(*example);
}

TEST_F(ExamplesTest, FinalizerKeepsTheObjectUntilItsFolderIsRemoved) {
  const ObjectKey key{"default", "photos"};
  auto example = Run("04_finalizer");
  CreateMap("photos", {{"labels", {{"example.com/folder", "yes"}}}}, json::object());
  const std::string uid = client_.Get<ConfigMap>(key).value().metadata.uid;
  const auto exists = [&] { return std::filesystem::exists(folder_ / ("folder-" + uid)); };
  EXPECT_TRUE(Eventually(exists)) << Output();

  Stop(*example);
  client_.Delete<ConfigMap>(key);
  EXPECT_TRUE(client_.Get<ConfigMap>(key)) << "the program that removes the folder is not running";
  example = Run("04_finalizer");
  EXPECT_TRUE(Eventually([&] { return !client_.Get<ConfigMap>(key); })) << Output();
  EXPECT_FALSE(exists());

  Stop(*example);
}

TEST_F(ExamplesTest, LeaderElectionLetsOneReplicaReconcileAndTheOtherOneContinue) {
  const auto first = Run("05_leader_election", "first");
  CreateMap("a", json::object(), json::object());
  EXPECT_TRUE(EventuallyPrints("reconciled default/a", "first")) << Output("first");
  const auto second = Run("05_leader_election", "second");
  EXPECT_TRUE(EventuallyPrints("Attempting to acquire leader lease", "second"));
  CreateMap("b", json::object(), json::object());
  EXPECT_TRUE(EventuallyPrints("reconciled default/b", "first")) << Output("first");
  EXPECT_THAT(Output("second"), Not(HasSubstr("reconciled"))) << "the first one leads";

  Stop(*first);
  EXPECT_TRUE(EventuallyPrints("reconciled default/b", "second")) << Output("second");

  Stop(*second);
}

TEST_F(ExamplesTest, ExternalTriggerReconcilesTheObjectThatARequestNames) {
  const auto example = Run("06_external_trigger");
  CreateMap("settings", json::object(), json::object());
  const std::string line = "reconciled default/settings";
  EXPECT_TRUE(EventuallyPrints(line)) << Output();
  const std::string output = Output();
  const std::string listening = "listening at ";
  const auto address = output.find(listening) + listening.size();
  const auto transport = MakeTransport(
      {.server = "http://" + output.substr(address, output.find('\n', address) - address),
       .source = "a test"});

  EXPECT_EQ(transport->Call({.method = "POST", .target = "/reconcile", .body = "default/settings"})
                .status,
            202);

  EXPECT_TRUE(Eventually([&] { return Output().find(line) != Output().rfind(line); })) << Output();
  Stop(*example);
}

}  // namespace
}  // namespace kopp
