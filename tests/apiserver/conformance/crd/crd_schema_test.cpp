#include "custom_resources.hpp"
#include "validation_messages.hpp"

#include <string>

namespace kopp::conformance {
namespace {

using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::IsEmpty;
using ::testing::StartsWith;

json StringSchema() { return {{"type", "string"}}; }
json StringSchemaWithDefault(const std::string& value) {
  return {{"type", "string"}, {"default", value}};
}

/// Fixture of tests of one CRD with a structural schema: pruning of unknown fields, embedded
/// objects, and validation of kind and metadata.
class CrdSchemaTest : public CustomResourceTest {
 protected:
  static void SetUpTestSuite() {
    json free_form = AnyObjectSchema();
    free_form["properties"] = {{"known", ObjectSchema({{"x", StringSchema()}})}};
    json embedded = AnyObjectSchema();
    embedded["x-kubernetes-embedded-resource"] = true;
    const json spec = ObjectSchema(
        {{"a", StringSchema()},
         {"date", {{"type", "string"}, {"format", "date"}}},
         {"free", free_form},
         {"embedded", embedded},
         {"map",
          {{"type", "object"}, {"additionalProperties", ObjectSchema({{"y", StringSchema()}})}}},
         {"list", {{"type", "array"}, {"items", ObjectSchema({{"z", StringSchema()}})}}}});
    CreateCrd(ObjectSchema({{"spec", spec}}));
  }
  static void TearDownTestSuite() { DeleteCrd(); }

  JsonResponse PostSpec(const std::string& spec, const std::string& query = "") {
    return Post(Widgets() + query, MakeWidget("w", json::parse(spec)));
  }
};

TEST_F(CrdSchemaTest, NullAsMetadataOfAnEmbeddedObjectIsAnEmptyObject) {
  const JsonResponse created =
      PostSpec(R"({"embedded": {"apiVersion": "v1", "kind": "A", "metadata": null}})");

  EXPECT_EQ(created.at("/spec/embedded/metadata"), json::object());
  EXPECT_EQ(created.at("/metadata/managedFields/0/fieldsV1/f:spec/f:embedded"),
            R"({".": {}, "f:apiVersion": {}, "f:kind": {}, "f:metadata": {}})"_json);
}

TEST_F(CrdSchemaTest, AnObjectWithAListInPlaceOfATextHasNoManagedFields) {
  const JsonResponse created = PostSpec(R"({"date": ["a"]})");

  EXPECT_EQ(created.status, 201) << created.text;
  EXPECT_FALSE(created.at("/metadata").contains("managedFields"));

  const JsonResponse applied = Apply(Widgets() + "/w", MakeWidget("w", {{"a", "1"}}), "m");
  EXPECT_EQ(applied.status, 500);
  EXPECT_EQ(applied.message(),
            "failed to create manager for existing fields: failed to convert new object (" + ns() +
                "/w; " + group() +
                "/v1, Kind=Widget) to smd typed: .spec.date: expected any scalar, got &{[a]}");
}

TEST_F(CrdSchemaTest, ATextWithAWrongFormatIsQuoted) {
  EXPECT_THAT(
      PostSpec(R"({"date": "\u202e"})").message(),
      EndsWith(
          R"(spec.date: Invalid value: "\u202e": spec.date in body must be of type date: "\u202e")"));
}

TEST_F(CrdSchemaTest, UnknownFieldsArePrunedAtEachLevel) {
  const JsonResponse created = PostSpec(R"({"a": "1", "b": 2,
                                   "map": {"k": {"y": "1", "n": 1}},
                                   "list": [{"z": "1", "n": 1}]})");

  EXPECT_EQ(created.status, 201);
  EXPECT_EQ(created.at("/spec"),
            json::parse(R"({"a": "1", "map": {"k": {"y": "1"}}, "list": [{"z": "1"}]})"));
}

TEST_F(CrdSchemaTest, WarningsContainThePathOfEachUnknownField) {
  const JsonResponse created =
      PostSpec(R"({"b": 2, "map": {"k": {"n": 1}}, "list": [{}, {"n": 1}]})");

  EXPECT_THAT(created.warnings,
              ElementsAre("unknown field \"spec.b\"", "unknown field \"spec.list[1].n\"",
                          "unknown field \"spec.map.k.n\""));
}

TEST_F(CrdSchemaTest, UnknownFieldsAreKeptWherePreserveUnknownFieldsIsSet) {
  const JsonResponse created =
      PostSpec(R"({"free": {"q": {"r": 1}, "known": {"x": "1", "n": 2}}})");

  EXPECT_EQ(created.at("/spec"), json::parse(R"({"free": {"q": {"r": 1}, "known": {"x": "1"}}})"));
  EXPECT_THAT(created.warnings, ElementsAre("unknown field \"spec.free.known.n\""));
}

TEST_F(CrdSchemaTest, StrictFieldValidationRejectsUnknownFields) {
  const JsonResponse response = PostSpec(R"({"b": 2, "list": [{"n": 1}], "map": {"k": {"n": 1}}})",
                                         "?fieldValidation=Strict");

  EXPECT_EQ(response.status, 400);
  EXPECT_EQ(response.reason(), "BadRequest");
  EXPECT_EQ(response.message(),
            "Widget in version \"v1\" cannot be handled as a Widget: strict decoding error: "
            "unknown field \"spec.b\", unknown field \"spec.list[0].n\", unknown field "
            "\"spec.map.k.n\"");
}

TEST_F(CrdSchemaTest, IgnoreFieldValidationPrunesUnknownFieldsWithoutWarnings) {
  const JsonResponse created = PostSpec(R"({"a": "1", "b": 2})", "?fieldValidation=Ignore");

  EXPECT_EQ(created.at("/spec"), json({{"a", "1"}}));
  EXPECT_THAT(created.warnings, IsEmpty());
}

TEST_F(CrdSchemaTest, UnknownMetadataFieldIsPrunedWithAWarning) {
  json widget = MakeWidget("w");
  widget["metadata"]["nope"] = 1;

  const JsonResponse created = Post(Widgets(), widget);

  EXPECT_EQ(created.status, 201);
  EXPECT_FALSE(created.body["metadata"].contains("nope"));
  EXPECT_THAT(created.warnings, ElementsAre("unknown field \"metadata.nope\""));
}

TEST_F(CrdSchemaTest, StrictFieldValidationRejectsADuplicateField) {
  const JsonResponse response = Call({.method = "POST",
                                      .target = Widgets() + "?fieldValidation=Strict",
                                      .body = R"({"apiVersion": ")" + group() +
                                              R"(/v1", "kind": "Widget", "metadata": {"name": "w"},
                                          "spec": {"a": "1", "a": "2"}})"});

  EXPECT_EQ(response.status, 400);
  EXPECT_THAT(response.message(), EndsWith("strict decoding error: duplicate field \"spec.a\""));
}

TEST_F(CrdSchemaTest, StrictFieldValidationRejectsAPatchThatAddsAnUnknownField) {
  PostSpec(R"({"a": "1"})");

  const JsonResponse response =
      MergePatch(Widgets() + "/w?fieldValidation=Strict", {{"spec", {{"zz", 1}}}});

  EXPECT_EQ(response.status, 422);
  EXPECT_THAT(response.message(), EndsWith(": strict decoding error: unknown field \"spec.zz\""));
}

TEST_F(CrdSchemaTest, EmbeddedObjectKeepsAllFieldsExceptUnknownMetadata) {
  const JsonResponse created = PostSpec(R"({"embedded": {"apiVersion": "v1", "kind": "Pod",
                                                "metadata": {"name": "p", "nope": 1},
                                                "spec": {"any": 1}}})");

  EXPECT_EQ(created.at("/spec/embedded"),
            json::parse(R"({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"},
                            "spec": {"any": 1}})"));
  EXPECT_THAT(created.warnings, ElementsAre("unknown field \"spec.embedded.metadata.nope\""));
}

TEST_F(CrdSchemaTest, EmbeddedObjectWithoutApiVersionAndKindIsRejected) {
  const JsonResponse response = PostSpec(R"({"embedded": {"spec": {}}})");

  EXPECT_EQ(response.status, 422);
  EXPECT_THAT(Causes(response),
              ElementsAre("FieldValueRequired spec.embedded.apiVersion: Required value",
                          "FieldValueRequired spec.embedded.kind: Required value"));
}

TEST_F(CrdSchemaTest, EmbeddedObjectWithAMalformedApiVersionOrKindIsRejected) {
  const JsonResponse response = PostSpec(R"({"embedded": {"apiVersion": "a/b/c", "kind": "X"}})");
  const JsonResponse other = PostSpec(R"({"embedded": {"apiVersion": "v1", "kind": "X Y"}})");

  EXPECT_THAT(Causes(response),
              ElementsAre("FieldValueInvalid spec.embedded.apiVersion: Invalid value: \"a/b/c\": "
                          "unexpected GroupVersion string: a/b/c"));
  EXPECT_THAT(Causes(other),
              ElementsAre("FieldValueInvalid spec.embedded.kind: Invalid value: \"X Y\": may have "
                          "mixed case, but should otherwise match: " +
                          dns1035_label_error));
}

TEST_F(CrdSchemaTest, PatchThatChangesApiVersionOrKindIsRejected) {
  Post(Widgets(), MakeWidget("w"));

  const JsonResponse response = MergePatch(Widgets() + "/w", {{"kind", "X"}});

  EXPECT_EQ(response.status, 422);
  EXPECT_THAT(Causes(response),
              ElementsAre("FieldValueInvalid kind: Invalid value: \"X\": must be Widget"));
  EXPECT_THAT(MergePatch(Widgets() + "/w", {{"kind", nullptr}}).message(),
              StartsWith(" \"\" is invalid: patch: Invalid value: "));
  EXPECT_EQ(MergePatch(Widgets() + "/w", {{"apiVersion", "other.example/v1"}}).message(),
            "Widget.other.example \"w\" is invalid: apiVersion: Invalid value: "
            "\"other.example/v1\": must be " +
                group() + "/v1");
}

TEST_F(CrdSchemaTest, StrategicMergePatchIsRejectedAndTheAcceptedTypesAreListed) {
  Post(Widgets(), MakeWidget("w"));

  const JsonResponse response = Call({.method = "PATCH",
                                      .target = Widgets() + "/w",
                                      .body = "{}",
                                      .content_type = "application/strategic-merge-patch+json"});

  EXPECT_EQ(response.status, 415);
  EXPECT_EQ(response.message(),
            "the body of the request was in an unknown format - accepted media types include: "
            "application/json-patch+json, application/merge-patch+json, "
            "application/apply-patch+yaml");
}

TEST_F(CrdSchemaTest, InvalidNameAndLabelKeyAreRejected) {
  json widget = MakeWidget("Bad_Name");
  widget["metadata"]["labels"]["x y"] = "1";

  const JsonResponse response = Post(Widgets(), widget);

  EXPECT_EQ(response.status, 422);
  EXPECT_THAT(Causes(response),
              ElementsAre("FieldValueInvalid metadata.name: Invalid value: \"Bad_Name\": " +
                              dns1123_subdomain_error,
                          "FieldValueInvalid metadata.labels: Invalid value: \"x y\": name part " +
                              qualified_name_error));
}

TEST_F(CrdSchemaTest, FinalizerWithoutADomainIsAcceptedWithAWarning) {
  json widget = MakeWidget("a");
  widget["metadata"]["finalizers"] = {"x", "orphan", "example.com/y"};
  const JsonResponse created = Post(Widgets(), widget);

  EXPECT_EQ(created.status, 201) << created.text;
  EXPECT_EQ(created.warnings,
            std::vector<std::string>{
                R"(metadata.finalizers: "x": prefer a domain-qualified finalizer name to avoid )"
                "accidental conflicts with other finalizer writers"});
  const JsonResponse patched =
      MergePatch(Widgets() + "/a", {{"metadata", {{"finalizers", {"x", "z"}}}}});
  EXPECT_EQ(patched.warnings,
            std::vector<std::string>{
                R"(metadata.finalizers: "z": prefer a domain-qualified finalizer name to avoid )"
                "accidental conflicts with other finalizer writers"});
  MergePatch(Widgets() + "/a", {{"metadata", {{"finalizers", nullptr}}}});
}

TEST_F(CrdSchemaTest, EqualWarningsAreSentOnce) {
  json widget = MakeWidget("a");
  widget["metadata"]["finalizers"] = {"x", "x"};

  EXPECT_EQ(Post(Widgets() + "?dryRun=All", widget).warnings.size(), 1);
}

struct InvalidWidget {
  std::string test_name{};
  std::string operations{};  ///< JSON Patch that makes a valid Widget invalid
  int status = 0;
  std::string message{};  ///< "GROUP" stands for the API group
};
void PrintTo(const InvalidWidget& widget, std::ostream* out) { *out << widget.operations; }

class CustomResourceRejectionTest : public CustomResourceTest,
                                    public ::testing::WithParamInterface<InvalidWidget> {
 protected:
  static void SetUpTestSuite() { CreateCrd(AnyObjectSchema()); }
  static void TearDownTestSuite() { DeleteCrd(); }
};

TEST_P(CustomResourceRejectionTest, InvalidObjectIsRejected) {
  std::string message = GetParam().message;
  for (auto position = message.find("GROUP"); position != std::string::npos;
       position = message.find("GROUP")) {
    message.replace(position, 5, group());
  }

  const JsonResponse response =
      Post(Widgets(), MakeWidget("w").patch(json::parse(GetParam().operations)));

  EXPECT_EQ(response.status, GetParam().status);
  EXPECT_EQ(response.message(), message);
}

const InvalidWidget invalid_widgets[] = {
    {"ApiVersionIsMissing", R"([{"op": "remove", "path": "/apiVersion"}])", 400,
     "the API version in the data () does not match the expected API version (GROUP/v1)"},
    {"ApiVersionDiffersFromThePath",
     R"([{"op": "replace", "path": "/apiVersion", "value": "example.com/v2"}])", 400,
     "the API version in the data (example.com/v2) does not match the expected API version "
     "(GROUP/v1)"},
    {"KindDiffersFromTheCrd", R"([{"op": "replace", "path": "/kind", "value": "Other"}])", 422,
     "Other.GROUP \"w\" is invalid: kind: Invalid value: \"Other\": must be Widget"},
    {"LabelValueIsANumber", R"([{"op": "add", "path": "/metadata/labels", "value": {"a": 1}}])",
     400,
     "Widget in version \"v1\" cannot be handled as a Widget: json: cannot unmarshal number into "
     "Go struct field ObjectMeta.labels of type string"},
    {"LabelsAreAString", R"([{"op": "add", "path": "/metadata/labels", "value": "x"}])", 400,
     "Widget in version \"v1\" cannot be handled as a Widget: json: cannot unmarshal string into "
     "Go struct field ObjectMeta.labels of type map[string]string"},
};
INSTANTIATE_TEST_SUITE_P(, CustomResourceRejectionTest, ::testing::ValuesIn(invalid_widgets),
                         [](const auto& widget) { return widget.param.test_name; });

/// Fixture of tests of one CRD whose schema has defaults at each level of the spec.
class CrdDefaultingTest : public CustomResourceTest {
 protected:
  static void SetUpTestSuite() {
    json object = ObjectSchema({{"x", StringSchemaWithDefault("X")}});
    json with_default = object;
    with_default["default"] = json::object();
    json nullable = StringSchemaWithDefault("N");
    nullable["nullable"] = true;
    json nullable_without_default = StringSchema();
    nullable_without_default["nullable"] = true;
    json spec = ObjectSchema({{"a", StringSchemaWithDefault("A")},
                              {"withoutDefault", StringSchema()},
                              {"object", object},
                              {"objectWithDefault", with_default},
                              {"nullable", nullable},
                              {"nullableWithoutDefault", nullable_without_default},
                              {"list", {{"type", "array"}, {"items", object}}},
                              {"map", {{"type", "object"}, {"additionalProperties", object}}}});
    spec["default"] = json::object();
    CreateCrd(ObjectSchema({{"spec", spec}}));
  }
  static void TearDownTestSuite() { DeleteCrd(); }

  json CreateAndGetSpec(const json& spec) {
    return Post(Widgets(), MakeWidget("w", spec)).at("/spec");
  }
};

const json spec_defaults =
    json::parse(R"({"a": "A", "objectWithDefault": {"x": "X"}, "nullable": "N"})");

TEST_F(CrdDefaultingTest, MissingSpecIsCreatedWithItsDefaults) {
  EXPECT_EQ(CreateAndGetSpec(nullptr), spec_defaults);
}

TEST_F(CrdDefaultingTest, EmptySpecIsFilledWithItsDefaults) {
  EXPECT_EQ(CreateAndGetSpec(json::object()), spec_defaults);
}

TEST_F(CrdDefaultingTest, DefaultsAreAppliedInsideObjectsListsAndMaps) {
  json expected = spec_defaults;
  expected.update(json::parse(R"({"object": {"x": "X"}, "list": [{"x": "X"}, {"x": "1"}],
                                  "map": {"k": {"x": "X"}}})"));

  EXPECT_EQ(CreateAndGetSpec(
                json::parse(R"({"object": {}, "list": [{}, {"x": "1"}], "map": {"k": {}}})")),
            expected);
}

TEST_F(CrdDefaultingTest, NullIsReplacedByTheDefaultUnlessTheFieldIsNullable) {
  json expected = spec_defaults;
  expected["nullable"] = nullptr;

  EXPECT_EQ(CreateAndGetSpec({{"a", nullptr}, {"nullable", nullptr}}), expected);
}

TEST_F(CrdDefaultingTest, NullWithoutADefaultIsDroppedUnlessTheFieldIsNullable) {
  json expected = spec_defaults;
  expected["nullableWithoutDefault"] = nullptr;

  EXPECT_EQ(CreateAndGetSpec({{"withoutDefault", nullptr}, {"nullableWithoutDefault", nullptr}}),
            expected);
}

class CrdSchemaChangeTest : public CrdPerTest {
 protected:
  /// Reads the Widget "w" until its spec is `expected`, for at most 10 s. Returns the last
  /// response, with status 0 if the spec differs.
  JsonResponse WaitForSpec(const json& expected) {
    return Eventually(200, [&] {
      JsonResponse found = Get(Widgets() + "/w");
      if (found.at("/spec") != expected) found.status = 0;
      return found;
    });
  }
};

TEST_F(CrdSchemaChangeTest, DefaultAddedToTheSchemaIsAppliedWhenAnOlderStoredObjectIsRead) {
  CreateCrd(ObjectSchema({{"spec", ObjectSchema({{"a", StringSchema()}})}}));
  const JsonResponse created = Post(Widgets(), MakeWidget("w", {{"a", "1"}}));

  JsonPatch(CrdPath(), {{{"op", "add"},
                         {"path",
                          "/spec/versions/0/schema/openAPIV3Schema/properties/spec"
                          "/properties/b"},
                         {"value", StringSchemaWithDefault("late")}}});

  const JsonResponse read = WaitForSpec({{"a", "1"}, {"b", "late"}});
  EXPECT_EQ(read.status, 200);
  EXPECT_EQ(read.resource_version(), created.resource_version());
}

TEST_F(CrdSchemaChangeTest, FieldRemovedFromTheSchemaIsPrunedWhenAStoredObjectIsRead) {
  CreateCrd(ObjectSchema({{"spec", ObjectSchema({{"a", StringSchema()}, {"b", StringSchema()}})}}));
  Post(Widgets(), MakeWidget("w", {{"a", "1"}, {"b", "2"}}));

  JsonPatch(CrdPath(), {{{"op", "remove"},
                         {"path",
                          "/spec/versions/0/schema/openAPIV3Schema/properties/spec"
                          "/properties/b"}}});

  EXPECT_EQ(WaitForSpec({{"a", "1"}}).status, 200);
}

}  // namespace
}  // namespace kopp::conformance
