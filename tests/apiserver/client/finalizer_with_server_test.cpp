// Tests of finalizers against an API server.
#include <chrono>
#include <functional>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <kopp/controller/with_finalizer.hpp>
#include <kopp/kinds.hpp>
#include <kopp/testing/environment.hpp>

namespace kopp {
namespace {

using namespace std::chrono_literals;
using nlohmann::json;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr const char* kName = "example.com/bucket";

class FinalizerServerTest : public ::testing::Test {
 protected:
  FinalizerServerTest() { Create({}); }

  void Create(const std::vector<std::string>& finalizers) {
    client().Create<ConfigMap>(
        {{"metadata",
          {{"name", "settings"}, {"namespace", "default"}, {"finalizers", finalizers}}}});
  }
  const Client& client() { return env_.client(); }
  std::optional<ConfigMap> Get() { return client().Get<ConfigMap>(key_); }
  std::vector<std::string> Finalizers() { return Get().value().metadata.finalizers.get(); }
  /// Runs one reconcile of WithFinalizer. The functions add to calls_.
  Result Reconcile() {
    return env_.Reconcile<ConfigMap>(
        key_, WithFinalizer<ConfigMap>(
                  kName,
                  [this](const ConfigMap&, Context&) {
                    calls_.emplace_back(HasFinalizer(Get()->metadata, kName) ? "apply" : "early");
                    return Result{};
                  },
                  [this](const ConfigMap&, Context&) { return Cleanup(); }));
  }
  std::optional<Result> Cleanup() {
    calls_.emplace_back("cleanup");
    return cleanup_ ? cleanup_() : std::nullopt;
  }

  const ObjectKey key_{"default", "settings"};
  testing::Environment env_;
  std::vector<std::string> calls_;
  std::function<std::optional<Result>()> cleanup_;
};

TEST_F(FinalizerServerTest, FinalizersThatTwoProgramsAddToTheSameVersionAreBothKept) {
  const ConfigMap stale = Get().value();
  EXPECT_TRUE(AddFinalizer(client(), stale, "other.com/a"));

  EXPECT_TRUE(AddFinalizer(client(), stale, kName));
  EXPECT_THAT(Finalizers(), ElementsAre("other.com/a", kName));
}

TEST_F(FinalizerServerTest, AFinalizerThatTheServerHasAlreadyIsNotAddedTwice) {
  const ConfigMap empty = Get().value();
  EXPECT_TRUE(AddFinalizer(client(), empty, "other.com/a"));
  EXPECT_FALSE(AddFinalizer(client(), empty, "other.com/a"));

  const ConfigMap stale = Get().value();
  EXPECT_TRUE(AddFinalizer(client(), stale, kName));
  EXPECT_FALSE(AddFinalizer(client(), stale, kName));

  EXPECT_THAT(Finalizers(), ElementsAre("other.com/a", kName));
}

TEST_F(FinalizerServerTest, AFinalizerWhosePositionHasChangedIsRemovedAloneFromTheLiveObject) {
  AddFinalizer(client(), Get().value(), "other.com/a");
  AddFinalizer(client(), Get().value(), kName);
  AddFinalizer(client(), Get().value(), "other.com/b");
  const ConfigMap stale = Get().value();
  EXPECT_TRUE(RemoveFinalizer(client(), stale, "other.com/a"));

  EXPECT_TRUE(RemoveFinalizer(client(), stale, kName));
  EXPECT_FALSE(RemoveFinalizer(client(), stale, kName));

  EXPECT_THAT(Finalizers(), ElementsAre("other.com/b"));
}

TEST_F(FinalizerServerTest, AFinalizerOfANewObjectWithTheSameNameIsNotRemoved) {
  AddFinalizer(client(), Get().value(), kName);
  const ConfigMap stale = Get().value();
  EXPECT_TRUE(RemoveFinalizer(client(), stale, kName));
  client().Delete<ConfigMap>(key_);
  Create({kName});

  EXPECT_FALSE(RemoveFinalizer(client(), stale, kName));

  EXPECT_THAT(Finalizers(), ElementsAre(kName));
}

TEST_F(FinalizerServerTest, AddingAFinalizerToAnObjectThatIsBeingDeletedThrows) {
  AddFinalizer(client(), Get().value(), "other.com/a");
  const ConfigMap stale = Get().value();
  client().Delete<ConfigMap>(key_);

  EXPECT_THROW(AddFinalizer(client(), stale, kName), ApiError);
  EXPECT_THAT(Finalizers(), ElementsAre("other.com/a"));
}

TEST_F(FinalizerServerTest, WithFinalizerStoresTheFinalizerBeforeItCallsApply) {
  Reconcile();
  Reconcile();

  EXPECT_THAT(calls_, ElementsAre("apply", "apply"));
  EXPECT_THAT(env_.Writes(), ElementsAre("patch configmaps default/settings")) << "added once";
}

TEST_F(FinalizerServerTest, WithFinalizerRemovesTheFinalizerAfterTheCleanup) {
  Reconcile();
  client().Delete<ConfigMap>(key_);

  Reconcile();

  EXPECT_THAT(calls_, ElementsAre("apply", "cleanup"));
  EXPECT_EQ(Get(), std::nullopt);
}

TEST_F(FinalizerServerTest, TheObjectRemainsWhileTheCleanupThrowsOrIsNotFinished) {
  Reconcile();
  client().Delete<ConfigMap>(key_);

  cleanup_ = []() -> std::optional<Result> { throw std::runtime_error("no answer"); };
  EXPECT_THROW(Reconcile(), std::runtime_error);
  EXPECT_THAT(Finalizers(), ElementsAre(kName));

  cleanup_ = [] { return Result{.requeue_after = 10s}; };
  EXPECT_EQ(Reconcile().requeue_after, 10s);
  EXPECT_THAT(Finalizers(), ElementsAre(kName));

  cleanup_ = nullptr;
  Reconcile();
  EXPECT_EQ(Get(), std::nullopt);
}

TEST_F(FinalizerServerTest, TheCleanupRunsAgainIfTheFinalizerCouldNotBeRemoved) {
  Reconcile();
  client().Delete<ConfigMap>(key_);
  env_.server().Inject(
      {.type = testing::Fault::Type::kServerError, .verb = "patch", .times = 1, .status = 500});

  EXPECT_THROW(Reconcile(), ApiError);
  Reconcile();

  EXPECT_THAT(calls_, ElementsAre("apply", "cleanup", "cleanup"));
  EXPECT_EQ(Get(), std::nullopt);
}

TEST_F(FinalizerServerTest, ADeletedObjectWithoutOurFinalizerIsNeitherAppliedNorCleanedUp) {
  AddFinalizer(client(), Get().value(), "other.com/a");
  client().Delete<ConfigMap>(key_);

  Reconcile();

  EXPECT_THAT(calls_, IsEmpty());
  EXPECT_THAT(Finalizers(), ElementsAre("other.com/a"));
}

TEST_F(FinalizerServerTest, SeveralFinalizersAreAddedAndCleanedUpInTheirOrderInOneReconcile) {
  const auto cleanup_of = [this](const std::string& name) {
    return Finalizer<ConfigMap>{name, [this, name](const ConfigMap&, Context&) {
                                  calls_.push_back(name);
                                  return std::optional<Result>();
                                }};
  };
  const auto reconcile = [&] {
    env_.Reconcile<ConfigMap>(
        key_, WithFinalizers<ConfigMap>({cleanup_of("example.com/a"), cleanup_of("example.com/b")},
                                        [](const ConfigMap&, Context&) { return Result{}; }));
  };
  reconcile();
  EXPECT_THAT(Finalizers(), ElementsAre("example.com/a", "example.com/b"));
  client().Delete<ConfigMap>(key_);

  reconcile();

  EXPECT_THAT(calls_, ElementsAre("example.com/a", "example.com/b"));
  EXPECT_EQ(Get(), std::nullopt);
  const std::string patch = "patch configmaps default/settings";
  EXPECT_THAT(env_.Writes(), ElementsAre(patch, patch, patch, patch)) << "none was rejected";
}

}  // namespace
}  // namespace kopp
