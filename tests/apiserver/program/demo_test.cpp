#include "demo.hpp"

#include "groups.hpp"
#include "patience.hpp"

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

// That the program of a demo of `sleep` has begun to watch.
constexpr const char* kWatches =
    R"({"verb": "watch", "user": {"username": "system:serviceaccount:default:sleep"},)"
    R"("objectRef": {"resource": "pods"}, "responseStatus": {"code": 200}})";

// That it made what it watches.
constexpr const char* kMakes =
    R"({"verb": "create", "user": {"username": "system:serviceaccount:default:sleep"},)"
    R"("objectRef": {"resource": "pods", "name": "a"}, "responseStatus": {"code": 201}})";

class DemoTest : public ::testing::Test {
 protected:
  bool IsLoaded() {
    const Client client(*past_faults_, "test");
    return client.Get<ConfigMap>({"default", "settings"}).has_value();
  }

  std::ostringstream out_;
  Account account_{out_, {.program = Demo::UserOf("sleep")}};
  testing::ApiServer server_{
      {.on_request = [this](std::string_view entry) { account_.Tell(entry); }}};
  std::unique_ptr<Transport> past_faults_ = server_.TransportPastFaults();
  Config administrator_ = server_.Listen({.tls = true});
  Demo demo_{server_,
             account_,
             {.program = {"sleep", "1000"}},
             administrator_,
             {{.object = settings, .origin = "the test's object"}}};
};

TEST_F(DemoTest, TheProgramsResourcesComeOnceItWatchesAndAreTold) {
  EXPECT_TRUE(demo_.Tick());
  EXPECT_FALSE(IsLoaded());

  account_.Tell(kWatches);
  EXPECT_TRUE(demo_.Tick());

  EXPECT_TRUE(IsLoaded());
  EXPECT_THAT(out_.str(), HasSubstr("create  configmaps settings"));
}

TEST_F(DemoTest, TheyComeLaterWhenTheServerIsAway) {
  account_.Tell(kWatches);
  server_.Restart(1h);
  EXPECT_TRUE(demo_.Tick());
  EXPECT_FALSE(IsLoaded());

  server_.Restart();
  EXPECT_TRUE(demo_.Tick());

  EXPECT_TRUE(IsLoaded());
}

TEST_F(DemoTest, AKindThatIsWatchedAndMadeIsToBeLookedAtOnce) {
  const Signals signals;
  account_.Tell(kWatches);
  account_.Tell(kMakes);

  AwaitThat(signals, nullptr, [&] {
    demo_.Tick();
    return out_.str().find("Ctrl-C") != std::string::npos;
  });

  EXPECT_THAT(out_.str(), HasSubstr("kubectl get pods --all-namespaces"));
}

TEST(GroupsTest, AServiceAccountIsInThatOfItsNamespaceAndInThatOfAll) {
  EXPECT_THAT(GroupsOf("system:serviceaccount:web:operator"),
              ElementsAre("system:serviceaccounts", "system:serviceaccounts:web"));
}

TEST(GroupsTest, NobodyElseIsInAny) {
  EXPECT_THAT(GroupsOf("alice"), IsEmpty());
  EXPECT_THAT(GroupsOf("system:serviceaccount:web"), IsEmpty());
}

}  // namespace
}  // namespace kopp::apiserver
