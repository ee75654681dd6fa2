// Replays each kind of disturbance, and checks its effect on a small operator.
#include "explore/disturbance.hpp"
#include "widget.hpp"

#include <algorithm>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include <gmock/gmock.h>

namespace kopp::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

struct KindCase {
  std::string schedule = {};
  std::vector<std::string> lines = {};  ///< parts of lines of the story, in this order
  std::string absent = {};              ///< what the story does not contain; may be empty
  CacheOptions cache = {};
};

void PrintTo(const KindCase& kind, std::ostream* out) { *out << kind.schedule; }

/// Returns "crash-before".
std::string NameOf(const KindCase& kind) {
  return kind.schedule.substr(0, kind.schedule.find(':'));
}

/// Returns the first of `lines` that `story` does not contain after the lines before it, or "".
std::string FirstMissing(std::string_view story, const std::vector<std::string>& lines) {
  for (const std::string& line : lines) {
    const std::size_t at = story.find(line);
    if (at == std::string_view::npos) return line;
    story.remove_prefix(at + line.size());
  }
  return {};
}

/// Creates the child with the text of the Widget (call 1), or changes its text (call 3), and then
/// sets the phase (calls 2 and 4).
Result ReconcileChild(const Widget& widget, Context& context) {
  const auto child = context.cache.Get<ConfigMap>({"default", "child"});
  const ConfigMap desired = ChildOf(widget, "child");
  if (!child) {
    context.client.Create(desired);
  } else if (child->data != desired.data) {
    context.client.Patch<ConfigMap>({"default", "child"}, Patch::Merge({{"data", desired.data}}));
  }
  SetPhase(widget, "Has " + widget.spec.text, context);
  return {};
}

constexpr const char* kCreated = ": create configmaps default/child → 201";
constexpr const char* kExists = ": create configmaps default/child → 409";
constexpr const char* kChanged = ": patch configmaps default/child → 200";
constexpr const char* kPhase = ": patch widgets/status default/web → 200";
constexpr const char* kEnd = "the process has ended";
constexpr const char* kStart = "the operator starts and lists its objects\n";
constexpr const char* kReconcile = "the operator reconciles widget default/web";
constexpr const char* kChangeOfText = "STEP: the user changes the text to b";
constexpr const char* kFailure = "the reconcile of widget default/web fails: ";
// Reads may miss the operator's own writes.
const CacheOptions stale_reads{.own_writes_timeout = Duration::zero()};

const std::vector<KindCase>& KindCases() {
  static const std::vector<KindCase> cases{
      {.schedule = "crash-before:1",
       .lines = {"the process crashes before call 1", kEnd, kStart, kReconcile,
                 std::string("call 2") + kCreated},
       .absent = std::string("call 1") + kCreated},
      {.schedule = "crash-after:1",
       .lines = {std::string("call 1") + kCreated, "** crash-after:1", kEnd, kStart, kReconcile,
                 std::string("call 2") + kPhase, kChangeOfText}},
      {.schedule = "down-before:1",
       .lines = {"until the next step, before call 1", kEnd, kChangeOfText, kStart, kReconcile,
                 std::string("call 2") + kCreated},
       .absent = std::string("call 1") + kCreated},
      {.schedule = "down-after:1",
       .lines = {std::string("call 1") + kCreated, "** down-after:1", kEnd, kChangeOfText, kStart,
                 kReconcile, std::string("call 2") + kChanged}},
      {.schedule = "crash-stale:1",
       .lines = {std::string("call 1") + kCreated, "** crash-stale:1", kEnd,
                 "lists its objects as they were before its last write", kReconcile,
                 std::string("call 2") + kExists, "the cache of configmaps receives its events",
                 std::string("call 3") + kPhase}},
      {.schedule = "conflict:3",
       .lines = {"** conflict:3: call 3, patch configmaps", kFailure, "409 Conflict", kReconcile,
                 std::string("call 4") + kChanged},
       .absent = std::string("call 3") + kChanged},
      {.schedule = "throttle:1",
       .lines = {"** throttle:1: call 1, create configmaps", kFailure, "429 TooManyRequests",
                 kReconcile, std::string("call 2") + kCreated}},
      {.schedule = "error:1",
       .lines = {"** error:1: call 1, create configmaps", kFailure, "500 InternalError", kReconcile,
                 std::string("call 2") + kCreated}},
      {.schedule = "timeout:1",
       .lines = {"** timeout:1: call 1, create configmaps", kFailure,
                 "timed out while waiting for the response", kReconcile,
                 std::string("call 2") + kCreated}},
      {.schedule = "reset:1",
       .lines = {"** reset:1: call 1, create configmaps", kFailure,
                 "the server closed the connection without a response", kReconcile,
                 std::string("call 2") + kCreated}},
      {.schedule = "lost-response:1",
       .lines = {std::string("call 1") + kCreated, "** lost-response:1", kFailure,
                 "timed out while waiting for the response",
                 "the cache of configmaps receives its events again", "configmaps ADDED",
                 kReconcile, std::string("call 2") + kPhase}},
      {.schedule = "step-before:2",
       .lines = {"** step-before:2: the next step comes before call 2", kChangeOfText,
                 "the test: patch widgets", std::string("call 2") + kPhase, kReconcile,
                 std::string("call 3") + kChanged}},
      {.schedule = "leader:1",
       .lines = {"another replica becomes the leader during call 1", kEnd, kStart,
                 std::string("call 2") + kCreated, std::string("the former leader") + kExists,
                 kChangeOfText}},
      {.schedule = "leader-step:1",
       .lines = {"another replica becomes the leader during call 1", kEnd, kStart,
                 std::string("call 2") + kCreated, kChangeOfText,
                 std::string("the former leader") + kExists}},
      {.schedule = "restart:2",
       .lines = {std::string("call 2") + kPhase, "** restart:2: the process is restarted", kStart,
                 kReconcile, kChangeOfText}},
      {.schedule = "delay:2",
       .lines = {"** delay:2: the events of configmaps do not arrive now",
                 std::string("call 3") + kExists, kFailure, "409 AlreadyExists",
                 "the cache of configmaps receives its events again", "configmaps ADDED",
                 kChangeOfText},
       .absent = std::string("call 4") + kExists,
       .cache = stale_reads},
      {.schedule = "hold:2",
       .lines = {"** hold:2: the events of configmaps do not arrive now",
                 std::string("call 3") + kExists, std::string("call 10") + kExists,
                 "the cache of configmaps receives its events again", "configmaps ADDED",
                 kChangeOfText},
       .absent = std::string("call 11") + kExists,
       .cache = stale_reads},
      {.schedule = "hold-step:1",
       .lines = {"** hold-step:1: the events of widgets do not arrive now", kChangeOfText,
                 "the cache of widgets receives its events again", "widgets ADDED",
                 "widgets MODIFIED", kReconcile, std::string("call 1") + kCreated}},
      {.schedule = "gap:1",
       .lines = {"** gap:1: the events of widgets do not arrive now",
                 "the cache of widgets has lost events and lists again", kReconcile,
                 std::string("call 1") + kCreated},
       .absent = "widgets ADDED"},
  };
  return cases;
}

class DisturbanceKindTest : public ::testing::TestWithParam<KindCase> {};

TEST_P(DisturbanceKindTest, TheStoryShowsTheDisturbanceAndItsEffect) {
  const KindCase& kind = GetParam();
  int runs = 0;
  // Only a failed run has a story. So the state outside of the API server differs in each run after
  // the two undisturbed ones.
  const Scenario scenario{.start = [&](const Client&) { ++runs; },
                          .steps = {CreateWidget("a"), ChangeText("b")},
                          .outside_state = [&] { return runs <= 2 ? "undisturbed" : "disturbed"; }};
  const ExploreResult result =
      Replay(scenario, WidgetOperator(ReconcileChild), kind.schedule, {.cache = kind.cache});

  ASSERT_EQ(result.findings.size(), 1U);
  const Finding& finding = result.findings.front();
  EXPECT_THAT(finding.problem, StartsWith("The state outside of the API server differs"));
  EXPECT_THAT(finding.story, HasSubstr("** " + kind.schedule + ": "));
  EXPECT_EQ(FirstMissing(finding.story, kind.lines), "") << finding.story;
  if (!kind.absent.empty()) {
    EXPECT_THAT(finding.story, Not(HasSubstr(kind.absent)));
  }
}

INSTANTIATE_TEST_SUITE_P(All, DisturbanceKindTest, ::testing::ValuesIn(KindCases()),
                         [](const auto& test) {
                           std::string name = NameOf(test.param);
                           std::ranges::replace(name, '-', '_');
                           return name;
                         });

TEST(DisturbanceKindsTest, EachKindHasACase) {
  using apiserver::explore::Disturbance;
  std::vector<std::string> names;
  for (auto i = static_cast<int>(Disturbance::Type::kCrashBefore);
       i <= static_cast<int>(Disturbance::Type::kGap); ++i) {
    const std::string schedule =
        apiserver::explore::ToString({{.type = static_cast<Disturbance::Type>(i), .at = 1}});
    names.push_back(NameOf({.schedule = schedule}));
  }
  std::vector<std::string> tested;
  for (const KindCase& kind : KindCases()) tested.push_back(NameOf(kind));
  EXPECT_THAT(tested, ::testing::UnorderedElementsAreArray(names));
}

}  // namespace
}  // namespace kopp::testing
