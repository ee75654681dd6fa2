// The code of docs/typed-kinds.md.
#include <map>
#include <string>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <kopp/client.hpp>
#include <kopp/kinds.hpp>
#include <kopp/owner.hpp>
#include <kopp/testing/fake_clock.hpp>
#include <kopp/testing/scripted_transport.hpp>

namespace {

class TypedKindsPageTest : public testing::Test {
 protected:
  TypedKindsPageTest() {
    transport_.On("PATCH", "/apis/apps/v1/namespaces/shop/deployments/web",
                  [](const kopp::ApiRequest& request) {
                    return kopp::ApiResponse{.status = 200, .body = request.body};
                  });
  }

  kopp::testing::FakeClock clock_;
  kopp::testing::ScriptedTransport transport_{clock_};
};

TEST_F(TypedKindsPageTest, TheDeploymentIsAppliedAndConvertsToJsonAndBack) {
  struct {
    kopp::Client client;
  } context{kopp::Client(transport_)};
  const kopp::ConfigMap foo{.metadata = {.name = "foo", .ns = "shop", .uid = "u"}};

  const std::map<std::string, std::string> labels{{"app", "web"}};
  const kopp::k8s::core::v1::Container nginx{
      .image = "nginx:1.27",
      .name = "web",
      .resources = {.limits = {{"cpu", "500m"}, {"memory", "1Gi"}}}};
  const kopp::k8s::core::v1::Volume tmp{.emptyDir = {{}}, .name = "tmp"};
  const kopp::Deployment web{
      .metadata = kopp::OwnedBy(foo, "web"),
      .spec = {.replicas = 3,
               .selector = {.matchLabels = labels},
               .template_ = {.metadata = {.labels = labels},
                             .spec = {.containers = {nginx}, .volumes = {tmp}}}}};
  context.client.Apply(web);

  ASSERT_EQ(transport_.Requests().size(), 2U);
  EXPECT_EQ(transport_.Requests()[0].method, "GET") << "is it of others?";
  EXPECT_EQ(transport_.Requests()[1].method, "PATCH");

  const std::string text = kopp::Encode(web);
  const auto copy = kopp::Decode<kopp::Deployment>(text);
  nlohmann::json json = web;
  const auto again = json.get<kopp::Deployment>();
  EXPECT_EQ(copy, web);
  EXPECT_EQ(again, web);
}

}  // namespace
