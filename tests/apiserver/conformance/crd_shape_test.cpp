#include "custom_resources.hpp"
#include "explanations.hpp"

#include <string>

namespace kopp::conformance {
namespace {

using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::IsEmpty;
using ::testing::StartsWith;

json Text() { return {{"type", "string"}}; }
json TextOr(const std::string& value) { return {{"type", "string"}, {"default", value}}; }

/// What becomes of fields that the schema does not have, and of embedded objects.
class CrdPruningTest : public CustomResourceTest {
 protected:
  static void SetUpTestSuite() {
    json free = Anything();
    free["properties"] = {{"known", AnObject({{"x", Text()}})}};
    json embedded = Anything();
    embedded["x-kubernetes-embedded-resource"] = true;
    const json spec = AnObject(
        {{"a", Text()},
         {"free", free},
         {"embedded", embedded},
         {"map", {{"type", "object"}, {"additionalProperties", AnObject({{"y", Text()}})}}},
         {"list", {{"type", "array"}, {"items", AnObject({{"z", Text()}})}}}});
    Define(AnObject({{"spec", spec}}));
  }
  static void TearDownTestSuite() { Undefine(); }

  Answer PostSpec(const std::string& spec, const std::string& query = "") {
    return Post(Widgets() + query, AWidget("w", json::parse(spec)));
  }
};

TEST_F(CrdPruningTest, UnknownFieldsAreDroppedAtEachLevel) {
  const Answer made = PostSpec(R"({"a": "1", "b": 2,
                                   "map": {"k": {"y": "1", "n": 1}},
                                   "list": [{"z": "1", "n": 1}]})");

  EXPECT_EQ(made.status, 201);
  EXPECT_EQ(made.at("/spec"),
            json::parse(R"({"a": "1", "map": {"k": {"y": "1"}}, "list": [{"z": "1"}]})"));
}

TEST_F(CrdPruningTest, WarningsNameThemByPath) {
  const Answer made = PostSpec(R"({"b": 2, "map": {"k": {"n": 1}}, "list": [{}, {"n": 1}]})");

  EXPECT_THAT(made.warnings,
              ElementsAre("unknown field \"spec.b\"", "unknown field \"spec.list[1].n\"",
                          "unknown field \"spec.map.k.n\""));
}

TEST_F(CrdPruningTest, UnknownFieldsAreKeptWhereTheSchemaSaysSo) {
  const Answer made = PostSpec(R"({"free": {"q": {"r": 1}, "known": {"x": "1", "n": 2}}})");

  EXPECT_EQ(made.at("/spec"), json::parse(R"({"free": {"q": {"r": 1}, "known": {"x": "1"}}})"));
  EXPECT_THAT(made.warnings, ElementsAre("unknown field \"spec.free.known.n\""));
}

TEST_F(CrdPruningTest, UnknownFieldsAreRefusedIfTheClientLikes) {
  const Answer answer = PostSpec(R"({"b": 2, "list": [{"n": 1}], "map": {"k": {"n": 1}}})",
                                 "?fieldValidation=Strict");

  EXPECT_EQ(answer.status, 400);
  EXPECT_EQ(answer.reason(), "BadRequest");
  EXPECT_EQ(answer.message(),
            "Widget in version \"v1\" cannot be handled as a Widget: strict decoding error: "
            "unknown field \"spec.b\", unknown field \"spec.list[0].n\", unknown field "
            "\"spec.map.k.n\"");
}

TEST_F(CrdPruningTest, UnknownFieldsAreDroppedInSilenceIfTheClientLikes) {
  const Answer made = PostSpec(R"({"a": "1", "b": 2})", "?fieldValidation=Ignore");

  EXPECT_EQ(made.at("/spec"), json({{"a", "1"}}));
  EXPECT_THAT(made.warnings, IsEmpty());
}

TEST_F(CrdPruningTest, UnknownMetadataIsDroppedToo) {
  json widget = AWidget("w");
  widget["metadata"]["nope"] = 1;

  const Answer made = Post(Widgets(), widget);

  EXPECT_EQ(made.status, 201);
  EXPECT_FALSE(made.body["metadata"].contains("nope"));
  EXPECT_THAT(made.warnings, ElementsAre("unknown field \"metadata.nope\""));
}

TEST_F(CrdPruningTest, AFieldGivenTwiceIsRefusedIfTheClientLikes) {
  const Answer answer = Call({.method = "POST",
                              .target = Widgets() + "?fieldValidation=Strict",
                              .body = R"({"apiVersion": ")" + group() +
                                      R"(/v1", "kind": "Widget", "metadata": {"name": "w"},
                                          "spec": {"a": "1", "a": "2"}})"});

  EXPECT_EQ(answer.status, 400);
  EXPECT_THAT(answer.message(), EndsWith("strict decoding error: duplicate field \"spec.a\""));
}

TEST_F(CrdPruningTest, APatchThatAddsUnknownFieldsIsRefusedIfTheClientLikes) {
  PostSpec(R"({"a": "1"})");

  const Answer answer =
      MergePatch(Widgets() + "/w?fieldValidation=Strict", {{"spec", {{"zz", 1}}}});

  EXPECT_EQ(answer.status, 422);
  EXPECT_THAT(answer.message(), EndsWith(": strict decoding error: unknown field \"spec.zz\""));
}

TEST_F(CrdPruningTest, AnEmbeddedObjectKeepsAllButUnknownMetadata) {
  const Answer made = PostSpec(R"({"embedded": {"apiVersion": "v1", "kind": "Pod",
                                                "metadata": {"name": "p", "nope": 1},
                                                "spec": {"any": 1}}})");

  EXPECT_EQ(made.at("/spec/embedded"),
            json::parse(R"({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"},
                            "spec": {"any": 1}})"));
  EXPECT_THAT(made.warnings, ElementsAre("unknown field \"spec.embedded.metadata.nope\""));
}

TEST_F(CrdPruningTest, AnEmbeddedObjectHasAKind) {
  const Answer answer = PostSpec(R"({"embedded": {"spec": {}}})");

  EXPECT_EQ(answer.status, 422);
  EXPECT_THAT(Causes(answer),
              ElementsAre("FieldValueRequired spec.embedded.apiVersion: Required value",
                          "FieldValueRequired spec.embedded.kind: Required value"));
}

TEST_F(CrdPruningTest, AnEmbeddedObjectsKindAndVersionLookLikeOnes) {
  const Answer answer = PostSpec(R"({"embedded": {"apiVersion": "a/b/c", "kind": "X"}})");
  const Answer other = PostSpec(R"({"embedded": {"apiVersion": "v1", "kind": "X Y"}})");

  EXPECT_THAT(Causes(answer),
              ElementsAre("FieldValueInvalid spec.embedded.apiVersion: Invalid value: \"a/b/c\": "
                          "unexpected GroupVersion string: a/b/c"));
  EXPECT_THAT(Causes(other),
              ElementsAre("FieldValueInvalid spec.embedded.kind: Invalid value: \"X Y\": may have "
                          "mixed case, but should otherwise match: " +
                          no_dns1035_label));
}

TEST_F(CrdPruningTest, APatchMakesNoOtherKind) {
  Post(Widgets(), AWidget("w"));

  const Answer answer = MergePatch(Widgets() + "/w", {{"kind", "X"}});

  EXPECT_EQ(answer.status, 422);
  EXPECT_THAT(Causes(answer),
              ElementsAre("FieldValueInvalid kind: Invalid value: \"X\": must be Widget"));
  EXPECT_THAT(MergePatch(Widgets() + "/w", {{"kind", nullptr}}).message(),
              StartsWith(" \"\" is invalid: patch: Invalid value: "));
  EXPECT_EQ(MergePatch(Widgets() + "/w", {{"apiVersion", "other.example/v1"}}).message(),
            "Widget.other.example \"w\" is invalid: apiVersion: Invalid value: "
            "\"other.example/v1\": must be " +
                group() + "/v1");
}

TEST_F(CrdPruningTest, AStrategicPatchIsRefusedWithTheTypesThatAreTaken) {
  Post(Widgets(), AWidget("w"));

  const Answer answer = Call({.method = "PATCH",
                              .target = Widgets() + "/w",
                              .body = "{}",
                              .content_type = "application/strategic-merge-patch+json"});

  EXPECT_EQ(answer.status, 415);
  EXPECT_EQ(answer.message(),
            "the body of the request was in an unknown format - accepted media types include: "
            "application/json-patch+json, application/merge-patch+json, "
            "application/apply-patch+yaml");
}

TEST_F(CrdPruningTest, MetadataIsValidatedAsThatOfAnyObject) {
  json widget = AWidget("Bad_Name");
  widget["metadata"]["labels"]["x y"] = "1";

  const Answer answer = Post(Widgets(), widget);

  EXPECT_EQ(answer.status, 422);
  EXPECT_THAT(
      Causes(answer),
      ElementsAre("FieldValueInvalid metadata.name: Invalid value: \"Bad_Name\": " + no_subdomain,
                  "FieldValueInvalid metadata.labels: Invalid value: \"x y\": name part " +
                      no_qualified_name));
}

struct Mistake {
  std::string name{};
  std::string operations{};  ///< the JSON Patch of a good Widget
  int status = 0;
  std::string message{};  ///< with "GROUP" for the group
};
void PrintTo(const Mistake& mistake, std::ostream* out) { *out << mistake.operations; }

class CustomObjectTest : public CustomResourceTest, public ::testing::WithParamInterface<Mistake> {
 protected:
  static void SetUpTestSuite() { Define(Anything()); }
  static void TearDownTestSuite() { Undefine(); }
};

TEST_P(CustomObjectTest, IsRefused) {
  std::string message = GetParam().message;
  for (auto at = message.find("GROUP"); at != std::string::npos; at = message.find("GROUP")) {
    message.replace(at, 5, group());
  }

  const Answer answer = Post(Widgets(), AWidget("w").patch(json::parse(GetParam().operations)));

  EXPECT_EQ(answer.status, GetParam().status);
  EXPECT_EQ(answer.message(), message);
}

const Mistake mistakes[] = {
    {"WithoutAnApiVersion", R"([{"op": "remove", "path": "/apiVersion"}])", 400,
     "the API version in the data () does not match the expected API version (GROUP/v1)"},
    {"OfAnotherVersion", R"([{"op": "replace", "path": "/apiVersion", "value": "example.com/v2"}])",
     400,
     "the API version in the data (example.com/v2) does not match the expected API version "
     "(GROUP/v1)"},
    {"OfAnotherKind", R"([{"op": "replace", "path": "/kind", "value": "Other"}])", 422,
     "Other.GROUP \"w\" is invalid: kind: Invalid value: \"Other\": must be Widget"},
    {"WithALabelThatIsANumber", R"([{"op": "add", "path": "/metadata/labels", "value": {"a": 1}}])",
     400,
     "Widget in version \"v1\" cannot be handled as a Widget: json: cannot unmarshal number into "
     "Go struct field ObjectMeta.labels of type string"},
    {"WithLabelsThatAreAString", R"([{"op": "add", "path": "/metadata/labels", "value": "x"}])",
     400,
     "Widget in version \"v1\" cannot be handled as a Widget: json: cannot unmarshal string into "
     "Go struct field ObjectMeta.labels of type map[string]string"},
};
INSTANTIATE_TEST_SUITE_P(, CustomObjectTest, ::testing::ValuesIn(mistakes),
                         [](const auto& mistake) { return mistake.param.name; });

/// What a schema fills in.
class CrdDefaultsTest : public CustomResourceTest {
 protected:
  static void SetUpTestSuite() {
    json object = AnObject({{"x", TextOr("X")}});
    json with_default = object;
    with_default["default"] = json::object();
    json nullable = TextOr("N");
    nullable["nullable"] = true;
    json plainly_nullable = Text();
    plainly_nullable["nullable"] = true;
    json spec = AnObject({{"a", TextOr("A")},
                          {"plain", Text()},
                          {"object", object},
                          {"filled", with_default},
                          {"nullable", nullable},
                          {"plainlyNullable", plainly_nullable},
                          {"list", {{"type", "array"}, {"items", object}}},
                          {"map", {{"type", "object"}, {"additionalProperties", object}}}});
    spec["default"] = json::object();
    Define(AnObject({{"spec", spec}}));
  }
  static void TearDownTestSuite() { Undefine(); }

  json SpecOf(const json& spec) { return Post(Widgets(), AWidget("w", spec)).at("/spec"); }
};

const json filled_in = json::parse(R"({"a": "A", "filled": {"x": "X"}, "nullable": "N"})");

TEST_F(CrdDefaultsTest, WhatIsMissingIsFilledInFromTheOutside) {
  EXPECT_EQ(SpecOf(nullptr), filled_in);
}

TEST_F(CrdDefaultsTest, ThereMayBeNothingInIt) { EXPECT_EQ(SpecOf(json::object()), filled_in); }

TEST_F(CrdDefaultsTest, WhatIsThereIsFilledInInside) {
  json expected = filled_in;
  expected.update(json::parse(R"({"object": {"x": "X"}, "list": [{"x": "X"}, {"x": "1"}],
                                  "map": {"k": {"x": "X"}}})"));

  EXPECT_EQ(SpecOf(json::parse(R"({"object": {}, "list": [{}, {"x": "1"}], "map": {"k": {}}})")),
            expected);
}

TEST_F(CrdDefaultsTest, ANullIsFilledInUnlessItIsAllowed) {
  json expected = filled_in;
  expected["nullable"] = nullptr;

  EXPECT_EQ(SpecOf({{"a", nullptr}, {"nullable", nullptr}}), expected);
}

TEST_F(CrdDefaultsTest, ANullWithoutADefaultIsDroppedUnlessItIsAllowed) {
  json expected = filled_in;
  expected["plainlyNullable"] = nullptr;

  EXPECT_EQ(SpecOf({{"plain", nullptr}, {"plainlyNullable", nullptr}}), expected);
}

class CrdSchemaChangeTest : public DefinitionTest {
 protected:
  /// The widget once its spec is `expected`.
  Answer EventuallyWithSpec(const json& expected) {
    return Eventually(200, [&] {
      Answer found = Get(Widgets() + "/w");
      if (found.at("/spec") != expected) found.status = 0;
      return found;
    });
  }
};

TEST_F(CrdSchemaChangeTest, ANewDefaultIsThereWhenAnOldObjectIsRead) {
  Define(AnObject({{"spec", AnObject({{"a", Text()}})}}));
  const Answer made = Post(Widgets(), AWidget("w", {{"a", "1"}}));

  JsonPatch(Definition(), {{{"op", "add"},
                            {"path",
                             "/spec/versions/0/schema/openAPIV3Schema/properties/spec"
                             "/properties/b"},
                            {"value", TextOr("late")}}});

  const Answer read = EventuallyWithSpec({{"a", "1"}, {"b", "late"}});
  EXPECT_EQ(read.status, 200);
  EXPECT_EQ(read.version(), made.version());
}

TEST_F(CrdSchemaChangeTest, AFieldThatTheSchemaLostIsNotThereWhenAnOldObjectIsRead) {
  Define(AnObject({{"spec", AnObject({{"a", Text()}, {"b", Text()}})}}));
  Post(Widgets(), AWidget("w", {{"a", "1"}, {"b", "2"}}));

  JsonPatch(Definition(), {{{"op", "remove"},
                            {"path",
                             "/spec/versions/0/schema/openAPIV3Schema/properties/spec"
                             "/properties/b"}}});

  EXPECT_EQ(EventuallyWithSpec({{"a", "1"}}).status, 200);
}

}  // namespace
}  // namespace kopp::conformance
