// Tests of malformed requests that the fuzzer found. The server responds and continues.
#include <string>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <kopp/client.hpp>
#include <kopp/kinds.hpp>
#include <kopp/testing/api_server.hpp>
#include <kopp/testing/fake_clock.hpp>

namespace kopp {
namespace {

using namespace std::chrono_literals;
using nlohmann::json;

class MalformedRequestsTest : public ::testing::Test {
 protected:
  ApiResponse Call(const std::string& method, const std::string& target,
                   const json& body = json::object()) {
    return server_.transport().Call(
        {.method = method, .target = target, .body = method == "GET" ? "" : body.dump()});
  }

  const std::string config_maps_ = "/api/v1/namespaces/default/configmaps";
  testing::FakeClock clock_;
  testing::ApiServer server_{{.clock = clock_}};
};

TEST_F(MalformedRequestsTest, AnObjectNameWithInvalidUtf8IsNotFound) {
  const ApiResponse response = Call("GET", config_maps_ + "/%ff");

  EXPECT_EQ(response.status, 404);
  EXPECT_EQ(json::parse(response.body)["details"]["name"], "\uFFFD");
  EXPECT_EQ(server_.Requests().back()["objectRef"]["name"], "\uFFFD");
}

TEST_F(MalformedRequestsTest, AMethodWithInvalidUtf8IsNotAllowed) {
  EXPECT_EQ(Call("\xff", config_maps_).status, 405);
  EXPECT_EQ(server_.Requests().back()["verb"], "\uFFFD");
}

TEST_F(MalformedRequestsTest, AFieldManagerWithInvalidUtf8IsStoredWithReplacementCharacters) {
  const ApiResponse response = Call("POST", config_maps_ + "?fieldManager=a%ff",
                                    {{"metadata", {{"name", "a"}}}, {"data", {{"k", "v"}}}});

  EXPECT_EQ(response.status, 201);
  EXPECT_EQ(json::parse(response.body)["metadata"]["managedFields"][0]["manager"], "a\uFFFD");
}

TEST_F(MalformedRequestsTest, FieldManagerWithoutAUserAgentIsUnknown) {
  const auto transport = MakeTransport(server_.Listen({}), {.user_agent = ""});
  const ApiResponse response =
      transport->Call({.method = "POST",
                       .target = config_maps_,
                       .body = R"({"metadata": {"name": "a"}, "data": {"k": "v"}})"});

  EXPECT_EQ(json::parse(response.body)["metadata"]["managedFields"][0]["manager"], "unknown");
}

TEST_F(MalformedRequestsTest, APatchThatRemovesKindOrNameIsRejected) {
  Call("POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
       R"({"metadata": {"name": "webs.example.com"},
          "spec": {"group": "example.com", "scope": "Namespaced",
                   "names": {"plural": "webs", "kind": "Web"},
                   "versions": [{"name": "v1", "served": true, "storage": true,
                                 "schema": {"openAPIV3Schema": {"type": "object"}}}]}})"_json);
  const std::string webs = "/apis/example.com/v1/namespaces/default/webs";
  Call("POST", webs,
       {{"apiVersion", "example.com/v1"}, {"kind", "Web"}, {"metadata", {{"name", "a"}}}});

  for (const char* patch : {R"({"kind": "X", "metadata": null})", R"({"kind": "X", "metadata": 5})",
                            R"({"kind": null})", R"({"apiVersion": null})"}) {
    const ApiResponse response =
        server_.transport().Call({.method = "PATCH",
                                  .target = webs + "/a",
                                  .body = patch,
                                  .content_type = "application/merge-patch+json"});
    EXPECT_GE(response.status, 400) << patch;
  }
}

TEST_F(MalformedRequestsTest, AGenerateNameTruncatedInsideAUtf8CharacterIsRejected) {
  std::string prefix(57, 'a');
  prefix += "\u00FC";

  EXPECT_EQ(Call("POST", config_maps_, {{"metadata", {{"generateName", prefix}}}}).status, 422);
}

TEST_F(MalformedRequestsTest, YamlWithInvalidUtf8IsRejected) {
  const ApiResponse response = server_.transport().Call({.method = "POST",
                                                         .target = config_maps_,
                                                         .body = "data: {a: \xa1}",
                                                         .content_type = "application/yaml"});

  EXPECT_EQ(response.status, 400);
}

TEST_F(MalformedRequestsTest, RecursiveYamlAliasesAreRejected) {
  const ApiResponse response = server_.transport().Call({.method = "POST",
                                                         .target = config_maps_,
                                                         .body = "data: &a {x: *a, y: *a}",
                                                         .content_type = "application/yaml"});

  EXPECT_EQ(response.status, 400);
}

TEST_F(MalformedRequestsTest, ANumberOutOfRangeIsRejected) {
  const ApiResponse response = server_.transport().Call(
      {.method = "POST", .target = config_maps_, .body = R"({"data":{"a":1e400}})"});

  EXPECT_EQ(response.status, 400);
}

TEST_F(MalformedRequestsTest, AJsonPatchThatGrowsTheObjectExponentiallyIsRejected) {
  Call("POST", config_maps_, {{"metadata", {{"name", "a"}, {"annotations", {{"x", "y"}}}}}});
  json patch = json::array();
  for (int i = 0; i < 40; ++i) {
    patch.push_back(
        {{"op", "copy"}, {"from", "/metadata"}, {"path", "/metadata/" + std::to_string(i)}});
  }

  const ApiResponse response =
      server_.transport().Call({.method = "PATCH",
                                .target = config_maps_ + "/a",
                                .body = patch.dump(),
                                .content_type = "application/json-patch+json"});

  EXPECT_EQ(response.status, 413);
}

// With quadratic cost, this test would not finish in reasonable time.
TEST_F(MalformedRequestsTest, AnArrayOfManyObjectsIsReadInLinearTime) {
  json object{{"metadata", {{"name", "a"}}}};
  object["strange"] = json(50'000, json{{"a", 1}});

  EXPECT_EQ(Call("POST", config_maps_, object).status, 201);
}

TEST_F(MalformedRequestsTest, BracketsInStringsDoNotCountAsNesting) {
  const std::string brackets = std::string(600, '[') + "\\\"" + std::string(600, '{');

  EXPECT_EQ(Call("POST", config_maps_, {{"metadata", {{"name", "a"}}}, {"data", {{"k", brackets}}}})
                .status,
            201);
}

TEST_F(MalformedRequestsTest, AJsonPatchThatNestsTooDeeplyIsRejected) {
  Call("POST", config_maps_, {{"metadata", {{"name", "a"}}}});
  json deep = 1;
  std::string path = "/x";
  for (int i = 0; i < 400; ++i) {
    deep = {{"a", deep}};
    path += "/a";
  }
  const json patch{{{"op", "add"}, {"path", "/x"}, {"value", deep}},
                   {{"op", "copy"}, {"from", "/x"}, {"path", path}}};

  const ApiResponse response =
      server_.transport().Call({.method = "PATCH",
                                .target = config_maps_ + "/a",
                                .body = patch.dump(),
                                .content_type = "application/json-patch+json"});

  EXPECT_EQ(response.status, 422);
}

TEST_F(MalformedRequestsTest, InvalidFieldsV1KeysAreIgnored) {
  Call("POST", config_maps_, {{"metadata", {{"name", "a"}}}});
  const json entry{{"manager", "m"},
                   {"operation", "Apply"},
                   {"apiVersion", "v1"},
                   {"fieldsType", "FieldsV1"},
                   {"fieldsV1", {{"x", json::object()}, {"k:", json::object()}}}};
  Call("PUT", config_maps_ + "/a", {{"metadata", {{"name", "a"}, {"managedFields", {entry}}}}});

  const ApiResponse applied = server_.transport().Call(
      {.method = "PATCH",
       .target = config_maps_ + "/a?fieldManager=m",
       .body = R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"}})",
       .content_type = "application/apply-patch+yaml"});

  EXPECT_EQ(applied.status, 200);
}

TEST_F(MalformedRequestsTest, AnInvalidContinueTokenIsRejected) {
  const std::string no_key = "eyJ2IjoibWV0YS5rOHMuaW8vdjEiLCJzdGFydCI6ImEvYi9jIn0";  // a/b/c

  EXPECT_EQ(Call("GET", config_maps_ + "?limit=1&continue=" + no_key).status, 400);
}

TEST_F(MalformedRequestsTest, AWatchWithTheLargestTimeoutStaysOpen) {
  const auto watch = server_.transport().Open(
      {.target = config_maps_ + "?watch=true&timeoutSeconds=9223372036854775807"});

  EXPECT_EQ(watch->Read(0s).state, Stream::State::kSilent);
}

TEST_F(MalformedRequestsTest, TheLargestGracePeriodIsAccepted) {
  const json container{{"name", "c"}, {"image", "i"}};
  Call("POST", "/api/v1/namespaces/default/pods",
       {{"metadata", {{"name", "a"}}}, {"spec", {{"nodeName", "n"}, {"containers", {container}}}}});

  const ApiResponse response = Call("DELETE", "/api/v1/namespaces/default/pods/a",
                                    {{"gracePeriodSeconds", 9223372036854775807}});

  EXPECT_EQ(response.status, 200);
}

TEST_F(MalformedRequestsTest, AJobWithoutANameIsRejected) {
  const json container{{"name", "c"}, {"image", "i"}};
  const json pod{{"restartPolicy", "Never"}, {"containers", {container}}};

  EXPECT_EQ(Call("POST", "/apis/batch/v1/namespaces/default/jobs",
                 {{"spec", {{"template", {{"spec", pod}}}}}})
                .status,
            422);
}

TEST_F(MalformedRequestsTest, ACrdVersionWithALargeNumberIsServed) {
  const json schema{{"openAPIV3Schema", {{"type", "object"}}}};
  const json version{
      {"name", "v99999999999"}, {"served", true}, {"storage", true}, {"schema", schema}};
  const json crd{{"metadata", {{"name", "bars.b.io"}}},
                 {"spec",
                  {{"group", "b.io"},
                   {"scope", "Cluster"},
                   {"names", {{"kind", "Bar"}, {"plural", "bars"}}},
                   {"versions", {version}}}}};
  EXPECT_EQ(Call("POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", crd).status,
            201);

  EXPECT_EQ(Call("GET", "/apis/b.io/v99999999999/bars").status, 200);
  EXPECT_EQ(Call("GET", "/apis").status, 200);
}

}  // namespace
}  // namespace kopp
