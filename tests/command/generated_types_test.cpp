#include "macros.hpp"

#include <optional>
#include <string>

// The build generates these headers from gadgets.yaml and names.yaml.
#include <example_com/v1beta1/gadget.hpp>
#include <gtest/gtest.h>
#include <names_example_com/v1/dash_kind.hpp>
#include <names_example_com/v1/default.hpp>
#include <names_example_com/v1/large.hpp>
#include <names_example_com/v1/null.hpp>
#include <nlohmann/json.hpp>

namespace kopp::command {
namespace {

using example_com::v1beta1::Gadget;
using names_example_com::v1::DashKind;
using names_example_com::v1::Large;
using names_example_com::v1::NULL_;
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

// The object after it was decoded and encoded.
template <typename T>
json AfterRoundTrip(const json& object) {
  return json::parse(Encode(Decode<T>(object.dump())));
}

TEST(GeneratedTypesTest, FieldsWithNamesThatCppReservesKeepTheirValues) {
  json object{{"metadata", {{"name", "n"}}},
              {"EOF", {{"EOF", {{"EOF", "x"}}}}},
              {"default", {{"items", {"a"}}}},
              {"koppFields", {{"a", "b"}}}};
  for (const char* field : {"INT_MAX",      "NULL",
                            "NULL_",        "INCLUDE_NLOHMANN_JSON_FWD_HPP",
                            "PRId64",       "SYS_read",
                            "errno",        "st_mtime",
                            "linux",        "typeof",
                            "alignas",      "and",
                            "co_await",     "import",
                            "final",        "KoppType",
                            "kopp_visitor", "",
                            "__a__b",       "a-b",
                            "a.b",          "a_b",
                            "a_b_",         "größe",
                            "日本",         "a\u202eb?\?="}) {
    object["spec"][field] = std::string("value of ") + field;
  }
  object["spec"]["spec"] = {{"spec", {{"Spec", "x"}}}};

  EXPECT_EQ(AfterRoundTrip<NULL_>(object), object);
  EXPECT_EQ(NULL_::kKind.kind, "NULL");
}

TEST(GeneratedTypesTest, NullableElementsMayBeNull) {
  const json object = json::parse(R"({
    "metadata": {"name": "n"},
    "spec": {"list": ["x", null], "numbers": [1, null], "flags": [true, null, false],
             "objects": [{"a": "b"}, null], "keyed": [null], "map": {"k": null, "l": "v"},
             "maps": {"a": null, "b": {"c": null, "d": ["e"]}}, "any": {"a": null, "b": [null]},
             "ports": [80, null, "http"]}})");

  EXPECT_EQ(AfterRoundTrip<DashKind>(object), object);
  EXPECT_EQ(Decode<DashKind>(object.dump()).spec->map.at("k"), std::nullopt);
}

TEST(GeneratedTypesTest, FieldsWithoutAMemberAreKept) {
  json object{{"metadata", {{"name", "n"}}}};
  for (int i = 0; i < 299; ++i) {
    const std::string digits = std::to_string(1000 + i).substr(1);
    object["spec"]["f" + digits] = digits;
  }
  object["spec"]["otherFields"] = "a field of this name";

  EXPECT_EQ(AfterRoundTrip<Large>(object), object);
  const auto large = Decode<Large>(object.dump());
  EXPECT_EQ(large.spec->f000, "000");
  EXPECT_EQ(large.spec->otherFields.at("f298").text, R"("298")");
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
