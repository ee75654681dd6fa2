#include "manager/runnable_threads.hpp"

#include <atomic>
#include <latch>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kopp {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

void SleepUntilStop(const std::stop_token& stop) {
  SleepUntil(Clock::Real(), TimePoint::max(), stop);
}

TEST(RunnableThreadsTest, AStopCallbackOfARunnableMayAddAnother) {
  RunnableThreads threads([](const std::string&, const std::string&) {});
  std::latch started{1};
  threads.Add("a", [&](const std::stop_token& stop) {
    const std::stop_callback add(stop, [&] { threads.Add("b", SleepUntilStop); });
    started.count_down();
    SleepUntilStop(stop);
  });
  threads.Start();
  started.wait();

  threads.RequestStop();

  EXPECT_THAT(threads.WaitUntilEnded(Clock::Real(), TimePoint::max()), IsEmpty());
}

TEST(RunnableThreadsTest, RunnablesThatAreAddedDuringAStopDoNotRunAfterIt) {
  for (int round = 0; round < 20; ++round) {
    RunnableThreads threads([](const std::string&, const std::string&) {});
    std::atomic<int> running = 0;
    threads.Start();
    std::vector<std::jthread> adders;
    for (int i = 0; i < 4; ++i) {
      adders.emplace_back([&] {
        threads.Add("added", [&](const std::stop_token& stop) {
          ++running;
          SleepUntilStop(stop);
          --running;
        });
      });
    }
    threads.RequestStop();
    adders.clear();

    EXPECT_THAT(threads.WaitUntilEnded(Clock::Real(), TimePoint::max()), IsEmpty());
    EXPECT_EQ(running, 0);
  }
}

TEST(RunnableThreadsTest, ARunnableThatIsAddedBetweenTwoStartsRunsOnceInEach) {
  RunnableThreads threads([](const std::string&, const std::string&) {});
  std::atomic<int> runs = 0;
  threads.Start();
  threads.RequestStop();
  threads.Add("added", [&](const std::stop_token& stop) {
    ++runs;
    SleepUntilStop(stop);
  });
  for (int start = 1; start <= 2; ++start) {
    threads.Start();
    threads.RequestStop();
    EXPECT_THAT(threads.WaitUntilEnded(Clock::Real(), TimePoint::max()), IsEmpty());
    EXPECT_EQ(runs, start);
  }
}

TEST(RunnableThreadsTest, ARunnableThatHasNotEndedAtTheDeadlineIsNamed) {
  RunnableThreads threads([](const std::string&, const std::string&) {});
  std::latch end{1};
  threads.Add("slow", [&](const std::stop_token&) { end.wait(); });
  threads.Add("fast", [](const std::stop_token&) {});
  threads.Start();
  threads.RequestStop();

  while (threads.WaitUntilEnded(Clock::Real(), TimePoint::min()).size() == 2) {
    std::this_thread::yield();
  }
  EXPECT_THAT(threads.WaitUntilEnded(Clock::Real(), TimePoint::min()), ElementsAre("slow"));
  end.count_down();
  EXPECT_THAT(threads.WaitUntilEnded(Clock::Real(), TimePoint::max()), IsEmpty());
}

}  // namespace
}  // namespace kopp
