// REST mapping against the API server in memory.

#include <optional>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <kopp/client.hpp>
#include <kopp/dynamic_client.hpp>
#include <kopp/rest_mapper.hpp>
#include <kopp/testing/api_server.hpp>
#include <kopp/testing/fake_clock.hpp>

namespace kopp::testing {
namespace {

using nlohmann::json;

constexpr Kind kDefinitions{"apiextensions.k8s.io/v1", "CustomResourceDefinition",
                            "customresourcedefinitions", Scope::kCluster};

/// The CRD of the kind Foo of example.com/v1, with a status subresource.
json FooDefinition() {
  return json::parse(R"({"metadata":{"name":"foos.example.com"},"spec":{"group":"example.com",
      "scope":"Namespaced","names":{"kind":"Foo","plural":"foos","shortNames":["fo"]},
      "versions":[{"name":"v1","served":true,"storage":true,"subresources":{"status":{}},
      "schema":{"openAPIV3Schema":{"type":"object",
                                   "x-kubernetes-preserve-unknown-fields":true}}}]}})");
}

TEST(RestMapperEndToEndTest, ACrdThatIsInstalledAfterTheFirstUseOfTheMapperIsFound) {
  ApiServer server;
  FakeClock clock;
  RestMapper mapper(server.transport(), clock);
  EXPECT_THROW((void)mapper.ForKind("example.com", "Foo"), NoMatchError);

  Client(server.transport()).Dynamic(kDefinitions).Create(FooDefinition());
  clock.Advance(RestMapper::kMinReloadInterval);
  const ApiResource foos = mapper.ForKind("example.com", "Foo");

  EXPECT_EQ(foos.kind, OwningKind({"example.com/v1", "Foo", "foos"}));
  EXPECT_EQ(foos.singular, "foo");
  EXPECT_TRUE(foos.HasSubresource("status"));
  EXPECT_FALSE(foos.HasSubresource("scale"));
  EXPECT_TRUE(foos.HasVerb("watch"));
  EXPECT_EQ(mapper.ForResource("fo.example.com").kind, foos.kind);
}

TEST(RestMapperEndToEndTest, ADiscoveredKindIsCreatedReadListedAndDeleted) {
  ApiServer server;
  const Client client(server.transport());
  client.Dynamic(kDefinitions).Create(FooDefinition());
  RestMapper mapper(server.transport());
  const DynamicClient foos = client.Dynamic(mapper.ForResource("foos").kind);
  const json a{{"metadata", {{"name", "a"}, {"namespace", "default"}}}, {"spec", {{"size", 1}}}};

  foos.Create(a);

  EXPECT_EQ(foos.Get({"default", "a"})->At("/spec/size"), 1);
  EXPECT_EQ(foos.List().size(), 1);
  EXPECT_TRUE(foos.Delete({"default", "a"}));
  EXPECT_FALSE(foos.Get({"default", "a"}));
}

}  // namespace
}  // namespace kopp::testing
