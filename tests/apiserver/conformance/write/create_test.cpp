#include "conformance.hpp"

namespace kopp::conformance {
namespace {

using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::MatchesRegex;

class CreateTest : public ConformanceTest {};

TEST_F(CreateTest, CreateReturnsTheStoredObject) {
  const JsonResponse created = Post(Path("configmaps"), MakeConfigMap("a"));

  EXPECT_EQ(created.status, 201);
  EXPECT_EQ(created.body, Get(Path("configmaps") + "/a").body);
}

TEST_F(CreateTest, ServerSetsUidCreationTimestampResourceVersionAndNamespace) {
  const JsonResponse created = Post(Path("configmaps"), MakeConfigMap("a"));

  EXPECT_THAT(created.str("/metadata/uid"),
              MatchesRegex("[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}"));
  EXPECT_THAT(created.str("/metadata/creationTimestamp"),
              MatchesRegex("[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z"));
  EXPECT_THAT(created.resource_version(), MatchesRegex("[1-9][0-9]*"));
  EXPECT_EQ(created.str("/metadata/namespace"), ns());
  EXPECT_EQ(created.str("/kind"), "ConfigMap");
  EXPECT_EQ(created.str("/apiVersion"), "v1");
}

TEST_F(CreateTest, ServerManagedMetadataInTheBodyIsIgnored) {
  const std::string client_timestamp = "2001-01-01T00:00:00Z";
  const JsonResponse created =
      Post(Path("configmaps"), {{"metadata",
                                 {{"name", "a"},
                                  {"uid", "mine"},
                                  {"creationTimestamp", client_timestamp},
                                  {"deletionTimestamp", client_timestamp},
                                  {"deletionGracePeriodSeconds", 4},
                                  {"selfLink", "/mine"},
                                  {"managedFields", json::array({{{"manager", "mine"}}})}}}});

  EXPECT_EQ(created.status, 201);
  EXPECT_NE(created.str("/metadata/uid"), "mine");
  EXPECT_NE(created.str("/metadata/creationTimestamp"), client_timestamp);
  EXPECT_EQ(created.at("/metadata/deletionTimestamp"), nullptr);
  EXPECT_EQ(created.at("/metadata/deletionGracePeriodSeconds"), nullptr);
  EXPECT_EQ(created.at("/metadata/selfLink"), nullptr);
  EXPECT_EQ(created.at("/metadata/managedFields"), nullptr);
}

TEST_F(CreateTest, CreateWithAResourceVersionReturns500WithoutAReason) {
  const JsonResponse response =
      Post(Path("configmaps"), {{"metadata", {{"name", "a"}, {"resourceVersion", "5"}}}});

  EXPECT_EQ(response.body,
            json({{"kind", "Status"},
                  {"apiVersion", "v1"},
                  {"metadata", json::object()},
                  {"status", "Failure"},
                  {"message", "resourceVersion should not be set on objects to be created"},
                  {"code", 500}}));
  EXPECT_EQ(response.status, 500);
}

TEST_F(CreateTest, AResourceVersionThatIsNoNumberIsIgnored) {
  const JsonResponse created =
      Post(Path("configmaps"), {{"metadata", {{"name", "a"}, {"resourceVersion", "x"}}}});

  EXPECT_EQ(created.status, 201);
  EXPECT_NE(created.resource_version(), "x");
}

TEST_F(CreateTest, ExistingNameIsRejectedWithAlreadyExists) {
  Post(Path("configmaps"), MakeConfigMap("a"));
  const JsonResponse second = Post(Path("configmaps"), MakeConfigMap("a"));

  EXPECT_EQ(second.status, 409);
  EXPECT_EQ(second.reason(), "AlreadyExists");
  EXPECT_EQ(second.message(), R"(configmaps "a" already exists)");
  EXPECT_EQ(second.at("/details"), json({{"name", "a"}, {"kind", "configmaps"}}));
}

TEST_F(CreateTest, AlreadyExistsErrorContainsTheApiGroupOfAResourceOutsideTheCoreGroup) {
  Post(Path("apps/v1", "deployments"), MakeDeployment("a"));
  const JsonResponse second = Post(Path("apps/v1", "deployments"), MakeDeployment("a"));

  EXPECT_EQ(second.message(), R"(deployments.apps "a" already exists)");
  EXPECT_EQ(second.at("/details"),
            json({{"name", "a"}, {"group", "apps"}, {"kind", "deployments"}}));
}

TEST_F(CreateTest, SameNameCanBeUsedInTwoNamespaces) {
  const std::string other_namespace = UniqueName("conformance");
  Post("/api/v1/namespaces", {{"metadata", {{"name", other_namespace}}}});

  const JsonResponse in_first = Post(Path("configmaps"), MakeConfigMap("a"));
  const JsonResponse in_second =
      Post("/api/v1/namespaces/" + other_namespace + "/configmaps", MakeConfigMap("a"));

  EXPECT_EQ(in_second.status, 201);
  EXPECT_EQ(in_second.str("/metadata/namespace"), other_namespace);
  EXPECT_EQ(Get(Path("configmaps") + "/a").body, in_first.body);
}

TEST_F(CreateTest, GenerateNameAppendsFiveRandomCharacters) {
  const JsonResponse created =
      Post(Path("configmaps"), {{"metadata", {{"generateName", "some-"}}}});

  EXPECT_EQ(created.status, 201);
  EXPECT_THAT(created.name(), MatchesRegex("some-[bcdfghjklmnpqrstvwxz2456789]{5}"));
  EXPECT_EQ(created.str("/metadata/generateName"), "some-");
}

TEST_F(CreateTest, GeneratedNameIsTruncatedTo63Characters) {
  const JsonResponse created =
      Post(Path("configmaps"), {{"metadata", {{"generateName", std::string(70, 'a')}}}});

  EXPECT_THAT(created.name(), MatchesRegex("a{58}[bcdfghjklmnpqrstvwxz2456789]{5}"));
}

TEST_F(CreateTest, CreateWithAListItemWithoutItsMergeKeyRecordsNoManagedFields) {
  json service_account = MakeObjectWithName("a");
  service_account["secrets"] = {{{"namespace", "x"}}};

  const JsonResponse created = Post(Path("serviceaccounts"), service_account);

  EXPECT_EQ(created.status, 201);
  EXPECT_EQ(created.at("/metadata/managedFields"), nullptr);
}

TEST_F(CreateTest, IntegerOutOfRangeIsABadRequest) {
  json event = MakeObjectWithName("a");
  event["involvedObject"] = {{"namespace", ns()}};
  event["count"] = 18446744073709551615U;

  const JsonResponse response = Post(Path("events"), event);

  EXPECT_EQ(response.status, 400);
  EXPECT_THAT(response.message(),
              EndsWith("json: cannot unmarshal number 18446744073709551615 into Go struct field "
                       "Event.count of type int32"));
}

/// A malformed resource quantity, and the end of the error message.
struct InvalidQuantity {
  std::string test_name{};
  std::string quantity{};
  std::string message_suffix{};

  friend void PrintTo(const InvalidQuantity& invalid, std::ostream* out) {
    *out << invalid.quantity;
  }
};

class InvalidQuantityTest : public ConformanceTest,
                            public ::testing::WithParamInterface<InvalidQuantity> {};

TEST_P(InvalidQuantityTest, InvalidQuantityIsABadRequest) {
  json quota = MakeObjectWithName("a");
  quota["spec"]["hard"]["cpu"] = GetParam().quantity;

  const JsonResponse response = Post(Path("resourcequotas"), quota);

  EXPECT_EQ(response.status, 400);
  EXPECT_THAT(response.message(), EndsWith(GetParam().message_suffix));
}

const std::string quantity_syntax_error =
    "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";
const std::string quantity_suffix_error = "unable to parse quantity's suffix";

const InvalidQuantity invalid_quantities[] = {
    {"UnknownLetters", "1Xi", quantity_syntax_error},
    {"UnknownSuffix", "1eKM", quantity_suffix_error},
    {"ExponentWithoutDigits", "1e", quantity_suffix_error},
    {"SuffixAfterAnExponent", "1e3k", quantity_syntax_error},
    {"TwoDecimalPoints", "1.2.3", quantity_syntax_error},
    {"EmptyString", "", quantity_syntax_error},
    {"DigitsAfterASuffix", "1Ki2", quantity_suffix_error},
};
INSTANTIATE_TEST_SUITE_P(, InvalidQuantityTest, ::testing::ValuesIn(invalid_quantities),
                         [](const auto& quantity) { return quantity.param.test_name; });

TEST_F(CreateTest, QuantityWithoutDigitsIsZero) {
  json quota = MakeObjectWithName("a");
  quota["spec"]["hard"] = {{"cpu", "-"}, {"memory", "Gi"}};

  EXPECT_EQ(Post(Path("resourcequotas"), quota).at("/spec/hard"),
            json({{"cpu", "0"}, {"memory", "0"}}));
}

TEST_F(CreateTest, AmountsOfResourcesAreRoundedUpToThousandthsInCanonicalForm) {
  const std::pair<const char*, const char*> amounts[] = {
      {"1u", "1m"},
      {"1.0001", "1001m"},
      {"1e-9", "1e-3"},
      {"100E", "100E"},
      {"1e30", "1e30"},
      {"12345678901234567890.00001", "12345678901234567890001m"},
      {"1.1Gi", "1181116006400m"},
      {"8Ei", "9223372036854775807"},
      {"1023Ki", "1023Ki"},
      {"0.1Ki", "102400m"},
      {"0.0001Ki", "103m"},
      {"0.5Ki", "512"},
      {"1.5Ei", "1536Pi"},
  };
  for (const auto& [sent, returned] : amounts) {
    SCOPED_TRACE(sent);
    json quota = MakeObjectWithName("a");
    quota["spec"]["hard"] = {{"memory", sent}};
    EXPECT_EQ(Post(Path("resourcequotas") + "?dryRun=All", quota).str("/spec/hard/memory"),
              returned);
  }
}

TEST_F(CreateTest, QuantityThatIsNoAmountOfAResourceKeepsBillionths) {
  json pods = MakeObjectWithName("a");
  pods["template"]["spec"] = {
      {"containers", {{{"name", "a"}, {"image", "a"}}}},
      {"volumes", {{{"name", "a"}, {"emptyDir", {{"sizeLimit", "1.12345678901Ki"}}}}}}};

  EXPECT_EQ(Post(Path("podtemplates"), pods).str("/template/spec/volumes/0/emptyDir/sizeLimit"),
            "1150419751947n");
}

TEST_F(CreateTest, EmptyStringOfAPointerIsAValue) {
  json claim = MakeObjectWithName("a");
  claim["spec"] = R"({"accessModes": ["ReadWriteOnce"], "storageClassName": "",
                      "resources": {"requests": {"storage": "1Gi"}}})"_json;
  EXPECT_EQ(Post(Path("persistentvolumeclaims"), claim).at("/spec/storageClassName"), "");

  json budget = MakeObjectWithName("a");
  budget["spec"]["maxUnavailable"] = "";
  EXPECT_THAT(Post(Path("policy/v1", "poddisruptionbudgets"), budget).message(),
              HasSubstr(R"(spec.maxUnavailable: Invalid value: "": a valid percent string)"));
}

TEST_F(CreateTest, NumberOrStringHas32Bits) {
  json budget = MakeObjectWithName("a");
  budget["spec"]["maxUnavailable"] = 2147483648;
  EXPECT_THAT(Post(Path("policy/v1", "poddisruptionbudgets"), budget).message(),
              EndsWith("json: cannot unmarshal number 2147483648 into Go struct field "
                       "PodDisruptionBudgetSpec.spec.maxUnavailable of type int32"));
}

TEST_F(CreateTest, NameOfAnUnknownFieldIsEscapedInTheWarning) {
  const JsonResponse created =
      Post(Path("configmaps"), {{"metadata", {{"name", "a"}}}, {"a\nb\x01\u202e\"\u00e4", "x"}});

  EXPECT_THAT(created.warnings, ElementsAre("unknown field \"a\\nb\\x01\\u202e\\\"\u00e4\""));
}

TEST_F(CreateTest, NameTakesPrecedenceOverGenerateName) {
  const JsonResponse created =
      Post(Path("configmaps"), {{"metadata", {{"name", "a"}, {"generateName", "some-"}}}});

  EXPECT_EQ(created.name(), "a");
  EXPECT_EQ(created.str("/metadata/generateName"), "some-");
}

TEST_F(CreateTest, MissingNameIsInvalid) {
  const JsonResponse response = Post(Path("configmaps"), json::object());

  EXPECT_EQ(response.status, 422);
  EXPECT_EQ(response.reason(), "Invalid");
  EXPECT_EQ(response.message(), R"(ConfigMap "" is invalid: metadata.name: Required value: )"
                                "name or generateName is required");
  EXPECT_EQ(response.at("/details/kind"), "ConfigMap");
  EXPECT_EQ(response.at("/details/name"), nullptr);
  EXPECT_THAT(Causes(response),
              ElementsAre("FieldValueRequired metadata.name: Required value: name or "
                          "generateName is required"));
}

TEST_F(CreateTest, NamespaceInTheBodyThatDiffersFromThePathIsABadRequest) {
  const JsonResponse response =
      Post(Path("configmaps"), {{"metadata", {{"name", "a"}, {"namespace", "other"}}}});

  EXPECT_EQ(response.status, 400);
  EXPECT_EQ(response.reason(), "BadRequest");
  EXPECT_EQ(response.message(),
            "the namespace of the provided object does not match the namespace sent on the "
            "request");
}

TEST_F(CreateTest, NamespaceOfAClusterScopedObjectIsDropped) {
  const JsonResponse created =
      Post("/api/v1/namespaces",
           {{"metadata", {{"name", UniqueName("conformance")}, {"namespace", "x"}}}});

  EXPECT_EQ(created.status, 201);
  EXPECT_EQ(created.at("/metadata/namespace"), nullptr);
}

TEST_F(CreateTest, CreateInAMissingNamespaceReturnsNotFound) {
  const std::string missing = UniqueName("none");
  const JsonResponse response =
      Post("/api/v1/namespaces/" + missing + "/configmaps", MakeConfigMap("a"));

  EXPECT_EQ(response.status, 404);
  EXPECT_EQ(response.reason(), "NotFound");
  EXPECT_EQ(response.message(), "namespaces \"" + missing + "\" not found");
  EXPECT_EQ(response.at("/details"), json({{"name", missing}, {"kind", "namespaces"}}));
}

TEST_F(CreateTest, EmptyMapsEmptyListsAndNullsAreNotStored) {
  const JsonResponse created = Post(Path("configmaps"), {{"metadata",
                                                          {{"name", "a"},
                                                           {"labels", json::object()},
                                                           {"annotations", nullptr},
                                                           {"finalizers", json::array()}}},
                                                         {"data", json::object()},
                                                         {"immutable", nullptr}});

  EXPECT_EQ(created.status, 201);
  EXPECT_EQ(created.at("/metadata/labels"), nullptr);
  EXPECT_FALSE(created.body["metadata"].contains("annotations"));
  EXPECT_EQ(created.at("/metadata/finalizers"), nullptr);
  EXPECT_EQ(created.at("/data"), nullptr);
  EXPECT_FALSE(created.body.contains("immutable"));
}

TEST_F(CreateTest, RecreatedObjectHasANewUid) {
  const JsonResponse before = Post(Path("configmaps"), MakeConfigMap("a"));
  Delete(Path("configmaps") + "/a");
  const JsonResponse after = Post(Path("configmaps"), MakeConfigMap("a"));

  EXPECT_EQ(after.status, 201);
  EXPECT_NE(after.str("/metadata/uid"), before.str("/metadata/uid"));
}

TEST_F(CreateTest, ResourceVersionsIncreaseAcrossKinds) {
  const JsonResponse first = Post(Path("configmaps"), MakeConfigMap("a"));
  const JsonResponse second = Post(Path("secrets"), MakeObjectWithName("a"));
  const JsonResponse third = Post(Path("configmaps"), MakeConfigMap("b"));

  EXPECT_LT(std::stoll(first.resource_version()), std::stoll(second.resource_version()));
  EXPECT_LT(std::stoll(second.resource_version()), std::stoll(third.resource_version()));
}

}  // namespace
}  // namespace kopp::conformance
