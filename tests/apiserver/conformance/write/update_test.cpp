#include "conformance.hpp"

namespace kopp::conformance {
namespace {

using ::testing::MatchesRegex;

const std::string stale_version_message =
    "the object has been modified; please apply your changes to the latest version and try again";

/// Fixture of tests of updates (PUT) of one ConfigMap.
class UpdateTest : public ConformanceTest {
 protected:
  UpdateTest() {
    created_ = Post(Path("configmaps"), {{"metadata", {{"name", "a"}}}, {"data", data_}});
  }

  std::string ObjectPath() { return Path("configmaps") + "/a"; }

  const json data_ = {{"k", "1"}};
  JsonResponse created_;
};

TEST_F(UpdateTest, ObjectIsReplacedAndItsResourceVersionIncreases) {
  json object = created_.body;
  object["data"] = {{"other", "2"}};
  const JsonResponse put = Put(ObjectPath(), object);

  EXPECT_EQ(put.status, 200);
  EXPECT_EQ(put.at("/data"), json({{"other", "2"}}));
  EXPECT_GT(std::stoll(put.resource_version()), std::stoll(created_.resource_version()));
  EXPECT_EQ(put.str("/metadata/uid"), created_.str("/metadata/uid"));
  EXPECT_EQ(put.body, Get(ObjectPath()).body);
}

TEST_F(UpdateTest, StaleResourceVersionIsAConflict) {
  json object = created_.body;
  object["data"]["k"] = "2";
  Put(ObjectPath(), object);
  object["data"]["k"] = "3";
  const JsonResponse stale = Put(ObjectPath(), object);

  EXPECT_EQ(stale.status, 409);
  EXPECT_EQ(stale.reason(), "Conflict");
  EXPECT_EQ(stale.message(),
            "Operation cannot be fulfilled on configmaps \"a\": " + stale_version_message);
  EXPECT_EQ(stale.at("/details"), json({{"name", "a"}, {"kind", "configmaps"}}));
  EXPECT_EQ(Get(ObjectPath()).str("/data/k"), "2");
}

TEST_F(UpdateTest, ConflictErrorContainsTheApiGroup) {
  const std::string path = Path("apps/v1", "deployments");
  json deployment = Post(path, MakeDeployment("a")).body;
  deployment["metadata"]["resourceVersion"] = "1";
  const JsonResponse stale = Put(path + "/a", deployment);

  EXPECT_EQ(stale.message(),
            "Operation cannot be fulfilled on deployments.apps \"a\": " + stale_version_message);
  EXPECT_EQ(stale.at("/details"),
            json({{"name", "a"}, {"group", "apps"}, {"kind", "deployments"}}));
}

TEST_F(UpdateTest, MissingResourceVersionOverwritesTheStoredObject) {
  const JsonResponse put =
      Put(ObjectPath(), {{"metadata", {{"name", "a"}}}, {"data", {{"k", "2"}}}});

  EXPECT_EQ(put.status, 200);
  EXPECT_EQ(put.str("/data/k"), "2");
  EXPECT_EQ(put.str("/metadata/uid"), created_.str("/metadata/uid"));
}

TEST_F(UpdateTest, ResourceVersionZeroOverwritesTheStoredObject) {
  const JsonResponse put =
      Put(ObjectPath(),
          {{"metadata", {{"name", "a"}, {"resourceVersion", "0"}}}, {"data", {{"k", "2"}}}});

  EXPECT_EQ(put.status, 200);
  EXPECT_EQ(put.str("/data/k"), "2");
}

TEST_F(UpdateTest, NonNumericResourceVersionIsAServerErrorWithoutAReason) {
  const JsonResponse put =
      Put(ObjectPath(), {{"metadata", {{"name", "a"}, {"resourceVersion", "x"}}}});

  EXPECT_EQ(put.status, 500);
  EXPECT_EQ(put.reason(), "");
  EXPECT_EQ(put.message(), R"(strconv.ParseUint: parsing "x": invalid syntax)");
}

TEST_F(UpdateTest, DifferentUidIsAConflict) {
  const JsonResponse put = Put(ObjectPath(), {{"metadata", {{"name", "a"}, {"uid", "other"}}}});

  EXPECT_EQ(put.status, 409);
  EXPECT_EQ(put.reason(), "Conflict");
  EXPECT_THAT(put.message(),
              MatchesRegex("Operation cannot be fulfilled on configmaps \"a\": .*"
                           "Precondition failed: UID in precondition: other, UID in object meta: " +
                           created_.str("/metadata/uid")));
}

TEST_F(UpdateTest, UpdateWithoutChangesKeepsTheResourceVersion) {
  const JsonResponse put = Put(ObjectPath(), created_.body);

  EXPECT_EQ(put.status, 200);
  EXPECT_EQ(put.resource_version(), created_.resource_version());
}

TEST_F(UpdateTest, UpdateWithoutChangesSendsNoWatchEvent) {
  const auto watch =
      StartWatch(Path("configmaps") + "?watch=true&resourceVersion=" + created_.resource_version());
  Put(ObjectPath(), created_.body);
  Post(Path("configmaps"), MakeConfigMap("next"));

  EXPECT_EQ(watch->NextNonBookmark().at("object").at("metadata").at("name"), "next");
}

TEST_F(UpdateTest, MissingNameIsABadRequest) {
  const JsonResponse put = Put(ObjectPath(), json::object());

  EXPECT_EQ(put.status, 400);
  EXPECT_EQ(put.reason(), "BadRequest");
  EXPECT_EQ(put.message(),
            "the name of the object (a based on URL) was undeterminable: name must be provided");
}

TEST_F(UpdateTest, NameInTheBodyThatDiffersFromThePathIsABadRequest) {
  const JsonResponse put = Put(ObjectPath(), MakeConfigMap("b"));

  EXPECT_EQ(put.status, 400);
  EXPECT_EQ(put.message(), "the name of the object (b) does not match the name on the URL (a)");
}

TEST_F(UpdateTest, NamespaceInTheBodyThatDiffersFromThePathIsABadRequest) {
  const JsonResponse put =
      Put(ObjectPath(), {{"metadata", {{"name", "a"}, {"namespace", "other"}}}});

  EXPECT_EQ(put.status, 400);
  EXPECT_EQ(put.message(),
            "the namespace of the provided object does not match the namespace sent on the "
            "request");
}

TEST_F(UpdateTest, UpdateOfAMissingObjectReturnsNotFoundAndCreatesNothing) {
  const JsonResponse put = Put(Path("configmaps") + "/none", MakeConfigMap("none"));

  EXPECT_EQ(put.status, 404);
  EXPECT_EQ(put.reason(), "NotFound");
  EXPECT_EQ(put.message(), R"(configmaps "none" not found)");
  EXPECT_EQ(put.at("/details"), json({{"name", "none"}, {"kind", "configmaps"}}));
  EXPECT_EQ(Get(Path("configmaps") + "/none").status, 404);
}

TEST_F(UpdateTest, CreationTimestampInTheBodyIsIgnored) {
  const JsonResponse put = Put(
      ObjectPath(), {{"metadata", {{"name", "a"}, {"creationTimestamp", "2001-01-01T00:00:00Z"}}}});

  EXPECT_EQ(put.status, 200);
  EXPECT_EQ(put.str("/metadata/creationTimestamp"), created_.str("/metadata/creationTimestamp"));
}

TEST_F(UpdateTest, GenerateNameCanBeAdded) {
  const JsonResponse put =
      Put(ObjectPath(), {{"metadata", {{"name", "a"}, {"generateName", "b-"}}}});

  EXPECT_EQ(put.status, 200);
  EXPECT_EQ(put.str("/metadata/generateName"), "b-");
}

TEST_F(UpdateTest, LabelMissingFromTheBodyIsRemoved) {
  json object = created_.body;
  object["metadata"]["labels"] = {{"a", "1"}, {"b", "2"}};
  Put(ObjectPath(), object);
  object = Get(ObjectPath()).body;
  object["metadata"]["labels"].erase("a");

  EXPECT_EQ(Put(ObjectPath(), object).at("/metadata/labels"), json({{"b", "2"}}));
}

TEST_F(UpdateTest, InvalidLabelIsRejected) {
  const JsonResponse put =
      Put(ObjectPath(), {{"metadata", {{"name", "a"}, {"labels", {{"a", "-v"}}}}}});

  EXPECT_EQ(put.status, 422);
  EXPECT_EQ(put.str("/details/causes/0/field"), "metadata.labels");
  EXPECT_EQ(Get(ObjectPath()).body, created_.body);
}

/// A change of a metadata field that is immutable, and the error message.
struct ImmutableMetadata {
  std::string test_name{};
  json metadata{};
  std::string message{};

  friend void PrintTo(const ImmutableMetadata& immutable, std::ostream* out) {
    *out << immutable.metadata;
  }
};

class ImmutableMetadataTest : public UpdateTest,
                              public ::testing::WithParamInterface<ImmutableMetadata> {};

TEST_P(ImmutableMetadataTest, PatchOfImmutableMetadataIsInvalid) {
  const JsonResponse patched = MergePatch(ObjectPath(), {{"metadata", GetParam().metadata}});

  EXPECT_EQ(patched.status, 422);
  EXPECT_EQ(patched.reason(), "Invalid");
  EXPECT_EQ(patched.message(), "ConfigMap \"a\" is invalid: metadata." + GetParam().message);
  EXPECT_EQ(Get(ObjectPath()).body, created_.body);
}

const ImmutableMetadata immutable_metadata[] = {
    {"Uid", {{"uid", "x"}}, "uid: Invalid value: \"x\": field is immutable"},
    {"DeletionTimestamp",
     {{"deletionTimestamp", "2001-01-01T00:00:00Z"}},
     "deletionTimestamp: Invalid value: \"2001-01-01T00:00:00Z\": field is immutable"},
    {"DeletionGracePeriodSeconds",
     {{"deletionGracePeriodSeconds", 3}},
     "deletionGracePeriodSeconds: Invalid value: 3: field is immutable"},
};
INSTANTIATE_TEST_SUITE_P(, ImmutableMetadataTest, ::testing::ValuesIn(immutable_metadata),
                         [](const auto& immutable) { return immutable.param.test_name; });

/// Fixture of tests of metadata.generation, mostly of a Deployment.
class GenerationTest : public ConformanceTest {
 protected:
  GenerationTest() { deployment_ = Post(Path("apps/v1", "deployments"), MakeDeployment("a")).body; }

  json Generation() const { return deployment_["metadata"]["generation"]; }
  void Update() { deployment_ = Put(Path("apps/v1", "deployments") + "/a", deployment_).body; }

  json deployment_;
};

TEST_F(GenerationTest, NewDeploymentHasGenerationOne) { EXPECT_EQ(Generation(), 1); }

TEST_F(GenerationTest, SpecChangeIncreasesTheGeneration) {
  deployment_["spec"]["replicas"] = 3;
  Update();

  EXPECT_EQ(Generation(), 2);
}

TEST_F(GenerationTest, LabelChangeDoesNotIncreaseTheGeneration) {
  deployment_["metadata"]["labels"] = {{"a", "b"}};
  Update();

  EXPECT_EQ(Generation(), 1);
}

// Deployments are the only kind whose generation counts changes of annotations.
TEST_F(GenerationTest, AnnotationChangeOfADeploymentIncreasesTheGeneration) {
  deployment_["metadata"]["annotations"] = {{"a", "b"}};
  Update();

  EXPECT_EQ(Generation(), 2);
}

TEST_F(GenerationTest, ExplicitDefaultValueDoesNotIncreaseTheGeneration) {
  deployment_["spec"]["minReadySeconds"] = 0;
  Update();

  EXPECT_EQ(Generation(), 1);
}

TEST_F(GenerationTest, GenerationInAnUpdateIsIgnored) {
  deployment_["metadata"]["generation"] = 77;
  Update();

  EXPECT_EQ(Generation(), 1);
}

TEST_F(GenerationTest, GenerationInACreateIsIgnored) {
  json other = MakeDeployment("b");
  other["metadata"]["generation"] = 77;

  EXPECT_EQ(Post(Path("apps/v1", "deployments"), other).at("/metadata/generation"), 1);
}

TEST_F(GenerationTest, ConfigMapHasNoGeneration) {
  const JsonResponse created = Post(Path("configmaps"), MakeConfigMap("a"));

  EXPECT_EQ(created.status, 201);
  EXPECT_EQ(created.at("/metadata/generation"), nullptr);
}

TEST_F(UpdateTest, SomeKindsValidateGenerateNameAgain) {
  const json change{{"metadata", {{"generateName", "a=b"}}}};
  Post(Path("configmaps"), MakeConfigMap("a"));
  Post(Path("serviceaccounts"), MakeObjectWithName("a"));
  Post(Path("resourcequotas"), MakeObjectWithName("a"));

  EXPECT_EQ(MergePatch(Path("configmaps") + "/a", change).status, 422);
  EXPECT_EQ(MergePatch(Path("serviceaccounts") + "/a", change).status, 422);
  EXPECT_EQ(MergePatch(Path("resourcequotas") + "/a", change).status, 200);
}

TEST_F(UpdateTest, ErrorsOfTheChangeOfASecretComeFirst) {
  json secret = MakeObjectWithName("a");
  secret["immutable"] = true;
  Post(Path("secrets"), secret);

  const JsonResponse updated = MergePatch(Path("secrets") + "/a", {{"data", {{"a b", "eA=="}}}});

  EXPECT_THAT(updated.message(),
              ::testing::HasSubstr(": [data: Forbidden: field is immutable when `immutable` is "
                                   "set, data[a b]: Invalid value: "));
}

}  // namespace
}  // namespace kopp::conformance
