#include "conformance.hpp"

#include <string>

namespace kopp::conformance {
namespace {

using ::testing::ElementsAre;

json MakeAnnotatedConfigMap() {
  return {{"metadata",
           {{"name", "a"},
            {"annotations", {{"example.com/x", "1"}}},
            {"finalizers", {"example.com/a", "example.com/b"}}}},
          {"data", {{"k", "v"}, {"l", "w"}}}};
}

/// A patch of MakeAnnotatedConfigMap() and one field of its result.
struct ValidJsonPatch {
  std::string test_name{};
  std::string operations{};  ///< JSON
  std::string pointer{};     ///< the field to compare after the patch
  std::string expected{};    ///< JSON
};
void PrintTo(const ValidJsonPatch& patch, std::ostream* out) { *out << patch.operations; }

class JsonPatchTest : public ConformanceTest,
                      public ::testing::WithParamInterface<ValidJsonPatch> {};

TEST_P(JsonPatchTest, ValidPatchIsAppliedAndStored) {
  Post(Path("configmaps"), MakeAnnotatedConfigMap());

  const JsonResponse patched =
      JsonPatch(Path("configmaps") + "/a", json::parse(GetParam().operations));

  EXPECT_EQ(patched.status, 200);
  EXPECT_EQ(patched.at(GetParam().pointer), json::parse(GetParam().expected));
  EXPECT_EQ(Get(Path("configmaps") + "/a").body, patched.body);
}

const ValidJsonPatch valid_json_patches[] = {
    {"AddANewField", R"([{"op": "add", "path": "/data/n", "value": "1"}])", "/data/n", R"("1")"},
    {"AddReplacesAnExistingField", R"([{"op": "add", "path": "/data/k", "value": "1"}])", "/data/k",
     R"("1")"},
    {"AddWithoutAValueSetsAnEmptyString", R"([{"op": "add", "path": "/data/k"}])", "/data/k",
     R"("")"},
    {"AppendToAList",
     R"([{"op": "add", "path": "/metadata/finalizers/-", "value": "example.com/c"}])",
     "/metadata/finalizers", R"(["example.com/a", "example.com/b", "example.com/c"])"},
    {"InsertIntoAList",
     R"([{"op": "add", "path": "/metadata/finalizers/1", "value": "example.com/c"}])",
     "/metadata/finalizers", R"(["example.com/a", "example.com/c", "example.com/b"])"},
    {"RemoveAField", R"([{"op": "remove", "path": "/data/k"}])", "/data", R"({"l": "w"})"},
    {"RemoveFromAList", R"([{"op": "remove", "path": "/metadata/finalizers/0"}])",
     "/metadata/finalizers", R"(["example.com/b"])"},
    {"RemoveTheLastListItemByIndexMinusOne",
     R"([{"op": "remove", "path": "/metadata/finalizers/-1"}])", "/metadata/finalizers",
     R"(["example.com/a"])"},
    {"ReplaceAField", R"([{"op": "replace", "path": "/data/k", "value": "1"}])", "/data",
     R"({"k": "1", "l": "w"})"},
    {"ReplaceAMissingField", R"([{"op": "replace", "path": "/data/none", "value": "1"}])",
     "/data/none", R"("1")"},
    {"ReplaceAListItem",
     R"([{"op": "replace", "path": "/metadata/finalizers/1", "value": "example.com/c"}])",
     "/metadata/finalizers", R"(["example.com/a", "example.com/c"])"},
    {"Copy", R"([{"op": "copy", "from": "/data/k", "path": "/data/n"}])", "/data",
     R"({"k": "v", "l": "w", "n": "v"})"},
    {"CopyOfAMissingField",
     R"([{"op": "copy", "from": "/data/none", "path": "/metadata/annotations"}])",
     "/metadata/annotations", "null"},
    {"Move", R"([{"op": "move", "from": "/data/k", "path": "/data/n"}])", "/data",
     R"({"l": "w", "n": "v"})"},
    {"TestThatSucceeds", R"([{"op": "test", "path": "/data/k", "value": "v"},
                           {"op": "add", "path": "/data/n", "value": "1"}])",
     "/data/n", R"("1")"},
    {"TestOfAMissingFieldForNull", R"([{"op": "test", "path": "/data/none", "value": null},
                            {"op": "add", "path": "/data/n", "value": "1"}])",
     "/data/n", R"("1")"},
    {"EscapedSlashInAFieldName",
     R"([{"op": "replace", "path": "/metadata/annotations/example.com~1x", "value": "2"}])",
     "/metadata/annotations/example.com~1x", R"("2")"},
    {"SeveralOperationsInOrder", R"([{"op": "add", "path": "/data/n", "value": "1"},
                          {"op": "move", "from": "/data/n", "path": "/data/o"},
                          {"op": "remove", "path": "/data/k"}])",
     "/data", R"({"l": "w", "o": "1"})"},
    {"NoOperations", "[]", "/data", R"({"k": "v", "l": "w"})"},
};
INSTANTIATE_TEST_SUITE_P(, JsonPatchTest, ::testing::ValuesIn(valid_json_patches),
                         [](const auto& patch) { return patch.param.test_name; });

/// A patch that cannot be applied to MakeAnnotatedConfigMap().
struct FailingJsonPatch {
  std::string test_name{};
  std::string operations{};  ///< JSON
};
void PrintTo(const FailingJsonPatch& patch, std::ostream* out) { *out << patch.operations; }

class FailingJsonPatchTest : public ConformanceTest,
                             public ::testing::WithParamInterface<FailingJsonPatch> {};

// A kube-apiserver reports neither which operation failed nor why.
TEST_P(FailingJsonPatchTest, FailingPatchIsInvalidAndChangesNothing) {
  const JsonResponse created = Post(Path("configmaps"), MakeAnnotatedConfigMap());

  const JsonResponse response =
      JsonPatch(Path("configmaps") + "/a", json::parse(GetParam().operations));

  EXPECT_EQ(response.body,
            json({{"kind", "Status"},
                  {"apiVersion", "v1"},
                  {"metadata", json::object()},
                  {"status", "Failure"},
                  {"message", "the server rejected our request due to an error in our request"},
                  {"reason", "Invalid"},
                  {"details", json::object()},
                  {"code", 422}}));
  EXPECT_EQ(response.status, 422);
  EXPECT_EQ(Get(Path("configmaps") + "/a").body, created.body);
}

const FailingJsonPatch failing_json_patches[] = {
    {"TestThatFails", R"([{"op": "test", "path": "/data/k", "value": "x"}])"},
    {"TestOfAMissingField", R"([{"op": "test", "path": "/data/none", "value": "x"}])"},
    {"TestBelowAMissingField", R"([{"op": "test", "path": "/none/k", "value": null}])"},
    {"TestThatFailsAfterAChange", R"([{"op": "add", "path": "/data/n", "value": "1"},
                              {"op": "test", "path": "/data/n", "value": "2"}])"},
    {"TestOfANumberWithAnotherText",
     R"([{"op": "add", "path": "/data/n", "value": 1}, {"op": "test", "path": "/data/n", "value": 1.0}])"},
    {"CopyBelowAMissingField", R"([{"op": "copy", "from": "/none/k", "path": "/data/n"}])"},
    {"MoveOfAMissingField", R"([{"op": "move", "from": "/data/none", "path": "/data/n"}])"},
    {"AddBelowAMissingField", R"([{"op": "add", "path": "/none/k", "value": "1"}])"},
    {"AddBeyondTheEndOfAList",
     R"([{"op": "add", "path": "/metadata/finalizers/3", "value": "example.com/c"}])"},
    {"AddToAListAtANonNumericIndex",
     R"([{"op": "add", "path": "/metadata/finalizers/x", "value": "example.com/c"}])"},
    {"RemoveAMissingField", R"([{"op": "remove", "path": "/data/none"}])"},
    {"RemoveBeyondTheEndOfAList", R"([{"op": "remove", "path": "/metadata/finalizers/2"}])"},
    {"RemoveAtTheDashIndex", R"([{"op": "remove", "path": "/metadata/finalizers/-"}])"},
    {"ReplaceBeyondTheEndOfAList",
     R"([{"op": "replace", "path": "/metadata/finalizers/2", "value": "example.com/c"}])"},
    {"UnknownOperation", R"([{"op": "nope", "path": "/data/k"}])"},
    {"OpIsMissing", R"([{"path": "/data/k", "value": "1"}])"},
    {"PathIsMissing", R"([{"op": "add", "value": "1"}])"},
    {"MoveWithoutFrom", R"([{"op": "move", "path": "/data/k"}])"},
    {"RemoveTheWholeDocument", R"([{"op": "remove", "path": ""}])"},
};
INSTANTIATE_TEST_SUITE_P(, FailingJsonPatchTest, ::testing::ValuesIn(failing_json_patches),
                         [](const auto& patch) { return patch.param.test_name; });

class JsonPatchRequestTest : public ConformanceTest {};

TEST_F(JsonPatchRequestTest, StaleResourceVersionIsAConflict) {
  Post(Path("configmaps"), MakeConfigMap("a"));

  const JsonResponse response =
      JsonPatch(Path("configmaps") + "/a",
                {{{"op", "replace"}, {"path", "/metadata/resourceVersion"}, {"value", "1"}}});

  EXPECT_EQ(response.status, 409);
  EXPECT_EQ(response.reason(), "Conflict");
}

TEST_F(JsonPatchRequestTest, ChangingTheNameIsABadRequest) {
  Post(Path("configmaps"), MakeConfigMap("a"));

  const JsonResponse response = JsonPatch(
      Path("configmaps") + "/a", {{{"op", "replace"}, {"path", "/metadata/name"}, {"value", "b"}}});

  EXPECT_EQ(response.status, 400);
  EXPECT_EQ(response.message(),
            "the name of the object (b) does not match the name on the URL (a)");
}

TEST_F(JsonPatchRequestTest, PatchOfAMissingObjectReturnsNotFound) {
  EXPECT_EQ(JsonPatch(Path("configmaps") + "/none", json::array()).status, 404);
}

TEST_F(JsonPatchRequestTest, UnknownMemberOfAnOperationReturnsAWarning) {
  Post(Path("configmaps"), MakeConfigMap("a"));

  const JsonResponse response =
      JsonPatch(Path("configmaps") + "/a",
                {{{"op", "add"}, {"path", "/data"}, {"value", json::object()}, {"extra", 1}}});

  EXPECT_EQ(response.status, 200);
  EXPECT_THAT(response.warnings, ElementsAre("json patch unknown field \"[0].extra\""));
}

TEST_F(JsonPatchRequestTest, MoreThan10000OperationsAreTooLarge) {
  Post(Path("configmaps"), MakeAnnotatedConfigMap());
  const json operation{{"op", "add"}, {"path", "/data/k"}, {"value", "1"}};

  const JsonResponse response = JsonPatch(Path("configmaps") + "/a", json(10001, operation));

  EXPECT_EQ(response.status, 413);
  EXPECT_EQ(response.reason(), "RequestEntityTooLarge");
  EXPECT_EQ(response.message(),
            "Request entity too large: The allowed maximum operations in a JSON patch is 10000, "
            "got 10001");
}

}  // namespace
}  // namespace kopp::conformance
