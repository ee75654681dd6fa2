#include "conformance.hpp"
#include "custom_resources.hpp"

#include <string>

namespace kopp::conformance {
namespace {

using ::testing::AnyOf;
using ::testing::ElementsAre;
using ::testing::EndsWith;

/// Fixture of tests of the values in apply configurations: their types, keys and nulls.
class ApplyValuesTest : public ConformanceTest {
 protected:
  /// Applies a Deployment with two containers. Returns the response of the server.
  JsonResponse ApplyDeployment(const json& spec, const std::string& query = "&force=true") {
    return Apply(Path("apps/v1", "deployments") + "/a",
                 {{"apiVersion", "apps/v1"},
                  {"kind", "Deployment"},
                  {"metadata", {{"name", "a"}}},
                  {"spec", spec}},
                 "m", query);
  }
  JsonResponse ApplyPodSpec(const json& pod_spec) {
    return ApplyDeployment({{"template", {{"spec", pod_spec}}}});
  }
  /// Creates the Deployment "a", whose fields belong to another manager.
  JsonResponse CreateDeployment() {
    json deployment = MakeDeployment("a");
    json& container = deployment["spec"]["template"]["spec"]["containers"][0];
    container["resources"]["requests"]["cpu"] = "1";
    container["securityContext"]["runAsNonRoot"] = true;
    container["env"] = {{{"name", "A"}, {"value", "1"}}};
    return Post(Path("apps/v1", "deployments") + "?fieldManager=creator", deployment);
  }
  static void ExpectTypeError(const JsonResponse& response, const std::string& error) {
    EXPECT_EQ(response.status, 500);
    EXPECT_EQ(response.reason(), "");
    EXPECT_EQ(response.message(),
              "failed to create typed patch object (/a; apps/v1, Kind=Deployment): " + error);
  }
  static void ExpectConversionError(const JsonResponse& response, const std::string& error) {
    EXPECT_EQ(response.status, 500);
    EXPECT_EQ(response.reason(), "");
    EXPECT_EQ(response.message(),
              "failed to convert new object (/a; apps/v1, Kind=Deployment) to proper version: "
              "unable to convert unstructured object to apps/v1, Kind=Deployment: " +
                  error);
  }
};

TEST_F(ApplyValuesTest, AValueThatIsNoObjectOrListIsRejected) {
  ExpectTypeError(ApplyDeployment({{"selector", "x"}}), ".spec.selector: expected map, got &{x}");
  ExpectTypeError(ApplyDeployment({{"template", {1, nullptr}}}),
                  ".spec.template: expected map, got &{[1 <nil>]}");
  ExpectTypeError(ApplyPodSpec({{"containers", {{"a", "b"}}}}),
                  ".spec.template.spec.containers: expected list, got &{map[a:b]}");
}

TEST_F(ApplyValuesTest, AScalarOfAnotherTypeIsRejected) {
  ExpectTypeError(ApplyDeployment({{"paused", "x"}}), ".spec.paused: expected boolean, got &{x}");
  ExpectTypeError(ApplyDeployment({{"replicas", "3"}}),
                  ".spec.replicas: expected numeric (int or float), got string");
  ExpectTypeError(ApplyDeployment({{"replicas", json::array()}}),
                  ".spec.replicas: expected numeric (int or float), got []interface {}");
  ExpectTypeError(ApplyPodSpec({{"hostname", 1.5}}),
                  ".spec.template.spec.hostname: expected string, got "
                  "&value.valueUnstructured{Value:1.5}");
  ExpectTypeError(ApplyPodSpec({{"hostname", {{"a", {1, "b", nullptr}}}}}),
                  ".spec.template.spec.hostname: expected string, got &value.valueUnstructured{"
                  "Value:map[string]interface {}{\"a\":[]interface {}{1, \"b\", "
                  "interface {}(nil)}}}");
}

TEST_F(ApplyValuesTest, SeveralErrorsAreListed) {
  const std::string paused = "\n  .spec.paused: expected boolean, got &{1}";
  const std::string replicas = "\n  .spec.replicas: expected numeric (int or float), got bool";

  // kube-apiserver lists the errors of an object in random order.
  EXPECT_THAT(
      ApplyDeployment({{"paused", 1}, {"replicas", true}}).message(),
      AnyOf(EndsWith(": errors:" + paused + replicas), EndsWith(": errors:" + replicas + paused)));
}

TEST_F(ApplyValuesTest, AnItemThatCannotHaveAKeyEndsTheValidationOfItsList) {
  ExpectTypeError(ApplyPodSpec({{"containers", {"x", 1}}}),
                  ".spec.template.spec.containers: element 0: associative list with keys may not "
                  "have non-map elements");
  ExpectTypeError(ApplyPodSpec({{"containers", {nullptr}}}),
                  ".spec.template.spec.containers: element 0: associative list with keys may not "
                  "have a null element");
}

TEST_F(ApplyValuesTest, AnItemThatCannotBeInASetIsRejected) {
  const auto apply = [&](const json& finalizer) {
    return Apply(Path("configmaps") + "/a",
                 {{"apiVersion", "v1"},
                  {"kind", "ConfigMap"},
                  {"metadata", {{"name", "a"}, {"finalizers", {finalizer}}}}},
                 "m");
  };
  const std::string path =
      "failed to create typed patch object (/a; /v1, Kind=ConfigMap): .metadata.finalizers: "
      "element 0: ";

  EXPECT_EQ(apply({{"a", 1}}).message(),
            path + "associative list without keys has an element that's a map type");
  EXPECT_EQ(apply(json::array({"a"})).message(),
            path + "not supported: associative list with lists as elements");
  EXPECT_EQ(apply(nullptr).message(),
            path + "associative list without keys has an element that's an explicit null");
}

TEST_F(ApplyValuesTest, AKeyOfAnotherTypeIsRejected) {
  ExpectTypeError(ApplyPodSpec({{"containers", {{{"name", {{"a", "b"}}}}}}}),
                  ".spec.template.spec.containers[name=a=\"b\"].name: expected string, got "
                  "&value.valueUnstructured{Value:map[string]interface {}{\"a\":\"b\"}}");
}

TEST_F(ApplyValuesTest, AMissingRequiredKeyIsEmpty) {
  CreateDeployment();

  const JsonResponse response = ApplyPodSpec({{"containers", {{{"image", "a:1"}}}}});

  EXPECT_EQ(response.status, 422);
  EXPECT_THAT(Causes(response), ElementsAre("FieldValueRequired spec.template.spec.containers[1]"
                                            ".name: Required value"));
}

TEST_F(ApplyValuesTest, NullForAnObjectOrListWithFieldsOfOthersChangesNothing) {
  const JsonResponse created = CreateDeployment();

  for (const char* spec :
       {R"({"template": null})", R"({"template": {"metadata": {"labels": null}}})",
        R"({"template": {"spec": {"containers": null}}})",
        R"({"template": {"spec": {"containers": [{"name": "nginx", "env": null,
            "securityContext": null, "resources": {"requests": null}}]}}})"}) {
    const JsonResponse applied = ApplyDeployment(json::parse(spec), "");

    EXPECT_EQ(applied.status, 200) << applied.text;
    EXPECT_EQ(applied.at("/spec"), created.at("/spec")) << spec;
  }
}

TEST_F(ApplyValuesTest, NullForAnAtomicObjectIsAConflict) {
  CreateDeployment();

  EXPECT_EQ(
      ApplyDeployment({{"selector", nullptr}}, "").message(),
      "Apply failed with 1 conflict: conflict with \"creator\" using apps/v1: .spec.selector");
}

TEST_F(ApplyValuesTest, ConflictsOfAnObjectPrecedeThoseOfItsFields) {
  CreateDeployment();

  const JsonResponse response = ApplyDeployment(
      {{"template",
        {{"spec",
          {{"dnsPolicy", "Default"},
           {"containers",
            {{{"name", "nginx"}, {"image", "b"}, {"env", {{{"name", "A"}, {"value", "2"}}}}}}}}}}},
       {"replicas", 7}},
      "");

  EXPECT_EQ(response.message(),
            "Apply failed with 4 conflicts: conflicts with \"creator\" using apps/v1:\n"
            "- .spec.replicas\n"
            "- .spec.template.spec.dnsPolicy\n"
            "- .spec.template.spec.containers[name=\"nginx\"].image\n"
            "- .spec.template.spec.containers[name=\"nginx\"].env[name=\"A\"].value");
}

TEST_F(ApplyValuesTest, ValuesThatCannotBeConvertedAreRejected) {
  CreateDeployment();

  ExpectConversionError(ApplyDeployment({{"replicas", 1.5}}), "cannot convert float64 to int32");
  ExpectConversionError(
      ApplyPodSpec(
          {{"containers", {{{"name", "nginx"}, {"resources", {{"limits", {{"cpu", "x"}}}}}}}}}),
      "quantities must match the regular expression "
      "'^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'");
}

TEST_F(ApplyValuesTest, BytesThatAreNotBase64AreRejected) {
  const JsonResponse response = Apply(Path("secrets") + "/a",
                                      {{"apiVersion", "v1"},
                                       {"kind", "Secret"},
                                       {"metadata", {{"name", "a"}}},
                                       {"data", {{"k", "x"}}}},
                                      "m");

  EXPECT_EQ(response.status, 500);
  EXPECT_EQ(response.message(),
            "failed to convert new object (/a; /v1, Kind=Secret) to proper version: unable to "
            "convert unstructured object to /v1, Kind=Secret: error decoding from json: illegal "
            "base64 data at input byte 0");
}

TEST_F(ApplyValuesTest, ATimeOfAnotherTypeIsRejectedWhenItIsDecoded) {
  const auto apply = [&](const json& time) {
    return Apply(Path("coordination.k8s.io/v1", "leases") + "/a",
                 {{"apiVersion", "coordination.k8s.io/v1"},
                  {"kind", "Lease"},
                  {"metadata", {{"name", "a"}}},
                  {"spec", {{"renewTime", time}}}},
                 "m");
  };

  EXPECT_EQ(apply(json::object()).message(),
            "failed to create typed patch object (/a; coordination.k8s.io/v1, Kind=Lease): "
            ".spec.renewTime: expected any scalar, got &{map[]}");
  EXPECT_EQ(apply(5).message(),
            "failed to convert new object (/a; coordination.k8s.io/v1, Kind=Lease) to proper "
            "version: unable to convert unstructured object to coordination.k8s.io/v1, Kind=Lease: "
            "json: cannot unmarshal number into Go value of type string");
}

TEST_F(ApplyValuesTest, AnIntegerThatDoesNotFitWrapsAround) {
  CreateDeployment();

  EXPECT_EQ(ApplyDeployment({{"replicas", 4294967299}}).at("/spec/replicas"), 3);
}

/// Fixture of tests with a Widget whose spec has the list "byKeys" with the key "k".
class ApplyWidgetValuesTest : public CrdPerTest {};

TEST_F(ApplyWidgetValuesTest, AnItemWithoutAnyKeyIsRejected) {
  CreateCrd(json::parse(R"({"type": "object", "properties": {"spec": {"type": "object",
      "properties": {"byKeys": {"type": "array",
          "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["k", "l"],
          "items": {"type": "object", "required": ["k", "l"],
                    "properties": {"k": {"type": "string"}, "l": {"type": "string"}}}}}}}})"));

  const JsonResponse response =
      Apply(Widgets() + "/w", MakeWidget("w", {{"byKeys", {json::object()}}}), "m");

  EXPECT_EQ(response.message(),
            "failed to create typed patch object (/w; " + group() +
                "/v1, Kind=Widget): .spec.byKeys: element 0: associative list with keys has an "
                "element that omits all key fields [\"k\" \"l\"] (and doesn't have default values "
                "for any key fields)");
}

}  // namespace
}  // namespace kopp::conformance
