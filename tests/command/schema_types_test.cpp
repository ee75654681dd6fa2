#include "type_model.hpp"
#include "type_writer.hpp"

#include <stdexcept>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <schema/yaml.hpp>

#include <kopp/k8s/quantity.hpp>

namespace kopp::command {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

// A CustomResourceDefinition whose spec has the given schema of properties, as flow YAML.
std::string CrdWith(const std::string& properties, const std::string& more = "") {
  return R"(
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
spec:
  group: example.com
  scope: Namespaced
  names: {kind: Foo, plural: foos}
  versions:
    - name: v1
      served: true
      schema:
        openAPIV3Schema:
          type: object
          properties:
            apiVersion: {type: string}
            kind: {type: string}
            metadata: {type: object}
            spec: {type: object, properties: )" +
         properties + more + "}\n";
}

// The header for CrdWith.
std::string HeaderFor(const std::string& properties, const std::string& more = "") {
  return TypeFiles(schema::ParseYaml(CrdWith(properties, more))).at(0).text;
}

TEST(SchemaTypesTest, AKindHasItsKindConstantAndMetadata) {
  const std::string header = HeaderFor("{a: {type: string}}");

  EXPECT_THAT(header, HasSubstr("namespace example_com::v1 {"));
  EXPECT_THAT(header, HasSubstr("static constexpr kopp::Kind kKind{\"example.com/v1\", \"Foo\", "
                                "\"foos\"};"));
  EXPECT_THAT(header, HasSubstr("  kopp::ObjectMeta metadata = {};\n"
                                "  std::optional<Spec> spec = {};\n"
                                "};\nKOPP_FIELDS(Foo, metadata, spec)\n"));
}

TEST(SchemaTypesTest, ScalarsHaveTheTypeOfTheirFormat) {
  const std::string header = HeaderFor(
      "{s: {type: string}, i: {type: integer, format: int32}, l: {type: integer, format: int64},"
      " num: {type: integer}, d: {type: number}, b: {type: boolean},"
      " u: {type: integer, format: uint64, default: 0, maximum: 18446744073709551615}}",
      ", required: [s, i, l, num, d, b, u]");

  EXPECT_THAT(header, HasSubstr("  bool b = false;\n"
                                "  double d = 0;\n"
                                "  std::int32_t i = 0;\n"
                                "  std::int64_t l = 0;\n"
                                "  std::int64_t num = 0;\n"
                                "  std::string s = {};\n"
                                "  std::uint64_t u = 0;\n"));
}

TEST(SchemaTypesTest, FieldsThatAreNotRequiredAreOptionalUnlessTheyCanBeEmpty) {
  const std::string header = HeaderFor(
      "{a: {type: string}, b: {type: array, items: {type: string}},"
      " c: {type: object, additionalProperties: {type: integer}}}",
      ", required: [b]");

  EXPECT_THAT(header, HasSubstr("std::optional<std::string> a = {};"));
  EXPECT_THAT(header, HasSubstr("std::vector<std::string> b = {};"));
  EXPECT_THAT(header, HasSubstr("std::map<std::string, std::int64_t> c = {};"));
  EXPECT_THAT(header, HasSubstr("a, KOPP_FIELD(b, Required()), c)"));
  EXPECT_THAT(header, Not(HasSubstr("or_null.hpp")));
}

TEST(SchemaTypesTest, FieldsThatAreRequiredAndNullableAreWrittenAsNull) {
  const std::string header = HeaderFor(
      "{a: {type: string, nullable: true}, b: {type: array, nullable: true, items: {type: string}},"
      " c: {type: string, nullable: true}, day: {type: object, nullable: true, properties: {e: "
      "{type:"
      " boolean}}}, f: {x-kubernetes-preserve-unknown-fields: true, nullable: true},"
      " num: {type: integer, nullable: true, default: 1}}",
      ", required: [a, b, day, f, num]");

  EXPECT_THAT(header, HasSubstr("#include <kopp/or_null.hpp>\n"));
  EXPECT_THAT(header, HasSubstr("  kopp::OrNull<std::string> a = {};\n"
                                "  kopp::OrNull<std::vector<std::string>> b = {};\n"
                                "  std::optional<std::string> c = {};\n"
                                "  kopp::OrNull<Day> day = {};\n"
                                "  kopp::OrNull<kopp::RawJson> f = {};\n"
                                "  std::optional<std::int64_t> num = {};\n"));
  EXPECT_THAT(header, HasSubstr("KOPP_FIELD(a, Nullable())"));
}

TEST(SchemaTypesTest, ValuesWithoutOneTypeAreRawJson) {
  const std::string header = HeaderFor(
      "{any: {x-kubernetes-preserve-unknown-fields: true}, empty: {type: object},"
      " object: {type: object, x-kubernetes-embedded-resource: true,"
      "          x-kubernetes-preserve-unknown-fields: true},"
      " flags: {type: array, items: {type: boolean}}}");

  EXPECT_THAT(header, HasSubstr("kopp::RawJson any = {};"));
  EXPECT_THAT(header, HasSubstr("kopp::RawJson empty = {};"));
  EXPECT_THAT(header, HasSubstr("std::vector<kopp::RawJson> flags = {};"));
  EXPECT_THAT(header, HasSubstr("KOPP_FIELD(any, PreserveUnknownFields())"));
  EXPECT_THAT(header, HasSubstr("KOPP_FIELD(object, EmbeddedResource(), PreserveUnknownFields())"));
}

TEST(SchemaTypesTest, AnIntOrStringHasItsTypeAndAQuantityIsRecognizedByItsPattern) {
  const std::string quantity(KoppSchema(static_cast<const k8s::Quantity*>(nullptr)));
  const std::string header = HeaderFor(
      "{port: {x-kubernetes-int-or-string: true, default: 80},"
      " ports: {type: array, items: {x-kubernetes-int-or-string: true, pattern: '^a'}},"
      " limits: {type: object, additionalProperties: " +
          quantity + "}, memory: " + quantity + "}",
      ", required: [memory]");

  EXPECT_THAT(header, HasSubstr("#include <kopp/k8s/int_or_string.hpp>\n"
                                "#include <kopp/k8s/quantity.hpp>\n"));
  EXPECT_THAT(header, HasSubstr("std::optional<kopp::k8s::IntOrString> port = {};"));
  EXPECT_THAT(header, HasSubstr("std::vector<kopp::k8s::IntOrString> ports = {};"));
  EXPECT_THAT(header, HasSubstr("std::map<std::string, kopp::k8s::Quantity> limits = {};"));
  EXPECT_THAT(header, HasSubstr("  kopp::k8s::Quantity memory = {};"));
  EXPECT_THAT(header, HasSubstr("KOPP_FIELDS(Spec, limits, memory, KOPP_FIELD(port, Default(80)),\n"
                                "            KOPP_FIELD(ports, Items(Pattern(\"^a\"))))"));
}

TEST(SchemaTypesTest, HeadersThatNoFieldNeedsAreNotIncluded) {
  EXPECT_THAT(HeaderFor("{a: {type: string}}"), Not(HasSubstr("kopp/k8s")));
}

TEST(SchemaTypesTest, ObjectsAreStructsOfANamespaceOfTheKindWithAliasesInTheirParents) {
  const std::string header = HeaderFor(
      "{issuerRef: {type: object, properties: {name: {type: string}}},"
      " rules: {type: array, items: {type: object, properties: {host: {type: string}}}}}");

  EXPECT_THAT(header, HasSubstr("namespace example_com::v1::foo_types {\n\n"
                                "struct SpecIssuerRef {\n"
                                "  std::optional<std::string> name = {};\n"
                                "};\n"
                                "KOPP_FIELDS(SpecIssuerRef, name)\n\n"
                                "struct SpecRules {\n"
                                "  std::optional<std::string> host = {};\n"
                                "};\n"
                                "KOPP_FIELDS(SpecRules, host)\n\n"
                                "struct Spec {\n"
                                "  using IssuerRef = foo_types::SpecIssuerRef;\n"
                                "  using Rules = foo_types::SpecRules;\n"
                                "  std::optional<IssuerRef> issuerRef = {};\n"
                                "  std::vector<Rules> rules = {};\n"
                                "};\n"
                                "KOPP_FIELDS(Spec, issuerRef, rules)\n\n"
                                "}  // namespace example_com::v1::foo_types\n"));
  EXPECT_THAT(header, HasSubstr("  using Spec = foo_types::Spec;\n"));
}

TEST(SchemaTypesTest, EqualSchemasShareOneStruct) {
  const std::string header = HeaderFor(
      "{first: {type: object, description: One., properties: {a: {type: string}}},"
      " second: {type: object, description: Two., properties: {a: {type: string}}}}");

  EXPECT_THAT(header, HasSubstr("using Second = foo_types::SpecFirst;"));
  EXPECT_THAT(header, Not(HasSubstr("struct SpecSecond")));
}

TEST(SchemaTypesTest, APropertyCalledDescriptionIsAField) {
  const std::string header = HeaderFor(
      "{first: {type: object, properties: {description: {type: string}}},"
      " second: {type: object, properties: {description: {type: integer}}}}");

  EXPECT_THAT(header, HasSubstr("struct SpecSecond {\n  std::optional<std::int64_t> description"));
}

TEST(SchemaTypesTest, NamesThatCppReservesKeepTheirJsonName) {
  const std::string header = HeaderFor("{namespace: {type: string}, $ref: {type: string}}");

  EXPECT_THAT(header, HasSubstr("KOPP_FIELD(ref, \"$ref\")"));
  EXPECT_THAT(header, HasSubstr("KOPP_FIELD(namespace_, \"namespace\")"));
}

TEST(SchemaTypesTest, NamesThatWouldCollideDiffer) {
  const std::string header = HeaderFor(
      "{foo: {type: object, properties: {x: {type: string}}}, a-b: {type: string},"
      " a_b: {type: string}, Bar: {type: object, properties: {y: {type: string}}}}");

  EXPECT_THAT(header, HasSubstr("using Foo = foo_types::SpecFoo;"));
  EXPECT_THAT(header, HasSubstr("using BarValue = foo_types::SpecBar;"));  // Bar is the member
  EXPECT_THAT(header, HasSubstr("a_b = {};"));
  EXPECT_THAT(header, HasSubstr("KOPP_FIELD(a_b_, \"a_b\")"));
}

TEST(SchemaTypesTest, StructsWhoseNamesWouldBeEqualDiffer) {
  const std::string header = HeaderFor(
      "{a: {type: object, properties: {bC: {type: object, properties: {x: {type: string}}}}},"
      " aBC: {type: object, properties: {y: {type: string}}},"
      " Spec: {type: string}, foo_types: {type: string}, spec: {type: object, properties: {z: "
      "{type: string}}}}");

  EXPECT_THAT(header, HasSubstr("using BC_ = foo_types::SpecABC;"));
  EXPECT_THAT(header, HasSubstr("using ABC_ = foo_types::SpecABCValue;"));
  EXPECT_THAT(header, HasSubstr("using SpecValue = foo_types::SpecSpec;"));
  EXPECT_THAT(header, HasSubstr("KOPP_FIELD(Spec_, \"Spec\")"));
  EXPECT_THAT(header, HasSubstr("KOPP_FIELD(foo_types_, \"foo_types\")"));
}

TEST(SchemaTypesTest, DescriptionsAreCommentsOfAtMost100Columns) {
  const std::string header = HeaderFor("{a: {type: string, description: \"" + std::string(50, 'x') +
                                       " " + std::string(50, 'y') + " z\\n\\nA path: C:\\\\\"}}");

  EXPECT_THAT(header, HasSubstr("  /// " + std::string(50, 'x') + "\n  /// " +
                                std::string(50, 'y') + " z\n  ///\n  /// A path: C:\\ .\n"));
}

TEST(SchemaTypesTest, DescriptionsHaveNoCharactersThatCompilersWarnAbout) {
  const std::string header = HeaderFor(
      R"({a: {type: string, description: "What??/\n??=\u202e?\u2066 \u0085a\u2028b\x07 größe \\ \r\n"}})");

  EXPECT_THAT(header, HasSubstr("  /// What? ?/\n  /// ? ?=? a b größe \\ .\n"));
}

TEST(SchemaTypesTest, NullableElementsAreOptional) {
  const std::string header = HeaderFor(
      "{a: {type: array, items: {type: string, nullable: true}},"
      " b: {type: object, additionalProperties: {type: boolean, nullable: true}},"
      " c: {type: array, items: {type: boolean, nullable: true}},"
      " d: {type: array, items: {x-kubernetes-preserve-unknown-fields: true, nullable: true}}}");

  EXPECT_THAT(header, HasSubstr("  std::vector<std::optional<std::string>> a = {};\n"
                                "  std::map<std::string, std::optional<bool>> b = {};\n"
                                "  std::vector<std::optional<bool>> c = {};\n"
                                "  std::vector<kopp::RawJson> d = {};\n"));
  EXPECT_THAT(header, HasSubstr("KOPP_FIELD(a, Items(Nullable()))"));
}

// The properties f000, f001 … of an object, as flow YAML.
std::string Properties(int count) {
  std::string properties;
  for (int i = 0; i < count; ++i) {
    properties += (i == 0 ? "{f" : ", f") + std::to_string(1000 + i).substr(1) + ": {type: string}";
  }
  return properties + '}';
}

TEST(SchemaTypesTest, FieldsBeyondTheLimitOfKoppFieldsAreRawJson) {
  EXPECT_THAT(HeaderFor(Properties(256)), Not(HasSubstr("kOtherFields")));

  const std::string header = HeaderFor(Properties(257));

  EXPECT_THAT(header,
              HasSubstr("f254 = {};\n"
                        "  /// The fields without a member: KOPP_FIELDS takes at most 256.\n"
                        "  std::map<std::string, kopp::RawJson> otherFields = {};\n};"));
  EXPECT_THAT(header, HasSubstr("f254, KOPP_FIELD(otherFields, kopp::kOtherFields))"));
}

TEST(SchemaTypesTest, TheMetadataOfAnObjectCountsForTheLimitOfKoppFields) {
  auto crd = schema::ParseYaml(CrdWith("{}"));
  auto& schema = crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"];
  schema["properties"] = schema::ParseYaml(Properties(255));
  EXPECT_THAT(TypeFiles(crd).at(0).text, Not(HasSubstr("kOtherFields")));

  schema["properties"] = schema::ParseYaml(Properties(256));
  EXPECT_THAT(TypeFiles(crd).at(0).text, HasSubstr("f253, KOPP_FIELD(otherFields"));
}

TEST(SchemaTypesTest, MarkersWithMoreTextThanCompilersTakeAreOmitted) {
  const std::string header =
      HeaderFor("{a: {type: string, default: " + std::string(60000, 'x') +
                "}, b: {type: string, default: " + std::string(6000, 'y') + "}}");

  EXPECT_THAT(header, HasSubstr("KOPP_FIELDS(Spec, a,\n            KOPP_FIELD(b, Default(\"yyy"));
}

TEST(SchemaTypesTest, DeeplyNestedListsAreRawJson) {
  std::string schema = "{type: string}";
  for (int i = 0; i < 20; ++i) schema = "{type: array, nullable: true, items: " + schema + "}";

  EXPECT_THAT(HeaderFor("{a: " + schema + "}"), HasSubstr("std::vector<kopp::RawJson>"));
}

TEST(SchemaTypesTest, AFieldNameWithAZeroCharacterHasNoMember) {
  EXPECT_THAT(HeaderFor(R"({"a\0b": {type: string}, a: {type: string}})"),
              HasSubstr("KOPP_FIELDS(Spec, a, KOPP_FIELD(otherFields, kopp::kOtherFields))"));
}

// The file of the definition with another kind.
GeneratedFile FileForKind(const char* kind) {
  auto crd = schema::ParseYaml(CrdWith("{a: {type: string}}"));
  crd["spec"]["names"]["kind"] = kind;
  return TypeFiles(crd).at(0);
}

TEST(SchemaTypesTest, EachLegalKindHasAStruct) {
  const GeneratedFile dashed = FileForKind("dash-kind");
  EXPECT_EQ(dashed.path, "example_com/v1/dash_kind.hpp");
  EXPECT_THAT(dashed.text, HasSubstr("struct DashKind {"));
  EXPECT_THAT(dashed.text, HasSubstr("{\"example.com/v1\", \"dash-kind\", \"foos\"}"));
  EXPECT_THAT(dashed.text, HasSubstr("using Spec = dash_kind_types::Spec;"));

  EXPECT_EQ(FileForKind("NULL").path, "example_com/v1/null.hpp");
  EXPECT_THAT(FileForKind("NULL").text, HasSubstr("struct NULL_ {"));
  EXPECT_THAT(FileForKind("Default").text, HasSubstr("struct Default_ {"));
}

TEST(SchemaTypesTest, VersionsWithEqualNamespacesDiffer) {
  auto crd = schema::ParseYaml(CrdWith("{a: {type: string}}"));
  auto& versions = crd["spec"]["versions"];
  versions.push_back(versions[0]);
  versions[0]["name"] = "a-b";
  versions[1]["name"] = "a--b";

  const auto files = TypeFiles(crd);

  EXPECT_THAT(files.at(0).text, HasSubstr("namespace example_com::a_b {"));
  EXPECT_THAT(files.at(1).text, HasSubstr("namespace example_com::a_b_ {"));
}

TEST(SchemaTypesTest, EachServedVersionHasAHeader) {
  auto crd = schema::ParseYaml(CrdWith("{a: {type: string}}"));
  auto& versions = crd["spec"]["versions"];
  for (const char* name : {"v2", "v3"}) {
    versions.push_back(versions[0]);
    versions.back()["name"] = name;
  }
  versions[1]["served"] = false;
  crd["spec"]["scope"] = "Cluster";

  const auto files = TypeFiles(crd, {.name_space = "my::api"});

  ASSERT_EQ(files.size(), 2U);
  EXPECT_EQ(files[0].path, "my/api/v1/foo.hpp");
  EXPECT_EQ(files[1].path, "my/api/v3/foo.hpp");
  EXPECT_THAT(files[1].text, HasSubstr("namespace my::api::v3 {"));
  EXPECT_THAT(files[1].text, HasSubstr("\"foos\", kopp::Scope::kCluster};"));
  EXPECT_THAT(VersionsNotServed(crd), ElementsAre("v2"));
}

TEST(SchemaTypesTest, AnErrorNamesTheVersion) {
  auto crd = schema::ParseYaml(CrdWith("{a: 1}"));
  const auto error = [&] {
    try {
      (void)TypeFiles(crd);
    } catch (const SchemaError& caught) {
      return std::string(caught.what());
    }
    return std::string();
  };
  EXPECT_EQ(error(),
            "no header can be made for version v1 of foos.example.com: the schema of a is not an "
            "object. Correct the schema, or remove the version from the file.");
  crd = schema::ParseYaml(CrdWith("{on: {type: string}}", ", required: [on]"));
  EXPECT_THAT(error(), HasSubstr("\"required\" has the value true, which is not a text; in YAML"));
  crd["spec"]["versions"][0].erase("schema");
  EXPECT_THAT(error(), HasSubstr("version v1 of foos.example.com: schema.openAPIV3Schema is miss"));
}

TEST(SchemaTypesTest, AnotherKindIsRefused) {
  EXPECT_THROW((void)TypeFiles({{"apiVersion", "v1"}, {"kind", "Pod"}}), std::exception);
}

TEST(SchemaTypesTest, NamesThatWouldLeaveTheFolderOrTheCommentAreRefused) {
  const auto refused = [](const char* pointer, const char* value) {
    auto crd = schema::ParseYaml(CrdWith("{a: {type: string}}"));
    crd[nlohmann::json::json_pointer(pointer)] = value;
    EXPECT_THROW((void)TypeFiles(crd), std::exception) << pointer << " = " << value;
  };
  refused("/spec/versions/0/name", "../../x");
  refused("/spec/names/kind", "Foo {}; struct X");
  refused("/spec/names/plural", "x\n#include \"/etc/passwd\"\n//");
  refused("/spec/group", "example.com/..");
}

TEST(SchemaTypesTest, ANamespaceThatIsNoIdentifierIsRefused) {
  const auto crd = schema::ParseYaml(CrdWith("{a: {type: string}}"));
  EXPECT_THROW((void)TypeFiles(crd, {.name_space = "../.."}), std::invalid_argument);
  EXPECT_THROW((void)TypeFiles(crd, {.name_space = "my::"}), std::invalid_argument);
}

TEST(SchemaTypesTest, ADefinitionWithoutVersionsIsRefused) {
  auto crd = schema::ParseYaml(CrdWith("{a: {type: string}}"));
  crd["spec"].erase("versions");
  EXPECT_THROW((void)TypeFiles(crd), std::exception);
}

}  // namespace
}  // namespace kopp::command
