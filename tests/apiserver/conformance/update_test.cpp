#include "conformance.hpp"

namespace kopp::conformance {
namespace {

using ::testing::MatchesRegex;

const std::string modified =
    "the object has been modified; please apply your changes to the latest version and try again";

class UpdateTest : public ConformanceTest {
 protected:
  UpdateTest() {
    made_ = Post(Path("configmaps"), {{"metadata", {{"name", "a"}}}, {"data", data_}});
  }

  std::string Object() { return Path("configmaps") + "/a"; }

  const json data_ = {{"k", "1"}};
  Answer made_;
};

TEST_F(UpdateTest, TheObjectIsReplacedAndGetsANewVersion) {
  json object = made_.body;
  object["data"] = {{"other", "2"}};
  const Answer put = Put(Object(), object);

  EXPECT_EQ(put.status, 200);
  EXPECT_EQ(put.at("/data"), json({{"other", "2"}}));
  EXPECT_GT(std::stoll(put.version()), std::stoll(made_.version()));
  EXPECT_EQ(put.str("/metadata/uid"), made_.str("/metadata/uid"));
  EXPECT_EQ(put.body, Get(Object()).body);
}

TEST_F(UpdateTest, AStaleVersionIsAConflict) {
  json object = made_.body;
  object["data"]["k"] = "2";
  Put(Object(), object);
  object["data"]["k"] = "3";
  const Answer stale = Put(Object(), object);

  EXPECT_EQ(stale.status, 409);
  EXPECT_EQ(stale.reason(), "Conflict");
  EXPECT_EQ(stale.message(), "Operation cannot be fulfilled on configmaps \"a\": " + modified);
  EXPECT_EQ(stale.at("/details"), json({{"name", "a"}, {"kind", "configmaps"}}));
  EXPECT_EQ(Get(Object()).str("/data/k"), "2");
}

TEST_F(UpdateTest, AConflictNamesTheGroup) {
  const std::string path = Path("apps/v1", "deployments");
  json deployment = Post(path, ADeployment("a")).body;
  deployment["metadata"]["resourceVersion"] = "1";
  const Answer stale = Put(path + "/a", deployment);

  EXPECT_EQ(stale.message(),
            "Operation cannot be fulfilled on deployments.apps \"a\": " + modified);
  EXPECT_EQ(stale.at("/details"),
            json({{"name", "a"}, {"group", "apps"}, {"kind", "deployments"}}));
}

TEST_F(UpdateTest, WithoutAVersionItOverwritesWhateverIsThere) {
  const Answer put = Put(Object(), {{"metadata", {{"name", "a"}}}, {"data", {{"k", "2"}}}});

  EXPECT_EQ(put.status, 200);
  EXPECT_EQ(put.str("/data/k"), "2");
  EXPECT_EQ(put.str("/metadata/uid"), made_.str("/metadata/uid"));
}

TEST_F(UpdateTest, VersionZeroIsNoVersion) {
  const Answer put = Put(
      Object(), {{"metadata", {{"name", "a"}, {"resourceVersion", "0"}}}, {"data", {{"k", "2"}}}});

  EXPECT_EQ(put.status, 200);
  EXPECT_EQ(put.str("/data/k"), "2");
}

TEST_F(UpdateTest, AVersionThatIsNoNumberIsAnErrorWithoutAReason) {
  const Answer put = Put(Object(), {{"metadata", {{"name", "a"}, {"resourceVersion", "x"}}}});

  EXPECT_EQ(put.status, 500);
  EXPECT_EQ(put.reason(), "");
  EXPECT_EQ(put.message(), R"(strconv.ParseUint: parsing "x": invalid syntax)");
}

TEST_F(UpdateTest, AnotherUidIsAConflict) {
  const Answer put = Put(Object(), {{"metadata", {{"name", "a"}, {"uid", "other"}}}});

  EXPECT_EQ(put.status, 409);
  EXPECT_EQ(put.reason(), "Conflict");
  EXPECT_THAT(put.message(),
              MatchesRegex("Operation cannot be fulfilled on configmaps \"a\": .*"
                           "Precondition failed: UID in precondition: other, UID in object meta: " +
                           made_.str("/metadata/uid")));
}

TEST_F(UpdateTest, WhatChangesNothingKeepsTheVersion) {
  const Answer put = Put(Object(), made_.body);

  EXPECT_EQ(put.status, 200);
  EXPECT_EQ(put.version(), made_.version());
}

TEST_F(UpdateTest, WhatChangesNothingTellsNoWatch) {
  const auto watch =
      StartWatch(Path("configmaps") + "?watch=true&resourceVersion=" + made_.version());
  Put(Object(), made_.body);
  Post(Path("configmaps"), AConfigMap("next"));

  EXPECT_EQ(watch->NextChange().at("object").at("metadata").at("name"), "next");
}

TEST_F(UpdateTest, WithoutANameItIsABadRequest) {
  const Answer put = Put(Object(), json::object());

  EXPECT_EQ(put.status, 400);
  EXPECT_EQ(put.reason(), "BadRequest");
  EXPECT_EQ(put.message(),
            "the name of the object (a based on URL) was undeterminable: name must be provided");
}

TEST_F(UpdateTest, TheNameInTheBodyMustBeThatOfThePath) {
  const Answer put = Put(Object(), AConfigMap("b"));

  EXPECT_EQ(put.status, 400);
  EXPECT_EQ(put.message(), "the name of the object (b) does not match the name on the URL (a)");
}

TEST_F(UpdateTest, TheNamespaceInTheBodyMustBeThatOfThePath) {
  const Answer put = Put(Object(), {{"metadata", {{"name", "a"}, {"namespace", "other"}}}});

  EXPECT_EQ(put.status, 400);
  EXPECT_EQ(put.message(),
            "the namespace of the provided object does not match the namespace sent on the "
            "request");
}

TEST_F(UpdateTest, WhatIsNotThereIsNotFoundAndNotCreated) {
  const Answer put = Put(Path("configmaps") + "/none", AConfigMap("none"));

  EXPECT_EQ(put.status, 404);
  EXPECT_EQ(put.reason(), "NotFound");
  EXPECT_EQ(put.message(), R"(configmaps "none" not found)");
  EXPECT_EQ(put.at("/details"), json({{"name", "none"}, {"kind", "configmaps"}}));
  EXPECT_EQ(Get(Path("configmaps") + "/none").status, 404);
}

TEST_F(UpdateTest, TheCreationTimestampStaysThatOfTheServer) {
  const Answer put =
      Put(Object(), {{"metadata", {{"name", "a"}, {"creationTimestamp", "2001-01-01T00:00:00Z"}}}});

  EXPECT_EQ(put.status, 200);
  EXPECT_EQ(put.str("/metadata/creationTimestamp"), made_.str("/metadata/creationTimestamp"));
}

TEST_F(UpdateTest, AGenerateNameMayBeAddedLater) {
  const Answer put = Put(Object(), {{"metadata", {{"name", "a"}, {"generateName", "b-"}}}});

  EXPECT_EQ(put.status, 200);
  EXPECT_EQ(put.str("/metadata/generateName"), "b-");
}

TEST_F(UpdateTest, WhatTheBodyLeavesOutOfLabelsIsGone) {
  json object = made_.body;
  object["metadata"]["labels"] = {{"a", "1"}, {"b", "2"}};
  Put(Object(), object);
  object = Get(Object()).body;
  object["metadata"]["labels"].erase("a");

  EXPECT_EQ(Put(Object(), object).at("/metadata/labels"), json({{"b", "2"}}));
}

TEST_F(UpdateTest, ABadLabelIsInvalid) {
  const Answer put = Put(Object(), {{"metadata", {{"name", "a"}, {"labels", {{"a", "-v"}}}}}});

  EXPECT_EQ(put.status, 422);
  EXPECT_EQ(put.str("/details/causes/0/field"), "metadata.labels");
  EXPECT_EQ(Get(Object()).body, made_.body);
}

struct Immutable {
  std::string test{};
  json metadata{};
  std::string message{};

  friend void PrintTo(const Immutable& immutable, std::ostream* out) { *out << immutable.metadata; }
};

class ImmutableTest : public UpdateTest, public ::testing::WithParamInterface<Immutable> {};

TEST_P(ImmutableTest, IsInvalid) {
  const Answer patched = MergePatch(Object(), {{"metadata", GetParam().metadata}});

  EXPECT_EQ(patched.status, 422);
  EXPECT_EQ(patched.reason(), "Invalid");
  EXPECT_EQ(patched.message(), "ConfigMap \"a\" is invalid: metadata." + GetParam().message);
  EXPECT_EQ(Get(Object()).body, made_.body);
}

const Immutable all_immutable[] = {
    {"AnotherUidInAPatch", {{"uid", "x"}}, "uid: Invalid value: \"x\": field is immutable"},
    {"ADeletionTimestamp",
     {{"deletionTimestamp", "2001-01-01T00:00:00Z"}},
     "deletionTimestamp: Invalid value: \"2001-01-01T00:00:00Z\": field is immutable"},
    {"AGracePeriod",
     {{"deletionGracePeriodSeconds", 3}},
     "deletionGracePeriodSeconds: Invalid value: 3: field is immutable"},
};
INSTANTIATE_TEST_SUITE_P(, ImmutableTest, ::testing::ValuesIn(all_immutable),
                         [](const auto& immutable) { return immutable.param.test; });

class GenerationTest : public ConformanceTest {
 protected:
  GenerationTest() { deployment_ = Post(Path("apps/v1", "deployments"), ADeployment("a")).body; }

  json Generation() const { return deployment_["metadata"]["generation"]; }
  void Update() { deployment_ = Put(Path("apps/v1", "deployments") + "/a", deployment_).body; }

  json deployment_;
};

TEST_F(GenerationTest, ANewDeploymentHasOne) { EXPECT_EQ(Generation(), 1); }

TEST_F(GenerationTest, AChangeOfTheSpecRaisesIt) {
  deployment_["spec"]["replicas"] = 3;
  Update();

  EXPECT_EQ(Generation(), 2);
}

TEST_F(GenerationTest, ALabelDoesNotRaiseIt) {
  deployment_["metadata"]["labels"] = {{"a", "b"}};
  Update();

  EXPECT_EQ(Generation(), 1);
}

// Of all the kinds, this is so for Deployments alone.
TEST_F(GenerationTest, AnAnnotationOfADeploymentRaisesIt) {
  deployment_["metadata"]["annotations"] = {{"a", "b"}};
  Update();

  EXPECT_EQ(Generation(), 2);
}

TEST_F(GenerationTest, ADefaultSpelledOutDoesNotRaiseIt) {
  deployment_["spec"]["minReadySeconds"] = 0;
  Update();

  EXPECT_EQ(Generation(), 1);
}

TEST_F(GenerationTest, WhatTheClientSendsIsPassedOver) {
  deployment_["metadata"]["generation"] = 77;
  Update();

  EXPECT_EQ(Generation(), 1);
}

TEST_F(GenerationTest, WhatTheClientSendsInACreateIsPassedOver) {
  json other = ADeployment("b");
  other["metadata"]["generation"] = 77;

  EXPECT_EQ(Post(Path("apps/v1", "deployments"), other).at("/metadata/generation"), 1);
}

TEST_F(GenerationTest, AConfigMapHasNone) {
  const Answer made = Post(Path("configmaps"), AConfigMap("a"));

  EXPECT_EQ(made.status, 201);
  EXPECT_EQ(made.at("/metadata/generation"), nullptr);
}

}  // namespace
}  // namespace kopp::conformance
