// A user's test of a reconciler. It uses the installed in-memory API server.
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <kopp/framework.hpp>
#include <kopp/json.hpp>
#include <kopp/testing/environment.hpp>

struct Greeting {
  static constexpr kopp::Kind kKind{"example.com/v1", "Greeting", "greetings"};
  struct Spec {
    std::string to;
  };
  kopp::ObjectMeta metadata;
  Spec spec;
};
KOPP_FIELDS(Greeting::Spec, to)
KOPP_FIELDS(Greeting, metadata, spec)

kopp::Result Reconcile(const Greeting& greeting, kopp::Context& ctx) {
  ctx.client.Apply<kopp::ConfigMap>({{"metadata", kopp::OwnedBy(greeting, greeting.metadata.name)},
                                     {"data", {{"text", "Hello " + greeting.spec.to}}}});
  return {};
}

class GreetingTest : public testing::Test {
 protected:
  GreetingTest() {
    env_.Install(MANIFESTS "/greetings.yaml");
    env_.client().Create<Greeting>(
        {{"metadata", {{"name", "first"}, {"namespace", "default"}}}, {"spec", {{"to", "world"}}}});
  }

  kopp::testing::Environment env_;
};

TEST_F(GreetingTest, ReconcileAppliesTheConfigMap) {
  env_.Reconcile<Greeting>({"default", "first"}, Reconcile);

  EXPECT_THAT(env_.Writes(), testing::ElementsAre("patch configmaps default/first"));
}

TEST_F(GreetingTest, RunningOperatorAppliesTheConfigMap) {
  env_.manager().AddController<Greeting>().Owns<kopp::ConfigMap>().Reconcile(Reconcile);
  env_.Start();

  EXPECT_TRUE(env_.Eventually<kopp::ConfigMap>(
      {"default", "first"}, [](const auto& map) { return map.data.at("text") == "Hello world"; }));
}
