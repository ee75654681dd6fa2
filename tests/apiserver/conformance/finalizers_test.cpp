#include "conformance.hpp"

namespace kopp::conformance {
namespace {

using ::testing::MatchesRegex;

/// A ConfigMap with two finalizers that was deleted, and so is on its way.
class FinalizersTest : public ConformanceTest {
 protected:
  FinalizersTest() {
    made_ = Post(Path("configmaps"), {{"metadata", {{"name", "a"}, {"finalizers", finalizers_}}}});
    deleted_ = Delete(Object());
  }

  std::string Object() { return Path("configmaps") + "/a"; }
  Answer Finalize(const json& left) {
    return MergePatch(Object(), {{"metadata", {{"finalizers", left}}}});
  }

  const json finalizers_ = {"example.com/x", "example.com/y"};
  Answer made_;
  Answer deleted_;
};

TEST_F(FinalizersTest, TheObjectStaysMarked) {
  EXPECT_EQ(deleted_.status, 200);
  EXPECT_EQ(deleted_.str("/kind"), "ConfigMap");
  EXPECT_THAT(deleted_.str("/metadata/deletionTimestamp"),
              MatchesRegex("[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z"));
  EXPECT_EQ(deleted_.at("/metadata/deletionGracePeriodSeconds"), 0);
  EXPECT_EQ(deleted_.at("/metadata/finalizers"), finalizers_);
  EXPECT_EQ(deleted_.body, Get(Object()).body);
}

TEST_F(FinalizersTest, TheMarkIsAChangeWithAVersion) {
  EXPECT_GT(std::stoll(deleted_.version()), std::stoll(made_.version()));
}

TEST_F(FinalizersTest, ASecondDeleteChangesNothing) {
  EXPECT_EQ(Delete(Object()).body, deleted_.body);
}

TEST_F(FinalizersTest, ItsNameIsStillTaken) {
  const Answer again = Post(Path("configmaps"), AConfigMap("a"));

  EXPECT_EQ(again.status, 409);
  EXPECT_EQ(again.reason(), "AlreadyExists");
  EXPECT_EQ(again.message(), R"(object is being deleted: configmaps "a" already exists)");
}

TEST_F(FinalizersTest, OneLessAndTheObjectStays) {
  const Answer patched = Finalize({"example.com/y"});

  EXPECT_EQ(patched.status, 200);
  EXPECT_EQ(Get(Object()).at("/metadata/finalizers"), json({"example.com/y"}));
}

TEST_F(FinalizersTest, WithoutTheLastTheObjectIsGone) {
  const Answer patched = Finalize(nullptr);

  EXPECT_EQ(patched.status, 200);
  EXPECT_EQ(patched.str("/kind"), "ConfigMap");
  EXPECT_EQ(patched.at("/metadata/finalizers"), nullptr);
  EXPECT_EQ(patched.version(), deleted_.version());
  EXPECT_EQ(Get(Object()).status, 404);
}

TEST_F(FinalizersTest, AnUpdateMayTakeTheLastToo) {
  json object = deleted_.body;
  object["metadata"].erase("finalizers");

  EXPECT_EQ(Put(Object(), object).status, 200);
  EXPECT_EQ(Get(Object()).status, 404);
}

// The object as it was kept last: the change that took the finalizers was never kept.
TEST_F(FinalizersTest, AWatchSeesTheMarkAndThenTheEnd) {
  const auto watch =
      StartWatch(Path("configmaps") + "?watch=true&resourceVersion=" + made_.version());
  Finalize(nullptr);

  const json marked = watch->NextChange();
  EXPECT_EQ(marked["type"], "MODIFIED");
  EXPECT_EQ(marked["object"], deleted_.body);
  const json gone = watch->NextChange();
  EXPECT_EQ(gone["type"], "DELETED");
  EXPECT_EQ(gone["object"]["metadata"]["finalizers"], finalizers_);
}

TEST_F(FinalizersTest, NoneMayBeAdded) {
  const Answer patched = Finalize({"example.com/x", "example.com/y", "example.com/z"});

  EXPECT_EQ(patched.status, 422);
  EXPECT_EQ(patched.message(),
            "ConfigMap \"a\" is invalid: metadata.finalizers: Forbidden: no new finalizers can be "
            "added if the object is being deleted, found new finalizers "
            "[]string{\"example.com/z\"}");
}

TEST_F(FinalizersTest, NoneMayTakeTheLastOnesPlace) {
  EXPECT_EQ(Finalize({"example.com/z"}).status, 422);
  EXPECT_EQ(Get(Object()).body, deleted_.body);
}

TEST_F(FinalizersTest, TheirOrderMayChange) {
  EXPECT_EQ(Finalize({"example.com/y", "example.com/x"}).status, 200);
}

TEST_F(FinalizersTest, LabelsAndDataMayStillChange) {
  const Answer patched =
      MergePatch(Object(), {{"metadata", {{"labels", {{"a", "b"}}}}}, {"data", {{"k", "v"}}}});

  EXPECT_EQ(patched.status, 200);
  EXPECT_EQ(patched.str("/data/k"), "v");
  EXPECT_EQ(patched.at("/metadata/deletionTimestamp"), deleted_.at("/metadata/deletionTimestamp"));
}

TEST_F(FinalizersTest, TheMarkCannotBeTakenBack) {
  const Answer patched = MergePatch(Object(), {{"metadata", {{"deletionTimestamp", nullptr}}}});

  EXPECT_EQ(patched.status, 200);
  EXPECT_EQ(patched.body, deleted_.body);
}

TEST_F(FinalizersTest, AnotherPolicyChangesTheGarbageCollectorsFinalizer) {
  const Answer orphaned = Delete(Object() + "?propagationPolicy=Orphan");
  EXPECT_EQ(orphaned.at("/metadata/finalizers"),
            json({"example.com/x", "example.com/y", "orphan"}));

  const Answer deleted = Delete(Object() + "?propagationPolicy=Background");

  EXPECT_EQ(deleted.at("/metadata/finalizers"), finalizers_);
}

TEST_F(FinalizersTest, AnObjectThatIsNotDeletedMayLoseAllAndStays) {
  Post(Path("configmaps"), {{"metadata", {{"name", "b"}, {"finalizers", finalizers_}}}});
  MergePatch(Path("configmaps") + "/b", {{"metadata", {{"finalizers", nullptr}}}});

  EXPECT_EQ(Get(Path("configmaps") + "/b").status, 200);
}

TEST_F(FinalizersTest, TheMarkRaisesTheGenerationOfAKindThatHasOne) {
  const std::string path = Path("apps/v1", "deployments");
  json deployment = ADeployment("a");
  deployment["metadata"]["finalizers"] = finalizers_;
  Post(path, deployment);

  EXPECT_EQ(Delete(path + "/a").at("/metadata/generation"), 2);
}

TEST_F(FinalizersTest, TheSpecMayStillChange) {
  const std::string path = Path("apps/v1", "deployments");
  json deployment = ADeployment("a");
  deployment["metadata"]["finalizers"] = finalizers_;
  Post(path, deployment);
  Delete(path + "/a");
  const Answer patched = MergePatch(path + "/a", {{"spec", {{"replicas", 4}}}});

  EXPECT_EQ(patched.at("/spec/replicas"), 4);
  EXPECT_EQ(patched.at("/metadata/generation"), 3);
}

TEST_F(FinalizersTest, AnEventThatStaysIsAnsweredInTheWordsOfItsGroup) {
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

  const Answer deleted = Delete(events + "/e");

  EXPECT_EQ(deleted.at("/note"), "said");
  EXPECT_EQ(deleted.at("/regarding/name"), "p");
}

}  // namespace
}  // namespace kopp::conformance
