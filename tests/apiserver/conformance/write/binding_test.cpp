// The subresource "binding" of Pods, and the resource "bindings".
#include "conformance.hpp"

#include <string>

namespace kopp::conformance {
namespace {

using ::testing::HasSubstr;

/// Fixture of tests of bindings of the Pod "a".
class BindingTest : public ConformanceTest {
 protected:
  BindingTest() : pods_(PodsPath()) { Post(pods_, MakePod("a")); }

  static json MakeBinding(const std::string& pod, const std::string& node) {
    return {{"apiVersion", "v1"},
            {"kind", "Binding"},
            {"metadata", {{"name", pod}}},
            {"target", {{"kind", "Node"}, {"name", node}}}};
  }
  JsonResponse Bind(const json& binding) { return Post(pods_ + "/a/binding", binding); }

  std::string pods_;
};

TEST_F(BindingTest, BindingAssignsTheNodeAndSetsTheConditionPodScheduled) {
  json binding = MakeBinding("a", "node-1");
  binding["metadata"]["annotations"] = {{"reason", "test"}};

  const JsonResponse bound = Bind(binding);

  EXPECT_EQ(bound.status, 201);
  EXPECT_EQ(bound.str("/status"), "Success");
  const JsonResponse pod = Get(pods_ + "/a");
  EXPECT_EQ(pod.at("/spec/nodeName"), "node-1");
  EXPECT_EQ(pod.at("/metadata/annotations/reason"), "test");
  EXPECT_EQ(pod.at("/metadata/generation"), 1);
  EXPECT_EQ(pod.at("/status/conditions/0/type"), "PodScheduled");
  EXPECT_EQ(pod.at("/status/conditions/0/status"), "True");
}

TEST_F(BindingTest, BindingCanBeCreatedInTheCollection) {
  EXPECT_EQ(Post(Path("bindings"), MakeBinding("a", "node-1")).status, 201);

  EXPECT_EQ(Get(pods_ + "/a").at("/spec/nodeName"), "node-1");
}

TEST_F(BindingTest, BindingInTheCollectionNeedsAName) {
  const JsonResponse bound = Post(Path("bindings"), MakeBinding("", "node-1"));

  EXPECT_EQ(bound.status, 400);
  EXPECT_EQ(bound.message(), "Name parameter required.");
}

TEST_F(BindingTest, SecondBindingIsAConflict) {
  Bind(MakeBinding("a", "node-1"));

  const JsonResponse bound = Bind(MakeBinding("a", "node-2"));

  EXPECT_EQ(bound.status, 409);
  EXPECT_EQ(bound.message(),
            "Operation cannot be fulfilled on pods/binding \"a\": pod a is already assigned to "
            "node \"node-1\"");
  EXPECT_EQ(Get(pods_ + "/a").at("/spec/nodeName"), "node-1");
}

TEST_F(BindingTest, TerminatingPodCannotBeBound) {
  json pod = MakePod("b");
  pod["metadata"]["finalizers"] = {"example.com/keep"};
  Post(pods_, pod);
  Delete(pods_ + "/b");

  const JsonResponse bound = Post(pods_ + "/b/binding", MakeBinding("b", "node-1"));

  EXPECT_EQ(bound.status, 409);
  EXPECT_THAT(bound.message(), HasSubstr("pod b is being deleted, cannot be assigned to a host"));
  JsonPatch(pods_ + "/b", {{{"op", "remove"}, {"path", "/metadata/finalizers"}}});
}

TEST_F(BindingTest, PodWithSchedulingGatesCannotBeBound) {
  json pod = MakePod("b");
  pod["spec"]["schedulingGates"] = {{{"name", "example.com/gate"}}};
  Post(pods_, pod);

  const JsonResponse bound = Post(pods_ + "/b/binding", MakeBinding("b", "node-1"));

  EXPECT_EQ(bound.status, 409);
  EXPECT_THAT(bound.message(), HasSubstr("pod b has non-empty .spec.schedulingGates"));
}

TEST_F(BindingTest, MissingPodIsNotFound) {
  EXPECT_EQ(Post(pods_ + "/b/binding", MakeBinding("b", "node-1")).status, 404);
}

TEST_F(BindingTest, OtherNameInTheBodyIsABadRequest) {
  const JsonResponse bound = Bind(MakeBinding("b", "node-1"));

  EXPECT_EQ(bound.status, 400);
  EXPECT_EQ(bound.message(), "name in URL does not match name in Binding object");
}

TEST_F(BindingTest, TargetMustBeANodeWithAName) {
  json binding = MakeBinding("a", "node-1");
  binding["target"]["kind"] = "Rack";
  const JsonResponse rack = Bind(binding);

  EXPECT_EQ(rack.status, 500);
  EXPECT_EQ(rack.message(),
            "target.kind: Unsupported value: \"Rack\": supported values: \"Node\", \"<empty>\"");
  EXPECT_EQ(Bind(MakeBinding("a", "")).message(), "target.name: Required value");
}

TEST_F(BindingTest, OtherUidIsAConflict) {
  json binding = MakeBinding("a", "node-1");
  binding["metadata"]["uid"] = "other";

  const JsonResponse bound = Bind(binding);

  EXPECT_EQ(bound.status, 409);
  EXPECT_THAT(bound.message(), HasSubstr("Precondition failed: UID in precondition: other"));
}

TEST_F(BindingTest, DryRunDoesNotBind) {
  EXPECT_EQ(Post(pods_ + "/a/binding?dryRun=All", MakeBinding("a", "node-1")).status, 201);

  EXPECT_EQ(Get(pods_ + "/a").at("/spec/nodeName"), json());
}

}  // namespace
}  // namespace kopp::conformance
