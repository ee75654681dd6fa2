#include "conformance.hpp"
#include "explanations.hpp"

namespace kopp::conformance {
namespace {

using ::testing::ElementsAre;
using ::testing::ElementsAreArray;

struct Name {
  std::string test{};
  std::string group_version{};  ///< empty for namespaces, which are in none
  std::string plural{};
  std::string name{};
  std::string explanation{};  ///< empty where the server takes the name

  friend void PrintTo(const Name& each, std::ostream* out) { *out << each.name; }
};

class NameTest : public ConformanceTest, public ::testing::WithParamInterface<Name> {
 protected:
  Answer Create(const Name& name) {
    std::string path = "/api/v1/namespaces";
    if (name.group_version == "v1") path = Path(name.plural);
    if (name.group_version.size() > 2) path = Path(name.group_version, name.plural);
    json object = AConfigMap(name.name);
    if (name.plural == "services") {
      object["spec"] = {{"clusterIP", "None"}, {"ports", {{{"port", 80}}}}};
    }
    return Post(path, object);
  }
};

TEST_P(NameTest, IsTakenOrRefusedWithItsReason) {
  const Name& name = GetParam();
  const Answer made = Create(name);

  if (name.explanation.empty()) {
    EXPECT_EQ(made.status, 201) << made.text;
    EXPECT_EQ(made.name(), name.name);
  } else {
    EXPECT_EQ(made.status, 422);
    EXPECT_EQ(made.at("/details/name"), name.name);
    EXPECT_THAT(Causes(made), ElementsAre("FieldValueInvalid metadata.name: Invalid value: \"" +
                                          name.name + "\": " + name.explanation));
  }
}

const Name names[] = {
    {"ConfigMapWithDots", "v1", "configmaps", "ok.name.1", ""},
    {"ConfigMapOf253Characters", "v1", "configmaps", std::string(253, 'a'), ""},
    {"ConfigMapOf254Characters", "v1", "configmaps", std::string(254, 'a'),
     "must be no more than 253 characters"},
    {"ConfigMapInUpperCase", "v1", "configmaps", "UPPER", no_subdomain},
    {"ConfigMapWithUnderscore", "v1", "configmaps", "a_b", no_subdomain},
    {"ConfigMapThatBeginsWithADash", "v1", "configmaps", "-a", no_subdomain},
    {"ConfigMapThatEndsWithADash", "v1", "configmaps", "a-", no_subdomain},
    {"ConfigMapWithAnEmptyPart", "v1", "configmaps", "a..b", no_subdomain},
    {"ConfigMapWithASlash", "v1", "configmaps", "a/b", no_subdomain},
    {"ServiceThatBeginsWithADigit", "v1", "services", "1a", no_dns1035_label},
    {"ServiceWithADot", "v1", "services", "a.b", no_dns1035_label},
    {"ServiceOf64Characters", "v1", "services", std::string(64, 'a'),
     "must be no more than 63 characters"},
    {"NamespaceWithADot", "", "namespaces", "a.b", "must not contain dots"},
    {"NamespaceInUpperCase", "", "namespaces", "UP", no_label},
    {"RoleWithAColon", "rbac.authorization.k8s.io/v1", "roles", "system:x", ""},
    {"RoleWithASpace", "rbac.authorization.k8s.io/v1", "roles", "UPPER Case", ""},
    {"RoleWithASlash", "rbac.authorization.k8s.io/v1", "roles", "a/b", "may not contain '/'"},
    {"RoleWithAPercentSign", "rbac.authorization.k8s.io/v1", "roles", "a%b", "may not contain '%'"},
    {"RoleThatIsADot", "rbac.authorization.k8s.io/v1", "roles", ".", "may not be '.'"},
    {"RoleThatIsTwoDots", "rbac.authorization.k8s.io/v1", "roles", "..", "may not be '..'"},
};
INSTANTIATE_TEST_SUITE_P(, NameTest, ::testing::ValuesIn(names),
                         [](const auto& name) { return name.param.test; });

/// Some metadata of a ConfigMap and what is wrong with it.
struct Metadata {
  std::string test{};
  json metadata{};
  std::vector<std::string> causes{};  ///< none where the server takes it

  friend void PrintTo(const Metadata& each, std::ostream* out) { *out << each.metadata; }
};

class MetadataTest : public ConformanceTest, public ::testing::WithParamInterface<Metadata> {};

TEST_P(MetadataTest, IsTakenOrRefusedWithItsReasons) {
  json object = AConfigMap("a");
  object["metadata"].update(GetParam().metadata);
  const Answer made = Post(Path("configmaps"), object);

  EXPECT_EQ(made.status, GetParam().causes.empty() ? 201 : 422) << made.text;
  EXPECT_THAT(Causes(made), ElementsAreArray(GetParam().causes));
}

json Label(const std::string& key, const std::string& value) {
  return {{"labels", {{key, value}}}};
}

std::string BadLabel(const std::string& what, const std::string& why) {
  return "FieldValueInvalid metadata.labels: Invalid value: \"" + what + "\": " + why;
}

json Annotation(const std::string& key, const std::string& value) {
  return {{"annotations", {{key, value}}}};
}

json Finalizers(const std::vector<std::string>& finalizers) { return {{"finalizers", finalizers}}; }

json Owner(const json& more = json::object()) {
  json owner{{"apiVersion", "v1"}, {"kind", "ConfigMap"}, {"name", "o"}, {"uid", "u"}};
  owner.update(more);
  return owner;
}

const Metadata all_metadata[] = {
    {"LabelWithAllKindsOfCharacters", Label("A_b.c-d", "V.a_l-1"), {}},
    {"LabelWithAPrefix", Label("example.com/b", "x"), {}},
    {"LabelWithAnEmptyValue", Label("a", ""), {}},
    {"LabelWithoutAKey",
     Label("", "x"),
     {BadLabel("", "name part must be non-empty"), BadLabel("", "name part " + no_qualified_name)}},
    {"LabelWhoseKeyBeginsWithADash",
     Label("-a", "x"),
     {BadLabel("-a", "name part " + no_qualified_name)}},
    {"LabelWhoseKeyHasTwoSlashes",
     Label("a/b/c", "x"),
     {BadLabel("a/b/c", "a qualified name " + no_qualified_name +
                            " with an optional DNS subdomain prefix and '/' (e.g. "
                            "'example.com/MyName')")}},
    {"LabelWithAnEmptyPrefix", Label("/b", "x"), {BadLabel("/b", "prefix part must be non-empty")}},
    {"LabelWhosePrefixIsNoDomain",
     Label("EX_x.io/b", "x"),
     {BadLabel("EX_x.io/b", "prefix part " + no_subdomain)}},
    {"LabelWhoseKeyHas64Characters",
     Label(std::string(64, 'a'), "x"),
     {BadLabel(std::string(64, 'a'), "name part must be no more than 63 characters")}},
    {"LabelWhoseValueHas64Characters",
     Label("a", std::string(64, 'v')),
     {BadLabel(std::string(64, 'v'), "must be no more than 63 characters")}},
    {"LabelWhoseValueHasASpace", Label("a", "v v"), {BadLabel("v v", no_label_value)}},
    {"LabelBadInKeyAndValue",
     Label("-a", "-v"),
     {BadLabel("-a", "name part " + no_qualified_name), BadLabel("-v", no_label_value)}},
    {"AnnotationWithAnyValue", Annotation("a", "any thing \n ü"), {}},
    {"AnnotationWithAnUpperCasePrefix", Annotation("EX.com/b", "x"), {}},
    {"AnnotationWhoseKeyBeginsWithADash",
     Annotation("-a", "x"),
     {"FieldValueInvalid metadata.annotations: Invalid value: \"-a\": name part " +
      no_qualified_name}},
    {"AnnotationsOf256KibInAll", Annotation("a", std::string((256 << 10) - 1, 'v')), {}},
    {"AnnotationsOfMoreThan256Kib",
     Annotation("a", std::string(256 << 10, 'v')),
     {"FieldValueTooLong metadata.annotations: Too long: may not be more than 262144 bytes"}},
    {"FinalizerWithADomain", Finalizers({"example.com/x"}), {}},
    {"FinalizersThatTheGarbageCollectorKnows", Finalizers({"foregroundDeletion"}), {}},
    {"FinalizerWithoutADomain",
     Finalizers({"example.com/x", "x"}),
     {"FieldValueInvalid metadata.finalizers[1]: Invalid value: \"x\": name is neither a standard "
      "finalizer name nor is it fully qualified"}},
    {"FinalizerWhoseDomainIsNone",
     Finalizers({"A.com/x"}),
     {"FieldValueInvalid metadata.finalizers: Invalid value: \"A.com/x\": prefix part " +
      no_subdomain}},
    {"FinalizersOrphanAndForeground",
     Finalizers({"foregroundDeletion", "orphan"}),
     {"FieldValueInvalid metadata.finalizers: Invalid value: "
      "[\"foregroundDeletion\",\"orphan\"]: finalizer orphan and foregroundDeletion cannot be both "
      "set"}},
    {"OwnerInFull",
     {{"ownerReferences", {Owner({{"controller", true}, {"blockOwnerDeletion", true}})}}},
     {}},
    {"OwnerWithNothing",
     {{"ownerReferences", json::array({json::object()})}},
     {"FieldValueInvalid metadata.ownerReferences.apiVersion: Invalid value: \"\": version must "
      "not be empty",
      "FieldValueInvalid metadata.ownerReferences.kind: Invalid value: \"\": must not be empty",
      "FieldValueInvalid metadata.ownerReferences.name: Invalid value: \"\": must not be empty",
      "FieldValueInvalid metadata.ownerReferences.uid: Invalid value: \"\": must not be empty"}},
    {"TwoOwnersWhoControl",
     {{"ownerReferences",
       {Owner({{"controller", true}}), Owner({{"uid", "v"}, {"controller", true}})}}},
     {"FieldValueInvalid metadata.ownerReferences: Invalid value: "
      R"([{"apiVersion":"v1","kind":"ConfigMap","name":"o","uid":"u","controller":true},)"
      R"({"apiVersion":"v1","kind":"ConfigMap","name":"o","uid":"v","controller":true}]: )"
      "Only one reference can have Controller set to true. Found \"true\" in references for "
      "ConfigMap/o and ConfigMap/o"}},
    {"OwnerThatIsAnEvent",
     {{"ownerReferences", {Owner({{"kind", "Event"}})}}},
     {"FieldValueInvalid metadata.ownerReferences: Invalid value: "
      R"({"apiVersion":"v1","kind":"Event","name":"o","uid":"u"}: )"
      "/v1, Kind=Event is disallowed from being an owner"}},
};
INSTANTIATE_TEST_SUITE_P(, MetadataTest, ::testing::ValuesIn(all_metadata),
                         [](const auto& metadata) { return metadata.param.test; });

class InvalidTest : public ConformanceTest {};

TEST_F(InvalidTest, AllThatIsWrongIsToldInOneMessage) {
  const Answer made =
      Post(Path("configmaps"),
           {{"metadata", {{"name", "-"}, {"labels", {{"a", "-v"}}}, {"finalizers", {"x"}}}},
            {"data", {{"a b", "c"}}}});

  EXPECT_EQ(made.message(),
            "ConfigMap \"-\" is invalid: [metadata.name: Invalid value: \"-\": " + no_subdomain +
                ", metadata.labels: Invalid value: \"-v\": " + no_label_value +
                ", metadata.finalizers[0]: Invalid value: \"x\": name is neither a standard "
                "finalizer name nor is it fully qualified, data[a b]: Invalid value: \"a b\": " +
                no_config_key + "]");
  EXPECT_EQ(made.at("/details/causes").size(), 4);
}

TEST_F(InvalidTest, AnOwnerNamedTwiceIsKeptOnceWithAWarning) {
  const Answer made = Post(
      Path("configmaps"), {{"metadata", {{"name", "a"}, {"ownerReferences", {Owner(), Owner()}}}}});

  EXPECT_EQ(made.at("/metadata/ownerReferences"), json::array({Owner()}));
  EXPECT_THAT(made.warnings,
              ElementsAre(".metadata.ownerReferences contains duplicate entries; API server dedups "
                          "owner references in 1.20+, and may reject such requests as early as "
                          "1.24; please fix your requests; duplicate UID(s) observed: u"));
}

}  // namespace
}  // namespace kopp::conformance
