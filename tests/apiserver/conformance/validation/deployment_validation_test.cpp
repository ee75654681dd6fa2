#include "conformance.hpp"
#include "validation_messages.hpp"

namespace kopp::conformance {
namespace {

using ::testing::ElementsAreArray;

/// A merge patch of a valid Deployment spec that makes it invalid, and the expected causes.
struct InvalidDeployment {
  std::string test_name{};
  json spec_patch{};
  std::vector<std::string> causes{};

  friend void PrintTo(const InvalidDeployment& invalid, std::ostream* out) {
    *out << invalid.spec_patch;
  }
};

class DeploymentValidationTest : public ConformanceTest,
                                 public ::testing::WithParamInterface<InvalidDeployment> {};

TEST_P(DeploymentValidationTest, InvalidSpecIsRejectedWithItsCauses) {
  json deployment = MakeDeployment("a");
  deployment["spec"].merge_patch(GetParam().spec_patch);
  const JsonResponse response = Post(Path("apps/v1", "deployments"), deployment);

  EXPECT_EQ(response.status, 422);
  EXPECT_EQ(response.reason(), "Invalid");
  EXPECT_EQ(response.at("/details/name"), "a");
  EXPECT_EQ(response.at("/details/group"), "apps");
  EXPECT_EQ(response.at("/details/kind"), "Deployment");
  EXPECT_THAT(Causes(response), ElementsAreArray(GetParam().causes));
}

/// Returns the cause of template labels that the selector does not match.
std::string SelectorMismatch(const std::string& labels) {
  return "FieldValueInvalid spec.template.metadata.labels: Invalid value: " + labels +
         ": `selector` does not match template `labels`";
}

const InvalidDeployment invalid_deployments[] = {
    {"SelectorDoesNotMatchTheTemplate",
     R"({"template": {"metadata": {"labels": {"app": "other"}}}})"_json,
     {SelectorMismatch(R"({"app":"other"})")}},
    {"TemplateWithoutLabels",
     R"({"template": {"metadata": null}})"_json,
     {SelectorMismatch("null")}},
    {"MissingSelector",
     {{"selector", nullptr}},
     {"FieldValueRequired spec.selector: Required value", SelectorMismatch(R"({"app":"a"})")}},
    {"EmptySelector",
     R"({"selector": {"matchLabels": null}})"_json,
     {"FieldValueInvalid spec.selector: Invalid value: {}: empty selector is invalid for "
      "deployment"}},
    {"UnknownSelectorOperator",
     R"({"selector": {"matchLabels": null,
                      "matchExpressions": [{"key": "a", "operator": "Nope"}]}})"_json,
     {"FieldValueInvalid spec.selector.matchExpressions[0].operator: Invalid value: \"Nope\": not "
      "a valid selector operator",
      R"(FieldValueInvalid spec.selector: Invalid value: )"
      R"({"matchExpressions":[{"key":"a","operator":"Nope"}]}: invalid label selector)"}},
    {"SelectorOperatorInWithoutValues",
     R"({"selector": {"matchLabels": null,
                      "matchExpressions": [{"key": "a", "operator": "In"}]}})"_json,
     {"FieldValueRequired spec.selector.matchExpressions[0].values: Required value: must be "
      "specified when `operator` is 'In' or 'NotIn'",
      R"(FieldValueInvalid spec.selector: Invalid value: )"
      R"({"matchExpressions":[{"key":"a","operator":"In"}]}: invalid label selector)"}},
    {"NegativeReplicas", {{"replicas", -1}}, {NegativeValueCause("spec.replicas")}},
    {"NegativeMinReadySeconds",
     {{"minReadySeconds", -1}},
     {NegativeValueCause("spec.minReadySeconds")}},
    {"NegativeRevisionHistoryLimit",
     {{"revisionHistoryLimit", -1}},
     {NegativeValueCause("spec.revisionHistoryLimit")}},
    {"ZeroProgressDeadline",
     {{"progressDeadlineSeconds", 0}},
     {"FieldValueInvalid spec.progressDeadlineSeconds: Invalid value: 0: must be greater than "
      "minReadySeconds"}},
    {"UnknownStrategy",
     {{"strategy", {{"type", "Odd"}}}},
     {R"(FieldValueNotSupported spec.strategy: Unsupported value: )"
      R"({"Type":"Odd","RollingUpdate":null}: supported values: "Recreate", "RollingUpdate")"}},
    {"RollingUpdateWithRecreateStrategy",
     R"({"strategy": {"type": "Recreate", "rollingUpdate": {}}})"_json,
     {"FieldValueForbidden spec.strategy.rollingUpdate: Forbidden: may not be specified when "
      "strategy `type` is 'Recreate'"}},
    {"RollingUpdateWithZeroSurgeAndZeroUnavailable",
     R"({"strategy": {"rollingUpdate": {"maxSurge": 0, "maxUnavailable": 0}}})"_json,
     {"FieldValueInvalid spec.strategy.rollingUpdate.maxUnavailable: Invalid value: 0: may not be "
      "0 when `maxSurge` is 0"}},
    {"SeveralErrors",
     R"({"replicas": -1, "template": {"metadata": {"labels": {"app": "other"}},
                                      "spec": {"containers": []}}})"_json,
     {NegativeValueCause("spec.replicas"), SelectorMismatch(R"({"app":"other"})"),
      "FieldValueRequired spec.template.spec.containers: Required value"}},
};
INSTANTIATE_TEST_SUITE_P(, DeploymentValidationTest, ::testing::ValuesIn(invalid_deployments),
                         [](const auto& invalid) { return invalid.param.test_name; });

}  // namespace
}  // namespace kopp::conformance
