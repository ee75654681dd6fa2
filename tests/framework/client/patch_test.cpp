#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <kopp/informer/fields.hpp>
#include <kopp/patch.hpp>

namespace kopp {
namespace {

using nlohmann::json;

json DiffOf(const std::string& original, const std::string& changed) {
  return json::parse(Patch::MergeFrom(json::parse(original), json::parse(changed)).text);
}

TEST(PatchTest, MergeFromContainsOnlyTheChangedFields) {
  EXPECT_EQ(DiffOf(R"({"metadata":{"name":"a"},"spec":{"size":1,"color":"red","old":true}})",
                   R"({"metadata":{"name":"a"},"spec":{"size":2,"color":"red","new":true}})"),
            json::parse(R"({"spec":{"size":2,"new":true,"old":null}})"));
}

TEST(PatchTest, MergeFromOfEqualObjectsIsEmpty) {
  EXPECT_EQ(Patch::MergeFrom({{"spec", {{"size", 1}}}}, {{"spec", {{"size", 1}}}}).text, "{}");
}

TEST(PatchTest, MergeFromReplacesAListAsAWhole) {
  EXPECT_EQ(DiffOf(R"({"args":["a","b"]})", R"({"args":["a"]})"), json::parse(R"({"args":["a"]})"));
}

TEST(PatchTest, MergeFromRemovesAFieldThatIsSetToNull) {
  EXPECT_EQ(DiffOf(R"({"size":1})", R"({"size":null,"color":null})"),
            json::parse(R"({"size":null})"));
  EXPECT_EQ(DiffOf(R"({"size":null})", "{}"), json::object()) << "it was null already";
}

TEST(PatchTest, TheMergeFromPatchTurnsTheOriginalIntoTheChangedObject) {
  for (const auto& [original, changed] : {
           std::pair{R"({"a":{"b":{"c":1,"d":2}},"e":[1]})", R"({"a":{"b":{"c":1}},"e":[2,3]})"},
           std::pair{R"({"a":{"b":1}})", R"({"a":{}})"},
           std::pair{R"({"a":{"b":1}})", R"({})"},
           std::pair{R"({"a":{"b":1}})", R"({"a":[1]})"},
           std::pair{R"({"a":[1]})", R"({"a":{"b":{}}})"},
           std::pair{R"({})", R"({"a":{}})"},
       }) {
    json patched = json::parse(original);
    patched.merge_patch(DiffOf(original, changed));
    EXPECT_EQ(patched, json::parse(changed)) << original;
  }
}

TEST(PatchTest, MergeFromWithAnOptimisticLockContainsTheResourceVersionOfTheOriginal) {
  const json original{{"metadata", {{"resourceVersion", "7"}}}, {"spec", {{"size", 1}}}};
  json changed = original;
  changed["spec"]["size"] = 2;

  EXPECT_EQ(json::parse(Patch::MergeFrom(original, changed, OptimisticLock::kYes).text),
            json::parse(R"({"metadata":{"resourceVersion":"7"},"spec":{"size":2}})"));
}

TEST(PatchTest, MergeFromThrowsWithoutTheResourceVersionOfALockOrForOtherValuesThanObjects) {
  const json object = json::object();
  EXPECT_THROW(Patch::MergeFrom(object, object, OptimisticLock::kYes), std::invalid_argument);
  EXPECT_THROW(Patch::MergeFrom(json(), object), std::invalid_argument);
  EXPECT_THROW(Patch::MergeFrom(object, json::array()), std::invalid_argument);
}

struct PatchedStatus {
  int ready = 0;
  std::vector<std::string> hosts;
};
KOPP_FIELDS(PatchedStatus, ready, hosts)

TEST(JsonPatchTest, OperationsHaveTheirValuesInTheirOrder) {
  const std::string uid = "a\"b";
  const Patch patch = JsonPatch()
                          .Test("/metadata/uid", uid)
                          .Add("/status", PatchedStatus{.ready = 2, .hosts = {"a"}})
                          .Replace("/metadata/labels/example.com~1size", "big")
                          .Add("/spec/list/-", 3)
                          .Add("/spec/on", true)
                          .Remove("/spec/old");
  EXPECT_EQ(patch.type, Patch::Type::kJson);
  EXPECT_EQ(json::parse(patch.text), json::parse(R"([
    {"op": "test", "path": "/metadata/uid", "value": "a\"b"},
    {"op": "add", "path": "/status", "value": {"ready": 2, "hosts": ["a"]}},
    {"op": "replace", "path": "/metadata/labels/example.com~1size", "value": "big"},
    {"op": "add", "path": "/spec/list/-", "value": 3},
    {"op": "add", "path": "/spec/on", "value": true},
    {"op": "remove", "path": "/spec/old"}])"));
}

TEST(JsonPatchTest, AnEmptyValueAndNullAreSentAsTheValue) {
  const Patch patch = JsonPatch()
                          .Test("/a", "")
                          .Add("/b", std::vector<std::string>())
                          .Add("/c", std::optional<int>())
                          .Add("/d", nullptr);
  EXPECT_EQ(json::parse(patch.text), json::parse(R"([{"op": "test", "path": "/a", "value": ""},
                                                     {"op": "add", "path": "/b", "value": []},
                                                     {"op": "add", "path": "/c", "value": null},
                                                     {"op": "add", "path": "/d", "value": null}])"));
}

TEST(JsonPatchTest, APatchWithoutOperationsIsAnEmptyList) {
  EXPECT_EQ(Patch(JsonPatch()).text, "[]");
}

}  // namespace
}  // namespace kopp
