// Webhooks for custom resources: schemas, the scale subresource, versions.
#include "admission/webhook_test_server.hpp"
#include "custom_resources.hpp"

namespace kopp::conformance {
namespace {

using ::testing::HasSubstr;
using ::testing::SizeIs;

const json integer{{"type", "integer"}};

class WebhookCustomResourcesTest : public WebhookCallTest {
 protected:
  ~WebhookCustomResourcesTest() override { Delete(WidgetCrdPath(group_)); }

  /// Returns the schema of an object whose spec has exactly these properties.
  static json SpecSchema(const json& properties) {
    return ObjectSchema({{"spec", ObjectSchema(properties)}});
  }
  /// Returns a CRD whose schema has spec.nested with `a`, `b` and `others`. The default of `a`
  /// is 7.
  [[nodiscard]] json CrdOfNested(json others) const {
    others["a"] = {{"type", "integer"}, {"default", 7}};
    others["b"] = integer;
    return MakeWidgetCrd(group_, SpecSchema({{"nested", ObjectSchema(others)}}));
  }
  /// Creates the CRD, and blocks until its Widgets are served.
  void CreateCrd(const json& crd) {
    ASSERT_EQ(Post(crds_path, crd).status, 201);
    for (const json& version : crd.at("/spec/versions"_json_pointer)) {
      Eventually(200, [&] { return Get(Widgets(version.at("name"))); });
    }
  }
  std::string Widgets(const std::string& version = "v1") {
    return Path(group_ + "/" + version, "widgets");
  }
  JsonResponse CreateWidget(const json& spec, const std::string& version = "v1") {
    return Post(Widgets(version), {{"apiVersion", group_ + "/" + version},
                                   {"kind", "Widget"},
                                   {"metadata", {{"name", "w"}}},
                                   {"spec", spec}});
  }
  /// Returns the fields of a webhook for v1 of `resource`.
  [[nodiscard]] json Fields(const std::string& operation,
                            const std::string& resource = "widgets") const {
    return {{"rules", {Rule({operation}, resource, group_)}}};
  }
  /// Returns a webhook that sets a field of the spec when a Widget is created.
  [[nodiscard]] Webhook SetField(const std::string& field, const json& value) const {
    return {.respond =
                [field, value](const json&) {
                  return Allowed({{{"op", "add"}, {"path", "/spec/" + field}, {"value", value}}});
                },
            .fields = Fields("CREATE")};
  }

  const std::string group_ = UniqueName("g") + ".example.com";
};

// A3
TEST_F(WebhookCustomResourcesTest, APatchThatViolatesTheSchemaIsRejectedBeforeValidatingWebhooks) {
  CreateCrd(MakeWidgetCrd(group_, SpecSchema({{"a", {{"type", "integer"}, {"maximum", 5}}}})));
  Install(Type::kMutating, SetField("a", 9));
  Install(Type::kValidating, Webhook{.fields = Fields("CREATE")});

  const JsonResponse created = CreateWidget({{"a", 1}});

  EXPECT_EQ(created.status, 422) << created.text;
  EXPECT_THAT(created.message(), HasSubstr("spec.a: Invalid value: 9"));
  EXPECT_THAT(Requests(), SizeIs(1));
}

// A40
TEST_F(WebhookCustomResourcesTest, APatchedObjectIsDefaultedAgainAndStoredWithoutUnknownFields) {
  CreateCrd(CrdOfNested(json::object()));
  Install(Type::kMutating,
          {SetField("nested", {{"b", 2}, {"unknown", 3}}), {.fields = Fields("CREATE")}});
  Install(Type::kValidating, Webhook{.fields = Fields("CREATE")});

  const JsonResponse created = CreateWidget(json::object());

  ASSERT_EQ(created.status, 201) << created.text;
  EXPECT_EQ(created.at("/spec/nested"), json({{"a", 7}, {"b", 2}}));
  EXPECT_EQ(Get(Widgets() + "/w").at("/spec/nested"), json({{"a", 7}, {"b", 2}}));
  ASSERT_THAT(Requests(), SizeIs(3));
  for (const std::size_t i : {1U, 2U}) {
    EXPECT_EQ(Requests()[i].at("/object/spec/nested/a"_json_pointer), 7);
  }
}

// A40: a difference. A kube-apiserver stores the field, and drops it from each response.
TEST_F(WebhookCustomResourcesTest, AFieldThatTheSchemaGetsLaterIsNotRestored) {
  CreateCrd(CrdOfNested(json::object()));
  Install(Type::kMutating, SetField("nested", {{"later", 3}}));
  ASSERT_EQ(CreateWidget(json::object()).status, 201);

  const json crd = CrdOfNested({{"later", {{"type", "integer"}, {"default", 4}}}});
  MergePatch(WidgetCrdPath(group_), {{"spec", crd.at("spec")}});

  const int expected = IsRealServer() ? 3 : 4;
  const JsonResponse read = Eventually(expected, [&] {
    JsonResponse response = Get(Widgets() + "/w");
    response.status = response.at("/spec/nested").value("later", 0);
    return response;
  });
  EXPECT_EQ(read.status, expected) << read.text;
}

// A12
TEST_F(WebhookCustomResourcesTest, AnUpdateOfAScaleIsSentAsAScale) {
  const json scale{{"specReplicasPath", ".spec.a"}, {"statusReplicasPath", ".status.a"}};
  CreateCrd(
      MakeWidgetCrd(group_, SpecSchema({{"a", integer}}), {{"subresources", {{"scale", scale}}}}));
  ASSERT_EQ(CreateWidget({{"a", 1}}).status, 201);
  Install(Type::kValidating,
          {{.fields = Fields("*", "widgets/scale")}, {.fields = Fields("*", "widgets")}});

  const JsonResponse scaled = MergePatch(Widgets() + "/w/scale", {{"spec", {{"replicas", 3}}}});

  EXPECT_EQ(scaled.status, 200) << scaled.text;
  ASSERT_THAT(Requests(), SizeIs(1));
  const json request = Requests()[0];
  EXPECT_EQ(request.at("kind"),
            json({{"group", "autoscaling"}, {"version", "v1"}, {"kind", "Scale"}}));
  EXPECT_EQ(request.at("resource"),
            json({{"group", group_}, {"version", "v1"}, {"resource", "widgets"}}));
  EXPECT_EQ(request.at("subResource"), "scale");
  EXPECT_EQ(request.at("/object/spec/replicas"_json_pointer), 3);
  EXPECT_EQ(request.at("/oldObject/spec/replicas"_json_pointer), 1);
}

// A19
TEST_F(WebhookCustomResourcesTest, ARequestForAnotherVersionIsConvertedForAnEquivalentRule) {
  json crd = MakeWidgetCrd(group_, SpecSchema({{"a", integer}}));
  json& versions = crd["spec"]["versions"];
  versions.push_back(versions[0]);
  versions[1]["schema"]["openAPIV3Schema"] = SpecSchema({{"a", integer}, {"b", integer}});
  versions[1]["name"] = "v2";
  versions[0]["storage"] = false;
  versions[1]["storage"] = true;
  CreateCrd(crd);
  json exact = Fields("CREATE");
  exact["matchPolicy"] = "Exact";
  Install(Type::kMutating, {SetField("a", 1), {.fields = exact}});

  const JsonResponse created = CreateWidget({{"b", 2}}, "v2");

  EXPECT_EQ(created.status, 201) << created.text;
  EXPECT_EQ(created.str("/apiVersion"), group_ + "/v2");
  EXPECT_EQ(created.at("/spec"), json({{"a", 1}, {"b", 2}}));
  ASSERT_THAT(Requests(), SizeIs(1));
  EXPECT_EQ(Requests()[0].at("/kind/version"_json_pointer), "v1");
  EXPECT_EQ(Requests()[0].at("/requestKind/version"_json_pointer), "v2");
  EXPECT_EQ(Requests()[0].at("/object/apiVersion"_json_pointer), group_ + "/v1");
}

}  // namespace
}  // namespace kopp::conformance
