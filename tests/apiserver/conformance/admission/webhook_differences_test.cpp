// Intended differences of admission. Each test checks the behaviour of both servers.
#include "admission/webhook_test_server.hpp"
#include "custom_resources.hpp"

#include <latch>
#include <memory>

namespace kopp::conformance {
namespace {

using ::testing::SizeIs;

class AdmissionDifferencesTest : public WebhookCallTest {
 protected:
  /// Returns the expected value for the server under test: `kopp` for kopp's server, `real` for a
  /// real kube-apiserver.
  template <typename T>
  static T Expected(T kopp, T real) {
    return IsRealServer() ? real : kopp;
  }
};

// A20
TEST_F(AdmissionDifferencesTest, MatchConditionsOfWebhooksAreNotEvaluated) {
  Install(Type::kValidating,
          Webhook{.fields = {{"matchConditions", {{{"name", "never"}, {"expression", "false"}}}}}});

  CreateMap("a");

  EXPECT_THAT(Requests(), SizeIs(Expected(1, 0)));
}

// V1 to V8
TEST_F(AdmissionDifferencesTest, ValidatingAdmissionPoliciesAreNotEvaluated) {
  const std::string group = "/apis/admissionregistration.k8s.io/v1/validatingadmission";
  const std::string name = UniqueName("policy");
  const json metadata{{"name", name}};
  const json rules{{{"operations", {"CREATE"}},
                    {"apiGroups", {""}},
                    {"apiVersions", {"v1"}},
                    {"resources", {"configmaps"}}}};
  json constraints{{"resourceRules", rules}};
  constraints["namespaceSelector"]["matchLabels"] = {{"kubernetes.io/metadata.name", ns()}};
  const json spec{{"matchConstraints", constraints}, {"validations", {{{"expression", "false"}}}}};
  const json binding{{"policyName", name}, {"validationActions", {"Deny"}}};
  ASSERT_EQ(Post(group + "policies", {{"metadata", metadata}, {"spec", spec}}).status, 201);
  ASSERT_EQ(Post(group + "policybindings", {{"metadata", metadata}, {"spec", binding}}).status,
            201);

  const int expected = Expected(201, 422);
  const JsonResponse created = Eventually(expected, [&] { return CreateMap(UniqueName("m")); });

  EXPECT_EQ(created.status, expected) << created.text;
  Delete(group + "policybindings/" + name);
  Delete(group + "policies/" + name);
}

// A2
TEST_F(AdmissionDifferencesTest, ValidatingWebhooksAreCalledOneAfterTheOther) {
  const auto both = std::make_shared<std::latch>(2);  // the functions may return after the test
  const Webhook waiting{.respond =
                            [both](const json&) {
                              both->arrive_and_wait();
                              return Allowed();
                            },
                        .fields = {{"timeoutSeconds", 1}}};
  Install(Type::kValidating, {waiting, waiting});

  EXPECT_EQ(CreateMap("m").status, Expected(500, 201));
}

// A41
TEST_F(AdmissionDifferencesTest, ChangesOfManagedFieldsByWebhooksAreIgnored) {
  const json entries{{{"manager", "m"},
                      {"operation", "Apply"},
                      {"apiVersion", "v1"},
                      {"time", "2026-01-01T00:00:00Z"},
                      {"fieldsType", "FieldsV1"},
                      {"fieldsV1", {{"f:data", {{"f:mine", json::object()}}}}}}};
  const json patch{{{"op", "replace"}, {"path", "/metadata/managedFields"}, {"value", entries}}};
  Install(Type::kMutating, {.respond = [patch](const json&) { return Allowed(patch); }});

  const JsonResponse created = CreateMap("a", {{"mine", "x"}});

  EXPECT_EQ(created.status, 201) << created.text;
  EXPECT_EQ(created.at("/metadata/managedFields/0/operation"),
            Expected<std::string>("Update", "Apply"));
}

// A40
TEST_F(AdmissionDifferencesTest, LaterWebhooksDoNotSeeTheUnknownFieldsOfAPatch) {
  const std::string group = UniqueName("g") + ".example.com";
  ASSERT_EQ(
      Post(crds_path, MakeWidgetCrd(group, ObjectSchema({{"spec", ObjectSchema(json::object())}})))
          .status,
      201);
  const std::string widgets = Path(group + "/v1", "widgets");
  Eventually(200, [&] { return Get(widgets); });
  const json fields{{"rules", {Rule({"CREATE"}, "widgets", group)}}};
  const json patch{{{"op", "add"}, {"path", "/spec/unknown"}, {"value", 1}}};
  Install(Type::kMutating,
          {{.respond = [patch](const json&) { return Allowed(patch); }, .fields = fields},
           {.fields = fields}});

  const JsonResponse created = Post(widgets, {{"apiVersion", group + "/v1"},
                                              {"kind", "Widget"},
                                              {"metadata", {{"name", "w"}}},
                                              {"spec", json::object()}});

  EXPECT_EQ(created.status, 201) << created.text;
  ASSERT_THAT(Requests(), SizeIs(2));
  EXPECT_EQ(Requests()[1].at("/object/spec"_json_pointer).contains("unknown"),
            Expected(false, true));
  Delete(WidgetCrdPath(group));
}

}  // namespace
}  // namespace kopp::conformance
