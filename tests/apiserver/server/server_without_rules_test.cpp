#include "crd/server_catalog.hpp"
#include "handlers/api_handler.hpp"
#include "storage/server_context.hpp"

#include <string>
#include <utility>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <kopp/testing/fake_clock.hpp>

namespace kopp::apiserver {
namespace {

using nlohmann::json;

constexpr const char* kCrds = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";

class ServerWithoutRulesTest : public ::testing::Test {
 protected:
  ServerResponse Send(std::string method, std::string_view path, const json& body) {
    return api_.Handle(
        {.method = std::move(method), .target = ParseRequestInfo(path), .body = body.dump()});
  }
  ServerResponse Create(std::string_view path, const json& body) {
    return Send("POST", path, body);
  }

  testing::FakeClock clock_;
  ServerContext context_{clock_, 1, {.clock = clock_}, {}, {.catalog = ServerCatalog()}};
  ApiHandler api_{context_};
};

TEST_F(ServerWithoutRulesTest, AnObjectIsValidatedByItsSchemaOnly) {
  constexpr const char* kPath = "/apis/storage.k8s.io/v1/storageclasses";
  EXPECT_EQ(Create(kPath, {{"metadata", {{"name", "a"}}}}).status, 201)
      << "kube requires a provisioner";
  EXPECT_EQ(Create(kPath, {{"metadata", {{"name", "b"}}}, {"provisioner", 1}}).status, 400);
}

TEST_F(ServerWithoutRulesTest, DefaultsOfTheSchemaAreSetOnCreateAndOnUpdate) {
  constexpr const char* kPath = "/apis/storage.k8s.io/v1/storageclasses";
  const json object{{"metadata", {{"name", "a"}}}, {"provisioner", "p"}};
  const ServerResponse created = Create(kPath, object);
  EXPECT_EQ(created.body.ToValue().value("reclaimPolicy", ""), "Delete");
  const ServerResponse updated = Send("PUT", std::string(kPath) + "/a", object);
  EXPECT_EQ(updated.body.ToValue().value("reclaimPolicy", ""), "Delete");
}

TEST_F(ServerWithoutRulesTest, ACrdWithoutASpecIsRejected) {
  EXPECT_EQ(Create(kCrds, {{"metadata", {{"name", "foos.example.com"}}}}).status, 422);
}

TEST_F(ServerWithoutRulesTest, TheKindOfACrdIsServedAndValidated) {
  const json spec{{"type", "object"},
                  {"properties", {{"color", {{"type", "string"}}}}},
                  {"required", {"color"}}};
  const json schema{{"type", "object"}, {"properties", {{"spec", spec}}}};
  const json version{{"name", "v1"},
                     {"served", true},
                     {"storage", true},
                     {"schema", {{"openAPIV3Schema", schema}}}};
  const json crd{{"metadata", {{"name", "foos.example.com"}}},
                 {"spec",
                  {{"group", "example.com"},
                   {"scope", "Namespaced"},
                   {"names", {{"plural", "foos"}, {"kind", "Foo"}}},
                   {"versions", {version}}}}};
  ASSERT_EQ(Create(kCrds, crd).status, 201);
  constexpr const char* kFoos = "/apis/example.com/v1/namespaces/default/foos";
  json foo{{"apiVersion", "example.com/v1"},
           {"kind", "Foo"},
           {"metadata", {{"name", "a"}}},
           {"spec", json::object()}};
  EXPECT_EQ(Create(kFoos, foo).status, 422);
  foo["spec"]["color"] = "red";
  EXPECT_EQ(Create(kFoos, foo).status, 201);
}

}  // namespace
}  // namespace kopp::apiserver
