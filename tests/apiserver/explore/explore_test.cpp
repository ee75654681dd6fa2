#include "widget.hpp"

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <ctime>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace kopp::testing {
namespace {

/// Added to the real time that Explore reads. Global because clock_gettime has no parameter for it.
std::atomic<std::chrono::seconds> real_time_offset{std::chrono::seconds(0)};

}  // namespace
}  // namespace kopp::testing

/// Replaces the function of glibc that std::chrono::steady_clock calls.
extern "C" int clock_gettime(clockid_t clock, timespec* time) noexcept {
  const auto result = static_cast<int>(::syscall(SYS_clock_gettime, clock, time));
  if (clock == CLOCK_MONOTONIC) time->tv_sec += kopp::testing::real_time_offset.load().count();
  return result;
}

namespace kopp::testing {
namespace {

using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;

/// Creates the ConfigMap "child" and then sets the phase. It does not tolerate an existing child.
Result CreateOnce(const Widget& widget, Context& context) {
  if (widget.status.phase == "Ready") return {};
  context.client.Create(ChildOf(widget, "child"));
  SetPhase(widget, "Ready", context);
  return {};
}

const Scenario create_widget{.steps = {CreateWidget()}};

TEST(ExploreTest, AFindingTellsTheStoryTheDifferencesAndARegressionTest) {
  const ExploreResult result = Replay(create_widget, WidgetOperator(CreateOnce), "crash-after:1");

  ASSERT_EQ(result.findings.size(), 1U);
  const Finding& finding = result.findings.front();
  EXPECT_THAT(finding.story, HasSubstr("STEP: the user creates the Widget web"));
  EXPECT_THAT(finding.story, HasSubstr("call 1: create configmaps default/child → 201"));
  EXPECT_THAT(finding.story, HasSubstr("** crash-after:1: the process crashes after this call"));
  EXPECT_THAT(finding.story, HasSubstr("\"child\" already exists"));
  EXPECT_THAT(finding.problem,
              HasSubstr("widgets.explore.example.com default/web /status: {\"phase\":\"Ready\"} in "
                        "the undisturbed run, unset in this run"));
  EXPECT_THAT(result.ToString(), HasSubstr("Replay(scenario, setup, \"crash-after:1\")"));
}

/// The variable KOPP_EXPLORE_SEED, and an operator whose runs depend on the seed.
class ExploreSeedTest : public ::testing::Test {
 protected:
  ExploreSeedTest() {
    if (const char* previous = std::getenv(kVariable)) previous_ = previous;
    ::unsetenv(kVariable);
  }
  ~ExploreSeedTest() override {
    ::unsetenv(kVariable);
    if (previous_) SetVariable(*previous_);
  }

  static void SetVariable(const std::string& value) { ::setenv(kVariable, value.c_str(), 1); }

  /// Returns an operator that creates a child with a generated name and then sets the phase. It
  /// creates a second child if it ends in between.
  OperatorSetup Operator() {
    return WidgetOperator([this](const Widget& widget, Context& context) -> Result {
      if (widget.status.phase == "Ready") return {};
      ConfigMap child = ChildOf(widget, "");
      child.metadata.generateName = "web-";
      names_ += ' ' + context.client.Create(child).metadata.name;
      SetPhase(widget, "Ready", context);
      return {};
    });
  }
  ExploreResult ExploreWith(const ExploreOptions& options) {
    names_.clear();
    return Explore(create_widget, Operator(), options);
  }

  std::string names_;  // of all children that the operator has created in all runs

 private:
  static constexpr const char* kVariable = "KOPP_EXPLORE_SEED";
  std::optional<std::string> previous_;
};

TEST_F(ExploreSeedTest, TheRegressionTestOfAFindingHasTheSeed) {
  const ExploreResult found = ExploreWith({.seed = 7});

  ASSERT_FALSE(found.findings.empty());
  const Finding& finding = found.findings.front();
  EXPECT_THAT(found.ToString(), EndsWith("EXPECT_TRUE(kopp::testing::Replay(scenario, setup, \"" +
                                         finding.schedule + "\", {.seed = 7}));\n"));
  const ExploreResult again = Replay(create_widget, Operator(), finding.schedule, {.seed = 7});
  EXPECT_EQ(again.findings.front().story, finding.story);
}

TEST_F(ExploreSeedTest, TheRegressionTestOfAFindingWithTheDefaultSeedHasNoOptions) {
  const ExploreResult found = ExploreWith({});

  ASSERT_FALSE(found.findings.empty());
  EXPECT_THAT(found.ToString(), EndsWith(found.findings.front().schedule + "\"));\n"));
}

TEST_F(ExploreSeedTest, TheVariableReplacesTheDefaultSeed) {
  static_cast<void>(ExploreWith({}));
  const std::string names_of_default = names_;
  static_cast<void>(ExploreWith({.seed = 7}));
  const std::string names_of_7 = names_;
  SetVariable("7");
  const ExploreResult result = ExploreWith({});

  EXPECT_NE(names_, names_of_default);
  EXPECT_EQ(names_, names_of_7);
  EXPECT_THAT(result.ToString(), HasSubstr("{.seed = 7}"));
}

TEST_F(ExploreSeedTest, TheVariableDoesNotReplaceASeedOfTheOptions) {
  SetVariable("8");
  EXPECT_THAT(ExploreWith({.seed = 7}).ToString(), HasSubstr("{.seed = 7}"));
}

TEST_F(ExploreSeedTest, TheVariableDoesNotChangeAReplay) {
  SetVariable("7");
  const ExploreResult result = Replay(create_widget, Operator(), "crash-after:1");

  EXPECT_THAT(result.ToString(), EndsWith("\"crash-after:1\"));\n"));
}

TEST_F(ExploreSeedTest, AValueThatIsNoPositiveIntegerIsRejectedWithTheNameOfTheVariable) {
  for (const char* value : {"", "0", "-1", "+1", " 1", "1.5", "7x", "18446744073709551616"}) {
    SetVariable(value);
    try {
      static_cast<void>(ExploreWith({}));
      ADD_FAILURE() << '"' << value << "\" was accepted";
    } catch (const std::invalid_argument& error) {
      EXPECT_THAT(error.what(), HasSubstr("KOPP_EXPLORE_SEED=\"" + std::string(value) +
                                          "\": the seed must be an integer from 1"));
    }
  }
}

TEST(ExploreTest, TheSameSeedGivesTheSameFindings) {
  const ExploreResult first = Explore(create_widget, WidgetOperator(CreateOnce));
  const ExploreResult second = Explore(create_widget, WidgetOperator(CreateOnce));

  ASSERT_FALSE(first.findings.empty());
  ASSERT_EQ(first.findings.size(), second.findings.size());
  EXPECT_EQ(first.runs, second.runs);
  for (std::size_t i = 0; i < first.findings.size(); ++i) {
    EXPECT_EQ(first.findings[i].schedule, second.findings[i].schedule);
    EXPECT_EQ(first.findings[i].story, second.findings[i].story);
  }
}

TEST(ExploreTest, ACrashThatEqualsAnotherOneIsPruned) {
  const auto reconcile = [](const Widget& widget, Context& context) -> Result {
    if (!context.client.Get<ConfigMap>(widget_key)) {
      context.client.Create(ChildOf(widget, widget_key.name));
    }
    return {};
  };
  EXPECT_GT(Explore(create_widget, WidgetOperator(reconcile)).pruned, 0U);
}

TEST(ExploreTest, AWriteLoopNamesTheObjectTheFieldsAndTheWriters) {
  const OperatorSetup setup = [](Manager& manager) {
    for (const char* const phase : {"Cert", "Dns"}) {
      manager.AddController<Widget>({.name = phase})
          .Reconcile([phase](const Widget&, Context& context) -> Result {
            context.client.WithFieldManager(phase).PatchStatus<Widget>(
                widget_key, Patch::Merge({{"status", {{"phase", phase}}}}));
            return {};
          });
    }
  };
  const ExploreResult result = Explore(create_widget, setup);

  ASSERT_EQ(result.findings.size(), 1U);
  EXPECT_THAT(result.findings.front().problem,
              HasSubstr("writes the same fields of Widget default/web back and forth (field "
                        "managers: Cert, Dns): status.phase"));
}

TEST(ExploreTest, AnOperatorThatNeverStopsWritingDoesNotConverge) {
  const auto reconcile = [](const Widget& widget, Context& context) -> Result {
    SetPhase(widget, widget.status.phase + "x", context);
    return {};
  };
  const ExploreResult result = Explore(create_widget, WidgetOperator(reconcile));

  ASSERT_EQ(result.findings.size(), 1U);
  EXPECT_EQ(result.findings.front().schedule, "");
  EXPECT_THAT(result.findings.front().problem, HasSubstr("does not converge"));
}

TEST(ExploreTest, AnOperatorThatPollsWithoutWritingIsQuiescent) {
  const auto reconcile = [](const Widget&, Context&) -> Result {
    return {.requeue_after = std::chrono::minutes(1)};
  };
  EXPECT_TRUE(Explore(create_widget, WidgetOperator(reconcile)));
}

TEST(ExploreTest, AWaitForATimeIsSimulated) {
  const auto reconcile = [](const Widget& widget, Context& context) -> Result {
    if (!context.cache.Get<ConfigMap>(widget_key)) {
      context.client.Create(ChildOf(widget, widget_key.name));
    }
    const auto start = std::chrono::system_clock::time_point(std::chrono::seconds(1'000'000'000));
    const auto due = start + std::chrono::hours(1);
    if (context.clock.WallNow() < due) return {.requeue_after = due - context.clock.WallNow()};
    SetPhase(widget, "Old", context);
    return {};
  };
  int old = 0;  // checks that saw the phase
  const Scenario scenario{
      .steps = {CreateWidget()},
      .invariants = {{"the phase is counted", [&](const Client& client) -> std::string {
                        const auto widget = client.Get<Widget>(widget_key);
                        if (widget && widget->status.phase == "Old") ++old;
                        return "";
                      }}}};
  const ExploreResult result = Explore(scenario, WidgetOperator(reconcile));
  EXPECT_TRUE(result);
  EXPECT_GE(static_cast<std::size_t>(old), result.runs);
}

TEST(ExploreTest, AnOperatorThatIsNotDeterministicIsReported) {
  int runs = 0;
  const OperatorSetup setup = [&](Manager& manager) {
    const std::string phase = std::to_string(++runs);
    manager.AddController<Widget>().Reconcile(
        [phase](const Widget& widget, Context& context) -> Result {
          SetPhase(widget, phase, context);
          return {};
        });
  };
  EXPECT_THROW(static_cast<void>(Explore(create_widget, setup)), std::runtime_error);
}

TEST(ExploreTest, AViolatedInvariantIsReportedWithItsName) {
  const Scenario scenario{
      .steps = {CreateWidget()},
      .invariants = {{"no ConfigMap", [](const Client& client) -> std::string {
                        return client.Get<ConfigMap>({"default", "child"}) ? "there is one" : "";
                      }}}};
  const ExploreResult result = Explore(scenario, WidgetOperator(CreateOnce));

  ASSERT_EQ(result.findings.size(), 1U);
  EXPECT_EQ(result.findings.front().problem,
            "The invariant \"no ConfigMap\" is violated: there is one");
}

TEST(ExploreTest, ACrashCannotBeCaughtByTheReconcileFunction) {
  int caught = 0;
  int writes_after_crash = 0;
  const auto reconcile = [&](const Widget& widget, Context& context) -> Result {
    if (context.cache.Get<ConfigMap>({"default", "child"})) return {};
    try {
      context.client.Create(ChildOf(widget, "child"));
    } catch (const std::exception&) {
      ++caught;
    } catch (...) {
      context.client.Create(ChildOf(widget, "other"));
      ++writes_after_crash;
    }
    return {};
  };
  EXPECT_TRUE(Replay(create_widget, WidgetOperator(reconcile), "crash-before:1"));
  EXPECT_EQ(caught, 0);
  EXPECT_EQ(writes_after_crash, 0);
}

TEST(ExploreTest, OnlyAShortResyncRepairsWhatNoEventReports) {
  int text = 0;
  const auto setup_with = [&](std::chrono::seconds resync) -> OperatorSetup {
    return [&text, resync](Manager& manager) {
      manager.AddController<Widget>({.sync_period = resync})
          .Reconcile([&text](const Widget& widget, Context& context) -> Result {
            SetPhase(widget, std::to_string(text), context);
            return {};
          });
    };
  };
  const auto phase_2 = [](const Client& client) -> std::string {
    const auto widget = client.Get<Widget>(widget_key);
    return widget && widget->status.phase == "2" ? "it was written" : "";
  };
  const Scenario scenario{
      .start = [&](const Client&) { text = 1; },
      .steps = {CreateWidget(), {"the text changes", [&](const Client&) { ++text; }}},
      .invariants = {{"phase 2 is never written", phase_2}}};
  EXPECT_TRUE(Replay(scenario, setup_with(std::chrono::hours(1)), ""));
  EXPECT_FALSE(Replay(scenario, setup_with(std::chrono::seconds(30)), "").findings.empty());
}

TEST(ExploreTest, AMapFunctionOfWatchesIsCalledInTheSimulation) {
  const OperatorSetup setup = [](Manager& manager) {
    manager.AddController<Widget>()
        .Watches<Secret>([](const Secret&) { return std::vector{widget_key}; })
        .Reconcile([](const Widget& widget, Context& context) -> Result {
          const bool has_secret = !context.cache.List<Secret>("default").empty();
          SetPhase(widget, has_secret ? "Ready" : "NoSecret", context);
          return {};
        });
  };
  const auto create = [](const Client& client) {
    client.Create(Secret{.metadata = {.name = "password", .ns = "default"}});
  };
  const auto ready = [](const Client& client) -> std::string {
    const auto widget = client.Get<Widget>(widget_key);
    return widget && widget->status.phase == "Ready" ? "Ready" : "";
  };
  const Scenario scenario{.steps = {CreateWidget(), {"the user creates a Secret", create}},
                          .invariants = {{"never ready", ready}}};
  EXPECT_THAT(Explore(scenario, setup).findings.front().problem, HasSubstr("Ready"));
}

TEST(ExploreTest, AnInvariantThatThrowsIsViolatedAndTheOperatorDoesNotSeeTheException) {
  int failures = 0;
  const auto reconcile = [&](const Widget& widget, Context& context) -> Result {
    try {
      SetPhase(widget, "Ready", context);
    } catch (const std::exception&) {
      ++failures;
    }
    return {};
  };
  const auto check = [](const Client&) -> std::string { throw std::runtime_error("no such key"); };
  const ExploreResult result = Replay({.steps = {CreateWidget()}, .invariants = {{"valid", check}}},
                                      WidgetOperator(reconcile), "");

  ASSERT_EQ(result.findings.size(), 1U);
  EXPECT_EQ(result.findings.front().problem,
            "The invariant \"valid\" threw an exception: no such key");
  EXPECT_EQ(failures, 0);
}

TEST(ExploreTest, AnItemThatIsAppendedToAListIsShown) {
  const auto reconcile = [](const Widget& widget, Context& context) -> Result {
    const bool exists = context.client.Get<ConfigMap>({"default", "child"}).has_value();
    if (!exists) context.client.Create(ChildOf(widget, "child"));
    const std::vector<std::string> all{"example.com/a", "example.com/b"};
    const std::vector<std::string> finalizers(all.begin(), all.end() - (exists ? 0 : 1));
    context.client.Patch<ConfigMap>({"default", "child"},
                                    Patch::Merge({{"metadata", {{"finalizers", finalizers}}}}));
    return {};
  };
  const OperatorSetup setup = [&](Manager& manager) {
    manager.AddController<Widget>().Reconcile(reconcile);
  };
  const ExploreResult result = Replay(create_widget, setup, "crash-after:2");

  ASSERT_EQ(result.findings.size(), 1U);
  EXPECT_THAT(result.findings.front().problem,
              HasSubstr("unset in the undisturbed run, \"example.com/b\" in this run"));
}

/// Explores a correct operator with a value of KOPP_EXPLORE_SHARD.
ExploreResult ExploreShard(const char* value) {
  const auto nothing = [](const Widget&, Context&) -> Result { return {}; };
  ::setenv("KOPP_EXPLORE_SHARD", value, 1);
  const auto unset = [](const char* name) { ::unsetenv(name); };
  const std::unique_ptr<const char, decltype(unset)> guard("KOPP_EXPLORE_SHARD", unset);
  return Explore(create_widget, WidgetOperator(nothing), {.pairs = 10});
}

TEST(ExploreTest, TheShardsTogetherHaveAllRuns) {
  constexpr std::size_t kUndisturbedRuns = 2;  // in each shard
  const std::size_t all = ExploreShard("1/1").runs - kUndisturbedRuns;
  std::size_t of_shards = 0;
  for (const char* shard : {"1/3", "2/3", "3/3"}) {
    const ExploreResult result = ExploreShard(shard);
    EXPECT_TRUE(result);
    EXPECT_LT(result.runs - kUndisturbedRuns, all);
    of_shards += result.runs - kUndisturbedRuns;
  }
  EXPECT_EQ(of_shards, all);
}

TEST(ExploreTest, AShardThatIsNotValidIsRejected) {
  for (const char* value : {"", "1", "0/2", "3/2", "1/0", "1/2x", "-1/2", "a/b"}) {
    EXPECT_THROW(static_cast<void>(ExploreShard(value)), std::invalid_argument) << value;
  }
}

TEST(ExploreTest, AReportHasNoSecretValues) {
  int text = 0;
  const auto reconcile = [&](const Widget& widget, Context& context) -> Result {
    const Secret secret{.metadata = OwnedBy(widget, "child"),
                        .stringData = {{"password", "canary" + std::to_string(++text)}}};
    if (!context.client.Get<Secret>({"default", "child"})) context.client.Create(secret);
    return {};
  };
  const Scenario scenario{.start = [&](const Client&) { text = 0; }, .steps = {CreateWidget()}};
  const OperatorSetup setup = [&](Manager& manager) {
    manager.AddController<Widget>().Reconcile(reconcile);
  };
  const ExploreResult result = Replay(scenario, setup, "crash-before:2");

  ASSERT_EQ(result.findings.size(), 1U);
  EXPECT_THAT(result.findings.front().problem,
              HasSubstr("secrets default/child /data/password: <redacted> in the undisturbed run, "
                        "another value in this run"));
  EXPECT_THAT(result.ToString(), Not(HasSubstr("Y2FuYXJ5")));
}

TEST(ExploreTest, AReplayWhosePlaceDoesNotOccurFails) {
  const ExploreResult result = Replay(create_widget, WidgetOperator(CreateOnce), "crash-after:999");

  ASSERT_EQ(result.findings.size(), 1U);
  EXPECT_THAT(result.findings.front().problem, HasSubstr("no place for crash-after:999"));
}

TEST(ExploreTest, AnExplorationWithoutAnyDisturbanceIsNoSuccess) {
  const auto nothing = [](const Widget&, Context&) -> Result { return {}; };
  const ExploreResult result = Explore(create_widget, WidgetOperator(nothing),
                                       {.time_limit = Duration::zero(), .accept_missing = true});

  ASSERT_EQ(result.findings.size(), 1U);
  EXPECT_THAT(result.ToString(),
              EndsWith("Nothing was explored: raise ExploreOptions::time_limit.\n"));
}

/// Explores until the time limit, which ends during the second run with a disturbance.
ExploreResult ExploreUntilTheTimeLimit(ExploreOptions options) {
  options.time_limit = kNoTimeLimit;
  std::size_t runs = 0;
  Scenario scenario = create_widget;
  constexpr std::size_t kUndisturbedRuns = 2;
  scenario.start = [&](const Client&) {
    if (++runs == kUndisturbedRuns + 2) real_time_offset = kNoTimeLimit;
  };
  const auto nothing = [](const Widget&, Context&) -> Result { return {}; };
  ExploreResult result = Explore(scenario, WidgetOperator(nothing), options);
  real_time_offset = std::chrono::seconds(0);
  return result;
}

TEST(ExploreTest, AnExplorationWithMissingRunsFailsAndSaysHowManyAreMissing) {
  const ExploreResult result = ExploreUntilTheTimeLimit({});

  EXPECT_GT(result.missing, 0U);
  EXPECT_FALSE(result);
  const std::string counts = std::to_string(result.missing) + " of " +
                             std::to_string(result.runs + result.missing) + " runs did not start";
  EXPECT_THAT(result.ToString(),
              AllOf(HasSubstr("not complete: " + counts), HasSubstr("(3600000 ms)"),
                    HasSubstr("ExploreOptions::accept_missing"), Not(HasSubstr("Replay"))));
}

TEST(ExploreTest, AnExplorationWithMissingRunsSucceedsIfTheOptionsAcceptThem) {
  const ExploreResult result = ExploreUntilTheTimeLimit({.accept_missing = true});

  EXPECT_GT(result.missing, 0U);
  EXPECT_TRUE(result);
}

TEST(ExploreTest, OtherControllersThatWriteForEverEndTheRun) {
  int text = 0;
  const Scenario scenario{.start = [&](const Client&) { text = 0; },
                          .steps = {CreateWidget()},
                          .other_controllers =
                              [&](const Client& client) {
                                const ConfigMap map{.metadata = {.name = "beat", .ns = "default"},
                                                    .data = {{"text", std::to_string(++text)}}};
                                client.Apply(map);
                              }};
  const OperatorSetup setup = [](Manager& manager) {
    manager.AddController<Widget>().Reconcile([](const Widget&, Context&) -> Result { return {}; });
  };
  const ExploreResult result = Replay(scenario, setup, "");

  ASSERT_EQ(result.findings.size(), 1U);
  EXPECT_THAT(result.findings.front().problem, HasSubstr("The run does not end"));
}

TEST(ExploreTest, AMisspeltScheduleIsRejected) {
  EXPECT_THROW(static_cast<void>(Replay(create_widget, WidgetOperator(CreateOnce), "crash-afer:1")),
               std::invalid_argument);
}

}  // namespace
}  // namespace kopp::testing
