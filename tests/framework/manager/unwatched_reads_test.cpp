#include "manager_fixture.hpp"

#include <stop_token>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <kopp/kinds.hpp>

namespace kopp {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* kReport = "a read of a view that no cache watches";

struct Unwatched {
  static constexpr Kind kKind{"example.com/v1", "Unwatched", "unwatcheds"};
  ObjectMeta metadata;
};
KOPP_FIELDS(Unwatched, metadata)

TEST_F(ManagerTest, AReadOfAViewThatNoCacheWatchesIsLoggedAtTheStart) {
  manager_.AddController<Pod>().Reconcile([](const Pod& pod, Context& context) {
    (void)context.cache.Get<Unwatched>(KeyOf(pod));
    (void)context.cache.Get<Pod>(KeyOf(pod));
    return Result{};
  });

  Start();
  AwaitLog("Starting workers");

  EXPECT_THAT(LogText(), HasSubstr(kReport));
  EXPECT_THAT(LogText(), HasSubstr("kind=\"Unwatched\""));
  EXPECT_THAT(LogText(), Not(HasSubstr("reads it\" kind=\"Pod\"")));
}

TEST_F(ManagerTest, AReadThatStartsToWatchItsViewIsNotLoggedAtTheStart) {
  Manager manager{{.cache = {.start_informers_on_read = true},
                   .log = RecordingLogger(),
                   .transport = transport_,
                   .clock = clock_}};

  std::jthread runner([&](const std::stop_token& stop) { manager.Run(stop); });
  AwaitLog("Waiting for informer caches to sync");

  EXPECT_THAT(LogText(), Not(HasSubstr(kReport)));
}

}  // namespace
}  // namespace kopp
