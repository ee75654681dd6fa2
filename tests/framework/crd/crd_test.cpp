#include "definition_error.hpp"
#include "schema/yaml.hpp"
#include "types.hpp"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <kopp/crd.hpp>
#include <kopp/informer/detail/json_fields.hpp>

namespace crd_kinds {

struct Tree {
  std::string name;
  std::vector<Tree> children;
};
KOPP_FIELDS(Tree, name, children)
struct Forest {
  static constexpr kopp::Kind kKind{"example.com/v1", "Forest", "forests"};
  kopp::ObjectMeta metadata;
  Tree spec;
};
KOPP_FIELDS(Forest, metadata, spec)
KOPP_CRD(Forest)

struct WrongDefault {
  static constexpr kopp::Kind kKind{"example.com/v1", "WrongDefault", "wrongdefaults"};
  struct Spec {
    int replicas = 0;
  };
  kopp::ObjectMeta metadata;
  Spec spec;
};
KOPP_FIELDS(WrongDefault::Spec, KOPP_FIELD(replicas, Minimum(1), Default(0)))
KOPP_FIELDS(WrongDefault, metadata, spec)
KOPP_CRD(WrongDefault)

struct WrongKeys {
  static constexpr kopp::Kind kKind{"example.com/v1", "WrongKeys", "wrongkeys"};
  struct Spec {
    std::vector<crd_types::Location> places;
  };
  kopp::ObjectMeta metadata;
  Spec spec;
};
KOPP_FIELDS(WrongKeys::Spec, KOPP_FIELD(places, ListMapKeys("street")))
KOPP_FIELDS(WrongKeys, metadata, spec)
KOPP_CRD(WrongKeys)

struct Weight {
  int grams = 0;
};
inline void KoppDecode(std::string_view /*json*/, Weight& /*weight*/) {}
inline std::string KoppEncode(const Weight& weight) { return std::to_string(weight.grams); }
inline bool KoppIsEmpty(const Weight& weight) { return weight.grams == 0; }
constexpr std::string_view KoppSchema(const Weight* /*type*/) {
  return R"({"type": "integer", "description": "grams"})";
}

struct Scalars {
  static constexpr kopp::Kind kKind{"example.com/v1", "Scalars", "scalars"};
  kopp::ObjectMeta metadata;
  std::int8_t tiny = 0;
  std::uint16_t port = 0;
  std::uint32_t count = 0;
  std::uint64_t bytes = 0;
  float ratio = 0;
  Weight weight;
};
KOPP_FIELDS(Scalars, metadata, tiny, port, count, bytes, ratio, weight)
KOPP_CRD(Scalars)

struct Limits {
  static constexpr kopp::Kind kKind{"example.com/v1", "Limits", "limits"};
  kopp::ObjectMeta metadata;
  std::int64_t count = 0;
  double ratio = 0;
  std::map<std::string, kopp::RawJson> others;
};
KOPP_FIELDS(Limits, metadata, KOPP_FIELD(count, Minimum(-1e300), Maximum(18446744073709551615U)),
            KOPP_FIELD(ratio, Default(1e100)), KOPP_FIELD(others, kopp::kOtherFields))
KOPP_CRD(Limits)

}  // namespace crd_kinds

namespace {

using kopp::CustomResourceDefinitionOf;
using kopp::testing::ErrorOfDefinition;
using nlohmann::json;
using testing::HasSubstr;

TEST(CrdTest, YamlHasTheSchemaOfTheStructAndTheMarkersOfTheKind) {
  EXPECT_EQ(CustomResourceDefinitionOf<crd_types::Foo>().ToYaml(),
            R"(apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: foos.example.com
spec:
  group: example.com
  names:
    kind: Foo
    listKind: FooList
    plural: foos
    singular: foo
  scope: Namespaced
  versions:
  - name: v1
    schema:
      openAPIV3Schema:
        properties:
          apiVersion:
            description: |-
              APIVersion defines the versioned schema of this representation of an object.
              Servers should convert recognized schemas to the latest internal value, and
              may reject unrecognized values.
              More info: https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#resources
            type: string
          kind:
            description: |-
              Kind is a string value representing the REST resource this object represents.
              Servers may infer this from the endpoint the client submits requests to.
              Cannot be updated.
              In CamelCase.
              More info: https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#types-kinds
            type: string
          metadata:
            type: object
          spec:
            properties:
              deploymentName:
                type: string
              replicas:
                format: int32
                maximum: 10
                minimum: 1
                type: integer
            required:
            - deploymentName
            type: object
          status:
            properties:
              availableReplicas:
                format: int32
                type: integer
            type: object
        required:
        - spec
        type: object
    served: true
    storage: true
    subresources:
      status: {}
)");
}

template <typename T>
void ExpectYamlIsReadBack() {
  const auto definition = CustomResourceDefinitionOf<T>();
  EXPECT_EQ(kopp::schema::ParseYaml(definition.ToYaml()), definition.object());
  EXPECT_EQ(json::parse(definition.ToJson()), definition.object());
}

TEST(CrdTest, YamlOfEachTypeIsReadBackUnchanged) {
  ExpectYamlIsReadBack<crd_types::CronJob>();
  ExpectYamlIsReadBack<crd_types::Certificate>();
  ExpectYamlIsReadBack<crd_types::Tenant>();
  ExpectYamlIsReadBack<crd_types::WebApp>();
  ExpectYamlIsReadBack<crd_types::Gateway>();
  ExpectYamlIsReadBack<crd_types::Widget>();
  ExpectYamlIsReadBack<crd_types::Plugin>();
}

TEST(CrdTest, UnsignedAndNarrowIntegersHaveTheirLimits) {
  const auto definition = CustomResourceDefinitionOf<crd_kinds::Scalars>();
  const json& properties =
      definition.object()["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"];
  EXPECT_EQ(properties["tiny"],
            json({{"type", "integer"}, {"format", "int32"}, {"minimum", -128}, {"maximum", 127}}));
  EXPECT_EQ(properties["port"],
            json({{"type", "integer"}, {"format", "int32"}, {"minimum", 0}, {"maximum", 65535}}));
  EXPECT_EQ(
      properties["count"],
      json({{"type", "integer"}, {"format", "int64"}, {"minimum", 0}, {"maximum", 4294967295}}));
  EXPECT_EQ(properties["bytes"], json({{"type", "integer"}, {"format", "int64"}, {"minimum", 0}}));
  EXPECT_EQ(properties["ratio"], json({{"type", "number"}}));
}

TEST(CrdTest, MarkersTakeNumbersBeyond64Bits) {
  const auto definition = CustomResourceDefinitionOf<crd_kinds::Limits>();
  const json& schema = definition.object()["spec"]["versions"][0]["schema"]["openAPIV3Schema"];
  const json& properties = schema["properties"];
  EXPECT_EQ(properties["count"]["minimum"], -1e300);
  EXPECT_EQ(properties["count"]["maximum"], 18446744073709551616.0);
  EXPECT_EQ(properties["ratio"]["default"], 1e100);
}

TEST(CrdTest, AMemberForOtherFieldsPreservesThem) {
  const auto definition = CustomResourceDefinitionOf<crd_kinds::Limits>();
  const json& schema = definition.object()["spec"]["versions"][0]["schema"]["openAPIV3Schema"];
  EXPECT_EQ(schema["x-kubernetes-preserve-unknown-fields"], true);
  EXPECT_FALSE(schema["properties"].contains(kopp::kOtherFields));
}

TEST(CrdTest, ATypeGivesItsOwnSchemaWithKoppSchema) {
  const auto definition = CustomResourceDefinitionOf<crd_kinds::Scalars>();
  const json& schema = definition.object()["spec"]["versions"][0]["schema"]["openAPIV3Schema"];
  EXPECT_EQ(schema["properties"]["weight"], json({{"type", "integer"}, {"description", "grams"}}));
}

TEST(CrdTest, ATypeThatContainsItselfIsRefused) {
  EXPECT_EQ(ErrorOfDefinition<crd_kinds::Forest>(),
            "the type of the field spec.children[*] contains itself, which the schema of a "
            "CustomResourceDefinition cannot express: give the field the markers Schemaless() and "
            "PreserveUnknownFields()");
}

TEST(CrdTest, ADefaultThatViolatesTheSchemaIsRefused) {
  EXPECT_THAT(ErrorOfDefinition<crd_kinds::WrongDefault>(),
              HasSubstr("wrongdefaults.example.com is not valid: version v1: "
                        "openAPIV3Schema.properties[spec].properties[replicas].default: Invalid "
                        "value: 0: "));
}

TEST(CrdTest, AListMapKeyThatIsNoFieldIsRefused) {
  EXPECT_THAT(ErrorOfDefinition<crd_kinds::WrongKeys>(),
              HasSubstr("properties[places].x-kubernetes-list-map-keys: Invalid value: "
                        "[\"street\"]: entries must all be names of item properties"));
}

}  // namespace
