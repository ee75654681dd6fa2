// Rules for the values of custom resources beyond those of single keywords.
#include "custom_resources.hpp"
#include "validation/rule.hpp"

namespace kopp::conformance {
namespace {

class CustomResourceRuleTest : public CustomResourceTest,
                               public ::testing::WithParamInterface<Rule> {
 protected:
  static void SetUpTestSuite() {
    const json spec = R"({
      "ratio": {"type": "number", "multipleOf": 0.5},
      "replicas": {"type": "integer"},
      "tags": {"type": "array", "items": {"type": "string"}, "x-kubernetes-list-type": "set"},
      "ports": {"type": "array", "x-kubernetes-list-type": "map",
                "x-kubernetes-list-map-keys": ["port"],
                "items": {"type": "object", "properties": {"port": {"type": "integer"}},
                          "required": ["port"]}},
      "template": {"type": "object", "x-kubernetes-embedded-resource": true,
                   "x-kubernetes-preserve-unknown-fields": true}})"_json;
    CreateCrd(ObjectSchema({{"spec", ObjectSchema(spec)}}), R"({"subresources": {"scale": {
        "specReplicasPath": ".spec.replicas", "statusReplicasPath": ".status.replicas"}}})"_json);
  }
  static void TearDownTestSuite() { DeleteCrd(); }
};

TEST_P(CustomResourceRuleTest, TheErrorsAreThoseOfTheRule) {
  const json widget = MakeWidget("a", json::parse(GetParam().value));
  ExpectErrors(Post(Widgets() + "?dryRun=All", widget), GetParam());
}

const Rule value_rules[] = {
    {"WholeNumberWithAFactorBelowOne", R"({"ratio": 1})",
     R"(spec.ratio: Invalid value: 0: factor MultipleOf declared for spec.ratio must be positive: 0)"},
    {"FractionWithAFactorBelowOne", R"({"ratio": 1.5})", ""},
    {"ReplicasAreAFraction", R"({"replicas": 1.5})",
     R"([spec.replicas: Invalid value: "number": spec.replicas in body must be of type integer: "number", .spec.replicas: Invalid value: 0: .spec.replicas accessor error: 1.5 is of the type float64, expected int64])"},
    {"ReplicasAreALargeFraction", R"({"replicas": 1234567.5})",
     R"([spec.replicas: Invalid value: "number": spec.replicas in body must be of type integer: "number", .spec.replicas: Invalid value: 0: .spec.replicas accessor error: 1.2345675e+06 is of the type float64, expected int64])"},
    {"ReplicasAreText", R"({"replicas": "a"})",
     R"([spec.replicas: Invalid value: "string": spec.replicas in body must be of type integer: "string", .spec.replicas: Invalid value: 0: .spec.replicas accessor error: a is of the type string, expected int64])"},
    {"TooManyReplicas", R"({"replicas": 2147483648})",
     R"(.spec.replicas: Invalid value: 2147483648: should be less than or equal to 2147483647)"},
    {"NegativeReplicas", R"({"replicas": -1})",
     R"(.spec.replicas: Invalid value: -1: should be a non-negative integer)"},
    {"SpecIsAList", R"(["a"])",
     R"([spec: Invalid value: "array": spec in body must be of type object: "array", .spec.replicas: Invalid value: 0: .spec.replicas accessor error: [a] is of the type []interface {}, expected map[string]interface{}])"},
    {"ValueOfASetThreeTimes", R"({"tags": ["a", "a", "a"]})",
     R"(spec.tags[1]: Duplicate value: "a")"},
    {"KeysOfAListMapThreeTimes", R"({"ports": [{"port": 1}, {"port": 1}, {"port": 1}]})",
     R"(spec.ports[1]: Duplicate value: {"port":1})"},
    {"ItemOfAListMapIsText", R"({"ports": ["a"]})",
     R"([spec.ports[0]: Invalid value: "string": spec.ports[0] in body must be of type object: "string", spec.ports[0]: Invalid value: "a": must be an object for an array of list-type map])"},
    {"NameOfAnEmbeddedResourceIsNotAPathSegment",
     R"({"template": {"apiVersion": "v1", "kind": "A", "metadata": {"name": "a/b"}}})",
     R"(spec.template.metadata.name: Invalid value: "a/b": may not contain '/')"},
};
INSTANTIATE_TEST_SUITE_P(, CustomResourceRuleTest, ::testing::ValuesIn(value_rules), &NameOf);

TEST_F(CustomResourceRuleTest, TheWarningAboutAnUnknownFieldDoesNotEscapeItsName) {
  const auto warnings_about = [&](const json& spec) {
    return Post(Widgets() + "?dryRun=All", MakeWidget("a", spec)).warnings;
  };
  EXPECT_THAT(warnings_about({{"a\\b", 1}}), ::testing::ElementsAre(R"(unknown field "spec.a\b")"));
  EXPECT_THAT(warnings_about({{"a\nb", 1}}), ::testing::IsEmpty());  // a header cannot contain it
}

}  // namespace
}  // namespace kopp::conformance
