#include "conformance.hpp"

namespace kopp::conformance {
namespace {

/// Requests on trial: all is checked and answered as in earnest, and nothing is kept.
class DryRunTest : public ConformanceTest {
 protected:
  DryRunTest() {
    made_ = Post(Path("configmaps"), {{"metadata", {{"name", "a"}}}, {"data", {{"k", "1"}}}});
  }

  std::string Object() { return Path("configmaps") + "/a"; }
  void ExpectUnchanged() { EXPECT_EQ(Get(Object()).body, made_.body); }

  Answer made_;
};

TEST_F(DryRunTest, ACreateAnswersWithAnObjectThatHasNoVersion) {
  const Answer made = Post(Path("configmaps") + "?dryRun=All", AConfigMap("b"));

  EXPECT_EQ(made.status, 201);
  EXPECT_NE(made.str("/metadata/uid"), "");
  EXPECT_NE(made.str("/metadata/creationTimestamp"), "");
  EXPECT_EQ(made.at("/metadata/resourceVersion"), nullptr);
  EXPECT_EQ(Get(Path("configmaps") + "/b").status, 404);
}

TEST_F(DryRunTest, ACreateFillsInDefaultsAndGeneration) {
  const Answer made = Post(Path("apps/v1", "deployments") + "?dryRun=All", ADeployment("a"));

  EXPECT_EQ(made.at("/spec/replicas"), 1);
  EXPECT_EQ(made.at("/metadata/generation"), 1);
}

TEST_F(DryRunTest, ACreateOfATakenNameIsAConflict) {
  const Answer made = Post(Path("configmaps") + "?dryRun=All", AConfigMap("a"));

  EXPECT_EQ(made.status, 409);
  EXPECT_EQ(made.reason(), "AlreadyExists");
}

TEST_F(DryRunTest, ACreateIsValidated) {
  EXPECT_EQ(Post(Path("configmaps") + "?dryRun=All", AConfigMap("UPPER")).status, 422);
}

TEST_F(DryRunTest, AnUpdateAnswersWithTheOldVersion) {
  const Answer put =
      Put(Object() + "?dryRun=All", {{"metadata", {{"name", "a"}}}, {"data", {{"k", "2"}}}});

  EXPECT_EQ(put.status, 200);
  EXPECT_EQ(put.str("/data/k"), "2");
  EXPECT_EQ(put.version(), made_.version());
  ExpectUnchanged();
}

TEST_F(DryRunTest, AnUpdateOfAStaleVersionIsAConflict) {
  const Answer put =
      Put(Object() + "?dryRun=All", {{"metadata", {{"name", "a"}, {"resourceVersion", "1"}}}});

  EXPECT_EQ(put.status, 409);
}

TEST_F(DryRunTest, APatchKeepsNothing) {
  const Answer patched = MergePatch(Object() + "?dryRun=All", {{"data", {{"k", "2"}}}});

  EXPECT_EQ(patched.status, 200);
  EXPECT_EQ(patched.str("/data/k"), "2");
  ExpectUnchanged();
}

TEST_F(DryRunTest, APatchAnswersWithTheNextGeneration) {
  const std::string deployment = Path("apps/v1", "deployments") + "/a";
  Post(Path("apps/v1", "deployments"), ADeployment("a"));
  const Answer patched = MergePatch(deployment + "?dryRun=All", {{"spec", {{"replicas", 2}}}});

  EXPECT_EQ(patched.at("/metadata/generation"), 2);
  EXPECT_EQ(Get(deployment).at("/metadata/generation"), 1);
}

TEST_F(DryRunTest, ApplyCreatesNothing) {
  const Answer applied =
      Apply(Path("configmaps") + "/b",
            {{"apiVersion", "v1"}, {"kind", "ConfigMap"}, {"metadata", {{"name", "b"}}}}, "boss",
            "&dryRun=All");

  EXPECT_EQ(applied.status, 201);
  EXPECT_EQ(applied.at("/metadata/resourceVersion"), nullptr);
  EXPECT_EQ(Get(Path("configmaps") + "/b").status, 404);
}

TEST_F(DryRunTest, ApplyChangesNothing) {
  const Answer applied = Apply(Object(),
                               {{"apiVersion", "v1"},
                                {"kind", "ConfigMap"},
                                {"metadata", {{"name", "a"}}},
                                {"data", {{"k", "2"}}}},
                               "boss", "&dryRun=All&force=true");

  EXPECT_EQ(applied.status, 200);
  EXPECT_EQ(applied.str("/data/k"), "2");
  ExpectUnchanged();
}

TEST_F(DryRunTest, ADeleteInTheQueryDeletesNothing) {
  const Answer deleted = Delete(Object() + "?dryRun=All");

  EXPECT_EQ(deleted.status, 200);
  EXPECT_EQ(deleted.str("/status"), "Success");
  ExpectUnchanged();
}

TEST_F(DryRunTest, ADeleteInTheBodyDeletesNothing) {
  const Answer deleted = Delete(Object(), {{"dryRun", {"All"}}});

  EXPECT_EQ(deleted.status, 200);
  EXPECT_EQ(deleted.str("/status"), "Success");
  ExpectUnchanged();
}

TEST_F(DryRunTest, ADeleteOfWhatHasAFinalizerShowsTheMark) {
  MergePatch(Object(), {{"metadata", {{"finalizers", {"example.com/x"}}}}});
  const Answer deleted = Delete(Object() + "?dryRun=All");

  EXPECT_NE(deleted.str("/metadata/deletionTimestamp"), "");
  EXPECT_EQ(Get(Object()).at("/metadata/deletionTimestamp"), nullptr);
}

TEST_F(DryRunTest, AScaleKeepsNothing) {
  Post(Path("apps/v1", "deployments"), ADeployment("a"));
  const Answer scale = MergePatch(Path("apps/v1", "deployments") + "/a/scale?dryRun=All",
                                  {{"spec", {{"replicas", 8}}}});

  EXPECT_EQ(scale.at("/spec/replicas"), 8);
  EXPECT_EQ(Get(Path("apps/v1", "deployments") + "/a").at("/spec/replicas"), 1);
}

TEST_F(DryRunTest, AStatusKeepsNothing) {
  Post(Path("apps/v1", "deployments"), ADeployment("a"));
  const Answer patched = MergePatch(Path("apps/v1", "deployments") + "/a/status?dryRun=All",
                                    {{"status", {{"replicas", 8}}}});

  EXPECT_EQ(patched.at("/status/replicas"), 8);
  EXPECT_EQ(Get(Path("apps/v1", "deployments") + "/a").at("/status"), json::object());
}

TEST_F(DryRunTest, AWatchSeesNothing) {
  const auto watch =
      StartWatch(Path("configmaps") + "?watch=true&resourceVersion=" + made_.version());
  MergePatch(Object() + "?dryRun=All", {{"data", {{"k", "2"}}}});
  Post(Path("configmaps"), AConfigMap("next"));

  EXPECT_EQ(watch->NextChange().at("object").at("metadata").at("name"), "next");
}

}  // namespace
}  // namespace kopp::conformance
