#include "custom_resources.hpp"
#include "managed_fields.hpp"

#include <string>
#include <vector>

namespace kopp::conformance {
namespace {

using ::testing::ElementsAre;

json StringFieldSchema() { return {{"type", "string"}}; }

json ArraySchema(const json& items, const json& extensions = json::object()) {
  json list{{"type", "array"}, {"items", items}};
  list.update(extensions);
  return list;
}

/// Returns a list of type map whose items have the keys k and p. The default of p is TCP.
json ListMapSchema() {
  const json p{{"type", "string"}, {"default", "TCP"}};
  return ArraySchema(
      {{"type", "object"},
       {"required", {"k"}},
       {"properties", {{"k", StringFieldSchema()}, {"p", p}, {"v", StringFieldSchema()}}}},
      {{"x-kubernetes-list-type", "map"}, {"x-kubernetes-list-map-keys", {"k", "p"}}});
}

json SpecSchema() {
  json atomic_map{{"type", "object"}, {"additionalProperties", StringFieldSchema()}};
  const json map = atomic_map;
  atomic_map["x-kubernetes-map-type"] = "atomic";
  json atomic_object = ObjectSchema({{"x", StringFieldSchema()}, {"y", StringFieldSchema()}});
  atomic_object["x-kubernetes-map-type"] = "atomic";
  return ObjectSchema(
      {{"a", StringFieldSchema()},
       {"i", {{"type", "integer"}, {"default", 1}}},
       {"byKeys", ListMapSchema()},
       {"set", ArraySchema(StringFieldSchema(), {{"x-kubernetes-list-type", "set"}})},
       {"list", ArraySchema(StringFieldSchema())},
       {"map", map},
       {"atomicMap", atomic_map},
       {"atomicObject", atomic_object},
       {"free", AnyObjectSchema()}});
}

json StatusSchema() {
  return ObjectSchema(
      {{"conditions",
        ArraySchema(
            {{"type", "object"},
             {"required", {"type"}},
             {"properties", {{"type", StringFieldSchema()}, {"status", StringFieldSchema()}}}},
            {{"x-kubernetes-list-type", "map"}, {"x-kubernetes-list-map-keys", {"type"}}})}});
}

/// Fixture of tests of server-side apply of one Widget. Its schema sets how lists and maps are
/// merged.
class ApplyCustomResourceTest : public CustomResourceTest {
 protected:
  static void SetUpTestSuite() {
    CreateCrd(ObjectSchema({{"spec", SpecSchema()}, {"status", StatusSchema()}}),
              {{"subresources", {{"status", json::object()}}}});
  }
  static void TearDownTestSuite() { DeleteCrd(); }

  std::string ObjectPath() { return Widgets() + "/w"; }
  std::string ApiVersion() { return group() + "/v1"; }
  JsonResponse ApplySpec(const json& spec, const std::string& manager,
                         const std::string& extra_query = "") {
    return Apply(ObjectPath(), MakeWidget("w", spec), manager, extra_query);
  }
};

TEST_F(ApplyCustomResourceTest, ManagedFieldsFollowTheListAndMapTypesOfTheSchema) {
  const json spec = json::parse(R"({
      "a": "1",
      "byKeys": [{"k": "x", "v": "1"}, {"k": "x", "p": "UDP"}],
      "set": ["b", "a"],
      "list": ["q"],
      "map": {"m": "1"},
      "atomicMap": {"n": "1"},
      "atomicObject": {"x": "1"},
      "free": {"z": {"y": 1}, "l": [{"o": 1}]}})");

  const JsonResponse created = ApplySpec(spec, "m");

  EXPECT_EQ(created.status, 201);
  EXPECT_EQ(ManagedFields(created),
            json({ManagedFieldsEntry("m", "Apply", ApiVersion(), R"({"f:spec": {
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

TEST_F(ApplyCustomResourceTest, ListsAndMapsOfTwoManagersAreMerged) {
  ApplySpec({{"byKeys", {{{"k", "x"}, {"v", "1"}}}},
             {"set", {"b", "a"}},
             {"map", {{"m", "1"}}},
             {"free", {{"z", {{"y", 1}}}}}},
            "one");

  const JsonResponse merged = ApplySpec({{"byKeys", {{{"k", "y"}}}},
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

TEST_F(ApplyCustomResourceTest, FieldsThatAManagerStopsApplyingAreRemovedUnlessShared) {
  ApplySpec({{"byKeys", {{{"k", "x"}}}}, {"set", {"b", "a"}}, {"map", {{"m", "1"}}}}, "one");
  ApplySpec({{"byKeys", {{{"k", "y"}}}}, {"set", {"c", "a"}}, {"map", {{"n", "2"}}}}, "two");

  const JsonResponse applied = ApplySpec({{"set", {"b"}}}, "one");

  EXPECT_EQ(applied.at("/spec"), json::parse(R"({"byKeys": [{"k": "y", "p": "TCP"}],
                                                 "i": 1,
                                                 "map": {"n": "2"},
                                                 "set": ["b", "c", "a"]})"));
}

TEST_F(ApplyCustomResourceTest, ADefaultedFieldHasNoOwnerUntilItIsApplied) {
  EXPECT_EQ(ManagedFields(ApplySpec({{"a", "1"}}, "m")),
            json({ManagedFieldsEntry("m", "Apply", ApiVersion(), R"({"f:spec": {"f:a": {}}})")}));

  const JsonResponse applied = ApplySpec({{"i", 2}}, "n");

  EXPECT_EQ(applied.status, 200);
  EXPECT_EQ(applied.at("/spec/i"), 2);
}

TEST_F(ApplyCustomResourceTest, CreateRecordsOnlyTheMetadataFieldsOfTheRequest) {
  const json plain = Post(Widgets(), MakeWidget("plain", json::object())).body;
  json labelled = MakeWidget("labelled", json::object());
  labelled["metadata"]["labels"] = {{"a", "b"}};
  labelled = Post(Widgets(), labelled).body;

  const json fields = ManagedFields({.body = plain})[0]["fieldsV1"];
  EXPECT_FALSE(fields.contains("f:metadata")) << fields;
  EXPECT_TRUE(fields.contains("f:spec")) << fields;
  EXPECT_EQ(ManagedFields({.body = labelled})[0]["fieldsV1"]["f:metadata"],
            R"({"f:labels": {".": {}, "f:a": {}}})"_json);
}

TEST_F(ApplyCustomResourceTest, UpdateRecordsTheDefaultedKeyOfAListMapItem) {
  ApplySpec({{"a", "1"}}, "m");

  const JsonResponse written =
      MergePatch(ObjectPath() + "?fieldManager=writer",
                 {{"spec", {{"byKeys", json::array({json{{"k", "x"}}})}, {"free", {{"z", {1}}}}}}});

  EXPECT_EQ(ManagedFields(written)[1],
            ManagedFieldsEntry("writer", "Update", ApiVersion(), R"({"f:spec": {
      "f:byKeys": {".": {}, "k:{\"k\":\"x\",\"p\":\"TCP\"}": {".": {}, "f:k": {}, "f:p": {}}},
      "f:free": {".": {}, "f:z": {}}}})"));
}

TEST_F(ApplyCustomResourceTest, ApplyToStatusChangesOnlyTheStatus) {
  ApplySpec({{"a", "1"}}, "m");
  json widget = MakeWidget("w", {{"a", "2"}});
  widget["status"] = json::parse(R"({"conditions": [{"type": "Ready", "status": "True"}]})");

  const JsonResponse applied = Apply(ObjectPath() + "/status", widget, "s");

  EXPECT_EQ(applied.str("/spec/a"), "1");
  EXPECT_EQ(applied.at("/status"), widget["status"]);
  EXPECT_THAT(applied.text, ::testing::HasSubstr(R"("manager":"s","operation":"Apply")"))
      << "kopp's client searches for it";
  EXPECT_EQ(ManagedFields(applied)[1],
            ManagedFieldsEntry("s", "Apply", ApiVersion(),
                               R"({"f:status": {"f:conditions": {"k:{\"type\":\"Ready\"}": {
                        ".": {}, "f:status": {}, "f:type": {}}}}})",
                               "status"));
}

TEST_F(ApplyCustomResourceTest, ConflictInStatusContainsTheSubresource) {
  ApplySpec({{"a", "1"}}, "m");
  json widget = MakeWidget("w");
  widget["status"] = json::parse(R"({"conditions": [{"type": "Ready", "status": "True"}]})");
  Apply(ObjectPath() + "/status", widget, "s");
  widget["status"]["conditions"][0]["status"] = "False";

  const JsonResponse response = Apply(ObjectPath() + "/status", widget, "t");

  EXPECT_EQ(response.message(),
            "Apply failed with 1 conflict: conflict with \"s\" with subresource \"status\": "
            ".status.conditions[type=\"Ready\"].status");
}

/// Two specs that different managers apply one after the other.
struct ConflictingSpecs {
  std::string test_name{};
  std::string first{};
  std::string second{};
  std::string field{};  ///< the field that is reported as the conflict
};
void PrintTo(const ConflictingSpecs& specs, std::ostream* out) { *out << specs.field; }

class ApplyCustomResourceConflictTest : public ApplyCustomResourceTest,
                                        public ::testing::WithParamInterface<ConflictingSpecs> {};

TEST_P(ApplyCustomResourceConflictTest, ConflictCauseContainsTheFieldPath) {
  ApplySpec(json::parse(GetParam().first), "me");

  const JsonResponse response = ApplySpec(json::parse(GetParam().second), "them");

  EXPECT_EQ(response.status, 409);
  EXPECT_THAT(Causes(response),
              ElementsAre("FieldManagerConflict " + GetParam().field + ": conflict with \"me\""));
}

const ConflictingSpecs conflicting_specs[] = {
    {"Scalar", R"({"a": "1"})", R"({"a": "2"})", ".spec.a"},
    {"ListWithoutTypeIsAtomic", R"({"list": ["q"]})", R"({"list": ["q", "r"]})", ".spec.list"},
    {"AtomicMap", R"({"atomicMap": {"n": "1"}})", R"({"atomicMap": {"m": "1"}})",
     ".spec.atomicMap"},
    {"AtomicObject", R"({"atomicObject": {"x": "1"}})", R"({"atomicObject": {"y": "1"}})",
     ".spec.atomicObject"},
    {"MapEntry", R"({"map": {"m": "1"}})", R"({"map": {"m": "2"}})", ".spec.map.m"},
    {"FieldOfAListMapItem", R"({"byKeys": [{"k": "x", "v": "1"}]})",
     R"({"byKeys": [{"k": "x", "v": "2"}]})", R"(.spec.byKeys[k="x",p="TCP"].v)"},
    {"ListWithoutSchema", R"({"free": {"l": [{"o": 1}]}})", R"({"free": {"l": [{"o": 2}]}})",
     ".spec.free.l"},
    {"ObjectWithoutSchema", R"({"free": {"z": {"y": 1}}})", R"({"free": {"z": {"y": 2}}})",
     ".spec.free.z.y"},
};
INSTANTIATE_TEST_SUITE_P(, ApplyCustomResourceConflictTest, ::testing::ValuesIn(conflicting_specs),
                         [](const auto& specs) { return specs.param.test_name; });

/// A spec that does not match the schema.
struct MismatchedSpec {
  std::string test_name{};
  std::string spec{};
  std::string error{};
};
void PrintTo(const MismatchedSpec& mismatch, std::ostream* out) { *out << mismatch.spec; }

class ApplyCustomResourceMismatchTest : public ApplyCustomResourceTest,
                                        public ::testing::WithParamInterface<MismatchedSpec> {};

TEST_P(ApplyCustomResourceMismatchTest, SpecThatDoesNotMatchTheSchemaIsRejected) {
  const JsonResponse response = ApplySpec(json::parse(GetParam().spec), "m");

  EXPECT_EQ(response.status, 500);
  EXPECT_EQ(response.message(), "failed to create typed patch object (/w; " + ApiVersion() +
                                    ", Kind=Widget): " + GetParam().error);
  EXPECT_EQ(Get(ObjectPath()).status, 404);
}

const MismatchedSpec mismatched_specs[] = {
    {"UnknownField", R"({"zz": 5})", ".spec.zz: field not declared in schema"},
    {"WrongType", R"({"a": 5})", ".spec.a: expected string, got &value.valueUnstructured{Value:5}"},
    {"DuplicateListMapKey", R"({"byKeys": [{"k": "x"}, {"k": "x", "p": "TCP"}]})",
     R"(.spec.byKeys: duplicate entries for key [k="x",p="TCP"])"},
    {"DuplicateSetValue", R"({"set": ["a", "a"]})",
     R"(.spec.set: duplicate entries for key [="a"])"},
};
INSTANTIATE_TEST_SUITE_P(, ApplyCustomResourceMismatchTest, ::testing::ValuesIn(mismatched_specs),
                         [](const auto& mismatch) { return mismatch.param.test_name; });

/// Fixture of tests of server-side apply of a Widget whose schema only preserves unknown fields.
class ApplyWithoutSchemaTest : public CrdPerTest {};

TEST_F(ApplyWithoutSchemaTest, ObjectsAreMergedAndListsAreAtomic) {
  CreateCrd(AnyObjectSchema());
  Apply(Widgets() + "/w", MakeWidget("w", {{"a", {{"b", {1, 2}}}}}), "one");

  const JsonResponse merged = Apply(Widgets() + "/w", MakeWidget("w", {{"a", {{"d", 1}}}}), "two");

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
