// The library alone, without the features for kubectl.
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <kopp/config.hpp>
#include <kopp/testing/api_server.hpp>
#include <kopp/transport.hpp>

namespace kopp {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::Not;

const std::string config_maps = "/api/v1/namespaces/default/configmaps";
const std::string table_type = "application/json;as=Table;v=v1;g=meta.k8s.io";
const std::string protobuf_type = "application/vnd.kubernetes.protobuf";

class WithoutExtensionsTest : public ::testing::Test {
 protected:
  ApiResponse Get(const std::string& target, const std::string& accept = "application/json") {
    return server_.transport().Call({.target = target, .accept = accept});
  }

  testing::ApiServer server_;
};

TEST_F(WithoutExtensionsTest, ATableIsNotAcceptable) {
  const ApiResponse response = Get(config_maps, table_type);

  EXPECT_EQ(response.status, 406);
  EXPECT_THAT(response.body, HasSubstr("only the following media types are accepted: "
                                       "application/json, application/yaml\""));
}

TEST_F(WithoutExtensionsTest, AClientThatPrefersTablesGetsJson) {
  const ApiResponse response = Get(config_maps, table_type + ",application/json");

  EXPECT_EQ(json::parse(response.body)["kind"], "ConfigMapList");
}

TEST_F(WithoutExtensionsTest, AWatchOfTablesIsNotAcceptable) {
  EXPECT_EQ(Get(config_maps + "?watch=true", table_type).status, 406);
}

TEST_F(WithoutExtensionsTest, ProtobufIsNotAcceptable) {
  const ApiResponse response = Get(config_maps, protobuf_type);

  EXPECT_EQ(response.status, 406);
  EXPECT_THAT(response.body, Not(HasSubstr("protobuf")));
}

TEST_F(WithoutExtensionsTest, MetadataIsAvailable) {
  const ApiResponse response = Get("/api/v1/namespaces/default",
                                   "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io");

  EXPECT_EQ(json::parse(response.body)["kind"], "PartialObjectMetadata");
}

TEST_F(WithoutExtensionsTest, AProtobufBodyIsAnUnsupportedMediaType) {
  const ApiResponse response = server_.transport().Call({.method = "POST",
                                                         .target = config_maps,
                                                         .body = std::string("k8s\0", 4),
                                                         .content_type = protobuf_type});

  EXPECT_EQ(response.status, 415);
}

TEST_F(WithoutExtensionsTest, OpenApiDocumentsDoNotExist) {
  EXPECT_EQ(Get("/openapi/v3").status, 404);
}

TEST_F(WithoutExtensionsTest, ImpersonationIsForbidden) {
  Config config = server_.Listen({.tls = true});
  config.impersonate = {.user = "bob"};

  const ApiResponse response = MakeTransport(config)->Call({.target = config_maps});

  EXPECT_EQ(response.status, 403);
  EXPECT_THAT(response.body, HasSubstr("does not support impersonation"));
}

TEST_F(WithoutExtensionsTest, EvictionsAndTokenRequestsAreNotServed) {
  const auto post = [&](const std::string& target) {
    return server_.transport().Call({.method = "POST", .target = target, .body = "{}"}).status;
  };

  EXPECT_EQ(post("/api/v1/namespaces/default/pods/a/eviction"), 404);
  EXPECT_EQ(post("/api/v1/namespaces/default/bindings"), 404);
  EXPECT_EQ(post("/api/v1/namespaces/default/serviceaccounts/default/token"), 404);
  EXPECT_EQ(post("/apis/authorization.k8s.io/v1/selfsubjectrulesreviews"), 404);
}

TEST_F(WithoutExtensionsTest, DiscoveryContainsOnlyWhatIsServed) {
  const std::string core = Get("/api/v1").body;

  EXPECT_THAT(core, HasSubstr("pods/ephemeralcontainers"));
  EXPECT_THAT(core, Not(HasSubstr("pods/eviction")));
  EXPECT_THAT(core, Not(HasSubstr("\"bindings\"")));
}

}  // namespace
}  // namespace kopp
