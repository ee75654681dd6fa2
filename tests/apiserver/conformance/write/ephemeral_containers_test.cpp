// The subresource "ephemeralcontainers" of Pods, which kubectl debug uses.
#include "conformance.hpp"

#include <string>

namespace kopp::conformance {
namespace {

using ::testing::ElementsAre;
using ::testing::StartsWith;

/// Fixture of tests of the ephemeral containers of the Pod "a", whose container is "c".
class EphemeralContainersTest : public ConformanceTest {
 protected:
  EphemeralContainersTest() : pods_(PodsPath()) {
    json pod = MakePod("a");
    pod["metadata"]["labels"] = {{"app", "a"}};
    pod["spec"]["containers"][0]["name"] = "c";
    Post(pods_, pod);
  }

  std::string Target() const { return pods_ + "/a/ephemeralcontainers"; }
  /// Sends a strategic merge patch with these ephemeral containers, as kubectl debug does.
  JsonResponse Add(const json& containers) {
    return Call({.method = "PATCH",
                 .target = Target(),
                 .body = json{{"spec", {{"ephemeralContainers", containers}}}}.dump(),
                 .content_type = "application/strategic-merge-patch+json"});
  }
  static json MakeDebugger() {
    return {{"name", "debugger"}, {"image", "busybox"}, {"targetContainerName", "c"}};
  }

  std::string pods_;
};

TEST_F(EphemeralContainersTest, ApplyAddsAContainer) {
  const json config{{"apiVersion", "v1"},
                    {"kind", "Pod"},
                    {"spec", {{"ephemeralContainers", json::array({MakeDebugger()})}}}};

  const JsonResponse applied = Call({.method = "PATCH",
                                     .target = Target() + "?fieldManager=a",
                                     .body = config.dump(),
                                     .content_type = "application/apply-patch+yaml"});

  EXPECT_EQ(applied.status, 200) << applied.text;
  EXPECT_EQ(applied.at("/spec/ephemeralContainers/0/name"), "debugger");
}

TEST_F(EphemeralContainersTest, PatchAddsAContainerWithDefaults) {
  const JsonResponse patched = Add(json::array({MakeDebugger()}));

  EXPECT_EQ(patched.status, 200);
  EXPECT_EQ(patched.at("/spec/ephemeralContainers"),
            json({{{"name", "debugger"},
                   {"image", "busybox"},
                   {"resources", json::object()},
                   {"terminationMessagePath", "/dev/termination-log"},
                   {"terminationMessagePolicy", "File"},
                   {"imagePullPolicy", "Always"},
                   {"targetContainerName", "c"}}}));
  EXPECT_EQ(patched.at("/metadata/generation"), 2);
  EXPECT_EQ(Get(Target()).at("/spec/ephemeralContainers/0/name"), "debugger");
}

TEST_F(EphemeralContainersTest, UpdateIgnoresOtherFields) {
  json pod = Get(pods_ + "/a").body;
  pod["metadata"]["labels"] = {{"new", "label"}};
  pod["spec"]["containers"][0]["image"] = "other";
  pod["spec"]["ephemeralContainers"] = json::array({MakeDebugger()});

  const JsonResponse put = Put(Target(), pod);

  EXPECT_EQ(put.status, 200);
  EXPECT_EQ(put.at("/metadata/labels"), json({{"app", "a"}}));
  EXPECT_NE(put.at("/spec/containers/0/image"), "other");
  EXPECT_EQ(put.at("/spec/ephemeralContainers").size(), 1U);
}

TEST_F(EphemeralContainersTest, ContainerCannotBeRemoved) {
  Add(json::array({MakeDebugger()}));

  const JsonResponse patched = MergePatch(Target(), {{"spec", {{"ephemeralContainers", nullptr}}}});

  EXPECT_EQ(patched.status, 422);
  EXPECT_THAT(Causes(patched),
              ElementsAre("FieldValueForbidden spec.ephemeralContainers: Forbidden: existing "
                          "ephemeral containers \"debugger\" may not be removed\n"));
}

TEST_F(EphemeralContainersTest, ContainerCannotBeChanged) {
  Add(json::array({MakeDebugger()}));

  const JsonResponse patched = Add({{{"name", "debugger"}, {"image", "other"}}});

  EXPECT_EQ(patched.status, 422);
  EXPECT_THAT(
      Causes(patched),
      ElementsAre(StartsWith("FieldValueForbidden spec.ephemeralContainers: Forbidden: existing "
                             "ephemeral containers \"debugger\" may not be changed\n")));
}

TEST_F(EphemeralContainersTest, NameOfAContainerIsADuplicate) {
  EXPECT_THAT(
      Causes(Add({{{"name", "c"}, {"image", "busybox"}}})),
      ElementsAre("FieldValueDuplicate spec.ephemeralContainers[0].name: Duplicate value: \"c\""));
}

TEST_F(EphemeralContainersTest, MissingTargetContainerIsNotFound) {
  json debugger = MakeDebugger();
  debugger["targetContainerName"] = "missing";

  EXPECT_THAT(Causes(Add(json::array({debugger}))),
              ElementsAre("FieldValueNotFound spec.ephemeralContainers[0].targetContainerName: "
                          "Not found: \"missing\""));
}

TEST_F(EphemeralContainersTest, ImageIsRequired) {
  EXPECT_THAT(Causes(Add({{{"name", "debugger"}}})),
              ElementsAre("FieldValueRequired spec.ephemeralContainers[0].image: Required value"));
}

TEST_F(EphemeralContainersTest, PortsAndProbesAreForbidden) {
  json debugger = MakeDebugger();
  debugger["ports"] = {{{"containerPort", 80}}};
  debugger["livenessProbe"] = {{"exec", {{"command", {"true"}}}}};

  EXPECT_THAT(
      Causes(Add(json::array({debugger}))),
      ElementsAre("FieldValueForbidden spec.ephemeralContainers[0].ports: Forbidden: cannot "
                  "be set for an Ephemeral Container",
                  "FieldValueForbidden spec.ephemeralContainers[0].livenessProbe: "
                  "Forbidden: cannot be set for an Ephemeral Container"));
}

TEST_F(EphemeralContainersTest, ContainersCannotBeAddedToThePodItself) {
  const JsonResponse patched = MergePatch(
      pods_ + "/a", {{"spec", {{"ephemeralContainers", json::array({MakeDebugger()})}}}});

  EXPECT_EQ(patched.status, 422);
  EXPECT_THAT(patched.message(), StartsWith("Pod \"a\" is invalid: spec: Forbidden: pod updates"));
}

TEST_F(EphemeralContainersTest, SubresourceCannotBeCreated) {
  EXPECT_EQ(Post(Target(), MakePod("a")).status, 405);
}

}  // namespace
}  // namespace kopp::conformance
