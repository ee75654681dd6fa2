#include "definition_error.hpp"

#include <optional>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <kopp/crd.hpp>
#include <kopp/k8s/bytes.hpp>
#include <kopp/k8s/core/v1/pod.hpp>
#include <kopp/k8s/duration.hpp>
#include <kopp/k8s/int_or_string.hpp>
#include <kopp/k8s/list.hpp>
#include <kopp/k8s/optional.hpp>
#include <kopp/k8s/quantity.hpp>
#include <kopp/k8s/time.hpp>

namespace crd_kinds {

struct Backup {
  static constexpr kopp::Kind kKind{"example.com/v1", "Backup", "backups"};
  struct Storage {
    std::string bucket;
    kopp::k8s::Quantity size;
  };
  struct Spec {
    kopp::k8s::Optional<Storage> storage;
    kopp::k8s::Quantity memory;
    kopp::k8s::IntOrString port;
    kopp::k8s::List<Storage> copies;
  };
  kopp::ObjectMeta metadata;
  kopp::k8s::Optional<Spec> spec;
};
KOPP_FIELDS(Backup::Storage, KOPP_FIELD(bucket, MinLength(3)), size)
KOPP_FIELDS(Backup::Spec, KOPP_FIELD(storage, StructType("atomic")),
            KOPP_FIELD(memory, Default("1Gi")), KOPP_FIELD(port, Default(80)),
            KOPP_FIELD(copies, ListType("map"), ListMapKeys("bucket"), Items(MinProperties(2))))
KOPP_FIELDS(Backup, metadata, spec)
KOPP_CRD(Backup)

struct WrongQuantity {
  static constexpr kopp::Kind kKind{"example.com/v1", "WrongQuantity", "wrongquantities"};
  kopp::ObjectMeta metadata;
  kopp::k8s::Quantity memory;
};
KOPP_FIELDS(WrongQuantity, metadata, KOPP_FIELD(memory, Default("1 GB")))
KOPP_CRD(WrongQuantity)

struct Sizes {
  static constexpr kopp::Kind kKind{"example.com/v1", "Sizes", "sizes"};
  struct Spec {
    kopp::k8s::Quantity memory;
    kopp::k8s::IntOrString port;
    std::optional<kopp::k8s::Time> start;
    kopp::k8s::Duration period;
    kopp::k8s::Bytes key;
  };
  kopp::ObjectMeta metadata;
  Spec spec;
};
KOPP_FIELDS(Sizes::Spec, memory, port, start, period, key)
KOPP_FIELDS(Sizes, metadata, spec)
KOPP_CRD(Sizes)

struct Scheduling {
  static constexpr kopp::Kind kKind{"example.com/v1", "Scheduling", "schedulings"};
  struct Spec {
    kopp::k8s::Optional<kopp::k8s::core::v1::Affinity> affinity;
    kopp::RawJson raw;
    kopp::RawJson object;
  };
  kopp::ObjectMeta metadata;
  Spec spec;
};
KOPP_FIELDS(Scheduling::Spec, affinity, raw, KOPP_FIELD(object, PreserveUnknownFields()))
KOPP_FIELDS(Scheduling, metadata, spec)
KOPP_CRD(Scheduling)

}  // namespace crd_kinds

namespace {

using kopp::CustomResourceDefinitionOf;
using kopp::testing::ErrorOfDefinition;
using nlohmann::json;
using testing::HasSubstr;

TEST(CrdTest, ValueTypesOfKubernetesHaveTheSchemaOfControllerGen) {
  const auto definition = kopp::CustomResourceDefinitionOf<crd_kinds::Sizes>();
  const json& properties = definition.object().at(
      json::json_pointer("/spec/versions/0/schema/openAPIV3Schema/properties/spec/properties"));
  const json any_of = json::parse(R"([{"type":"integer"},{"type":"string"}])");
  EXPECT_EQ(properties["memory"]["anyOf"], any_of);
  EXPECT_EQ(properties["memory"]["x-kubernetes-int-or-string"], true);
  EXPECT_THAT(properties["memory"]["pattern"].get<std::string>(), HasSubstr("[KMGTPE]i"));
  EXPECT_EQ(properties["port"], json({{"anyOf", any_of}, {"x-kubernetes-int-or-string", true}}));
  EXPECT_EQ(properties["start"], json({{"type", "string"}, {"format", "date-time"}}));
  EXPECT_EQ(properties["period"], json({{"type", "string"}}));
  EXPECT_EQ(properties["key"], json({{"type", "string"}, {"format", "byte"}}));
}

TEST(CrdTest, AnOptionalOfKubernetesHasTheSchemaOfItsStructAndIsNotRequired) {
  const auto definition = CustomResourceDefinitionOf<crd_kinds::Backup>();
  const json& schema = definition.object()["spec"]["versions"][0]["schema"]["openAPIV3Schema"];
  EXPECT_FALSE(schema.contains("required"));
  const json& spec = schema["properties"]["spec"];
  EXPECT_EQ(spec["type"], "object");
  EXPECT_FALSE(spec.contains("required"));
  EXPECT_EQ(spec["properties"]["storage"]["properties"]["bucket"],
            json({{"type", "string"}, {"minLength", 3}}));
  EXPECT_EQ(spec["properties"]["storage"]["required"], json({"bucket", "size"}));
  EXPECT_EQ(spec["properties"]["storage"]["x-kubernetes-map-type"], "atomic");
}

TEST(CrdTest, AStructOfKubernetesAndRawJsonWithUnknownFieldsAreAnyObject) {
  const auto definition = CustomResourceDefinitionOf<crd_kinds::Scheduling>();
  const json& properties = definition.object().at(
      json::json_pointer("/spec/versions/0/schema/openAPIV3Schema/properties/spec/properties"));
  const json any{{"x-kubernetes-preserve-unknown-fields", true}};
  const json any_object{{"type", "object"}, {"x-kubernetes-preserve-unknown-fields", true}};
  EXPECT_EQ(properties["affinity"], any_object);
  EXPECT_EQ(properties["raw"], any);
  EXPECT_EQ(properties["object"], any_object);
}

TEST(CrdTest, AListOfKubernetesHasTheSchemaAndTheMarkersOfAList) {
  const auto definition = CustomResourceDefinitionOf<crd_kinds::Backup>();
  const json& copies = definition.object().at(json::json_pointer(
      "/spec/versions/0/schema/openAPIV3Schema/properties/spec/properties/copies"));
  EXPECT_EQ(copies["type"], "array");
  EXPECT_EQ(copies["x-kubernetes-list-type"], "map");
  EXPECT_EQ(copies["x-kubernetes-list-map-keys"], json({"bucket"}));
  EXPECT_EQ(copies["items"]["minProperties"], 2);
  EXPECT_EQ(copies["items"]["required"], json({"bucket", "size"}));
}

TEST(CrdTest, AQuantityAndAnIntOrStringHaveADefault) {
  const auto definition = CustomResourceDefinitionOf<crd_kinds::Backup>();
  const json& properties = definition.object().at(
      json::json_pointer("/spec/versions/0/schema/openAPIV3Schema/properties/spec/properties"));
  EXPECT_EQ(properties["memory"]["default"], "1Gi");
  EXPECT_EQ(properties["port"]["default"], 80);
}

TEST(CrdTest, ADefaultThatIsNoQuantityIsRefused) {
  EXPECT_THAT(ErrorOfDefinition<crd_kinds::WrongQuantity>(),
              HasSubstr("properties[memory].default: Invalid value: \"1 GB\": "));
}

}  // namespace
