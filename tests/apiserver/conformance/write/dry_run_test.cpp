#include "conformance.hpp"

namespace kopp::conformance {
namespace {

/// Fixture of tests that send requests with dryRun=All. The server validates them and responds as
/// usual, but stores nothing.
class DryRunTest : public ConformanceTest {
 protected:
  DryRunTest() {
    created_ = Post(Path("configmaps"), {{"metadata", {{"name", "a"}}}, {"data", {{"k", "1"}}}});
  }

  std::string ObjectPath() { return Path("configmaps") + "/a"; }
  void ExpectUnchanged() { EXPECT_EQ(Get(ObjectPath()).body, created_.body); }

  JsonResponse created_;
};

TEST_F(DryRunTest, CreateReturnsAnObjectWithoutAResourceVersion) {
  const JsonResponse created = Post(Path("configmaps") + "?dryRun=All", MakeConfigMap("b"));

  EXPECT_EQ(created.status, 201);
  EXPECT_NE(created.str("/metadata/uid"), "");
  EXPECT_NE(created.str("/metadata/creationTimestamp"), "");
  EXPECT_EQ(created.at("/metadata/resourceVersion"), nullptr);
  EXPECT_EQ(Get(Path("configmaps") + "/b").status, 404);
}

TEST_F(DryRunTest, CreateReturnsTheResourceVersionOfTheRequest) {
  const JsonResponse created = Post(Path("configmaps") + "?dryRun=All",
                                    {{"metadata", {{"name", "b"}, {"resourceVersion", "5"}}}});

  EXPECT_EQ(created.status, 201);
  EXPECT_EQ(created.resource_version(), "5");
}

TEST_F(DryRunTest, CreateReturnsDefaultsAndGeneration) {
  const JsonResponse created =
      Post(Path("apps/v1", "deployments") + "?dryRun=All", MakeDeployment("a"));

  EXPECT_EQ(created.at("/spec/replicas"), 1);
  EXPECT_EQ(created.at("/metadata/generation"), 1);
}

TEST_F(DryRunTest, CreateWithAnExistingNameIsRejectedWithAlreadyExists) {
  const JsonResponse response = Post(Path("configmaps") + "?dryRun=All", MakeConfigMap("a"));

  EXPECT_EQ(response.status, 409);
  EXPECT_EQ(response.reason(), "AlreadyExists");
}

TEST_F(DryRunTest, InvalidCreateIsRejected) {
  EXPECT_EQ(Post(Path("configmaps") + "?dryRun=All", MakeConfigMap("UPPER")).status, 422);
}

TEST_F(DryRunTest, UpdateReturnsTheOldResourceVersion) {
  const JsonResponse put =
      Put(ObjectPath() + "?dryRun=All", {{"metadata", {{"name", "a"}}}, {"data", {{"k", "2"}}}});

  EXPECT_EQ(put.status, 200);
  EXPECT_EQ(put.str("/data/k"), "2");
  EXPECT_EQ(put.resource_version(), created_.resource_version());
  ExpectUnchanged();
}

TEST_F(DryRunTest, UpdateWithAStaleResourceVersionIsAConflict) {
  const JsonResponse put =
      Put(ObjectPath() + "?dryRun=All", {{"metadata", {{"name", "a"}, {"resourceVersion", "1"}}}});

  EXPECT_EQ(put.status, 409);
}

TEST_F(DryRunTest, PatchReturnsTheChangeAndStoresNothing) {
  const JsonResponse patched = MergePatch(ObjectPath() + "?dryRun=All", {{"data", {{"k", "2"}}}});

  EXPECT_EQ(patched.status, 200);
  EXPECT_EQ(patched.str("/data/k"), "2");
  ExpectUnchanged();
}

TEST_F(DryRunTest, PatchReturnsTheNextGeneration) {
  const std::string deployment = Path("apps/v1", "deployments") + "/a";
  Post(Path("apps/v1", "deployments"), MakeDeployment("a"));
  const JsonResponse patched =
      MergePatch(deployment + "?dryRun=All", {{"spec", {{"replicas", 2}}}});

  EXPECT_EQ(patched.at("/metadata/generation"), 2);
  EXPECT_EQ(Get(deployment).at("/metadata/generation"), 1);
}

TEST_F(DryRunTest, ApplyOfAMissingObjectStoresNothing) {
  const JsonResponse applied =
      Apply(Path("configmaps") + "/b",
            {{"apiVersion", "v1"}, {"kind", "ConfigMap"}, {"metadata", {{"name", "b"}}}},
            "manager-1", "&dryRun=All");

  EXPECT_EQ(applied.status, 201);
  EXPECT_EQ(applied.at("/metadata/resourceVersion"), nullptr);
  EXPECT_EQ(Get(Path("configmaps") + "/b").status, 404);
}

TEST_F(DryRunTest, ApplyOfAnExistingObjectStoresNothing) {
  const JsonResponse applied = Apply(ObjectPath(),
                                     {{"apiVersion", "v1"},
                                      {"kind", "ConfigMap"},
                                      {"metadata", {{"name", "a"}}},
                                      {"data", {{"k", "2"}}}},
                                     "manager-1", "&dryRun=All&force=true");

  EXPECT_EQ(applied.status, 200);
  EXPECT_EQ(applied.str("/data/k"), "2");
  ExpectUnchanged();
}

TEST_F(DryRunTest, DeleteWithDryRunInTheQueryDeletesNothing) {
  const JsonResponse deleted = Delete(ObjectPath() + "?dryRun=All");

  EXPECT_EQ(deleted.status, 200);
  EXPECT_EQ(deleted.str("/status"), "Success");
  ExpectUnchanged();
}

TEST_F(DryRunTest, DeleteWithDryRunInTheBodyDeletesNothing) {
  const JsonResponse deleted = Delete(ObjectPath(), {{"dryRun", {"All"}}});

  EXPECT_EQ(deleted.status, 200);
  EXPECT_EQ(deleted.str("/status"), "Success");
  ExpectUnchanged();
}

TEST_F(DryRunTest, DeleteOfAnObjectWithAFinalizerReturnsADeletionTimestampAndStoresNone) {
  MergePatch(ObjectPath(), {{"metadata", {{"finalizers", {"example.com/x"}}}}});
  const JsonResponse deleted = Delete(ObjectPath() + "?dryRun=All");

  EXPECT_NE(deleted.str("/metadata/deletionTimestamp"), "");
  EXPECT_EQ(Get(ObjectPath()).at("/metadata/deletionTimestamp"), nullptr);
}

TEST_F(DryRunTest, ScalePatchStoresNothing) {
  Post(Path("apps/v1", "deployments"), MakeDeployment("a"));
  const JsonResponse scale = MergePatch(Path("apps/v1", "deployments") + "/a/scale?dryRun=All",
                                        {{"spec", {{"replicas", 8}}}});

  EXPECT_EQ(scale.at("/spec/replicas"), 8);
  EXPECT_EQ(Get(Path("apps/v1", "deployments") + "/a").at("/spec/replicas"), 1);
}

TEST_F(DryRunTest, StatusPatchStoresNothing) {
  Post(Path("apps/v1", "deployments"), MakeDeployment("a"));
  const JsonResponse patched = MergePatch(Path("apps/v1", "deployments") + "/a/status?dryRun=All",
                                          {{"status", {{"replicas", 8}}}});

  EXPECT_EQ(patched.at("/status/replicas"), 8);
  EXPECT_EQ(Get(Path("apps/v1", "deployments") + "/a").at("/status"), json::object());
}

TEST_F(DryRunTest, WatchReceivesNoEventForADryRunPatch) {
  const auto watch =
      StartWatch(Path("configmaps") + "?watch=true&resourceVersion=" + created_.resource_version());
  MergePatch(ObjectPath() + "?dryRun=All", {{"data", {{"k", "2"}}}});
  Post(Path("configmaps"), MakeConfigMap("next"));

  EXPECT_EQ(watch->NextNonBookmark().at("object").at("metadata").at("name"), "next");
}

}  // namespace
}  // namespace kopp::conformance
