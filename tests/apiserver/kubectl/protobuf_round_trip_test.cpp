#include "api/resource.hpp"
#include "json/schema_names.hpp"
#include "protobuf/protobuf.hpp"
#include "schema/schema.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace kopp::apiserver {
namespace {

using nlohmann::json;
using Type = Schema::Type;

/// Makes objects in which every field is set, with different values.
class RichObjects {
 public:
  json Make(const Schema& schema) {
    switch (schema.type) {
      case Type::kObject:
        return MakeObject(schema);
      case Type::kMap:
        return {{"a", Make(*schema.items)}, {"b.example/c", Make(*schema.items)}};
      case Type::kList:
        return json::array({Make(*schema.items), Make(*schema.items)});
      case Type::kInteger:
        return schema.format == "int64" ? (std::int64_t{1} << 40) + ++count_ : ++count_;
      case Type::kNumber:
        return static_cast<double>(++count_) + 0.5;
      case Type::kBoolean:
        return true;
      case Type::kIntOrString:
        return ++count_ % 2 == 0 ? json(count_) : json("http");
      case Type::kAny:
        return {{"type", "t" + std::to_string(++count_)}};  // also a valid JSON schema
      case Type::kString:
        break;
    }
    if (schema.format == "bytes") return "AP9i";
    if (schema.format == "time") return "2026-01-02T03:04:05Z";
    if (schema.format == "micro-time") return "2026-01-02T03:04:05.678901Z";
    if (schema.format == "quantity") return std::to_string(++count_) + "m";
    return "text " + std::to_string(++count_);
  }

 private:
  json MakeObject(const Schema& schema) {
    if (schema.fields.empty()) {  // a struct without fields, or any object
      if (!schema.name.empty()) return json::object();
      return {{"f:a", {{"number", ++count_}, {"list", {1, "b", nullptr}}}}};
    }
    json object = json::object();
    // JSON schemas contain themselves.
    if (std::count(types_.begin(), types_.end(), schema.name) == 2) return {{"type", "leaf"}};
    types_.push_back(schema.name);
    for (const auto& [name, field] : schema.fields) object[name] = Make(*field.schema);
    // Objects and options have no type in protobuf, also nested ones.
    if (object.contains("metadata") || schema.name == "DeleteOptions") {
      object.erase("kind");
      object.erase("apiVersion");
    }
    types_.pop_back();
    return object;
  }

  std::vector<std::string> types_;  // the objects around the current value
  int count_ = 0;
};

json RoundTrip(const json& object) {
  const std::optional<std::string> bytes = EncodeProtobuf(object);
  if (!bytes) return "EncodeProtobuf does not know the kind";
  return DecodeProtobuf(ReadProtobufEnvelope(*bytes)).value();
}

TEST(ProtobufRoundTripTest, EveryFieldOfEveryBuiltInKindSurvives) {
  const Catalog catalog = Catalog::BuiltIn();
  RichObjects objects;
  for (const ResourcePtr& resource : catalog.all()) {
    json object = objects.Make(*resource->schema);
    const json item = object;
    object["kind"] = resource->kind;
    object["apiVersion"] = resource->api_version();
    const json list{{"kind", resource->list_kind},
                    {"apiVersion", resource->api_version()},
                    {"metadata", {{"resourceVersion", "1"}, {"remainingItemCount", 2}}},
                    {"items", {item, item}}};

    const json returned = RoundTrip(object);

    EXPECT_EQ(json::diff(object, returned), json::array()) << resource->kind;
    if (!resource->SupportsVerb("list")) continue;
    EXPECT_EQ(RoundTrip(list), list) << resource->list_kind;
  }
}

TEST(ProtobufRoundTripTest, ZeroValuesThatAreSetInPointersSurvive) {
  const json object = R"({"kind": "Deployment", "apiVersion": "apps/v1",
      "spec": {"replicas": 0, "paused": true, "template": {"spec": {"containers": [
        {"name": "", "volumeMounts": [{"name": "v", "mountPath": ""}],
         "securityContext": {"runAsUser": 0, "privileged": false}}],
        "volumes": [{"name": "v", "emptyDir": {}}], "terminationGracePeriodSeconds": 0}}}})"_json;

  EXPECT_EQ(RoundTrip(object), object);
}

TEST(ProtobufRoundTripTest, FormsOfJsonSchemasSurvive) {
  const json object =
      R"({"kind": "CustomResourceDefinition", "apiVersion": "apiextensions.k8s.io/v1",
      "spec": {"versions": [{"name": "v1", "served": false, "storage": true, "schema": {"openAPIV3Schema": {
        "additionalProperties": false, "items": [{"type": "a"}, {"type": "b"}], "enum": [1, "x", null, {"a": [1]}],
        "default": [0.5], "maximum": 10, "minimum": -0.25, "x-kubernetes-preserve-unknown-fields": false,
        "properties": {"a": {"additionalProperties": true, "default": null, "items": {"$ref": "r"}}}}}}]}})"_json;
  json expected = object;
  expected["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["a"].erase("default");

  EXPECT_EQ(RoundTrip(object), expected);
}

TEST(ProtobufRoundTripTest, NullsAndUnknownFieldsAreLeftOut) {
  const json object = R"({"kind": "ConfigMap", "apiVersion": "v1", "unknown": 1, "data": null,
      "metadata": {"name": "a", "creationTimestamp": null}})"_json;

  EXPECT_EQ(RoundTrip(object),
            R"({"kind": "ConfigMap", "apiVersion": "v1", "metadata": {"name": "a"}})"_json);
}

TEST(ProtobufRoundTripTest, ATimeInAnotherZoneIsReturnedInUtc) {
  const json object = R"({"kind": "ConfigMap", "apiVersion": "v1",
      "metadata": {"deletionTimestamp": "2026-01-02T03:04:05+02:00"}})"_json;

  EXPECT_EQ(RoundTrip(object)["metadata"]["deletionTimestamp"], "2026-01-02T01:04:05Z");
}

}  // namespace
}  // namespace kopp::apiserver
