#include "conformance.hpp"

namespace kopp::conformance {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::StartsWith;

class DeleteTest : public ConformanceTest {
 protected:
  std::string ObjectPath() { return Path("configmaps") + "/a"; }
  JsonResponse Create() {
    JsonResponse created = Post(Path("configmaps"), MakeConfigMap("a"));
    EXPECT_EQ(created.status, 201) << created.text;
    return created;
  }
};

TEST_F(DeleteTest, DeletedObjectIsNeitherFoundNorListed) {
  Create();
  Delete(ObjectPath());

  EXPECT_EQ(Get(ObjectPath()).status, 404);
  EXPECT_THAT(ItemNames(Get(Path("configmaps"))), IsEmpty());
}

TEST_F(DeleteTest, DeleteReturnsAStatusWithTheNameKindAndUidOfTheObject) {
  const JsonResponse created = Create();
  const JsonResponse deleted = Delete(ObjectPath());

  EXPECT_EQ(deleted.status, 200);
  EXPECT_EQ(
      deleted.body,
      json({{"kind", "Status"},
            {"apiVersion", "v1"},
            {"metadata", json::object()},
            {"status", "Success"},
            {"details",
             {{"name", "a"}, {"kind", "configmaps"}, {"uid", created.str("/metadata/uid")}}}}));
}

TEST_F(DeleteTest, StatusDetailsContainTheApiGroupOfAResourceOutsideTheCoreGroup) {
  const JsonResponse created = Post(Path("apps/v1", "deployments"), MakeDeployment("a"));
  const JsonResponse deleted = Delete(Path("apps/v1", "deployments") + "/a");

  EXPECT_EQ(deleted.at("/details"), json({{"name", "a"},
                                          {"group", "apps"},
                                          {"kind", "deployments"},
                                          {"uid", created.str("/metadata/uid")}}));
}

/// A kind for which DELETE returns the deleted object instead of a Status.
struct KindWithObjectResponse {
  std::string kind{};
  std::string plural{};
  json extra_fields{};

  friend void PrintTo(const KindWithObjectResponse& deleted, std::ostream* out) {
    *out << deleted.plural;
  }
};

class DeletedObjectResponseTest : public DeleteTest,
                                  public ::testing::WithParamInterface<KindWithObjectResponse> {};

TEST_P(DeletedObjectResponseTest, DeleteReturnsTheDeletedObjectInsteadOfAStatus) {
  json object = MakeObjectWithName("a");
  object.update(GetParam().extra_fields);
  const JsonResponse created = Post(Path(GetParam().plural), object);
  const JsonResponse deleted = Delete(Path(GetParam().plural) + "/a");

  EXPECT_EQ(deleted.status, 200);
  EXPECT_EQ(deleted.str("/kind"), GetParam().kind);
  EXPECT_EQ(deleted.str("/metadata/uid"), created.str("/metadata/uid"));
  EXPECT_EQ(Get(Path(GetParam().plural) + "/a").status, 404);
}

const KindWithObjectResponse kinds_with_object_response[] = {
    {"Service",
     "services",
     {{"spec", {{"type", "ExternalName"}, {"externalName", "example.com"}}}}},
    {"ServiceAccount", "serviceaccounts", json::object()},
    {"ResourceQuota", "resourcequotas", json::object()},
};
INSTANTIATE_TEST_SUITE_P(, DeletedObjectResponseTest,
                         ::testing::ValuesIn(kinds_with_object_response),
                         [](const auto& kind) { return kind.param.kind; });

TEST_F(DeleteTest, DeleteOfAMissingObjectReturnsNotFound) {
  const JsonResponse deleted = Delete(ObjectPath());

  EXPECT_EQ(deleted.status, 404);
  EXPECT_EQ(deleted.reason(), "NotFound");
  EXPECT_EQ(deleted.message(), R"(configmaps "a" not found)");
}

TEST_F(DeleteTest, BodyInAnUnknownFormatIsRejected) {
  Create();
  for (const std::string& path : {ObjectPath(), Path("configmaps")}) {
    const JsonResponse response =
        Call({.method = "DELETE", .target = path, .body = "{}", .content_type = "text/plain"});

    EXPECT_EQ(response.status, 415);
    EXPECT_EQ(response.reason(), "UnsupportedMediaType");
    EXPECT_EQ(response.message(),
              "the body of the request was in an unknown format - accepted media types include: "
              "application/json, application/yaml, application/vnd.kubernetes.protobuf");
  }
  EXPECT_EQ(Get(ObjectPath()).status, 200);
}

TEST_F(DeleteTest, ContentTypeOfAnEmptyBodyIsIgnored) {
  Create();

  EXPECT_EQ(Call({.method = "DELETE", .target = ObjectPath(), .content_type = "text/plain"}).status,
            200);
}

TEST_F(DeleteTest, OptionsInYamlAreUsed) {
  Create();
  Call({.method = "DELETE",
        .target = ObjectPath(),
        .body = "kind: DeleteOptions\napiVersion: v1\ndryRun: [All]",
        .content_type = "application/yaml"});

  EXPECT_EQ(Get(ObjectPath()).status, 200);
}

TEST_F(DeleteTest, GracePeriodOfAConfigMapIsIgnored) {
  Create();
  Delete(ObjectPath(), {{"gracePeriodSeconds", 30}});

  EXPECT_EQ(Get(ObjectPath()).status, 404);
}

TEST_F(DeleteTest, PreconditionOnAnotherUidIsAConflict) {
  const JsonResponse created = Create();
  const JsonResponse deleted = Delete(ObjectPath(), {{"preconditions", {{"uid", "wrong"}}}});

  EXPECT_EQ(deleted.status, 409);
  EXPECT_EQ(deleted.reason(), "Conflict");
  EXPECT_EQ(deleted.message(),
            "Operation cannot be fulfilled on ConfigMap \"a\": the UID in the precondition (wrong) "
            "does not match the UID in record (" +
                created.str("/metadata/uid") +
                "). The object might have been deleted and then recreated");
  EXPECT_EQ(deleted.at("/details"), json({{"name", "a"}, {"kind", "ConfigMap"}}));
  EXPECT_EQ(Get(ObjectPath()).status, 200);
}

TEST_F(DeleteTest, PreconditionOnAnotherResourceVersionIsAConflict) {
  const JsonResponse created = Create();
  const JsonResponse deleted =
      Delete(ObjectPath(), {{"preconditions", {{"resourceVersion", "1"}}}});

  EXPECT_EQ(deleted.status, 409);
  EXPECT_EQ(deleted.reason(), "Conflict");
  EXPECT_EQ(deleted.message(),
            "Operation cannot be fulfilled on ConfigMap \"a\": the ResourceVersion in the "
            "precondition (1) does not match the ResourceVersion in record (" +
                created.resource_version() + "). The object might have been modified");
  EXPECT_EQ(Get(ObjectPath()).status, 200);
}

TEST_F(DeleteTest, MatchingPreconditionsAllowTheDelete) {
  const JsonResponse created = Create();
  const JsonResponse deleted = Delete(
      ObjectPath(),
      {{"preconditions",
        {{"uid", created.str("/metadata/uid")}, {"resourceVersion", created.resource_version()}}}});

  EXPECT_EQ(deleted.status, 200);
  EXPECT_EQ(Get(ObjectPath()).status, 404);
}

TEST_F(DeleteTest, DeletedEventContainsTheLastObjectStateWithANewResourceVersion) {
  const JsonResponse created = Create();
  const auto watch =
      StartWatch(Path("configmaps") + "?watch=true&resourceVersion=" + created.resource_version());
  Delete(ObjectPath());

  json event = watch->NextNonBookmark();
  EXPECT_EQ(event["type"], "DELETED");
  EXPECT_GT(std::stoll(event["object"]["metadata"]["resourceVersion"].get<std::string>()),
            std::stoll(created.resource_version()));
  event["object"]["metadata"]["resourceVersion"] = created.resource_version();
  EXPECT_EQ(event["object"], created.body);
}

/// A delete with a propagation policy, and the finalizers that it sets for the garbage collector.
struct Propagation {
  std::string test_name{};
  std::string query{};
  json options{};
  json finalizers{};  ///< null if the object is deleted immediately

  friend void PrintTo(const Propagation& propagation, std::ostream* out) {
    *out << propagation.query << propagation.options;
  }
};

class PropagationPolicyTest : public DeleteTest,
                              public ::testing::WithParamInterface<Propagation> {};

TEST_P(PropagationPolicyTest, DeleteSetsTheFinalizerOfThePolicy) {
  Create();
  const JsonResponse deleted = Delete(ObjectPath() + GetParam().query, GetParam().options);

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
    {"BodyTakesPrecedenceOverTheQuery",
     "?propagationPolicy=Orphan",
     {{"propagationPolicy", "Foreground"}},
     {"foregroundDeletion"}},
    {"EmptyBodyTakesPrecedenceOverTheQuery", "?propagationPolicy=Foreground", json::object(),
     nullptr},
    {"OrphanDependentsTrue", "", {{"orphanDependents", true}}, {"orphan"}},
    {"OrphanDependentsFalse", "", {{"orphanDependents", false}}, nullptr},
};
INSTANTIATE_TEST_SUITE_P(, PropagationPolicyTest, ::testing::ValuesIn(propagations),
                         [](const auto& propagation) { return propagation.param.test_name; });

TEST_F(DeleteTest, UnknownPropagationPolicyIsInvalid) {
  Create();
  const JsonResponse deleted = Delete(ObjectPath() + "?propagationPolicy=Bad");

  EXPECT_EQ(deleted.status, 422);
  EXPECT_EQ(deleted.str("/details/kind"), "DeleteOptions");
  EXPECT_THAT(Causes(deleted),
              ElementsAre("FieldValueNotSupported propagationPolicy: Unsupported value: \"Bad\": "
                          R"(supported values: "Foreground", "Background", "Orphan", "nil")"));
}

TEST_F(DeleteTest, PropagationPolicyTogetherWithOrphanDependentsIsInvalid) {
  Create();
  const JsonResponse deleted =
      Delete(ObjectPath(), {{"orphanDependents", true}, {"propagationPolicy", "Foreground"}});

  EXPECT_EQ(deleted.status, 422);
  EXPECT_THAT(Causes(deleted),
              ElementsAre("FieldValueInvalid propagationPolicy: Invalid value: \"Foreground\": "
                          "orphanDependents and deletionPropagation cannot be both set"));
}

TEST_F(DeleteTest, AllInvalidOptionsAreReportedTogether) {
  Create();
  const JsonResponse deleted =
      Delete(ObjectPath() + "?propagationPolicy=Bad&orphanDependents=true&dryRun=Some");

  EXPECT_EQ(deleted.status, 422);
  EXPECT_THAT(
      Causes(deleted),
      ElementsAre("FieldValueInvalid propagationPolicy: Invalid value: \"Bad\": orphanDependents "
                  "and deletionPropagation cannot be both set",
                  StartsWith("FieldValueNotSupported propagationPolicy: "),
                  StartsWith("FieldValueNotSupported dryRun: ")));
}

TEST_F(DeleteTest, DefaultPropagationPolicyOfAJobIsOrphan) {
  json job{{"metadata", {{"name", "a"}}},
           {"spec", {{"template", {{"spec", MakePod("a")["spec"]}}}}}};
  job["spec"]["template"]["spec"]["restartPolicy"] = "Never";
  Post(Path("batch/v1", "jobs"), job);

  const JsonResponse deleted = Delete(Path("batch/v1", "jobs") + "/a");

  EXPECT_EQ(deleted.at("/metadata/finalizers"), json({"orphan"}));
}

/// Fixture of tests that delete a collection of three ConfigMaps, "a", "b" and "c". Each has the
/// label l=NAME.
class DeleteCollectionTest : public ConformanceTest {
 protected:
  DeleteCollectionTest() {
    for (const char* name : {"a", "b", "c"}) {
      Post(Path("configmaps"), {{"metadata", {{"name", name}, {"labels", {{"l", name}}}}}});
    }
  }
  std::vector<std::string> RemainingNames() { return ItemNames(Get(Path("configmaps"))); }
};

TEST_F(DeleteCollectionTest, AllObjectsAreDeletedAndReturnedAsAList) {
  const JsonResponse before = Get(Path("configmaps"));
  const JsonResponse deleted = Delete(Path("configmaps"));

  EXPECT_EQ(deleted.status, 200);
  EXPECT_EQ(deleted.str("/kind"), "ConfigMapList");
  EXPECT_EQ(deleted.at("/items"), before.at("/items"));
  EXPECT_THAT(RemainingNames(), IsEmpty());
}

TEST_F(DeleteCollectionTest, LabelSelectorRestrictsTheDeletedObjects) {
  const JsonResponse deleted = Delete(Path("configmaps") + "?labelSelector=l!%3Db");

  EXPECT_THAT(ItemNames(deleted), ElementsAre("a", "c"));
  EXPECT_THAT(RemainingNames(), ElementsAre("b"));
}

TEST_F(DeleteCollectionTest, FieldSelectorRestrictsTheDeletedObjects) {
  Delete(Path("configmaps") + "?fieldSelector=metadata.name%3Db");

  EXPECT_THAT(RemainingNames(), ElementsAre("a", "c"));
}

TEST_F(DeleteCollectionTest, DeleteCollectionWithALimitDeletesOnlyTheFirstPage) {
  const JsonResponse deleted = Delete(Path("configmaps") + "?limit=1");

  EXPECT_THAT(ItemNames(deleted), ElementsAre("a"));
  EXPECT_EQ(deleted.at("/metadata/remainingItemCount"), 2);
  EXPECT_THAT(RemainingNames(), ElementsAre("b", "c"));
}

TEST_F(DeleteCollectionTest, ObjectWithAFinalizerRemainsWithADeletionTimestamp) {
  MergePatch(Path("configmaps") + "/b", {{"metadata", {{"finalizers", {"example.com/x"}}}}});
  Delete(Path("configmaps"));

  EXPECT_THAT(RemainingNames(), ElementsAre("b"));
  EXPECT_NE(Get(Path("configmaps") + "/b").str("/metadata/deletionTimestamp"), "");
}

TEST_F(DeleteCollectionTest, PropagationPolicyAppliesToEachObject) {
  // This dependent has a finalizer, so no garbage collector can complete the deletion of its owner.
  json child = MakeConfigMap("child");
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

TEST_F(DeleteCollectionTest, DryRunDeletesNothing) {
  const JsonResponse deleted = Delete(Path("configmaps") + "?dryRun=All");

  EXPECT_EQ(deleted.at("/items").size(), 3);
  EXPECT_EQ(RemainingNames().size(), 3);
}

TEST_F(DeleteCollectionTest, DeleteOfAnEmptyCollectionReturnsAnEmptyList) {
  const JsonResponse deleted = Delete(Path("apps/v1", "deployments"));

  EXPECT_EQ(deleted.status, 200);
  EXPECT_EQ(deleted.at("/items"), json::array());
}

}  // namespace
}  // namespace kopp::conformance
