#include "conformance.hpp"
#include "custom_resources.hpp"

#include <string>

namespace kopp::conformance {
namespace {

using ::testing::MatchesRegex;

struct WatchRefusal {
  std::string name{};
  std::string query{};
  int status = 0;
  std::string reason{};
  std::string message{};
};
void PrintTo(const WatchRefusal& refusal, std::ostream* out) { *out << refusal.query; }

class WatchRefusalTest : public ConformanceTest,
                         public ::testing::WithParamInterface<WatchRefusal> {};

TEST_P(WatchRefusalTest, IsAStatus) {
  const Answer answer = Get(Path("configmaps") + "?watch=true&" + GetParam().query);

  EXPECT_EQ(answer.status, GetParam().status);
  EXPECT_EQ(answer.reason(), GetParam().reason);
  EXPECT_EQ(answer.message(), GetParam().message);
}

const WatchRefusal watch_refusals[] = {
    {"AVersionThatIsNoNumber", "resourceVersion=abc", 500, "",
     R"(resourceVersion: Invalid value: "abc": strconv.ParseUint: parsing "abc": invalid syntax)"},
    {"ANegativeVersion", "resourceVersion=-1", 500, "",
     R"(resourceVersion: Invalid value: "-1": strconv.ParseUint: parsing "-1": invalid syntax)"},
    {"ATimeoutThatIsNoNumber", "timeoutSeconds=abc", 400, "BadRequest",
     R"(strconv.ParseInt: parsing "abc": invalid syntax)"},
    {"ALabelSelectorWithATripleEqualsSign", "labelSelector=a%3D%3D%3Db", 400, "BadRequest",
     "unable to parse requirement: found '=', expected: identifier"},
    {"AFieldSelectorWithoutAnOperator", "fieldSelector=metadata.name", 400, "BadRequest",
     "invalid selector: 'metadata.name'; can't understand 'metadata.name'"},
    {"AFieldThatIsNotSelectable", "fieldSelector=spec.x%3Db", 400, "BadRequest",
     R"("spec.x" is not a known field selector: only "metadata.name", "metadata.namespace")"},
    {"AContinueToken", "continue=abc", 422, "Invalid",
     R"(ListOptions.meta.k8s.io "" is invalid: resourceVersionMatch: Forbidden: )"
     "resourceVersionMatch is forbidden when continue is provided"},
};
INSTANTIATE_TEST_SUITE_P(, WatchRefusalTest, ::testing::ValuesIn(watch_refusals),
                         [](const auto& refusal) { return refusal.param.name; });

struct Spelling {
  std::string name{};
  std::string query{};
  bool watches = false;
};
void PrintTo(const Spelling& spelling, std::ostream* out) { *out << spelling.query; }

class WatchSpellingTest : public ConformanceTest, public ::testing::WithParamInterface<Spelling> {};

TEST_P(WatchSpellingTest, DecidesWhetherItIsAWatch) {
  Post(Path("configmaps"), AConfigMap("a"));

  const auto answer = StartWatch(Path("configmaps") + "?" + GetParam().query);

  const json first = answer->Next();
  EXPECT_EQ(first.value("kind", "") == "ConfigMapList", !GetParam().watches) << first;
  EXPECT_EQ(first.value("type", "") == "ADDED", GetParam().watches) << first;
}

const Spelling spellings[] = {
    {"One", "watch=1", true},
    {"UpperCase", "watch=TRUE", true},
    {"AnyWord", "watch=yes", true},
    {"NoValue", "watch", true},
    {"False", "watch=false", false},
    {"Zero", "watch=0", false},
    {"WithALimit", "watch=true&limit=1", true},
};
INSTANTIATE_TEST_SUITE_P(, WatchSpellingTest, ::testing::ValuesIn(spellings),
                         [](const auto& spelling) { return spelling.param.name; });

class WatchHistoryTest : public DefinitionTest {};

// A kind's history begins when it is defined: the one sure way to ask for more than there is.
TEST_F(WatchHistoryTest, AVersionThatIsTooOldIsAnErrorEvent) {
  Define(Anything());

  const auto watch = StartWatch(Widgets() + "?watch=true&resourceVersion=1");

  EXPECT_EQ(watch->status(), 200);
  json event = watch->Next();
  ASSERT_EQ(event["type"], "ERROR");
  EXPECT_THAT(event["object"]["message"].get<std::string>(),
              MatchesRegex("too old resource version: 1 \\([0-9]+\\)"));
  event["object"].erase("message");
  EXPECT_EQ(event["object"], json({{"kind", "Status"},
                                   {"apiVersion", "v1"},
                                   {"metadata", json::object()},
                                   {"status", "Failure"},
                                   {"reason", "Expired"},
                                   {"code", 410}}));
  EXPECT_TRUE(watch->Ends());
}

TEST_F(WatchHistoryTest, TheOldPrefixWatchesCustomResourcesToo) {
  Define(Anything());
  const Answer made = Post(Widgets(), AWidget("a"));

  const auto watch = StartWatch("/apis/" + group() + "/v1/watch/widgets");

  EXPECT_EQ(watch->Next(), json({{"type", "ADDED"}, {"object", made.body}}));
}

}  // namespace
}  // namespace kopp::conformance
