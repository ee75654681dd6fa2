#include "conformance.hpp"

#include <string>

namespace kopp::conformance {
namespace {

using ::testing::ElementsAre;

json AnAnnotatedConfigMap() {
  return {{"metadata",
           {{"name", "a"},
            {"annotations", {{"example.com/x", "1"}}},
            {"finalizers", {"example.com/a", "example.com/b"}}}},
          {"data", {{"k", "v"}, {"l", "w"}}}};
}

struct Operation {
  std::string name{};
  std::string operations{};  ///< JSON
  std::string pointer{};     ///< what to look at afterwards
  std::string expected{};    ///< JSON
};
void PrintTo(const Operation& operation, std::ostream* out) { *out << operation.operations; }

class JsonPatchTest : public ConformanceTest, public ::testing::WithParamInterface<Operation> {};

TEST_P(JsonPatchTest, IsCarriedOut) {
  Post(Path("configmaps"), AnAnnotatedConfigMap());

  const Answer patched = JsonPatch(Path("configmaps") + "/a", json::parse(GetParam().operations));

  EXPECT_EQ(patched.status, 200);
  EXPECT_EQ(patched.at(GetParam().pointer), json::parse(GetParam().expected));
  EXPECT_EQ(Get(Path("configmaps") + "/a").body, patched.body);
}

const Operation all_operations[] = {
    {"AddOfANewField", R"([{"op": "add", "path": "/data/n", "value": "1"}])", "/data/n", R"("1")"},
    {"AddOfAFieldThatIsThere", R"([{"op": "add", "path": "/data/k", "value": "1"}])", "/data/k",
     R"("1")"},
    {"AddWithoutAValue", R"([{"op": "add", "path": "/data/k"}])", "/data/k", R"("")"},
    {"AddAtTheEndOfAList",
     R"([{"op": "add", "path": "/metadata/finalizers/-", "value": "example.com/c"}])",
     "/metadata/finalizers", R"(["example.com/a", "example.com/b", "example.com/c"])"},
    {"AddInAList", R"([{"op": "add", "path": "/metadata/finalizers/1", "value": "example.com/c"}])",
     "/metadata/finalizers", R"(["example.com/a", "example.com/c", "example.com/b"])"},
    {"RemoveOfAField", R"([{"op": "remove", "path": "/data/k"}])", "/data", R"({"l": "w"})"},
    {"RemoveFromAList", R"([{"op": "remove", "path": "/metadata/finalizers/0"}])",
     "/metadata/finalizers", R"(["example.com/b"])"},
    {"RemoveOfTheLastOfAListByMinusOne", R"([{"op": "remove", "path": "/metadata/finalizers/-1"}])",
     "/metadata/finalizers", R"(["example.com/a"])"},
    {"Replace", R"([{"op": "replace", "path": "/data/k", "value": "1"}])", "/data",
     R"({"k": "1", "l": "w"})"},
    {"ReplaceOfAFieldThatIsNotThere", R"([{"op": "replace", "path": "/data/none", "value": "1"}])",
     "/data/none", R"("1")"},
    {"ReplaceInAList",
     R"([{"op": "replace", "path": "/metadata/finalizers/1", "value": "example.com/c"}])",
     "/metadata/finalizers", R"(["example.com/a", "example.com/c"])"},
    {"Copy", R"([{"op": "copy", "from": "/data/k", "path": "/data/n"}])", "/data",
     R"({"k": "v", "l": "w", "n": "v"})"},
    {"Move", R"([{"op": "move", "from": "/data/k", "path": "/data/n"}])", "/data",
     R"({"l": "w", "n": "v"})"},
    {"ATestThatHolds", R"([{"op": "test", "path": "/data/k", "value": "v"},
                           {"op": "add", "path": "/data/n", "value": "1"}])",
     "/data/n", R"("1")"},
    {"ATestForNothing", R"([{"op": "test", "path": "/data/none", "value": null},
                            {"op": "add", "path": "/data/n", "value": "1"}])",
     "/data/n", R"("1")"},
    {"ASlashInAName",
     R"([{"op": "replace", "path": "/metadata/annotations/example.com~1x", "value": "2"}])",
     "/metadata/annotations/example.com~1x", R"("2")"},
    {"SeveralInTurn", R"([{"op": "add", "path": "/data/n", "value": "1"},
                          {"op": "move", "from": "/data/n", "path": "/data/o"},
                          {"op": "remove", "path": "/data/k"}])",
     "/data", R"({"l": "w", "o": "1"})"},
    {"None", "[]", "/data", R"({"k": "v", "l": "w"})"},
};
INSTANTIATE_TEST_SUITE_P(, JsonPatchTest, ::testing::ValuesIn(all_operations),
                         [](const auto& operation) { return operation.param.name; });

struct Impossible {
  std::string name{};
  std::string operations{};
};
void PrintTo(const Impossible& impossible, std::ostream* out) { *out << impossible.operations; }

class ImpossibleJsonPatchTest : public ConformanceTest,
                                public ::testing::WithParamInterface<Impossible> {};

// The real server does not tell which operation failed, nor why.
TEST_P(ImpossibleJsonPatchTest, IsInvalidAndChangesNothing) {
  const Answer made = Post(Path("configmaps"), AnAnnotatedConfigMap());

  const Answer answer = JsonPatch(Path("configmaps") + "/a", json::parse(GetParam().operations));

  EXPECT_EQ(answer.body,
            json({{"kind", "Status"},
                  {"apiVersion", "v1"},
                  {"metadata", json::object()},
                  {"status", "Failure"},
                  {"message", "the server rejected our request due to an error in our request"},
                  {"reason", "Invalid"},
                  {"details", json::object()},
                  {"code", 422}}));
  EXPECT_EQ(answer.status, 422);
  EXPECT_EQ(Get(Path("configmaps") + "/a").body, made.body);
}

const Impossible all_impossible[] = {
    {"ATestThatFails", R"([{"op": "test", "path": "/data/k", "value": "x"}])"},
    {"ATestOfAFieldThatIsNotThere", R"([{"op": "test", "path": "/data/none", "value": "x"}])"},
    {"ATestBelowWhatIsNotThere", R"([{"op": "test", "path": "/none/k", "value": null}])"},
    {"ATestAfterAChange", R"([{"op": "add", "path": "/data/n", "value": "1"},
                              {"op": "test", "path": "/data/n", "value": "2"}])"},
    {"AddBelowWhatIsNotThere", R"([{"op": "add", "path": "/none/k", "value": "1"}])"},
    {"AddBehindTheEndOfAList",
     R"([{"op": "add", "path": "/metadata/finalizers/3", "value": "example.com/c"}])"},
    {"AddToAListAtAWord",
     R"([{"op": "add", "path": "/metadata/finalizers/x", "value": "example.com/c"}])"},
    {"RemoveOfAFieldThatIsNotThere", R"([{"op": "remove", "path": "/data/none"}])"},
    {"RemoveBehindTheEndOfAList", R"([{"op": "remove", "path": "/metadata/finalizers/2"}])"},
    {"RemoveOfTheDash", R"([{"op": "remove", "path": "/metadata/finalizers/-"}])"},
    {"ReplaceBehindTheEndOfAList",
     R"([{"op": "replace", "path": "/metadata/finalizers/2", "value": "example.com/c"}])"},
    {"AnUnknownOperation", R"([{"op": "nope", "path": "/data/k"}])"},
    {"NoOperation", R"([{"path": "/data/k", "value": "1"}])"},
    {"NoPath", R"([{"op": "add", "value": "1"}])"},
    {"MoveFromNowhere", R"([{"op": "move", "path": "/data/k"}])"},
    {"RemoveOfAll", R"([{"op": "remove", "path": ""}])"},
};
INSTANTIATE_TEST_SUITE_P(, ImpossibleJsonPatchTest, ::testing::ValuesIn(all_impossible),
                         [](const auto& impossible) { return impossible.param.name; });

class JsonPatchRulesTest : public ConformanceTest {};

TEST_F(JsonPatchRulesTest, AnOldVersionIsAConflict) {
  Post(Path("configmaps"), AConfigMap("a"));

  const Answer answer =
      JsonPatch(Path("configmaps") + "/a",
                {{{"op", "replace"}, {"path", "/metadata/resourceVersion"}, {"value", "1"}}});

  EXPECT_EQ(answer.status, 409);
  EXPECT_EQ(answer.reason(), "Conflict");
}

TEST_F(JsonPatchRulesTest, TheNameStays) {
  Post(Path("configmaps"), AConfigMap("a"));

  const Answer answer = JsonPatch(
      Path("configmaps") + "/a", {{{"op", "replace"}, {"path", "/metadata/name"}, {"value", "b"}}});

  EXPECT_EQ(answer.status, 400);
  EXPECT_EQ(answer.message(), "the name of the object (b) does not match the name on the URL (a)");
}

TEST_F(JsonPatchRulesTest, WhatIsNotThereCannotBePatched) {
  EXPECT_EQ(JsonPatch(Path("configmaps") + "/none", json::array()).status, 404);
}

TEST_F(JsonPatchRulesTest, AnUnknownMemberOfAnOperationIsWarnedOf) {
  Post(Path("configmaps"), AConfigMap("a"));

  const Answer answer =
      JsonPatch(Path("configmaps") + "/a",
                {{{"op", "add"}, {"path", "/data"}, {"value", json::object()}, {"extra", 1}}});

  EXPECT_EQ(answer.status, 200);
  EXPECT_THAT(answer.warnings, ElementsAre("json patch unknown field \"[0].extra\""));
}

TEST_F(JsonPatchRulesTest, TenThousandOperationsAreTheMost) {
  Post(Path("configmaps"), AnAnnotatedConfigMap());
  const json operation{{"op", "add"}, {"path", "/data/k"}, {"value", "1"}};

  const Answer answer = JsonPatch(Path("configmaps") + "/a", json(10001, operation));

  EXPECT_EQ(answer.status, 413);
  EXPECT_EQ(answer.reason(), "RequestEntityTooLarge");
  EXPECT_EQ(answer.message(),
            "Request entity too large: The allowed maximum operations in a JSON patch is 10000, "
            "got 10001");
}

}  // namespace
}  // namespace kopp::conformance
