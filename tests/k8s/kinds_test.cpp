#include "all_kinds.hpp"

#include <algorithm>
#include <fstream>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace kopp::k8s {
namespace {

using nlohmann::json;

/// A kind, and how an object of it is decoded and encoded again.
struct KindCase {
  std::string name{};  ///< the key in examples.json: "apps/v1/Deployment"
  Kind kind{};
  std::string (*round_trip)(std::string_view text) = nullptr;

  friend void PrintTo(const KindCase& each, std::ostream* out) { *out << each.name; }
};

template <typename T>
std::string RoundTrip(std::string_view text) {
  const T object = Decode<T>(text);
  const T copy = object;  // NOLINT(performance-unnecessary-copy-initialization): it is the subject
  EXPECT_EQ(copy, object);
  return Encode(copy);
}

#define KOPP_K8S_CASE(Type, key) {key, Type::kKind, RoundTrip<Type>},
const KindCase kind_cases[] = {KOPP_K8S_ALL_KINDS(KOPP_K8S_CASE)};

/// Fields of all structs, from the schemas of the API server.
const json& Examples() {
  static const json examples = json::parse(std::ifstream(KOPP_K8S_EXAMPLES));
  return examples;
}

/// Returns `value` with each {"$ref": …} replaced by the fields of the struct. A struct that
/// contains itself is empty at the second level.
json Expand(const json& value, std::vector<std::string>& path) {
  json expanded = value;
  if (value.is_object() && value.contains("$ref") && value.size() == 1) {
    const std::string name = value.at("$ref");
    if (std::find(path.begin(), path.end(), name) != path.end()) return json::object();
    path.push_back(name);
    expanded = Examples().at(name);
    for (json& member : expanded) member = Expand(member, path);
    path.pop_back();
  } else if (value.is_structured()) {
    for (json& member : expanded) member = Expand(member, path);
  }
  return expanded;
}

json ExampleOf(const std::string& name) {
  std::vector<std::string> path;
  return Expand({{"$ref", name}}, path);
}

/// Replaces all numbers and booleans by 0 and false.
void SetToZero(json& value) {
  if (value.is_structured()) {
    for (json& member : value) SetToZero(member);
  } else if (value.is_number()) {
    value = 0;
  } else if (value.is_boolean()) {
    value = false;
  }
}

class KindsTest : public ::testing::TestWithParam<KindCase> {};

TEST_P(KindsTest, AnObjectWithAllFieldsOfTheSchemaKeepsThemInARoundTrip) {
  const json example = ExampleOf(GetParam().name);
  ASSERT_FALSE(example.empty());
  EXPECT_EQ(json::parse(GetParam().round_trip(example.dump())), example);
}

TEST_P(KindsTest, NumbersAndBooleansThatAreZeroAreKeptInARoundTrip) {
  json example = ExampleOf(GetParam().name);
  SetToZero(example);
  EXPECT_EQ(json::parse(GetParam().round_trip(example.dump())), example);
}

TEST_P(KindsTest, AnEmptyObjectHasNoStatus) {
  EXPECT_FALSE(json::parse(GetParam().round_trip("{}")).contains("status"));
}

std::string NameOf(const ::testing::TestParamInfo<KindCase>& each) {
  std::string name = each.param.name;
  std::erase(name, '/');
  return name;
}
INSTANTIATE_TEST_SUITE_P(, KindsTest, ::testing::ValuesIn(kind_cases), NameOf);

TEST(KindListTest, AllKindsAreDifferent) {
  std::set<std::string> kinds;
  for (const KindCase& each : kind_cases) {
    kinds.insert(std::string(each.kind.api_version) + '/' + std::string(each.kind.plural));
  }
  EXPECT_EQ(kinds.size(), std::size(kind_cases));
  EXPECT_GE(kinds.size(), 50U);
}

TEST(KindListTest, KindsHaveTheScopeOfTheApiServer) {
  EXPECT_EQ(core::v1::Node::kKind.scope, Scope::kCluster);
  EXPECT_EQ(core::v1::Pod::kKind.scope, Scope::kNamespaced);
  EXPECT_EQ(rbac::v1::ClusterRole::kKind.api_version, "rbac.authorization.k8s.io/v1");
  EXPECT_EQ(networking::v1::NetworkPolicy::kKind.plural, "networkpolicies");
}

}  // namespace
}  // namespace kopp::k8s
