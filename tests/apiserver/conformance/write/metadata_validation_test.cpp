#include "conformance.hpp"
#include "validation_messages.hpp"

namespace kopp::conformance {
namespace {

using ::testing::ElementsAre;
using ::testing::ElementsAreArray;

/// A name that a create accepts or rejects.
struct ObjectName {
  std::string test_name{};
  std::string group_version{};  ///< empty for namespaces, which are cluster-scoped
  std::string plural{};
  std::string name{};
  std::string explanation{};  ///< empty if the server accepts the name

  friend void PrintTo(const ObjectName& test_case, std::ostream* out) { *out << test_case.name; }
};

class ObjectNameTest : public ConformanceTest, public ::testing::WithParamInterface<ObjectName> {
 protected:
  JsonResponse Create(const ObjectName& name) {
    std::string path = "/api/v1/namespaces";
    if (name.group_version == "v1") path = Path(name.plural);
    if (name.group_version.size() > 2) path = Path(name.group_version, name.plural);
    json object = MakeObjectWithName(name.name);
    if (name.plural == "services") {
      object["spec"] = {{"clusterIP", "None"}, {"ports", {{{"port", 80}}}}};
    }
    return Post(path, object);
  }
};

TEST_P(ObjectNameTest, NameIsAcceptedOrRejectedWithAnExplanation) {
  const ObjectName& name = GetParam();
  const JsonResponse created = Create(name);

  if (name.explanation.empty()) {
    EXPECT_EQ(created.status, 201) << created.text;
    EXPECT_EQ(created.name(), name.name);
  } else {
    EXPECT_EQ(created.status, 422);
    EXPECT_EQ(created.at("/details/name"), name.name);
    EXPECT_THAT(Causes(created), ElementsAre("FieldValueInvalid metadata.name: Invalid value: \"" +
                                             name.name + "\": " + name.explanation));
  }
}

const ObjectName object_names[] = {
    {"ConfigMapWithDots", "v1", "configmaps", "ok.name.1", ""},
    {"ConfigMapOf253Characters", "v1", "configmaps", std::string(253, 'a'), ""},
    {"ConfigMapOf254Characters", "v1", "configmaps", std::string(254, 'a'),
     "must be no more than 253 characters"},
    {"ConfigMapInUpperCase", "v1", "configmaps", "UPPER", dns1123_subdomain_error},
    {"ConfigMapWithUnderscore", "v1", "configmaps", "a_b", dns1123_subdomain_error},
    {"ConfigMapStartingWithADash", "v1", "configmaps", "-a", dns1123_subdomain_error},
    {"ConfigMapEndingWithADash", "v1", "configmaps", "a-", dns1123_subdomain_error},
    {"ConfigMapWithTwoAdjacentDots", "v1", "configmaps", "a..b", dns1123_subdomain_error},
    {"ConfigMapWithASlash", "v1", "configmaps", "a/b", dns1123_subdomain_error},
    {"ServiceStartingWithADigit", "v1", "services", "1a", dns1035_label_error},
    {"ServiceWithADot", "v1", "services", "a.b", dns1035_label_error},
    {"ServiceOf64Characters", "v1", "services", std::string(64, 'a'),
     "must be no more than 63 characters"},
    {"NamespaceWithADot", "", "namespaces", "a.b", "must not contain dots"},
    {"NamespaceInUpperCase", "", "namespaces", "UP", dns1123_label_error},
    {"RoleWithAColon", "rbac.authorization.k8s.io/v1", "roles", "system:x", ""},
    {"RoleWithASpace", "rbac.authorization.k8s.io/v1", "roles", "UPPER Case", ""},
    {"RoleWithASlash", "rbac.authorization.k8s.io/v1", "roles", "a/b", "may not contain '/'"},
    {"RoleWithAPercentSign", "rbac.authorization.k8s.io/v1", "roles", "a%b", "may not contain '%'"},
    {"RoleNamedDot", "rbac.authorization.k8s.io/v1", "roles", ".", "may not be '.'"},
    {"RoleNamedTwoDots", "rbac.authorization.k8s.io/v1", "roles", "..", "may not be '..'"},
};
INSTANTIATE_TEST_SUITE_P(, ObjectNameTest, ::testing::ValuesIn(object_names),
                         [](const auto& name) { return name.param.test_name; });

/// Metadata of a ConfigMap and the causes of its rejection.
struct Metadata {
  std::string test_name{};
  json metadata{};
  std::vector<std::string> causes{};  ///< empty if the server accepts it

  friend void PrintTo(const Metadata& tested, std::ostream* out) { *out << tested.metadata; }
};

class MetadataValidationTest : public ConformanceTest,
                               public ::testing::WithParamInterface<Metadata> {};

TEST_P(MetadataValidationTest, MetadataIsAcceptedOrRejectedWithItsCauses) {
  json object = MakeConfigMap("a");
  object["metadata"].update(GetParam().metadata);
  const JsonResponse response = Post(Path("configmaps"), object);

  EXPECT_EQ(response.status, GetParam().causes.empty() ? 201 : 422) << response.text;
  EXPECT_THAT(Causes(response), ElementsAreArray(GetParam().causes));
}

json WithLabel(const std::string& key, const std::string& value) {
  return {{"labels", {{key, value}}}};
}

std::string LabelCause(const std::string& value, const std::string& explanation) {
  return "FieldValueInvalid metadata.labels: Invalid value: \"" + value + "\": " + explanation;
}

json WithAnnotation(const std::string& key, const std::string& value) {
  return {{"annotations", {{key, value}}}};
}

json WithFinalizers(const std::vector<std::string>& finalizers) {
  return {{"finalizers", finalizers}};
}

json MakeOwnerReference(const json& extra_fields = json::object()) {
  json owner{{"apiVersion", "v1"}, {"kind", "ConfigMap"}, {"name", "o"}, {"uid", "u"}};
  owner.update(extra_fields);
  return owner;
}

const Metadata metadata_cases[] = {
    {"LabelWithAllKindsOfAllowedCharacters", WithLabel("A_b.c-d", "V.a_l-1"), {}},
    {"LabelWithAPrefix", WithLabel("example.com/b", "x"), {}},
    {"LabelWithAnEmptyValue", WithLabel("a", ""), {}},
    {"LabelWithoutAKey",
     WithLabel("", "x"),
     {LabelCause("", "name part must be non-empty"),
      LabelCause("", "name part " + qualified_name_error)}},
    {"LabelKeyStartingWithADash",
     WithLabel("-a", "x"),
     {LabelCause("-a", "name part " + qualified_name_error)}},
    {"LabelKeyWithTwoSlashes",
     WithLabel("a/b/c", "x"),
     {LabelCause("a/b/c", "a qualified name " + qualified_name_error +
                              " with an optional DNS subdomain prefix and '/' (e.g. "
                              "'example.com/MyName')")}},
    {"LabelWithAnEmptyPrefix",
     WithLabel("/b", "x"),
     {LabelCause("/b", "prefix part must be non-empty")}},
    {"LabelPrefixThatIsNotADomain",
     WithLabel("EX_x.io/b", "x"),
     {LabelCause("EX_x.io/b", "prefix part " + dns1123_subdomain_error)}},
    {"LabelKeyOf64Characters",
     WithLabel(std::string(64, 'a'), "x"),
     {LabelCause(std::string(64, 'a'), "name part must be no more than 63 characters")}},
    {"LabelValueOf64Characters",
     WithLabel("a", std::string(64, 'v')),
     {LabelCause(std::string(64, 'v'), "must be no more than 63 characters")}},
    {"LabelValueWithASpace", WithLabel("a", "v v"), {LabelCause("v v", label_value_error)}},
    {"LabelWithInvalidKeyAndValue",
     WithLabel("-a", "-v"),
     {LabelCause("-a", "name part " + qualified_name_error), LabelCause("-v", label_value_error)}},
    {"AnnotationWithAnyValue", WithAnnotation("a", "any thing \n ü"), {}},
    {"AnnotationWithAnUpperCasePrefix", WithAnnotation("EX.com/b", "x"), {}},
    {"AnnotationKeyStartingWithADash",
     WithAnnotation("-a", "x"),
     {"FieldValueInvalid metadata.annotations: Invalid value: \"-a\": name part " +
      qualified_name_error}},
    {"AnnotationsOf256KiB", WithAnnotation("a", std::string((256 << 10) - 1, 'v')), {}},
    {"AnnotationsOfMoreThan256KiB",
     WithAnnotation("a", std::string(256 << 10, 'v')),
     {"FieldValueTooLong metadata.annotations: Too long: may not be more than 262144 bytes"}},
    {"FinalizerWithADomain", WithFinalizers({"example.com/x"}), {}},
    {"FinalizerOfTheGarbageCollector", WithFinalizers({"foregroundDeletion"}), {}},
    {"FinalizerWithoutADomain",
     WithFinalizers({"example.com/x", "x"}),
     {"FieldValueInvalid metadata.finalizers[1]: Invalid value: \"x\": name is neither a standard "
      "finalizer name nor is it fully qualified"}},
    {"FinalizerWithAnInvalidDomain",
     WithFinalizers({"A.com/x"}),
     {"FieldValueInvalid metadata.finalizers: Invalid value: \"A.com/x\": prefix part " +
      dns1123_subdomain_error}},
    {"FinalizersOrphanAndForeground",
     WithFinalizers({"foregroundDeletion", "orphan"}),
     {"FieldValueInvalid metadata.finalizers: Invalid value: "
      "[\"foregroundDeletion\",\"orphan\"]: finalizer orphan and foregroundDeletion cannot be both "
      "set"}},
    {"OwnerWithAllFields",
     {{"ownerReferences",
       {MakeOwnerReference({{"controller", true}, {"blockOwnerDeletion", true}})}}},
     {}},
    {"OwnerWithoutFields",
     {{"ownerReferences", json::array({json::object()})}},
     {"FieldValueInvalid metadata.ownerReferences.apiVersion: Invalid value: \"\": version must "
      "not be empty",
      "FieldValueInvalid metadata.ownerReferences.kind: Invalid value: \"\": must not be empty",
      "FieldValueInvalid metadata.ownerReferences.name: Invalid value: \"\": must not be empty",
      "FieldValueInvalid metadata.ownerReferences.uid: Invalid value: \"\": must not be empty"}},
    {"TwoControllerOwners",
     {{"ownerReferences",
       {MakeOwnerReference({{"controller", true}}),
        MakeOwnerReference({{"uid", "v"}, {"controller", true}})}}},
     {"FieldValueInvalid metadata.ownerReferences: Invalid value: "
      R"([{"apiVersion":"v1","kind":"ConfigMap","name":"o","uid":"u","controller":true},)"
      R"({"apiVersion":"v1","kind":"ConfigMap","name":"o","uid":"v","controller":true}]: )"
      "Only one reference can have Controller set to true. Found \"true\" in references for "
      "ConfigMap/o and ConfigMap/o"}},
    {"OwnerWithThreePartsInItsVersion",
     {{"ownerReferences", {MakeOwnerReference({{"apiVersion", "a/b/c"}})}}},
     {"FieldValueInvalid metadata.ownerReferences.apiVersion: Invalid value: \"a/b/c\": version "
      "must "
      "not be empty"}},
    {"OwnerWithAGroupOnly",
     {{"ownerReferences", {MakeOwnerReference({{"apiVersion", "apps/"}})}}},
     {"FieldValueInvalid metadata.ownerReferences.apiVersion: Invalid value: \"apps/\": version "
      "must "
      "not be empty"}},
    {"GeneratedPrefixInUpperCase",
     {{"generateName", "AA-"}},
     {"FieldValueInvalid metadata.generateName: Invalid value: \"AA-\": " +
      dns1123_subdomain_error}},
    {"OwnerThatIsAnEvent",
     {{"ownerReferences", {MakeOwnerReference({{"kind", "Event"}})}}},
     {"FieldValueInvalid metadata.ownerReferences: Invalid value: "
      R"({"apiVersion":"v1","kind":"Event","name":"o","uid":"u"}: )"
      "/v1, Kind=Event is disallowed from being an owner"}},
};
INSTANTIATE_TEST_SUITE_P(, MetadataValidationTest, ::testing::ValuesIn(metadata_cases),
                         [](const auto& metadata) { return metadata.param.test_name; });

class ObjectMetadataTest : public ConformanceTest {};

TEST_F(ObjectMetadataTest, AllErrorsAreReportedInOneMessage) {
  const JsonResponse response =
      Post(Path("configmaps"),
           {{"metadata", {{"name", "-"}, {"labels", {{"a", "-v"}}}, {"finalizers", {"x"}}}},
            {"data", {{"a b", "c"}}}});

  EXPECT_EQ(response.message(),
            "ConfigMap \"-\" is invalid: [metadata.name: Invalid value: \"-\": " +
                dns1123_subdomain_error +
                ", metadata.labels: Invalid value: \"-v\": " + label_value_error +
                ", metadata.finalizers[0]: Invalid value: \"x\": name is neither a standard "
                "finalizer name nor is it fully qualified, data[a b]: Invalid value: \"a b\": " +
                config_key_error + "]");
  EXPECT_EQ(response.at("/details/causes").size(), 4);
}

TEST_F(ObjectMetadataTest, SomeKindsAcceptFinalizersWithoutADomain) {
  const std::pair<std::string, json> objects[] = {
      {Path("coordination.k8s.io/v1", "leases"), MakeObjectWithName("a")},
      {Path("policy/v1", "poddisruptionbudgets"), MakeObjectWithName("a")},
  };
  for (auto [path, object] : objects) {
    object["metadata"]["finalizers"] = {"x"};
    const JsonResponse created = Post(path + "?dryRun=All", object);
    EXPECT_EQ(created.status, 201) << created.text;
    EXPECT_TRUE(created.warnings.empty());
  }
}

TEST_F(ObjectMetadataTest, DuplicateOwnerReferenceIsStoredOnceWithAWarning) {
  const JsonResponse created =
      Post(Path("configmaps"),
           {{"metadata",
             {{"name", "a"},
              {"ownerReferences",
               {MakeOwnerReference(), MakeOwnerReference(), MakeOwnerReference()}}}}});

  EXPECT_EQ(created.at("/metadata/ownerReferences"), json::array({MakeOwnerReference()}));
  EXPECT_THAT(created.warnings,
              ElementsAre(".metadata.ownerReferences contains duplicate entries; API server dedups "
                          "owner references in 1.20+, and may reject such requests as early as "
                          "1.24; please fix your requests; duplicate UID(s) observed: u, u"));
}

}  // namespace
}  // namespace kopp::conformance
