#include <string>

#include <example_com/v1beta1/gadget.hpp>  // the build generates it from gadgets.yaml
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace kopp::command {
namespace {

using example_com::v1beta1::Gadget;
using nlohmann::json;

TEST(GeneratedTypesTest, AnObjectIsEqualAfterARoundTrip) {
  const json object = json::parse(R"({
    "metadata": {"name": "g"},
    "spec": {
      "size": 3, "weight": 1.5, "mode": "Off", "code": "12", "enabled": false, "count": 0,
      "tags": ["a", "b"], "flags": [true, false], "port": 80, "memory": "2Gi", "ports": ["http", 443],
      "extra": {"any": [1, {}]}, "template": {"kind": "Pod"}, "labels": {"a": "b"},
      "namespace": "web", "class-name": "fast", "linux": true, "std": "c++20",
      "issuerRef": {"name": "ca"}, "otherRef": {"name": "cb", "kind": "Issuer"},
      "gadget": {"gadget": {"x": 5}}, "rules": [{"host": "h", "path": "/"}],
      "limits": {"cpu": {"max": 2}, "memory": {}}},
    "status": {"lastTime": "2026-01-01T00:00:00Z",
               "conditions": [{"type": "Ready", "status": "True"}]}})");

  EXPECT_EQ(json::parse(Encode(Decode<Gadget>(object.dump()))), object);
}

TEST(GeneratedTypesTest, FieldsThatAreNotSetAreOmitted) {
  const Gadget gadget{.metadata = {.name = "g"}, .spec = {.mode = "On", .size = 1, .tags = {"a"}}};

  EXPECT_EQ(json::parse(Encode(gadget)), json::parse(R"({"metadata": {"name": "g"},
                            "spec": {"size": 1, "mode": "On", "tags": ["a"]}})"));
}

TEST(GeneratedTypesTest, MembersHaveTheTypesOfTheSchema) {
  static_assert(Gadget::kKind.scope == Scope::kCluster);
  static_assert(std::same_as<Gadget::Spec::OtherRef, Gadget::Spec::IssuerRef>);
  static_assert(std::same_as<decltype(Gadget::Spec::size), std::int32_t>);
  static_assert(std::same_as<decltype(Gadget::Spec::count), std::optional<std::int64_t>>);
  static_assert(std::same_as<decltype(Gadget::Spec::namespace_), std::optional<std::string>>);
  static_assert(std::same_as<decltype(Gadget::Spec::port), std::optional<k8s::IntOrString>>);
  static_assert(std::same_as<decltype(Gadget::Spec::memory), std::optional<k8s::Quantity>>);
  static_assert(std::same_as<decltype(Gadget::status), std::optional<Gadget::Status>>);
}

}  // namespace
}  // namespace kopp::command
