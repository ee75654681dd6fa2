#include <chrono>
#include <cstddef>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <kopp/testing/fake_clock.hpp>
#include <kopp/workqueue/backoff.hpp>

namespace kopp::workqueue {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;

class BackoffTest : public ::testing::Test {
 protected:
  kopp::testing::FakeClock clock_;
  Backoff<std::string> backoff_{1s, 5s, {.clock = clock_}};
};

TEST_F(BackoffTest, AKeyWithoutFailuresHasNoDelay) {
  EXPECT_EQ(backoff_.Get("a"), 0s);
  EXPECT_FALSE(backoff_.IsInBackOffSince("a", clock_.Now()));
  EXPECT_FALSE(backoff_.IsInBackOffSince("a", clock_.Now() + 1h))
      << "nor since a time in the future";
  EXPECT_FALSE(backoff_.IsInBackOffSinceUpdate("a"));
}

TEST_F(BackoffTest, EachFailureDoublesTheDelayUpToTheMaximum) {
  std::vector<Duration> delays;

  for (int i = 0; i < 5; ++i) delays.push_back(backoff_.Next("a"));

  EXPECT_THAT(delays, ElementsAre(1s, 2s, 4s, 5s, 5s));
  EXPECT_EQ(backoff_.Get("a"), 5s);
}

TEST_F(BackoffTest, EachKeyHasItsOwnDelay) {
  backoff_.Next("a");
  backoff_.Next("a");
  backoff_.Next("b");

  EXPECT_EQ(backoff_.Get("a"), 2s);
  EXPECT_EQ(backoff_.Get("b"), 1s);
}

TEST_F(BackoffTest, ResetRemovesTheDelay) {
  backoff_.Next("a");
  backoff_.Next("a");

  backoff_.Reset("a");

  EXPECT_EQ(backoff_.Get("a"), 0s);
  EXPECT_EQ(backoff_.Next("a"), 1s);
}

TEST_F(BackoffTest, DeleteEntryFreesTheEntry) {
  backoff_.Next("a");

  backoff_.DeleteEntry("a");
  backoff_.DeleteEntry("unknown");

  EXPECT_EQ(backoff_.Len(), 0);
}

TEST_F(BackoffTest, IsInBackOffSinceUpdateUntilTheDelayHasPassedSinceTheLastFailure) {
  backoff_.Next("a");
  clock_.Advance(500ms);
  backoff_.Next("a");

  clock_.Advance(1999ms);
  EXPECT_TRUE(backoff_.IsInBackOffSinceUpdate("a"));
  clock_.Advance(1ms);

  EXPECT_FALSE(backoff_.IsInBackOffSinceUpdate("a"));
}

TEST_F(BackoffTest, IsInBackOffSinceUntilTheDelayHasPassedSinceThatTime) {
  backoff_.Next("a");
  clock_.Advance(3s);
  const TimePoint since = clock_.Now() - 500ms;

  EXPECT_TRUE(backoff_.IsInBackOffSince("a", since));
  EXPECT_TRUE(backoff_.IsInBackOffSince("a", TimePoint::max()));
  EXPECT_FALSE(backoff_.IsInBackOffSince("a", TimePoint::min()));
  clock_.Advance(500ms);

  EXPECT_FALSE(backoff_.IsInBackOffSince("a", since));
}

TEST_F(BackoffTest, TheDelayIsKeptAfterItHasPassed) {
  for (int i = 0; i < 4; ++i) backoff_.Next("a");

  clock_.Advance(6s);

  EXPECT_EQ(backoff_.Next("a"), 5s);
}

TEST_F(BackoffTest, AKeyExpiresAfterTwiceTheMaximumDelay) {
  backoff_.Next("a");
  backoff_.Next("a");

  clock_.Advance(10s);
  EXPECT_EQ(backoff_.Get("a"), 2s);
  clock_.Advance(1ns);

  EXPECT_EQ(backoff_.Get("a"), 0s);
  EXPECT_FALSE(backoff_.IsInBackOffSince("a", clock_.Now()));
  EXPECT_EQ(backoff_.Next("a"), 1s);
}

TEST_F(BackoffTest, AnExpiredKeyHasNoDelayBeforeItIsFreed) {
  backoff_.Next("first");
  clock_.Advance(5s);
  backoff_.Next("a");
  clock_.Advance(5s);
  backoff_.Next("second");  // frees expired keys; the next time is in ten seconds

  clock_.Advance(5s + 1ns);
  EXPECT_EQ(backoff_.Len(), 3);

  EXPECT_EQ(backoff_.Next("a"), 1s);
}

TEST_F(BackoffTest, OptionIdleSetsWhenAKeyExpires) {
  Backoff<std::string> short_idle{1s, 50s, {.idle = 8s, .clock = clock_}};
  Backoff<std::string> long_idle{1s, 5s, {.idle = 1h, .clock = clock_}};
  short_idle.Next("a");
  long_idle.Next("a");

  clock_.Advance(9s);
  EXPECT_EQ(short_idle.Next("a"), 1s);
  clock_.Advance(50min);
  EXPECT_EQ(long_idle.Next("a"), 2s);
}

TEST_F(BackoffTest, GcFreesOnlyExpiredKeys) {
  backoff_.Next("old");
  clock_.Advance(8s);
  backoff_.Next("young");

  clock_.Advance(2s);
  backoff_.Gc();
  EXPECT_EQ(backoff_.Len(), 2);
  clock_.Advance(1ns);
  backoff_.Gc();

  EXPECT_EQ(backoff_.Len(), 1);
  EXPECT_EQ(backoff_.Get("young"), 1s);
}

TEST_F(BackoffTest, GcUsesOptionIdle) {
  Backoff<std::string> long_idle{1s, 5s, {.idle = 200s, .clock = clock_}};
  long_idle.Next("a");

  clock_.Advance(200s);
  long_idle.Gc();
  EXPECT_EQ(long_idle.Len(), 1);
  clock_.Advance(1ns);
  long_idle.Gc();

  EXPECT_EQ(long_idle.Len(), 0);
}

TEST_F(BackoffTest, KeysWithoutAResetUseBoundedMemory) {
  for (int i = 0; i < 1000; ++i) {
    backoff_.Next(std::to_string(i));
    clock_.Advance(1s);
  }

  EXPECT_LE(backoff_.Len(), 22) << "at most the keys since the last two cleanups";
}

TEST_F(BackoffTest, JitterLengthensEachDelayByAFractionOfThePreviousOne) {
  double random = 1;
  Backoff<std::string> backoff{
      100ms, 1min, {.jitter = 0.1, .clock = clock_, .random = [&] { return random; }}};

  EXPECT_EQ(backoff.Next("a"), 110ms);
  EXPECT_EQ(backoff.Next("a"), 231ms);
  random = 0;
  EXPECT_EQ(backoff.Next("a"), 462ms);
}

TEST_F(BackoffTest, JitterDoesNotExceedTheMaximumDelay) {
  Backoff<std::string> backoff{
      1s, 3s, {.jitter = 10, .clock = clock_, .random = [] { return 1.0; }}};

  EXPECT_EQ(backoff.Next("a"), 3s);
  EXPECT_EQ(backoff.Next("a"), 3s);
}

TEST_F(BackoffTest, WithoutJitterTheRandomSourceIsNotCalled) {
  int calls = 0;
  Backoff<std::string> backoff{1s, 5s, {.clock = clock_, .random = [&] {
                                          ++calls;
                                          return 1.0;
                                        }}};

  backoff.Next("a");

  EXPECT_EQ(calls, 0);
}

TEST_F(BackoffTest, ManyFailuresDoNotOverflow) {
  Backoff<std::string> backoff{1ms, Duration::max(), {.clock = clock_}};
  Duration last{};

  for (int i = 0; i < 2000; ++i) {
    const Duration delay = backoff.Next("a");
    EXPECT_GE(delay, last);
    last = delay;
  }

  EXPECT_EQ(last, Duration::max());
  EXPECT_TRUE(backoff.IsInBackOffSinceUpdate("a"));
}

TEST_F(BackoffTest, NegativeDelaysCountAsZero) {
  Backoff<std::string> backoff{-1s, -5s, {.clock = clock_}};

  EXPECT_EQ(backoff.Next("a"), 0s);
  EXPECT_FALSE(backoff.IsInBackOffSinceUpdate("a"));
}

}  // namespace
}  // namespace kopp::workqueue
