#include "support/scratch_folder.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <kopp/informer/api_error.hpp>
#include <kopp/kinds.hpp>
#include <kopp/manager.hpp>
#include <kopp/testing/api_server.hpp>
#include <kopp/testing/recording.hpp>
#include <kopp/workqueue/guarded.hpp>

// An operator is recorded against the API server in memory, and its recording is replayed.

namespace kopp {
namespace {

using nlohmann::json;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

/// Keeps a Secret with the data of each ConfigMap.
Result CopyToSecret(const ConfigMap& map, Context& context) {
  const ObjectKey key{map.metadata.ns, map.metadata.name};
  const auto copy = context.cache.Get<Secret>(key);
  if (copy) return {};
  context.client.Create<Secret>({{"metadata", {{"name", key.name}, {"namespace", key.ns}}},
                                 {"stringData", {{"text", "über " + key.name}}}});
  return {};
}

class RecordingTest : public ::testing::Test {
 protected:
  using Reconcile = std::function<Result(const ConfigMap&, Context&)>;

  void CreateMap(const std::string& name) {
    client_.Create<ConfigMap>({{"metadata", {{"name", name}, {"namespace", "default"}}}});
  }

  /// Runs an operator that is recorded until it has reconciled the ConfigMaps "a" and "b".
  void Record(const Reconcile& reconcile = CopyToSecret) {
    const std::unique_ptr<Transport> transport = server_.TransportAs("copier");
    Manager manager(OptionsOf(*transport));
    std::atomic<int> reconciles = 0;
    const auto count = [&](const ConfigMap& map, Context& context) {
      ++reconciles;
      return reconcile(map, context);
    };
    manager.AddController<ConfigMap>({.on_error = on_error_}).Reconcile(count);
    manager.cache().InformerFor<Secret>();
    CreateMap("a");
    std::jthread thread([&](const std::stop_token& stop) { exit_code_ = manager.Run(stop); });
    while (reconciles < 1) std::this_thread::yield();
    CreateMap("b");
    while (reconciles < 2) std::this_thread::yield();
  }

  Options OptionsOf(Transport& transport) {
    return {.name = "copier",
            .watch_namespace = "default",
            .retry = {.max_tries = max_tries_, .initial_backoff = {}},
            .record = file_.string(),
            .log = Logger({.write = [this](auto line) { *log_.Lock() += line; }}),
            .transport = {std::shared_ptr<void>(), &transport}};
  }

  /// Replays the recording with the namespaces of the operator.
  [[nodiscard]] testing::WaitResult Replay(const Reconcile& reconcile,
                                           testing::ReplayOptions options = {}) const {
    options.cache.namespaces = ParseNamespaces("default");
    return testing::Recording(file_).Replay<ConfigMap, Secret>(reconcile, options);
  }

  testing::ScratchFolder folder_;
  const std::filesystem::path file_ = folder_ / "recording.jsonl";
  testing::ApiServer server_;
  Client client_{server_.transport()};
  detail::Guarded<std::string> log_;
  int exit_code_ = -1;
  int max_tries_ = 1;
  std::atomic<bool> created_ = false;
  ErrorHook on_error_;
};

TEST_F(RecordingTest, AReconcilerThatMakesTheRecordedCallsPasses) {
  Record();
  EXPECT_EQ(exit_code_, 0);
  EXPECT_TRUE(Replay(CopyToSecret));
}

TEST_F(RecordingTest, ADifferentBodyIsShownWithItsPath) {
  Record();
  const testing::WaitResult result = Replay([](const ConfigMap& map, Context& context) -> Result {
    const json metadata{
        {"name", map.metadata.name}, {"namespace", "default"}, {"labels", {{"a", "b"}}}};
    context.client.Create<Secret>({{"metadata", metadata}, {"stringData", {{"text", "other"}}}});
    return {};
  });
  EXPECT_FALSE(result);
  EXPECT_THAT(
      result.message(),
      AllOf(HasSubstr("2 of 2 reconciles differ"), HasSubstr("reconcile 1 of default/a, after"),
            HasSubstr("body/metadata/labels: nothing, now {\"a\":\"b\"}")));
}

TEST_F(RecordingTest, AMissingAndAnAdditionalCallAreDifferences) {
  Record();
  const testing::WaitResult missing =
      Replay([](const ConfigMap&, Context&) -> Result { return {}; });
  EXPECT_THAT(missing.message(), HasSubstr("the recorded call is missing: POST /api/v1/"));

  const testing::WaitResult additional = Replay([](const ConfigMap& map, Context& context) {
    const Result result = CopyToSecret(map, context);
    context.client.Delete<Secret>({"default", map.metadata.name});
    return result;
  });
  EXPECT_THAT(additional.message(), HasSubstr("the call was not recorded: DELETE /api/v1/"));
}

TEST_F(RecordingTest, TheCacheHasWhatTheOperatorHadReadBeforeTheReconcile) {
  Record();
  std::vector<std::size_t> sizes;
  const testing::WaitResult result = Replay([&](const ConfigMap& map, Context& context) {
    sizes.push_back(context.cache.List<ConfigMap>().size());
    return CopyToSecret(map, context);
  });
  EXPECT_TRUE(result);
  EXPECT_EQ(sizes, (std::vector<std::size_t>{1, 2}));
}

TEST_F(RecordingTest, ARecordedErrorOfTheServerIsThrownAgain) {
  const testing::Fault fault{.type = testing::Fault::Type::kServerError,
                             .verb = "create",
                             .resource = "secrets",
                             .status = 503};
  server_.Inject(fault);
  const Reconcile ignore_errors = [](const ConfigMap& map, Context& context) -> Result {
    try {
      return CopyToSecret(map, context);
    } catch (const ApiError& error) {
      EXPECT_EQ(error.status().code, 503);
      return {};
    }
  };
  Record(ignore_errors);
  EXPECT_TRUE(Replay(ignore_errors));
  EXPECT_THAT(Replay(CopyToSecret).message(), HasSubstr("recorded success"));
}

TEST_F(RecordingTest, ACallThatSucceedsAfterARetryIsRecordedOnce) {
  server_.Inject(
      {.type = testing::Fault::Type::kRefuse, .verb = "create", .resource = "secrets", .times = 1});
  max_tries_ = 2;
  Record();
  EXPECT_TRUE(Replay(CopyToSecret));
}

TEST_F(RecordingTest, TheClockHasTheRecordedTimeAndTimestampsMayDiffer) {
  const Reconcile write_time = [](const ConfigMap& map, Context& context) -> Result {
    const auto now = std::chrono::floor<std::chrono::seconds>(context.clock.WallNow());
    const auto seconds = now.time_since_epoch().count();
    context.client.Patch<ConfigMap>(KeyOf(map),
                                    Patch::Merge({{"data",
                                                   {{"day", std::to_string(seconds / 86400)},
                                                    {"time", "2026-01-01T00:00:00Z"}}}}));
    return {};
  };
  Record(write_time);
  EXPECT_TRUE(Replay([&](const ConfigMap& map, Context& context) -> Result {
    const auto now = std::chrono::floor<std::chrono::seconds>(context.clock.WallNow());
    const auto seconds = now.time_since_epoch().count();
    context.client.Patch<ConfigMap>(KeyOf(map),
                                    Patch::Merge({{"data",
                                                   {{"day", std::to_string(seconds / 86400)},
                                                    {"time", "2027-01-01T00:00:00Z"}}}}));
    return {};
  }));
}

TEST_F(RecordingTest, AKindThatTheOperatorDidNotReadIsAnError) {
  Record();
  testing::ReplayOptions options;
  options.cache.namespaces = ParseNamespaces("default");
  const testing::Recording recording(file_);
  EXPECT_THAT([&] { return (recording.Replay<ConfigMap, Pod>(CopyToSecret, options)); },
              ::testing::ThrowsMessage<std::runtime_error>(
                  AllOf(HasSubstr("the operator had not read /api/v1/namespaces/default/pods"),
                        HasSubstr("it had read: /api/v1/namespaces/default/configmaps"))));
}

TEST_F(RecordingTest, ARecordingWithoutReconcilesOfTheControllerFails) {
  Record();
  EXPECT_THAT(Replay(CopyToSecret, {.controller = "other"}).message(),
              HasSubstr("has no reconcile of the controller \"other\""));
}

TEST_F(RecordingTest, TheLastLineMayBeIncompleteAndAnotherInvalidLineIsNamed) {
  Record();
  std::ofstream(file_, std::ios::app) << R"({"at": 1, "rec)";
  EXPECT_TRUE(Replay(CopyToSecret));
  std::ofstream(file_, std::ios::app) << "\n";
  EXPECT_THAT([&] { testing::Recording{file_}; },
              ::testing::ThrowsMessage<std::runtime_error>(HasSubstr("is not valid in line ")));
}

TEST_F(RecordingTest, AnExistingFileIsKeptAndTheNextNameIsUsed) {
  folder_.Write("recording.jsonl", "precious");
  Record();
  EXPECT_EQ(folder_.Read("recording.jsonl"), "precious");
  EXPECT_THAT(folder_.Read("recording.jsonl.1"), HasSubstr(R"("recording":1)"));
}

TEST_F(RecordingTest, AFileThatCannotBeCreatedIsAnErrorAtTheStart) {
  const std::unique_ptr<Transport> transport = server_.TransportAs("copier");
  Options options = OptionsOf(*transport);
  options.record = (folder_ / "missing/recording.jsonl").string();
  EXPECT_EQ(Manager(std::move(options)).Run({}), 1);
  EXPECT_THAT(*log_.Lock(), HasSubstr("--record: cannot create "));
}

TEST_F(RecordingTest, CallsOutsideOfAReconcileAreNotRecorded) {
  const std::unique_ptr<Transport> transport = server_.TransportAs("copier");
  Manager manager(OptionsOf(*transport));
  manager.Add({.name = "reviewer"}, [&](const std::stop_token&) {
    const json review{{"metadata", {{"name", "review"}, {"namespace", "default"}}},
                      {"data", {{"token", "canary"}}}};
    manager.client().Create<ConfigMap>(review);
    created_ = true;
  });
  std::jthread thread([&](const std::stop_token& stop) { exit_code_ = manager.Run(stop); });
  while (!created_) std::this_thread::yield();
  thread.request_stop();
  thread.join();
  EXPECT_THAT(folder_.Read("recording.jsonl"), Not(HasSubstr("canary")));
}

TEST_F(RecordingTest, TheCallsOfTheErrorHookAreNoDifference) {
  const Reconcile fail = [](const ConfigMap&, Context&) -> Result {
    throw std::runtime_error("no quota");
  };
  on_error_ = [](const ReconcileError&, Context& context) {
    context.client.Patch<ConfigMap>(context.key, Patch::Merge({{"data", {{"error", "yes"}}}}));
  };
  Record(fail);
  EXPECT_TRUE(Replay(fail));
  EXPECT_THAT(Replay([](const ConfigMap&, Context&) -> Result { return {}; }).message(),
              AllOf(HasSubstr("recorded no quota"), HasSubstr("now      success")));
}

TEST_F(RecordingTest, AReconcilerThatReadsItsOwnWritesIsReplayedWithoutADifference) {
  const Reconcile copy_and_read = [](const ConfigMap& map, Context& context) -> Result {
    CopyToSecret(map, context);
    const auto copy = context.cache.Get<Secret>({map.metadata.ns, map.metadata.name});
    if (!copy) throw std::runtime_error("the Secret is missing");
    const json data{{"data", {{"uid", copy->metadata.uid}}}};
    context.client.Patch<ConfigMap>(context.key, Patch::Merge(data));
    return {};
  };
  Record(copy_and_read);
  EXPECT_TRUE(Replay(copy_and_read));
}

TEST_F(RecordingTest, ReconcilesBesideChangesOfOthersAreReplayedWithoutADifference) {
  constexpr std::size_t kMaps = 10;
  std::atomic<std::size_t> largest = 0;
  const Reconcile count_maps = [&](const ConfigMap& map, Context& context) -> Result {
    const std::size_t maps = context.cache.List<ConfigMap>().size();
    const json data{{"maps", std::to_string(maps)}};
    context.client.Patch<ConfigMap>(context.key, Patch::Merge({{"data", data}}));
    largest = std::max<std::size_t>(largest, maps);
    return CopyToSecret(map, context);
  };
  const std::unique_ptr<Transport> transport = server_.TransportAs("copier");
  Manager manager(OptionsOf(*transport));
  manager.AddController<ConfigMap>({.workers = 4}).Reconcile(count_maps);
  manager.cache().InformerFor<Secret>();
  std::jthread thread([&](const std::stop_token& stop) { exit_code_ = manager.Run(stop); });
  for (std::size_t i = 0; i < kMaps; ++i) CreateMap("map-" + std::to_string(i));
  while (largest < kMaps) std::this_thread::yield();
  thread.request_stop();
  thread.join();
  EXPECT_TRUE(Replay(count_maps));
}

/// Applies a Secret without data for each ConfigMap.
Result ApplySecret(const ConfigMap& map, Context& context) {
  context.client.Apply(Secret{.metadata = {.name = map.metadata.name, .ns = map.metadata.ns}});
  return {};
}

TEST_F(RecordingTest, ATakeOverOfAFieldManagerIsReplayed) {
  for (const char* name : {"a", "b"}) {
    client_.WithFieldManager("copier").Apply(
        Secret{.metadata = {.name = name, .ns = "default", .labels = {{"old", "1"}}}});
  }

  Record(ApplySecret);

  EXPECT_THAT(folder_.Read("recording.jsonl"),
              AllOf(HasSubstr("/secrets/a?fieldManager=copier%2Fconfigmap&"),
                    HasSubstr("/secrets/a?fieldManager=copier&")));
  EXPECT_TRUE(Replay(ApplySecret));
  EXPECT_THAT(Replay(ApplySecret, {.former_field_managers = std::vector<std::string>()}).message(),
              HasSubstr("the recorded call is missing: PATCH"));
}

TEST_F(RecordingTest, ARecordingWithoutFieldManagersWasWrittenAsTheProgram) {
  Record(ApplySecret);
  std::string text = folder_.Read("recording.jsonl");
  for (const auto& [from, to] : {std::pair(R"("fieldManager":"copier/configmap",)", ""),
                                 std::pair("copier%2Fconfigmap", "copier")}) {
    for (auto at = text.find(from); at != std::string::npos; at = text.find(from)) {
      text.replace(at, std::string_view(from).size(), to);
    }
  }
  std::ofstream(file_, std::ios::trunc) << text;

  EXPECT_TRUE(Replay(ApplySecret));
}

TEST_F(RecordingTest, TheRecordingHasNoSecretValues) {
  const Reconcile copy_and_read = [](const ConfigMap& map, Context& context) -> Result {
    CopyToSecret(map, context);
    static_cast<void>(context.client.Get<Secret>({map.metadata.ns, map.metadata.name}));
    return {};
  };
  Record(copy_and_read);
  const std::string text = folder_.Read("recording.jsonl");
  EXPECT_THAT(text, AllOf(HasSubstr("/secrets"), HasSubstr("redacted-"), Not(HasSubstr("über")),
                          Not(HasSubstr("w7xiZXI"))));  // the start in Base64
  EXPECT_TRUE(Replay(copy_and_read));
}

TEST_F(RecordingTest, OnlyTheUserOfTheProcessCanReadTheFile) {
  Record();
  EXPECT_EQ(std::filesystem::status(file_).permissions(),
            std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
}

}  // namespace
}  // namespace kopp
