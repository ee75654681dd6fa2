#include "conformance.hpp"

namespace kopp::conformance {
namespace {

using ::testing::MatchesRegex;

/// Fixture of tests of one terminating ConfigMap with two finalizers.
class FinalizersTest : public ConformanceTest {
 protected:
  FinalizersTest() {
    created_ =
        Post(Path("configmaps"), {{"metadata", {{"name", "a"}, {"finalizers", finalizers_}}}});
    deleted_ = Delete(ObjectPath());
  }

  std::string ObjectPath() { return Path("configmaps") + "/a"; }
  JsonResponse PatchFinalizers(const json& finalizers) {
    return MergePatch(ObjectPath(), {{"metadata", {{"finalizers", finalizers}}}});
  }

  const json finalizers_ = {"example.com/x", "example.com/y"};
  JsonResponse created_;
  JsonResponse deleted_;
};

TEST_F(FinalizersTest, DeletedObjectRemainsWithADeletionTimestamp) {
  EXPECT_EQ(deleted_.status, 200);
  EXPECT_EQ(deleted_.str("/kind"), "ConfigMap");
  EXPECT_THAT(deleted_.str("/metadata/deletionTimestamp"),
              MatchesRegex("[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z"));
  EXPECT_EQ(deleted_.at("/metadata/deletionGracePeriodSeconds"), 0);
  EXPECT_EQ(deleted_.at("/metadata/finalizers"), finalizers_);
  EXPECT_EQ(deleted_.body, Get(ObjectPath()).body);
}

TEST_F(FinalizersTest, DeleteIncreasesTheResourceVersion) {
  EXPECT_GT(std::stoll(deleted_.resource_version()), std::stoll(created_.resource_version()));
}

TEST_F(FinalizersTest, SecondDeleteChangesNothing) {
  EXPECT_EQ(Delete(ObjectPath()).body, deleted_.body);
}

TEST_F(FinalizersTest, CreateWithTheNameOfATerminatingObjectIsRejectedWithAlreadyExists) {
  const JsonResponse second = Post(Path("configmaps"), MakeConfigMap("a"));

  EXPECT_EQ(second.status, 409);
  EXPECT_EQ(second.reason(), "AlreadyExists");
  EXPECT_EQ(second.message(), R"(object is being deleted: configmaps "a" already exists)");
}

TEST_F(FinalizersTest, RemovingOneOfTwoFinalizersKeepsTheObject) {
  const JsonResponse patched = PatchFinalizers({"example.com/y"});

  EXPECT_EQ(patched.status, 200);
  EXPECT_EQ(Get(ObjectPath()).at("/metadata/finalizers"), json({"example.com/y"}));
}

TEST_F(FinalizersTest, RemovingAllFinalizersByPatchDeletesTheObject) {
  const JsonResponse patched = PatchFinalizers(nullptr);

  EXPECT_EQ(patched.status, 200);
  EXPECT_EQ(patched.str("/kind"), "ConfigMap");
  EXPECT_EQ(patched.at("/metadata/finalizers"), nullptr);
  EXPECT_EQ(patched.resource_version(), deleted_.resource_version());
  EXPECT_EQ(Get(ObjectPath()).status, 404);
}

TEST_F(FinalizersTest, RemovingAllFinalizersByUpdateDeletesTheObject) {
  json object = deleted_.body;
  object["metadata"].erase("finalizers");

  EXPECT_EQ(Put(ObjectPath(), object).status, 200);
  EXPECT_EQ(Get(ObjectPath()).status, 404);
}

// The write that removes the last finalizer is not stored. The DELETED event therefore contains the
// object before that write.
TEST_F(FinalizersTest,
       WatchReceivesAModifiedEventForTheDeleteAndADeletedEventAfterTheLastFinalizerIsRemoved) {
  const auto watch =
      StartWatch(Path("configmaps") + "?watch=true&resourceVersion=" + created_.resource_version());
  PatchFinalizers(nullptr);

  const json modified = watch->NextNonBookmark();
  EXPECT_EQ(modified["type"], "MODIFIED");
  EXPECT_EQ(modified["object"], deleted_.body);
  const json deleted = watch->NextNonBookmark();
  EXPECT_EQ(deleted["type"], "DELETED");
  EXPECT_EQ(deleted["object"]["metadata"]["finalizers"], finalizers_);
}

TEST_F(FinalizersTest, AddingAFinalizerDuringDeletionIsRejected) {
  const JsonResponse patched = PatchFinalizers({"example.com/x", "example.com/y", "example.com/z"});

  EXPECT_EQ(patched.status, 422);
  EXPECT_EQ(patched.message(),
            "ConfigMap \"a\" is invalid: metadata.finalizers: Forbidden: no new finalizers can be "
            "added if the object is being deleted, found new finalizers "
            "[]string{\"example.com/z\"}");
}

TEST_F(FinalizersTest, ReplacingTheFinalizersDuringDeletionIsRejected) {
  EXPECT_EQ(PatchFinalizers({"example.com/z"}).status, 422);
  EXPECT_EQ(Get(ObjectPath()).body, deleted_.body);
}

TEST_F(FinalizersTest, ReorderingTheFinalizersDuringDeletionIsAllowed) {
  EXPECT_EQ(PatchFinalizers({"example.com/y", "example.com/x"}).status, 200);
}

TEST_F(FinalizersTest, UpdatingLabelsAndDataDuringDeletionIsAllowed) {
  const JsonResponse patched =
      MergePatch(ObjectPath(), {{"metadata", {{"labels", {{"a", "b"}}}}}, {"data", {{"k", "v"}}}});

  EXPECT_EQ(patched.status, 200);
  EXPECT_EQ(patched.str("/data/k"), "v");
  EXPECT_EQ(patched.at("/metadata/deletionTimestamp"), deleted_.at("/metadata/deletionTimestamp"));
}

TEST_F(FinalizersTest, PatchThatRemovesTheDeletionTimestampIsIgnored) {
  const JsonResponse patched =
      MergePatch(ObjectPath(), {{"metadata", {{"deletionTimestamp", nullptr}}}});

  EXPECT_EQ(patched.status, 200);
  EXPECT_EQ(patched.body, deleted_.body);
}

TEST_F(FinalizersTest,
       DeleteOfATerminatingObjectAddsOrRemovesTheOrphanFinalizerByPropagationPolicy) {
  const JsonResponse orphaned = Delete(ObjectPath() + "?propagationPolicy=Orphan");
  EXPECT_EQ(orphaned.at("/metadata/finalizers"),
            json({"example.com/x", "example.com/y", "orphan"}));

  const JsonResponse deleted = Delete(ObjectPath() + "?propagationPolicy=Background");

  EXPECT_EQ(deleted.at("/metadata/finalizers"), finalizers_);
}

TEST_F(FinalizersTest, RemovingAllFinalizersKeepsAnObjectThatIsNotDeleted) {
  Post(Path("configmaps"), {{"metadata", {{"name", "b"}, {"finalizers", finalizers_}}}});
  MergePatch(Path("configmaps") + "/b", {{"metadata", {{"finalizers", nullptr}}}});

  EXPECT_EQ(Get(Path("configmaps") + "/b").status, 200);
}

TEST_F(FinalizersTest, DeleteIncreasesTheGenerationOfADeploymentWithAFinalizer) {
  const std::string path = Path("apps/v1", "deployments");
  json deployment = MakeDeployment("a");
  deployment["metadata"]["finalizers"] = finalizers_;
  Post(path, deployment);

  EXPECT_EQ(Delete(path + "/a").at("/metadata/generation"), 2);
}

TEST_F(FinalizersTest, UpdatingTheSpecDuringDeletionIsAllowed) {
  const std::string path = Path("apps/v1", "deployments");
  json deployment = MakeDeployment("a");
  deployment["metadata"]["finalizers"] = finalizers_;
  Post(path, deployment);
  Delete(path + "/a");
  const JsonResponse patched = MergePatch(path + "/a", {{"spec", {{"replicas", 4}}}});

  EXPECT_EQ(patched.at("/spec/replicas"), 4);
  EXPECT_EQ(patched.at("/metadata/generation"), 3);
}

TEST_F(FinalizersTest, DeleteOfAnEventWithAFinalizerReturnsTheObjectInTheRequestedApiGroup) {
  const std::string events = Path("events.k8s.io/v1", "events");
  Post(events, {{"metadata", {{"name", "e"}, {"finalizers", {"example.com/a"}}}},
                {"eventTime", "2026-01-02T03:04:05.000000Z"},
                {"reportingController", "example.com/c"},
                {"reportingInstance", "c-1"},
                {"action", "Act"},
                {"reason", "Because"},
                {"type", "Normal"},
                {"regarding", {{"kind", "Pod"}, {"name", "p"}, {"namespace", ns()}}},
                {"note", "said"}});

  const JsonResponse deleted = Delete(events + "/e");

  EXPECT_EQ(deleted.at("/note"), "said");
  EXPECT_EQ(deleted.at("/regarding/name"), "p");
}

}  // namespace
}  // namespace kopp::conformance
