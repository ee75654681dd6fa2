#include "demo.hpp"

#include "kubeconfig_file.hpp"
#include "wait_until.hpp"

#include <chrono>
#include <sstream>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <kopp/client.hpp>
#include <kopp/kinds.hpp>

namespace kopp::apiserver {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

const nlohmann::json settings{{"apiVersion", "v1"},
                              {"kind", "ConfigMap"},
                              {"metadata", {{"name", "settings"}, {"namespace", "default"}}}};

// The audit log entry of a watch by the demo's program `sleep`.
constexpr const char* kWatchPods =
    R"({"verb": "watch", "user": {"username": "system:serviceaccount:default:sleep"},)"
    R"("objectRef": {"resource": "pods"}, "responseStatus": {"code": 200}})";

// The audit log entry of a create, of the watched resource, by the demo's program `sleep`.
constexpr const char* kCreatePod =
    R"({"verb": "create", "user": {"username": "system:serviceaccount:default:sleep"},)"
    R"("objectRef": {"resource": "pods", "name": "a"}, "responseStatus": {"code": 201}})";

class DemoTest : public ::testing::Test {
 protected:
  bool SettingsExist() {
    const Client client(*fault_free_, "test");
    return client.Get<ConfigMap>({"default", "settings"}).has_value();
  }

  std::ostringstream out_;
  DemoLog demo_log_{out_, {.program_user = Demo::ServiceAccountUser("sleep")}};
  testing::ApiServer server_{
      {.on_request = [this](std::string_view entry) { demo_log_.LogRequest(entry); }}};
  std::unique_ptr<Transport> fault_free_ = server_.FaultFreeTransport();
  Config admin_config_ = server_.Listen({.tls = true});
  Demo demo_{server_,
             demo_log_,
             {.program = {"sleep", "1000"}},
             admin_config_,
             {{.object = settings, .origin = "settings"}}};
};

TEST_F(DemoTest, CustomResourcesAreCreatedAndPrintedWhenTheProgramStartsToWatch) {
  EXPECT_TRUE(demo_.Tick());
  EXPECT_FALSE(SettingsExist());

  demo_log_.LogRequest(kWatchPods);
  EXPECT_TRUE(demo_.Tick());

  EXPECT_TRUE(SettingsExist());
  EXPECT_THAT(out_.str(), HasSubstr("create  configmaps settings"));
}

TEST_F(DemoTest, CreatingCustomResourcesIsRetriedWhileTheServerIsDown) {
  demo_log_.LogRequest(kWatchPods);
  server_.Restart(1h);
  EXPECT_TRUE(demo_.Tick());
  EXPECT_FALSE(SettingsExist());

  server_.Restart();
  EXPECT_TRUE(demo_.Tick());

  EXPECT_TRUE(SettingsExist());
}

TEST_F(DemoTest, AResourceThatIsWatchedAndCreatedIsListedOnce) {
  const Signals signals;
  demo_log_.LogRequest(kWatchPods);
  demo_log_.LogRequest(kCreatePod);

  WaitUntil(signals, nullptr, [&] {
    demo_.Tick();
    return out_.str().find("Ctrl-C") != std::string::npos;
  });

  EXPECT_THAT(out_.str(), HasSubstr("kubectl get pods --all-namespaces"));
}

TEST(ServiceAccountGroupsTest, AServiceAccountHasTheGroupOfItsNamespaceAndTheGroupOfAll) {
  EXPECT_THAT(ServiceAccountGroups("system:serviceaccount:web:operator"),
              ElementsAre("system:serviceaccounts", "system:serviceaccounts:web"));
}

TEST(ServiceAccountGroupsTest, OtherUsersHaveNoGroups) {
  EXPECT_THAT(ServiceAccountGroups("alice"), IsEmpty());
  EXPECT_THAT(ServiceAccountGroups("system:serviceaccount:web"), IsEmpty());
}

}  // namespace
}  // namespace kopp::apiserver
