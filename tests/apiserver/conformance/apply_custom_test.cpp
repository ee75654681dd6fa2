#include "custom_resources.hpp"
#include "managed_fields.hpp"

#include <string>
#include <vector>

namespace kopp::conformance {
namespace {

using ::testing::ElementsAre;

json AString() { return {{"type", "string"}}; }

json AList(const json& items, const json& more = json::object()) {
  json list{{"type", "array"}, {"items", items}};
  list.update(more);
  return list;
}

/// Items with the keys k and p, where p is TCP unless told.
json AListByKeys() {
  const json p{{"type", "string"}, {"default", "TCP"}};
  return AList({{"type", "object"},
                {"required", {"k"}},
                {"properties", {{"k", AString()}, {"p", p}, {"v", AString()}}}},
               {{"x-kubernetes-list-type", "map"}, {"x-kubernetes-list-map-keys", {"k", "p"}}});
}

json Spec() {
  json atomic_map{{"type", "object"}, {"additionalProperties", AString()}};
  const json map = atomic_map;
  atomic_map["x-kubernetes-map-type"] = "atomic";
  json atomic_object = AnObject({{"x", AString()}, {"y", AString()}});
  atomic_object["x-kubernetes-map-type"] = "atomic";
  return AnObject({{"a", AString()},
                   {"i", {{"type", "integer"}, {"default", 1}}},
                   {"byKeys", AListByKeys()},
                   {"set", AList(AString(), {{"x-kubernetes-list-type", "set"}})},
                   {"list", AList(AString())},
                   {"map", map},
                   {"atomicMap", atomic_map},
                   {"atomicObject", atomic_object},
                   {"free", Anything()}});
}

json Status() {
  return AnObject(
      {{"conditions",
        AList({{"type", "object"},
               {"required", {"type"}},
               {"properties", {{"type", AString()}, {"status", AString()}}}},
              {{"x-kubernetes-list-type", "map"}, {"x-kubernetes-list-map-keys", {"type"}}})}});
}

/// Applies of one Widget, whose schema says how lists and maps are merged.
class ApplyCustomTest : public CustomResourceTest {
 protected:
  static void SetUpTestSuite() {
    Define(AnObject({{"spec", Spec()}, {"status", Status()}}),
           {{"subresources", {{"status", json::object()}}}});
  }
  static void TearDownTestSuite() { Undefine(); }

  std::string Object() { return Widgets() + "/w"; }
  std::string Version() { return group() + "/v1"; }
  Answer ApplySpec(const json& spec, const std::string& manager, const std::string& more = "") {
    return Apply(Object(), AWidget("w", spec), manager, more);
  }
};

TEST_F(ApplyCustomTest, TheSchemaSaysWhatIsOneFieldAndWhatIsMany) {
  const json spec = json::parse(R"({
      "a": "1",
      "byKeys": [{"k": "x", "v": "1"}, {"k": "x", "p": "UDP"}],
      "set": ["b", "a"],
      "list": ["q"],
      "map": {"m": "1"},
      "atomicMap": {"n": "1"},
      "atomicObject": {"x": "1"},
      "free": {"z": {"y": 1}, "l": [{"o": 1}]}})");

  const Answer made = ApplySpec(spec, "m");

  EXPECT_EQ(made.status, 201);
  EXPECT_EQ(ManagedFields(made), json({Entry("m", "Apply", Version(), R"({"f:spec": {
      "f:a": {},
      "f:atomicMap": {},
      "f:atomicObject": {},
      "f:byKeys": {"k:{\"k\":\"x\",\"p\":\"TCP\"}": {".": {}, "f:k": {}, "f:v": {}},
                   "k:{\"k\":\"x\",\"p\":\"UDP\"}": {".": {}, "f:k": {}, "f:p": {}}},
      "f:free": {"f:l": {}, "f:z": {".": {}, "f:y": {}}},
      "f:list": {},
      "f:map": {"f:m": {}},
      "f:set": {"v:\"a\"": {}, "v:\"b\"": {}}}})")}));
}

TEST_F(ApplyCustomTest, TwoManagersAreMerged) {
  ApplySpec({{"byKeys", {{{"k", "x"}, {"v", "1"}}}},
             {"set", {"b", "a"}},
             {"map", {{"m", "1"}}},
             {"free", {{"z", {{"y", 1}}}}}},
            "one");

  const Answer merged = ApplySpec({{"byKeys", {{{"k", "y"}}}},
                                   {"set", {"c", "a"}},
                                   {"map", {{"n", "2"}}},
                                   {"free", {{"z", {{"x", 2}}}}}},
                                  "two");

  EXPECT_EQ(merged.at("/spec"),
            json::parse(R"({"byKeys": [{"k": "x", "p": "TCP", "v": "1"}, {"k": "y", "p": "TCP"}],
                            "free": {"z": {"x": 2, "y": 1}},
                            "i": 1,
                            "map": {"m": "1", "n": "2"},
                            "set": ["b", "c", "a"]})"));
  EXPECT_EQ(merged.at("/metadata/generation"), 2);
}

TEST_F(ApplyCustomTest, WhatAManagerGivesUpGoesUnlessAnotherHasItToo) {
  ApplySpec({{"byKeys", {{{"k", "x"}}}}, {"set", {"b", "a"}}, {"map", {{"m", "1"}}}}, "one");
  ApplySpec({{"byKeys", {{{"k", "y"}}}}, {"set", {"c", "a"}}, {"map", {{"n", "2"}}}}, "two");

  const Answer applied = ApplySpec({{"set", {"b"}}}, "one");

  EXPECT_EQ(applied.at("/spec"), json::parse(R"({"byKeys": [{"k": "y", "p": "TCP"}],
                                                 "i": 1,
                                                 "map": {"n": "2"},
                                                 "set": ["b", "c", "a"]})"));
}

TEST_F(ApplyCustomTest, ADefaultBelongsToNobodyUntilItIsApplied) {
  EXPECT_EQ(ManagedFields(ApplySpec({{"a", "1"}}, "m")),
            json({Entry("m", "Apply", Version(), R"({"f:spec": {"f:a": {}}})")}));

  const Answer applied = ApplySpec({{"i", 2}}, "n");

  EXPECT_EQ(applied.status, 200);
  EXPECT_EQ(applied.at("/spec/i"), 2);
}

TEST_F(ApplyCustomTest, WhoCreatesAnObjectOwnsNoMetadataButWhatHeSent) {
  const json plain = Post(Widgets(), AWidget("plain", json::object())).body;
  json labelled = AWidget("labelled", json::object());
  labelled["metadata"]["labels"] = {{"a", "b"}};
  labelled = Post(Widgets(), labelled).body;

  const json fields = ManagedFields({.body = plain})[0]["fieldsV1"];
  EXPECT_FALSE(fields.contains("f:metadata")) << fields;
  EXPECT_TRUE(fields.contains("f:spec")) << fields;
  EXPECT_EQ(ManagedFields({.body = labelled})[0]["fieldsV1"]["f:metadata"],
            R"({"f:labels": {".": {}, "f:a": {}}})"_json);
}

TEST_F(ApplyCustomTest, AnUpdateHasItemsWithTheirDefaults) {
  ApplySpec({{"a", "1"}}, "m");

  const Answer written =
      MergePatch(Object() + "?fieldManager=writer",
                 {{"spec", {{"byKeys", json::array({json{{"k", "x"}}})}, {"free", {{"z", {1}}}}}}});

  EXPECT_EQ(ManagedFields(written)[1], Entry("writer", "Update", Version(), R"({"f:spec": {
      "f:byKeys": {".": {}, "k:{\"k\":\"x\",\"p\":\"TCP\"}": {".": {}, "f:k": {}, "f:p": {}}},
      "f:free": {".": {}, "f:z": {}}}})"));
}

TEST_F(ApplyCustomTest, TheStatusIsAppliedByItself) {
  ApplySpec({{"a", "1"}}, "m");
  json widget = AWidget("w", {{"a", "2"}});
  widget["status"] = json::parse(R"({"conditions": [{"type": "Ready", "status": "True"}]})");

  const Answer applied = Apply(Object() + "/status", widget, "s");

  EXPECT_EQ(applied.str("/spec/a"), "1");
  EXPECT_EQ(applied.at("/status"), widget["status"]);
  EXPECT_EQ(ManagedFields(applied)[1],
            Entry("s", "Apply", Version(),
                  R"({"f:status": {"f:conditions": {"k:{\"type\":\"Ready\"}": {
                        ".": {}, "f:status": {}, "f:type": {}}}}})",
                  "status"));
}

TEST_F(ApplyCustomTest, AConflictInTheStatusNamesTheSubresource) {
  ApplySpec({{"a", "1"}}, "m");
  json widget = AWidget("w");
  widget["status"] = json::parse(R"({"conditions": [{"type": "Ready", "status": "True"}]})");
  Apply(Object() + "/status", widget, "s");
  widget["status"]["conditions"][0]["status"] = "False";

  const Answer answer = Apply(Object() + "/status", widget, "t");

  EXPECT_EQ(answer.message(),
            "Apply failed with 1 conflict: conflict with \"s\" with subresource \"status\": "
            ".status.conditions[type=\"Ready\"].status");
}

struct Clash {
  std::string name{};
  std::string mine{};
  std::string theirs{};
  std::string field{};
};
void PrintTo(const Clash& clash, std::ostream* out) { *out << clash.field; }

class ApplyCustomConflictTest : public ApplyCustomTest,
                                public ::testing::WithParamInterface<Clash> {};

TEST_P(ApplyCustomConflictTest, NamesTheField) {
  ApplySpec(json::parse(GetParam().mine), "me");

  const Answer answer = ApplySpec(json::parse(GetParam().theirs), "them");

  EXPECT_EQ(answer.status, 409);
  EXPECT_THAT(Causes(answer),
              ElementsAre("FieldManagerConflict " + GetParam().field + ": conflict with \"me\""));
}

const Clash clashes[] = {
    {"AScalar", R"({"a": "1"})", R"({"a": "2"})", ".spec.a"},
    {"AListIsAtomic", R"({"list": ["q"]})", R"({"list": ["q", "r"]})", ".spec.list"},
    {"AnAtomicMap", R"({"atomicMap": {"n": "1"}})", R"({"atomicMap": {"m": "1"}})",
     ".spec.atomicMap"},
    {"AnAtomicObject", R"({"atomicObject": {"x": "1"}})", R"({"atomicObject": {"y": "1"}})",
     ".spec.atomicObject"},
    {"AnEntryOfAMap", R"({"map": {"m": "1"}})", R"({"map": {"m": "2"}})", ".spec.map.m"},
    {"AFieldOfAnItemByKeys", R"({"byKeys": [{"k": "x", "v": "1"}]})",
     R"({"byKeys": [{"k": "x", "v": "2"}]})", R"(.spec.byKeys[k="x",p="TCP"].v)"},
    {"AListInWhatHasNoSchema", R"({"free": {"l": [{"o": 1}]}})", R"({"free": {"l": [{"o": 2}]}})",
     ".spec.free.l"},
    {"AnObjectInWhatHasNoSchema", R"({"free": {"z": {"y": 1}}})", R"({"free": {"z": {"y": 2}}})",
     ".spec.free.z.y"},
};
INSTANTIATE_TEST_SUITE_P(, ApplyCustomConflictTest, ::testing::ValuesIn(clashes),
                         [](const auto& clash) { return clash.param.name; });

struct Misfit {
  std::string name{};
  std::string spec{};
  std::string why{};
};
void PrintTo(const Misfit& misfit, std::ostream* out) { *out << misfit.spec; }

class ApplyCustomMisfitTest : public ApplyCustomTest,
                              public ::testing::WithParamInterface<Misfit> {};

TEST_P(ApplyCustomMisfitTest, IsRefused) {
  const Answer answer = ApplySpec(json::parse(GetParam().spec), "m");

  EXPECT_EQ(answer.status, 500);
  EXPECT_EQ(answer.message(), "failed to create typed patch object (/w; " + Version() +
                                  ", Kind=Widget): " + GetParam().why);
  EXPECT_EQ(Get(Object()).status, 404);
}

const Misfit misfits[] = {
    {"AnUnknownField", R"({"zz": 5})", ".spec.zz: field not declared in schema"},
    {"AnotherType", R"({"a": 5})",
     ".spec.a: expected string, got &value.valueUnstructured{Value:5}"},
    {"AKeyTwice", R"({"byKeys": [{"k": "x"}, {"k": "x", "p": "TCP"}]})",
     R"(.spec.byKeys: duplicate entries for key [k="x",p="TCP"])"},
    {"AValueTwice", R"({"set": ["a", "a"]})", R"(.spec.set: duplicate entries for key [="a"])"},
};
INSTANTIATE_TEST_SUITE_P(, ApplyCustomMisfitTest, ::testing::ValuesIn(misfits),
                         [](const auto& misfit) { return misfit.param.name; });

/// A Widget of which the schema says nothing.
class ApplyWithoutSchemaTest : public DefinitionTest {};

TEST_F(ApplyWithoutSchemaTest, ObjectsAreMergedAndListsAreNot) {
  Define(Anything());
  Apply(Widgets() + "/w", AWidget("w", {{"a", {{"b", {1, 2}}}}}), "one");

  const Answer merged = Apply(Widgets() + "/w", AWidget("w", {{"a", {{"d", 1}}}}), "two");

  EXPECT_EQ(merged.at("/spec"), json::parse(R"({"a": {"b": [1, 2], "d": 1}})"));
  const json entries = ManagedFields(merged);
  ASSERT_EQ(entries.size(), 2U);
  EXPECT_EQ(entries[0]["fieldsV1"],
            json::parse(R"({"f:spec": {".": {}, "f:a": {".": {}, "f:b": {}}}})"));
  EXPECT_EQ(entries[1]["fieldsV1"],
            json::parse(R"({"f:spec": {".": {}, "f:a": {".": {}, "f:d": {}}}})"));
}

}  // namespace
}  // namespace kopp::conformance
