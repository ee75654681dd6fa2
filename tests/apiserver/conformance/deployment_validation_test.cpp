#include "conformance.hpp"
#include "explanations.hpp"

namespace kopp::conformance {
namespace {

using ::testing::ElementsAreArray;

/// A spec that is merged into a good one, and what the server says of the whole.
struct BadSpec {
  std::string test{};
  json spec{};
  std::vector<std::string> causes{};

  friend void PrintTo(const BadSpec& bad, std::ostream* out) { *out << bad.spec; }
};

class DeploymentTest : public ConformanceTest, public ::testing::WithParamInterface<BadSpec> {};

TEST_P(DeploymentTest, IsInvalid) {
  json deployment = ADeployment("a");
  deployment["spec"].merge_patch(GetParam().spec);
  const Answer made = Post(Path("apps/v1", "deployments"), deployment);

  EXPECT_EQ(made.status, 422);
  EXPECT_EQ(made.reason(), "Invalid");
  EXPECT_EQ(made.at("/details/name"), "a");
  EXPECT_EQ(made.at("/details/group"), "apps");
  EXPECT_EQ(made.at("/details/kind"), "Deployment");
  EXPECT_THAT(Causes(made), ElementsAreArray(GetParam().causes));
}

std::string NoMatch(const std::string& labels) {
  return "FieldValueInvalid spec.template.metadata.labels: Invalid value: " + labels +
         ": `selector` does not match template `labels`";
}

const BadSpec bad_deployments[] = {
    {"SelectorThatDoesNotMatch",
     R"({"template": {"metadata": {"labels": {"app": "other"}}}})"_json,
     {NoMatch(R"({"app":"other"})")}},
    {"TemplateWithoutLabels", R"({"template": {"metadata": null}})"_json, {NoMatch("null")}},
    {"NoSelector",
     {{"selector", nullptr}},
     {"FieldValueRequired spec.selector: Required value", NoMatch(R"({"app":"a"})")}},
    {"EmptySelector",
     R"({"selector": {"matchLabels": null}})"_json,
     {"FieldValueInvalid spec.selector: Invalid value: {}: empty selector is invalid for "
      "deployment"}},
    {"SelectorWithAnUnknownOperator",
     R"({"selector": {"matchLabels": null,
                      "matchExpressions": [{"key": "a", "operator": "Nope"}]}})"_json,
     {"FieldValueInvalid spec.selector.matchExpressions[0].operator: Invalid value: \"Nope\": not "
      "a valid selector operator",
      R"(FieldValueInvalid spec.selector: Invalid value: )"
      R"({"matchExpressions":[{"key":"a","operator":"Nope"}]}: invalid label selector)"}},
    {"SelectorInNoValues",
     R"({"selector": {"matchLabels": null,
                      "matchExpressions": [{"key": "a", "operator": "In"}]}})"_json,
     {"FieldValueRequired spec.selector.matchExpressions[0].values: Required value: must be "
      "specified when `operator` is 'In' or 'NotIn'",
      R"(FieldValueInvalid spec.selector: Invalid value: )"
      R"({"matchExpressions":[{"key":"a","operator":"In"}]}: invalid label selector)"}},
    {"NegativeReplicas", {{"replicas", -1}}, {Negative("spec.replicas")}},
    {"NegativeMinReadySeconds", {{"minReadySeconds", -1}}, {Negative("spec.minReadySeconds")}},
    {"NegativeHistory", {{"revisionHistoryLimit", -1}}, {Negative("spec.revisionHistoryLimit")}},
    {"NoTimeToProgress",
     {{"progressDeadlineSeconds", 0}},
     {"FieldValueInvalid spec.progressDeadlineSeconds: Invalid value: 0: must be greater than "
      "minReadySeconds"}},
    {"UnknownStrategy",
     {{"strategy", {{"type", "Odd"}}}},
     {R"(FieldValueNotSupported spec.strategy: Unsupported value: )"
      R"({"Type":"Odd","RollingUpdate":null}: supported values: "Recreate", "RollingUpdate")"}},
    {"RollingUpdateWhereItRecreates",
     R"({"strategy": {"type": "Recreate", "rollingUpdate": {}}})"_json,
     {"FieldValueForbidden spec.strategy.rollingUpdate: Forbidden: may not be specified when "
      "strategy `type` is 'Recreate'"}},
    {"RollingUpdateThatCannotMove",
     R"({"strategy": {"rollingUpdate": {"maxSurge": 0, "maxUnavailable": 0}}})"_json,
     {"FieldValueInvalid spec.strategy.rollingUpdate.maxUnavailable: Invalid value: 0: may not be "
      "0 when `maxSurge` is 0"}},
    {"SeveralThingsAtOnce",
     R"({"replicas": -1, "template": {"metadata": {"labels": {"app": "other"}},
                                      "spec": {"containers": []}}})"_json,
     {Negative("spec.replicas"), NoMatch(R"({"app":"other"})"),
      "FieldValueRequired spec.template.spec.containers: Required value"}},
};
INSTANTIATE_TEST_SUITE_P(, DeploymentTest, ::testing::ValuesIn(bad_deployments),
                         [](const auto& bad) { return bad.param.test; });

}  // namespace
}  // namespace kopp::conformance
