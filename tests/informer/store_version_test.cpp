#include "widget.hpp"

#include <chrono>
#include <future>
#include <stop_token>
#include <string>
#include <thread>

#include <gtest/gtest.h>

#include <kopp/informer/detail/store_version.hpp>
#include <kopp/informer/informer.hpp>
#include <kopp/testing/fake_clock.hpp>
#include <kopp/testing/fake_source.hpp>

namespace kopp::informer {
namespace {

using namespace std::chrono_literals;
using kopp::testing::MakeWidget;
using kopp::testing::Widget;

class StoreVersionTest : public ::testing::Test {
 protected:
  /// Waits for `version` in another thread, for at most 5 s.
  std::future<bool> StartWaitFor(const std::string& version) {
    return std::async(std::launch::async, [this, version] {
      return version_.WaitFor(version, clock_.Now() + 5s, stop_.get_token());
    });
  }

  kopp::testing::FakeClock clock_;
  std::stop_source stop_;
  StoreVersion version_{clock_};
};

TEST_F(StoreVersionTest, VersionsAreComparedAsNumbersOfAnyLength) {
  version_.Set("100000000000000000000000");

  EXPECT_TRUE(version_.HasReached("99999999999999999999999"));
  EXPECT_TRUE(version_.HasReached("100000000000000000000000"));
  EXPECT_FALSE(version_.HasReached("100000000000000000000001"));
}

TEST_F(StoreVersionTest, NoVersionIsReachedBeforeTheFirstList) {
  EXPECT_EQ(version_.Get(), "");
  EXPECT_FALSE(version_.HasReached("1"));
}

TEST_F(StoreVersionTest, AWaitEndsWhenTheVersionIsReached) {
  auto reached = StartWaitFor("7");
  clock_.AwaitSleepers(1);
  version_.Set("6");
  version_.Set("8");
  EXPECT_TRUE(reached.get());
}

TEST_F(StoreVersionTest, AWaitEndsAtItsDeadline) {
  auto reached = StartWaitFor("7");
  clock_.AwaitSleepers(1);
  clock_.Advance(5s);
  EXPECT_FALSE(reached.get());
}

TEST_F(StoreVersionTest, AWaitEndsAtAStopRequest) {
  auto reached = StartWaitFor("7");
  clock_.AwaitSleepers(1);
  stop_.request_stop();
  EXPECT_FALSE(reached.get());
}

TEST_F(StoreVersionTest, AnOlderVersionCountsAsARestore) {
  version_.Set("10");
  version_.Set("11");
  EXPECT_EQ(version_.restores(), 0U);
  version_.Set("9");
  EXPECT_EQ(version_.restores(), 1U);
  EXPECT_FALSE(version_.HasReached("10"));
}

TEST(InformerVersionTest, ListsEventsAndBookmarksAdvanceTheVersion) {
  kopp::testing::FakeClock clock;
  kopp::testing::FakeSource<Widget> source{clock};
  Informer<Widget> informer{source, {.clock = clock}};
  source.Set(MakeWidget("a"));
  std::jthread runner([&](const std::stop_token& stop) { informer.Run(stop); });
  const auto reaches = [&](const std::string& version) {
    return informer.version().WaitFor(version, TimePoint::max(), {});
  };

  EXPECT_TRUE(reaches("1"));
  source.Set(MakeWidget("b"));
  EXPECT_TRUE(reaches("2"));
  EXPECT_TRUE(informer.store().Get({"default", "b"}));
  source.DropNextEvent();
  source.Set(MakeWidget("c"));
  source.SendBookmark();
  EXPECT_TRUE(reaches("3"));
}

}  // namespace
}  // namespace kopp::informer
