#include "conformance.hpp"

namespace kopp::conformance {
namespace {

using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::MatchesRegex;

class CreateTest : public ConformanceTest {};

TEST_F(CreateTest, TheAnswerIsTheObjectAsItIsKept) {
  const Answer made = Post(Path("configmaps"), AConfigMap("a"));

  EXPECT_EQ(made.status, 201);
  EXPECT_EQ(made.body, Get(Path("configmaps") + "/a").body);
}

TEST_F(CreateTest, TheServerSetsUidTimestampVersionAndNamespace) {
  const Answer made = Post(Path("configmaps"), AConfigMap("a"));

  EXPECT_THAT(made.str("/metadata/uid"),
              MatchesRegex("[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}"));
  EXPECT_THAT(made.str("/metadata/creationTimestamp"),
              MatchesRegex("[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z"));
  EXPECT_THAT(made.version(), MatchesRegex("[1-9][0-9]*"));
  EXPECT_EQ(made.str("/metadata/namespace"), ns());
  EXPECT_EQ(made.str("/kind"), "ConfigMap");
  EXPECT_EQ(made.str("/apiVersion"), "v1");
}

TEST_F(CreateTest, WhatAClientSendsOfTheServersFieldsIsPassedOver) {
  const std::string then = "2001-01-01T00:00:00Z";
  const Answer made =
      Post(Path("configmaps"), {{"metadata",
                                 {{"name", "a"},
                                  {"uid", "mine"},
                                  {"creationTimestamp", then},
                                  {"deletionTimestamp", then},
                                  {"deletionGracePeriodSeconds", 4},
                                  {"selfLink", "/mine"},
                                  {"managedFields", json::array({{{"manager", "mine"}}})}}}});

  EXPECT_EQ(made.status, 201);
  EXPECT_NE(made.str("/metadata/uid"), "mine");
  EXPECT_NE(made.str("/metadata/creationTimestamp"), then);
  EXPECT_EQ(made.at("/metadata/deletionTimestamp"), nullptr);
  EXPECT_EQ(made.at("/metadata/deletionGracePeriodSeconds"), nullptr);
  EXPECT_EQ(made.at("/metadata/selfLink"), nullptr);
  EXPECT_EQ(made.at("/metadata/managedFields"), nullptr);
}

TEST_F(CreateTest, AVersionInTheBodyIsAnErrorWithoutAReason) {
  const Answer made =
      Post(Path("configmaps"), {{"metadata", {{"name", "a"}, {"resourceVersion", "5"}}}});

  EXPECT_EQ(made.body,
            json({{"kind", "Status"},
                  {"apiVersion", "v1"},
                  {"metadata", json::object()},
                  {"status", "Failure"},
                  {"message", "resourceVersion should not be set on objects to be created"},
                  {"code", 500}}));
  EXPECT_EQ(made.status, 500);
}

TEST_F(CreateTest, ANameThatIsTakenIsAConflict) {
  Post(Path("configmaps"), AConfigMap("a"));
  const Answer again = Post(Path("configmaps"), AConfigMap("a"));

  EXPECT_EQ(again.status, 409);
  EXPECT_EQ(again.reason(), "AlreadyExists");
  EXPECT_EQ(again.message(), R"(configmaps "a" already exists)");
  EXPECT_EQ(again.at("/details"), json({{"name", "a"}, {"kind", "configmaps"}}));
}

TEST_F(CreateTest, TheGroupIsNamedInAConflict) {
  Post(Path("apps/v1", "deployments"), ADeployment("a"));
  const Answer again = Post(Path("apps/v1", "deployments"), ADeployment("a"));

  EXPECT_EQ(again.message(), R"(deployments.apps "a" already exists)");
  EXPECT_EQ(again.at("/details"),
            json({{"name", "a"}, {"group", "apps"}, {"kind", "deployments"}}));
}

TEST_F(CreateTest, TwoNamespacesMayHoldTheSameName) {
  const std::string other = Unique("conformance");
  Post("/api/v1/namespaces", {{"metadata", {{"name", other}}}});

  const Answer here = Post(Path("configmaps"), AConfigMap("a"));
  const Answer there = Post("/api/v1/namespaces/" + other + "/configmaps", AConfigMap("a"));

  EXPECT_EQ(there.status, 201);
  EXPECT_EQ(there.str("/metadata/namespace"), other);
  EXPECT_EQ(Get(Path("configmaps") + "/a").body, here.body);
}

TEST_F(CreateTest, AGeneratedNameIsThePrefixAndFiveCharacters) {
  const Answer made = Post(Path("configmaps"), {{"metadata", {{"generateName", "some-"}}}});

  EXPECT_EQ(made.status, 201);
  EXPECT_THAT(made.name(), MatchesRegex("some-[bcdfghjklmnpqrstvwxz2456789]{5}"));
  EXPECT_EQ(made.str("/metadata/generateName"), "some-");
}

TEST_F(CreateTest, AGeneratedNameHas63CharactersAtMost) {
  const Answer made =
      Post(Path("configmaps"), {{"metadata", {{"generateName", std::string(70, 'a')}}}});

  EXPECT_THAT(made.name(), MatchesRegex("a{58}[bcdfghjklmnpqrstvwxz2456789]{5}"));
}

TEST_F(CreateTest, OfAListsItemWithoutItsKeyNobodyOwnsAnything) {
  json account = AConfigMap("a");
  account["secrets"] = {{{"namespace", "x"}}};

  const Answer made = Post(Path("serviceaccounts"), account);

  EXPECT_EQ(made.status, 201);
  EXPECT_EQ(made.at("/metadata/managedFields"), nullptr);
}

TEST_F(CreateTest, AnIntegerThatIsTooLargeIsRefused) {
  json event = AConfigMap("a");
  event["involvedObject"] = {{"namespace", ns()}};
  event["count"] = 18446744073709551615U;

  const Answer made = Post(Path("events"), event);

  EXPECT_EQ(made.status, 400);
  EXPECT_THAT(made.message(),
              EndsWith("json: cannot unmarshal number 18446744073709551615 into Go struct field "
                       "Event.count of type int32"));
}

struct NoQuantity {
  std::string test{};
  std::string text{};
  std::string why{};

  friend void PrintTo(const NoQuantity& none, std::ostream* out) { *out << none.text; }
};

class NoQuantityTest : public ConformanceTest, public ::testing::WithParamInterface<NoQuantity> {};

TEST_P(NoQuantityTest, IsRefused) {
  json quota = AConfigMap("a");
  quota["spec"]["hard"]["cpu"] = GetParam().text;

  const Answer made = Post(Path("resourcequotas"), quota);

  EXPECT_EQ(made.status, 400);
  EXPECT_THAT(made.message(), EndsWith(GetParam().why));
}

const std::string no_quantity =
    "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";
const std::string no_suffix = "unable to parse quantity's suffix";

const NoQuantity no_quantities[] = {
    {"UnknownLetters", "1Xi", no_quantity},     {"UnknownSuffix", "1eKM", no_suffix},
    {"ExponentWithoutDigits", "1e", no_suffix}, {"SuffixBehindAnExponent", "1e3k", no_quantity},
    {"TwoPoints", "1.2.3", no_quantity},        {"Nothing", "", no_quantity},
    {"DigitsBehindASuffix", "1Ki2", no_suffix},
};
INSTANTIATE_TEST_SUITE_P(, NoQuantityTest, ::testing::ValuesIn(no_quantities),
                         [](const auto& each) { return each.param.test; });

TEST_F(CreateTest, AQuantityWithoutDigitsIsNone) {
  json quota = AConfigMap("a");
  quota["spec"]["hard"] = {{"cpu", "-"}, {"memory", "Gi"}};

  EXPECT_EQ(Post(Path("resourcequotas"), quota).at("/spec/hard"),
            json({{"cpu", "0"}, {"memory", "0"}}));
}

TEST_F(CreateTest, AGivenNameWinsOverGenerateName) {
  const Answer made =
      Post(Path("configmaps"), {{"metadata", {{"name", "a"}, {"generateName", "some-"}}}});

  EXPECT_EQ(made.name(), "a");
  EXPECT_EQ(made.str("/metadata/generateName"), "some-");
}

TEST_F(CreateTest, WithoutANameItIsInvalid) {
  const Answer made = Post(Path("configmaps"), json::object());

  EXPECT_EQ(made.status, 422);
  EXPECT_EQ(made.reason(), "Invalid");
  EXPECT_EQ(made.message(), R"(ConfigMap "" is invalid: metadata.name: Required value: )"
                            "name or generateName is required");
  EXPECT_EQ(made.at("/details/kind"), "ConfigMap");
  EXPECT_EQ(made.at("/details/name"), nullptr);
  EXPECT_THAT(Causes(made), ElementsAre("FieldValueRequired metadata.name: Required value: name or "
                                        "generateName is required"));
}

TEST_F(CreateTest, TheNamespaceOfTheBodyMustBeThatOfThePath) {
  const Answer made =
      Post(Path("configmaps"), {{"metadata", {{"name", "a"}, {"namespace", "other"}}}});

  EXPECT_EQ(made.status, 400);
  EXPECT_EQ(made.reason(), "BadRequest");
  EXPECT_EQ(made.message(),
            "the namespace of the provided object does not match the namespace sent on the "
            "request");
}

TEST_F(CreateTest, TheNamespaceOfAClusterScopedObjectIsDropped) {
  const Answer made = Post("/api/v1/namespaces",
                           {{"metadata", {{"name", Unique("conformance")}, {"namespace", "x"}}}});

  EXPECT_EQ(made.status, 201);
  EXPECT_EQ(made.at("/metadata/namespace"), nullptr);
}

TEST_F(CreateTest, ANamespaceThatIsNotThereIsNotFound) {
  const std::string none = Unique("none");
  const Answer made = Post("/api/v1/namespaces/" + none + "/configmaps", AConfigMap("a"));

  EXPECT_EQ(made.status, 404);
  EXPECT_EQ(made.reason(), "NotFound");
  EXPECT_EQ(made.message(), "namespaces \"" + none + "\" not found");
  EXPECT_EQ(made.at("/details"), json({{"name", none}, {"kind", "namespaces"}}));
}

TEST_F(CreateTest, EmptyMapsAndNullsAreNotKept) {
  const Answer made = Post(Path("configmaps"), {{"metadata",
                                                 {{"name", "a"},
                                                  {"labels", json::object()},
                                                  {"annotations", nullptr},
                                                  {"finalizers", json::array()}}},
                                                {"data", json::object()},
                                                {"immutable", nullptr}});

  EXPECT_EQ(made.status, 201);
  EXPECT_EQ(made.at("/metadata/labels"), nullptr);
  EXPECT_FALSE(made.body["metadata"].contains("annotations"));
  EXPECT_EQ(made.at("/metadata/finalizers"), nullptr);
  EXPECT_EQ(made.at("/data"), nullptr);
  EXPECT_FALSE(made.body.contains("immutable"));
}

TEST_F(CreateTest, ANameUsedAgainIsAnotherObject) {
  const Answer before = Post(Path("configmaps"), AConfigMap("a"));
  Delete(Path("configmaps") + "/a");
  const Answer after = Post(Path("configmaps"), AConfigMap("a"));

  EXPECT_EQ(after.status, 201);
  EXPECT_NE(after.str("/metadata/uid"), before.str("/metadata/uid"));
}

TEST_F(CreateTest, VersionsGrowAcrossKinds) {
  const Answer first = Post(Path("configmaps"), AConfigMap("a"));
  const Answer second = Post(Path("secrets"), AConfigMap("a"));
  const Answer third = Post(Path("configmaps"), AConfigMap("b"));

  EXPECT_LT(std::stoll(first.version()), std::stoll(second.version()));
  EXPECT_LT(std::stoll(second.version()), std::stoll(third.version()));
}

}  // namespace
}  // namespace kopp::conformance
