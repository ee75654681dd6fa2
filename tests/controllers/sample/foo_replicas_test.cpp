// Tests a Deployment without spec.replicas. An API server never returns one, because it sets the
// default, so this test uses scripted responses.
#include "deployment_view.hpp"
#include "foo_reconciler.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <kopp/standalone_cache.hpp>
#include <kopp/testing/fake_clock.hpp>
#include <kopp/testing/scripted_transport.hpp>

namespace sample {
namespace {

TEST(FooReplicasTest, DeploymentWithoutReplicasCountsAsOneReplica) {
  kopp::testing::FakeClock clock;
  kopp::testing::ScriptedTransport server{clock};
  server.Respond("GET", "/apis/apps/v1/deployments", 200,
                 R"({"kind":"DeploymentList","metadata":{"resourceVersion":"1"},"items":[
                   {"metadata":{"name":"web","namespace":"default","ownerReferences":[
                     {"kind":"Foo","name":"foo","uid":"foo-uid","controller":true}]}}]})");
  const kopp::Logger log{{.write = [](std::string_view) {}}};
  const kopp::Client client{server};
  kopp::EventRecorder events{client, "test", log, clock};
  kopp::StandaloneCache cache{server, {}, log, clock};
  cache.InformerFor<DeploymentView>();
  cache.Start();
  cache.WaitForSync({});
  kopp::Context context{{"default", "foo"}, client, cache, events, log, {}};

  ReconcileFoo({.metadata = {.name = "foo", .ns = "default", .uid = "foo-uid"},
                .spec = {.deploymentName = "web", .replicas = 1},
                .status = {.availableReplicas = 0}},
               context);

  for (const kopp::ApiRequest& request : server.Requests()) EXPECT_NE(request.method, "PUT");
}

}  // namespace
}  // namespace sample
