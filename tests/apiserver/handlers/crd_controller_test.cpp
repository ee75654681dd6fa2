// Tests of CustomResourceDefinitions that require their effects immediately. They are not in the
// conformance suite: a kube-apiserver shows these effects after a delay or not in every run.
#include <string>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <kopp/testing/api_server.hpp>
#include <kopp/transport.hpp>

namespace kopp::apiserver {
namespace {

using nlohmann::json;

const std::string crds_path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
const std::string widgets_path = "/apis/example.com/v1/widgets";

struct JsonResponse {
  int status = 0;
  json body{};
};

/// Runs an API server in which tests create cluster-scoped CRDs of the group example.com.
class CrdControllerTest : public ::testing::Test {
 protected:
  JsonResponse Call(const std::string& method, const std::string& target,
                    const json& body = nullptr) {
    const ApiResponse response = server_.transport().Call(
        {.method = method, .target = target, .body = body.is_null() ? "" : body.dump()});
    return {response.status, json::parse(response.body, nullptr, false)};
  }
  JsonResponse CreateCrd(const std::string& plural, const std::string& kind,
                         json spec_properties = json::object()) {
    json version{{"name", "v1"}, {"served", true}, {"storage", true}};
    version["schema"]["openAPIV3Schema"] = {
        {"type", "object"},
        {"properties",
         {{"spec", {{"type", "object"}, {"properties", std::move(spec_properties)}}}}}};
    return Call("POST", crds_path,
                {{"metadata", {{"name", plural + ".example.com"}}},
                 {"spec",
                  {{"group", "example.com"},
                   {"scope", "Cluster"},
                   {"names", {{"plural", plural}, {"kind", kind}}},
                   {"versions", json::array({version})}}}});
  }
  JsonResponse CreateWidget(const std::string& name, const json& spec = nullptr) {
    json widget{
        {"apiVersion", "example.com/v1"}, {"kind", "Widget"}, {"metadata", {{"name", name}}}};
    if (!spec.is_null()) widget["spec"] = spec;
    return Call("POST", widgets_path, widget);
  }
  /// Sends a JSON Patch if `patch` is an array, otherwise a merge patch.
  JsonResponse Patch(const std::string& target, const json& patch) {
    const ApiResponse response = server_.transport().Call(
        {.method = "PATCH",
         .target = target,
         .body = patch.dump(),
         .content_type =
             patch.is_array() ? "application/json-patch+json" : "application/merge-patch+json"});
    return {response.status, json::parse(response.body)};
  }
  json Condition(const std::string& crd, const std::string& type) {
    const json response = Call("GET", crds_path + '/' + crd).body;
    for (const json& condition : response["status"]["conditions"]) {
      if (condition["type"] == type) return condition;
    }
    return nullptr;
  }

  testing::ApiServer server_;
};

TEST_F(CrdControllerTest, ResourceIsServedAsSoonAsItsCrdIsCreated) {
  EXPECT_EQ(CreateCrd("widgets", "Widget").status, 201);

  EXPECT_EQ(CreateWidget("w").status, 201);
}

TEST_F(CrdControllerTest, CrdWithAConflictingKindIsEstablishedAfterTheConflictingCrdIsDeleted) {
  CreateCrd("widgets", "Widget");
  CreateCrd("gadgets", "Widget");
  EXPECT_EQ(Condition("gadgets.example.com", "NamesAccepted")["reason"], "ListKindConflict");
  EXPECT_EQ(Call("GET", "/apis/example.com/v1/gadgets").status, 404);

  Call("DELETE", crds_path + "/widgets.example.com");

  EXPECT_EQ(Condition("gadgets.example.com", "Established")["status"], "True");
  EXPECT_EQ(Call("GET", "/apis/example.com/v1/gadgets").status, 200);
}

TEST_F(CrdControllerTest, UpdateOfACustomResourceWithoutResourceVersionIsRejected) {
  CreateCrd("widgets", "Widget");
  json widget = CreateWidget("w").body;
  widget["metadata"].erase("resourceVersion");

  const JsonResponse response = Call("PUT", widgets_path + "/w", widget);

  EXPECT_EQ(response.status, 422);
  EXPECT_EQ(
      response.body["message"],
      "widgets.example.com \"w\" is invalid: metadata.resourceVersion: Invalid value: 0: must "
      "be specified for an update");
}

TEST_F(CrdControllerTest, ValidationRatchetingAcceptsUnchangedAndRejectsChangedInvalidValues) {
  CreateCrd("widgets", "Widget", {{"a", {{"type", "integer"}}}, {"b", {{"type", "integer"}}}});
  CreateWidget("w", {{"a", 1}});
  Patch(crds_path + "/widgets.example.com",
        {{{"op", "add"},
          {"path", "/spec/versions/0/schema/openAPIV3Schema/properties/spec/properties/a/minimum"},
          {"value", 5}}});

  EXPECT_EQ(Patch(widgets_path + "/w", {{"spec", {{"b", 2}}}}).status, 200);
  EXPECT_EQ(Patch(widgets_path + "/w", {{"spec", {{"a", 2}}}}).status, 422);
}

TEST_F(CrdControllerTest, DeletedCrdWithAUserFinalizerRemainsAfterItsCustomResourcesAreDeleted) {
  CreateCrd("widgets", "Widget");
  Patch(crds_path + "/widgets.example.com",
        {{"metadata", {{"finalizers", json::array({"example.com/a"})}}}});
  CreateWidget("w");

  Call("DELETE", crds_path + "/widgets.example.com");

  const json condition = Condition("widgets.example.com", "Terminating");
  EXPECT_EQ(condition["reason"], "InstanceDeletionCompleted");
  EXPECT_EQ(Call("GET", crds_path + "/widgets.example.com").body["metadata"]["finalizers"],
            json::array({"example.com/a"}));
  EXPECT_EQ(Call("GET", widgets_path).body["items"], json::array());
}

TEST_F(CrdControllerTest, StatusFieldsOfANewCrdHaveNoFieldManager) {
  const JsonResponse created = CreateCrd("widgets", "Widget");

  for (const json& entry : created.body["metadata"]["managedFields"]) {
    EXPECT_FALSE(entry["fieldsV1"].contains("f:status")) << entry;
  }
}

}  // namespace
}  // namespace kopp::apiserver
