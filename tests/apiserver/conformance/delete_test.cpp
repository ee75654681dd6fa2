#include "conformance.hpp"

namespace kopp::conformance {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class DeleteTest : public ConformanceTest {
 protected:
  std::string Object() { return Path("configmaps") + "/a"; }
  Answer Create() {
    Answer made = Post(Path("configmaps"), AConfigMap("a"));
    EXPECT_EQ(made.status, 201) << made.text;
    return made;
  }
};

TEST_F(DeleteTest, TheObjectIsGone) {
  Create();
  Delete(Object());

  EXPECT_EQ(Get(Object()).status, 404);
  EXPECT_THAT(Names(Get(Path("configmaps"))), IsEmpty());
}

TEST_F(DeleteTest, TheAnswerIsAStatusThatNamesTheObject) {
  const Answer made = Create();
  const Answer deleted = Delete(Object());

  EXPECT_EQ(deleted.status, 200);
  EXPECT_EQ(deleted.body,
            json({{"kind", "Status"},
                  {"apiVersion", "v1"},
                  {"metadata", json::object()},
                  {"status", "Success"},
                  {"details",
                   {{"name", "a"}, {"kind", "configmaps"}, {"uid", made.str("/metadata/uid")}}}}));
}

TEST_F(DeleteTest, TheAnswerNamesTheGroup) {
  const Answer made = Post(Path("apps/v1", "deployments"), ADeployment("a"));
  const Answer deleted = Delete(Path("apps/v1", "deployments") + "/a");

  EXPECT_EQ(deleted.at("/details"), json({{"name", "a"},
                                          {"group", "apps"},
                                          {"kind", "deployments"},
                                          {"uid", made.str("/metadata/uid")}}));
}

/// Kinds whose delete answers with the object as it last was.
struct Whole {
  std::string kind{};
  std::string plural{};
  json more{};

  friend void PrintTo(const Whole& whole, std::ostream* out) { *out << whole.plural; }
};

class WholeAnswerTest : public DeleteTest, public ::testing::WithParamInterface<Whole> {};

TEST_P(WholeAnswerTest, IsTheObjectItself) {
  json object = AConfigMap("a");
  object.update(GetParam().more);
  const Answer made = Post(Path(GetParam().plural), object);
  const Answer deleted = Delete(Path(GetParam().plural) + "/a");

  EXPECT_EQ(deleted.status, 200);
  EXPECT_EQ(deleted.str("/kind"), GetParam().kind);
  EXPECT_EQ(deleted.str("/metadata/uid"), made.str("/metadata/uid"));
  EXPECT_EQ(Get(Path(GetParam().plural) + "/a").status, 404);
}

const Whole wholes[] = {
    {"Service",
     "services",
     {{"spec", {{"type", "ExternalName"}, {"externalName", "example.com"}}}}},
    {"ServiceAccount", "serviceaccounts", json::object()},
    {"ResourceQuota", "resourcequotas", json::object()},
};
INSTANTIATE_TEST_SUITE_P(, WholeAnswerTest, ::testing::ValuesIn(wholes),
                         [](const auto& whole) { return whole.param.kind; });

TEST_F(DeleteTest, WhatIsNotThereIsNotFound) {
  const Answer deleted = Delete(Object());

  EXPECT_EQ(deleted.status, 404);
  EXPECT_EQ(deleted.reason(), "NotFound");
  EXPECT_EQ(deleted.message(), R"(configmaps "a" not found)");
}

TEST_F(DeleteTest, AGracePeriodMeansNothingButForPods) {
  Create();
  Delete(Object(), {{"gracePeriodSeconds", 30}});

  EXPECT_EQ(Get(Object()).status, 404);
}

TEST_F(DeleteTest, AnotherUidIsAConflict) {
  const Answer made = Create();
  const Answer deleted = Delete(Object(), {{"preconditions", {{"uid", "wrong"}}}});

  EXPECT_EQ(deleted.status, 409);
  EXPECT_EQ(deleted.reason(), "Conflict");
  EXPECT_EQ(deleted.message(),
            "Operation cannot be fulfilled on ConfigMap \"a\": the UID in the precondition (wrong) "
            "does not match the UID in record (" +
                made.str("/metadata/uid") +
                "). The object might have been deleted and then recreated");
  EXPECT_EQ(deleted.at("/details"), json({{"name", "a"}, {"kind", "ConfigMap"}}));
  EXPECT_EQ(Get(Object()).status, 200);
}

TEST_F(DeleteTest, AnotherVersionIsAConflict) {
  const Answer made = Create();
  const Answer deleted = Delete(Object(), {{"preconditions", {{"resourceVersion", "1"}}}});

  EXPECT_EQ(deleted.status, 409);
  EXPECT_EQ(deleted.reason(), "Conflict");
  EXPECT_EQ(deleted.message(),
            "Operation cannot be fulfilled on ConfigMap \"a\": the ResourceVersion in the "
            "precondition (1) does not match the ResourceVersion in record (" +
                made.version() + "). The object might have been modified");
  EXPECT_EQ(Get(Object()).status, 200);
}

TEST_F(DeleteTest, PreconditionsThatHoldLetItGo) {
  const Answer made = Create();
  const Answer deleted = Delete(
      Object(), {{"preconditions",
                  {{"uid", made.str("/metadata/uid")}, {"resourceVersion", made.version()}}}});

  EXPECT_EQ(deleted.status, 200);
  EXPECT_EQ(Get(Object()).status, 404);
}

TEST_F(DeleteTest, AWatchSeesItsLastStateUnderANewVersion) {
  const Answer made = Create();
  const auto watch =
      StartWatch(Path("configmaps") + "?watch=true&resourceVersion=" + made.version());
  Delete(Object());

  json event = watch->NextChange();
  EXPECT_EQ(event["type"], "DELETED");
  EXPECT_GT(std::stoll(event["object"]["metadata"]["resourceVersion"].get<std::string>()),
            std::stoll(made.version()));
  event["object"]["metadata"]["resourceVersion"] = made.version();
  EXPECT_EQ(event["object"], made.body);
}

/// How the dependents of an object fare, and the finalizer that asks the garbage collector for it.
struct Propagation {
  std::string test{};
  std::string query{};
  json options{};
  json finalizers{};  ///< null where the object goes at once

  friend void PrintTo(const Propagation& to, std::ostream* out) { *out << to.query << to.options; }
};

class PropagationTest : public DeleteTest, public ::testing::WithParamInterface<Propagation> {};

TEST_P(PropagationTest, LeavesItsFinalizer) {
  Create();
  const Answer deleted = Delete(Object() + GetParam().query, GetParam().options);

  EXPECT_EQ(deleted.status, 200);
  EXPECT_EQ(deleted.at("/metadata/finalizers"), GetParam().finalizers);
  EXPECT_EQ(deleted.str("/kind"), GetParam().finalizers.is_null() ? "Status" : "ConfigMap");
}

const Propagation propagations[] = {
    {"Background", "?propagationPolicy=Background", nullptr, nullptr},
    {"Foreground", "?propagationPolicy=Foreground", nullptr, {"foregroundDeletion"}},
    {"Orphan", "?propagationPolicy=Orphan", nullptr, {"orphan"}},
    {"ForegroundInTheBody", "", {{"propagationPolicy", "Foreground"}}, {"foregroundDeletion"}},
    {"OrphanInTheBody", "", {{"propagationPolicy", "Orphan"}}, {"orphan"}},
    {"TheBodyWins",
     "?propagationPolicy=Orphan",
     {{"propagationPolicy", "Foreground"}},
     {"foregroundDeletion"}},
    {"AnEmptyBodyWins", "?propagationPolicy=Foreground", json::object(), nullptr},
    {"OrphanDependents", "", {{"orphanDependents", true}}, {"orphan"}},
    {"NoOrphanDependents", "", {{"orphanDependents", false}}, nullptr},
};
INSTANTIATE_TEST_SUITE_P(, PropagationTest, ::testing::ValuesIn(propagations),
                         [](const auto& propagation) { return propagation.param.test; });

TEST_F(DeleteTest, AnUnknownPolicyIsInvalid) {
  Create();
  const Answer deleted = Delete(Object() + "?propagationPolicy=Bad");

  EXPECT_EQ(deleted.status, 422);
  EXPECT_EQ(deleted.str("/details/kind"), "DeleteOptions");
  EXPECT_THAT(Causes(deleted),
              ElementsAre("FieldValueNotSupported propagationPolicy: Unsupported value: \"Bad\": "
                          R"(supported values: "Foreground", "Background", "Orphan", "nil")"));
}

TEST_F(DeleteTest, APolicyAndOrphanDependentsAreInvalidTogether) {
  Create();
  const Answer deleted =
      Delete(Object(), {{"orphanDependents", true}, {"propagationPolicy", "Foreground"}});

  EXPECT_EQ(deleted.status, 422);
  EXPECT_THAT(Causes(deleted),
              ElementsAre("FieldValueInvalid propagationPolicy: Invalid value: \"Foreground\": "
                          "orphanDependents and deletionPropagation cannot be both set"));
}

TEST_F(DeleteTest, AJobLeavesItsPodsUnlessTold) {
  json job{{"metadata", {{"name", "a"}}}, {"spec", {{"template", {{"spec", APod("a")["spec"]}}}}}};
  job["spec"]["template"]["spec"]["restartPolicy"] = "Never";
  Post(Path("batch/v1", "jobs"), job);

  const Answer deleted = Delete(Path("batch/v1", "jobs") + "/a");

  EXPECT_EQ(deleted.at("/metadata/finalizers"), json({"orphan"}));
}

/// Three ConfigMaps with labels of their own.
class DeleteCollectionTest : public ConformanceTest {
 protected:
  DeleteCollectionTest() {
    for (const char* name : {"a", "b", "c"}) {
      Post(Path("configmaps"), {{"metadata", {{"name", name}, {"labels", {{"l", name}}}}}});
    }
  }
  std::vector<std::string> Left() { return Names(Get(Path("configmaps"))); }
};

TEST_F(DeleteCollectionTest, AllGoAndTheAnswerIsTheListOfThem) {
  const Answer before = Get(Path("configmaps"));
  const Answer deleted = Delete(Path("configmaps"));

  EXPECT_EQ(deleted.status, 200);
  EXPECT_EQ(deleted.str("/kind"), "ConfigMapList");
  EXPECT_EQ(deleted.at("/items"), before.at("/items"));
  EXPECT_THAT(Left(), IsEmpty());
}

TEST_F(DeleteCollectionTest, OfLabelsTakesThoseAlone) {
  const Answer deleted = Delete(Path("configmaps") + "?labelSelector=l!%3Db");

  EXPECT_THAT(Names(deleted), ElementsAre("a", "c"));
  EXPECT_THAT(Left(), ElementsAre("b"));
}

TEST_F(DeleteCollectionTest, OfFieldsTakesThoseAlone) {
  Delete(Path("configmaps") + "?fieldSelector=metadata.name%3Db");

  EXPECT_THAT(Left(), ElementsAre("a", "c"));
}

TEST_F(DeleteCollectionTest, WithALimitTakesOnePage) {
  const Answer deleted = Delete(Path("configmaps") + "?limit=1");

  EXPECT_THAT(Names(deleted), ElementsAre("a"));
  EXPECT_EQ(deleted.at("/metadata/remainingItemCount"), 2);
  EXPECT_THAT(Left(), ElementsAre("b", "c"));
}

TEST_F(DeleteCollectionTest, WhatHasAFinalizerStaysMarked) {
  MergePatch(Path("configmaps") + "/b", {{"metadata", {{"finalizers", {"example.com/x"}}}}});
  Delete(Path("configmaps"));

  EXPECT_THAT(Left(), ElementsAre("b"));
  EXPECT_NE(Get(Path("configmaps") + "/b").str("/metadata/deletionTimestamp"), "");
}

TEST_F(DeleteCollectionTest, APolicyHoldsForEach) {
  // What it waits for: a garbage collector, where there is one, cannot end it.
  json child = AConfigMap("child");
  child["metadata"]["finalizers"] = {"example.com/x"};
  child["metadata"]["ownerReferences"] = {
      {{"apiVersion", "v1"},
       {"kind", "ConfigMap"},
       {"name", "a"},
       {"uid", Get(Path("configmaps") + "/a").str("/metadata/uid")},
       {"blockOwnerDeletion", true}}};
  Post(Path("configmaps"), child);

  Delete(Path("configmaps") + "?labelSelector=l%3Da&propagationPolicy=Foreground");

  EXPECT_EQ(Get(Path("configmaps") + "/a").at("/metadata/finalizers"),
            json({"foregroundDeletion"}));
}

TEST_F(DeleteCollectionTest, OnTrialDeletesNone) {
  const Answer deleted = Delete(Path("configmaps") + "?dryRun=All");

  EXPECT_EQ(deleted.at("/items").size(), 3);
  EXPECT_EQ(Left().size(), 3);
}

TEST_F(DeleteCollectionTest, OfNothingIsAnEmptyList) {
  const Answer deleted = Delete(Path("apps/v1", "deployments"));

  EXPECT_EQ(deleted.status, 200);
  EXPECT_EQ(deleted.at("/items"), json::array());
}

}  // namespace
}  // namespace kopp::conformance
