#include "conformance.hpp"

namespace kopp::conformance {
namespace {

using ::testing::IsEmpty;
using ::testing::UnorderedElementsAreArray;

/// A merge patch of the Pod template of a Deployment, and the expected warnings.
struct DoubtfulTemplate {
  std::string test_name{};
  json patch{};
  std::vector<std::string> warnings{};

  friend void PrintTo(const DoubtfulTemplate& doubtful, std::ostream* out) {
    *out << doubtful.patch;
  }
};

class PodWarningsTest : public ConformanceTest,
                        public ::testing::WithParamInterface<DoubtfulTemplate> {};

TEST_P(PodWarningsTest, ValidTemplateHasWarnings) {
  json deployment = MakeDeployment("a");
  deployment["spec"]["template"].merge_patch(GetParam().patch);
  const JsonResponse response = Post(Path("apps/v1", "deployments"), deployment);

  EXPECT_EQ(response.status, 201);
  EXPECT_THAT(response.warnings, UnorderedElementsAreArray(GetParam().warnings));
}

const DoubtfulTemplate doubtful_templates[] = {
    {"HiddenVariables",
     R"json({"spec": {"containers": [{"name": "c", "image": "i", "env": [
          {"name": "A", "value": "1"}, {"name": "A", "value": "$(A)"},
          {"name": "A", "value": "$(A)2"},
          {"name": "A", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}}]}]}})json"_json,
     {R"(spec.template.spec.containers[0].env[1]: hides previous definition of "A", which may be dropped when using apply)",
      R"(spec.template.spec.containers[0].env[3]: hides previous definition of "A", which may be dropped when using apply)"}},
    {"Ports",
     R"({"spec": {"initContainers": [{"name": "d", "image": "i",
          "ports": [{"containerPort": 80, "name": "a"}]}],
          "containers": [{"name": "c", "image": "i", "ports": [
            {"containerPort": 80, "name": "a"},
            {"containerPort": 80, "hostPort": 1},
            {"containerPort": 81, "hostPort": 2},
            {"containerPort": 81, "hostPort": 2, "hostIP": "10.0.0.1"}]}]}})"_json,
     {R"(spec.template.spec.containers[0].ports[0]: duplicate port definition with spec.template.spec.initContainers[0].ports[0])",
      R"(spec.template.spec.containers[0].ports[1]: overlapping port definition with spec.template.spec.initContainers[0].ports[0])",
      R"(spec.template.spec.containers[0].ports[1]: overlapping port definition with spec.template.spec.containers[0].ports[0])",
      R"(spec.template.spec.containers[0].ports[3]: dangerously ambiguous port definition with spec.template.spec.containers[0].ports[2])",
      R"(spec.template.spec.containers[0].ports[0]: duplicate port name "a" with spec.template.spec.initContainers[0].ports[0], services and probes that select ports by name will use spec.template.spec.initContainers[0].ports[0])"}},
};
INSTANTIATE_TEST_SUITE_P(, PodWarningsTest, ::testing::ValuesIn(doubtful_templates),
                         [](const auto& doubtful) { return doubtful.param.test_name; });

/// Fixture of tests of warnings that do not depend on the field.
class WarningsTest : public ConformanceTest {};

TEST_F(WarningsTest, UpdateOfMetadataHasNoWarnings) {
  json deployment = MakeDeployment("a");
  deployment["spec"]["template"]["spec"]["containers"][0]["env"] =
      R"([{"name": "A"}, {"name": "A"}])"_json;
  Post(Path("apps/v1", "deployments"), deployment);

  EXPECT_THAT(
      MergePatch(Path("apps/v1", "deployments") + "/a", {{"metadata", {{"labels", {{"a", "b"}}}}}})
          .warnings,
      IsEmpty());
}

TEST_F(WarningsTest, ManyWarningsAreCut) {
  json deployment = MakeDeployment("a");
  const std::string name(4000, 'x');
  json variables{{{"name", name}}, {{"name", name}}};
  for (int i = 0; i < 20; ++i) variables.push_back({{"name", "a"}, {"value", "x"}});
  deployment["spec"]["template"]["spec"]["containers"][0]["env"] = variables;
  const JsonResponse response = Post(Path("apps/v1", "deployments"), deployment);

  EXPECT_EQ(response.status, 201);
  EXPECT_EQ(response.warnings.size(), 20);
  EXPECT_EQ(response.warnings[0].size(), 256);
}

}  // namespace
}  // namespace kopp::conformance
