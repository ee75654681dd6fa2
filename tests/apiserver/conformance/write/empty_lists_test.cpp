// Empty lists that JSON does not omit: their creator owns them, but they are stored as null.
#include "conformance.hpp"

#include <ostream>
#include <string>

namespace kopp::conformance {
namespace {

struct EmptyList {
  std::string test_name{};
  std::string group_version{};
  std::string plural{};
  std::string fields{};      ///< of the object, JSON
  std::string pointer{};     ///< to the list
  std::string owned_fields;  ///< of the creator, JSON

  friend void PrintTo(const EmptyList& list, std::ostream* out) { *out << list.fields; }
};

class EmptyListTest : public ConformanceTest, public ::testing::WithParamInterface<EmptyList> {};

TEST_P(EmptyListTest, IsOwnedByItsCreatorAndStoredAsNull) {
  const EmptyList& list = GetParam();
  json object = MakeObjectWithName("a");
  object.update(json::parse(list.fields));
  const std::string path = Path(list.group_version, list.plural);

  const JsonResponse created = Post(list.group_version == "v1" ? Path(list.plural) : path, object);

  ASSERT_EQ(created.status, 201) << created.text;
  const json::json_pointer pointer(list.pointer);
  ASSERT_TRUE(created.body.contains(pointer)) << created.text;
  EXPECT_EQ(created.at(list.pointer), nullptr);
  EXPECT_EQ(created.at("/metadata/managedFields/0/fieldsV1"), json::parse(list.owned_fields));
}

const EmptyList empty_lists[] = {
    {"RulesOfARole", "rbac.authorization.k8s.io/v1", "roles", R"({"rules": []})", "/rules",
     R"({"f:rules": {}})"},
    {"PortsOfAnEndpointSlice", "discovery.k8s.io/v1", "endpointslices",
     R"({"addressType": "IPv4", "endpoints": [], "ports": []})", "/ports",
     R"({"f:addressType": {}, "f:endpoints": {}, "f:ports": {}})"},
    {"EndpointsOfAnEndpointSlice", "discovery.k8s.io/v1", "endpointslices",
     R"({"addressType": "IPv4", "endpoints": [], "ports": []})", "/endpoints",
     R"({"f:addressType": {}, "f:endpoints": {}, "f:ports": {}})"},
    {"LimitsOfALimitRange", "v1", "limitranges", R"({"spec": {"limits": []}})", "/spec/limits",
     R"({"f:spec": {"f:limits": {}}})"},
    {"SourcesOfAVolumeInATemplate", "v1", "podtemplates",
     R"({"template": {"spec": {"containers": [{"name": "a", "image": "a"}],
                               "volumes": [{"name": "a", "projected": {}}]}}})",
     "/template/spec/volumes/0/projected/sources",
     R"({"f:template": {"f:spec": {
          "f:containers": {"k:{\"name\":\"a\"}": {
            ".": {}, "f:image": {}, "f:imagePullPolicy": {}, "f:name": {}, "f:resources": {},
            "f:terminationMessagePath": {}, "f:terminationMessagePolicy": {}}},
          "f:dnsPolicy": {}, "f:restartPolicy": {}, "f:schedulerName": {},
          "f:securityContext": {}, "f:terminationGracePeriodSeconds": {},
          "f:volumes": {".": {}, "k:{\"name\":\"a\"}": {
            ".": {}, "f:name": {},
            "f:projected": {".": {}, "f:defaultMode": {}, "f:sources": {}}}}}}})"},
};
INSTANTIATE_TEST_SUITE_P(, EmptyListTest, ::testing::ValuesIn(empty_lists),
                         [](const auto& list) { return list.param.test_name; });

}  // namespace
}  // namespace kopp::conformance
