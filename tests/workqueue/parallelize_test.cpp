#include <atomic>
#include <barrier>
#include <cstddef>
#include <limits>
#include <mutex>
#include <set>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <kopp/workqueue/parallelize.hpp>

namespace kopp::workqueue {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;

struct Shape {
  int pieces = 0;
  ParallelizeOptions options = {};
};

class ParallelizeShapeTest : public ::testing::TestWithParam<Shape> {};

TEST_P(ParallelizeShapeTest, CallsWorkOnceForEachPiece) {
  const auto [pieces, options] = GetParam();
  std::vector<std::atomic<int>> counts(static_cast<std::size_t>(pieces));

  ParallelizeUntil(pieces, options, [&](int i) { ++counts.at(static_cast<std::size_t>(i)); });

  EXPECT_THAT(std::vector<int>(counts.begin(), counts.end()), Each(1));
}

std::string NameOf(const ::testing::TestParamInfo<Shape>& shape) {
  const auto& [pieces, options] = shape.param;
  return std::to_string(pieces) + "PiecesIn" + std::to_string(options.chunk_size) + "s";
}

constexpr Shape kShapes[] = {
    {1000, {.workers = 10, .chunk_size = 1}},
    {1000, {.workers = 10, .chunk_size = 10}},   // several chunks per thread
    {1000, {.workers = 10, .chunk_size = 100}},  // one chunk per thread
    {999, {.workers = 10, .chunk_size = 13}},    // the last chunk is smaller
    {3, {.workers = 10, .chunk_size = std::numeric_limits<int>::max()}},
};
INSTANTIATE_TEST_SUITE_P(, ParallelizeShapeTest, ::testing::ValuesIn(kShapes), NameOf);

/// The threads that called `work`.
std::set<std::thread::id> Workers(int pieces, const ParallelizeOptions& options) {
  std::mutex mutex;
  std::set<std::thread::id> workers;
  ParallelizeUntil(pieces, options, [&](int) {
    const std::lock_guard guard{mutex};
    workers.insert(std::this_thread::get_id());
  });
  return workers;
}

TEST(ParallelizeTest, WithoutPiecesNothingIsCalled) {
  int calls = 0;

  ParallelizeUntil(0, {.workers = 4}, [&](int) { ++calls; });
  ParallelizeUntil(-1, {.workers = 4}, [&](int) { ++calls; });

  EXPECT_EQ(calls, 0);
}

TEST(ParallelizeTest, AllThreadsWorkAtOnceIncludingTheCallingThread) {
  std::barrier all_running{3};
  std::mutex mutex;
  std::set<std::thread::id> workers;

  ParallelizeUntil(3, {.workers = 3}, [&](int) {
    all_running.arrive_and_wait();
    const std::lock_guard guard{mutex};
    workers.insert(std::this_thread::get_id());
  });

  EXPECT_EQ(workers.size(), 3);
  EXPECT_TRUE(workers.contains(std::this_thread::get_id()));
}

TEST(ParallelizeTest, StartsAtMostOneThreadPerChunk) {
  EXPECT_THAT(Workers(10, {.workers = 1000, .chunk_size = 10}),
              ElementsAre(std::this_thread::get_id()));
}

TEST(ParallelizeTest, WorkersBelowOneCountAsOne) {
  EXPECT_THAT(Workers(10, {.workers = -3}), ElementsAre(std::this_thread::get_id()));
}

TEST(ParallelizeTest, ChunkSizeBelowOneCountsAsOne) {
  std::vector<int> done;

  ParallelizeUntil(3, {.chunk_size = -7}, [&](int i) { done.push_back(i); });

  EXPECT_THAT(done, ElementsAre(0, 1, 2));
}

TEST(ParallelizeTest, TheMaximumNumberOfPiecesDoesNotOverflow) {
  std::stop_source stop;
  int last = 0;

  ParallelizeUntil(
      std::numeric_limits<int>::max(), {.chunk_size = std::numeric_limits<int>::max() - 1},
      [&](int i) {
        last = i;
        stop.request_stop();
      },
      stop.get_token());

  EXPECT_EQ(last, 0);
}

TEST(ParallelizeTest, StopIsCheckedBeforeEachPieceOfAChunk) {
  std::stop_source stop;
  std::vector<int> done;

  ParallelizeUntil(
      100, {.chunk_size = 100},
      [&](int i) {
        done.push_back(i);
        if (i == 2) stop.request_stop();
      },
      stop.get_token());

  EXPECT_THAT(done, ElementsAre(0, 1, 2));
}

TEST(ParallelizeTest, AStopRequestedBeforehandPreventsAllCalls) {
  std::stop_source stop;
  stop.request_stop();
  int calls = 0;

  ParallelizeUntil(
      100, {}, [&](int) { ++calls; }, stop.get_token());

  EXPECT_EQ(calls, 0);
}

TEST(ParallelizeTest, AfterAStopRequestItWaitsForRunningCalls) {
  std::stop_source stop;
  std::barrier all_running{4};
  std::atomic<int> ended{0};

  ParallelizeUntil(
      100, {.workers = 4},
      [&](int i) {
        all_running.arrive_and_wait();
        if (i == 0) stop.request_stop();
        all_running.arrive_and_wait();
        ++ended;
      },
      stop.get_token());

  EXPECT_EQ(ended, 4);
}

TEST(ParallelizeTest, AnExceptionReachesTheCallerAndNoFurtherCallStarts) {
  std::vector<int> started;
  const auto work = [&](int i) {
    started.push_back(i);
    if (i == 2) throw std::runtime_error("piece 2 is broken");
  };

  EXPECT_THROW(ParallelizeUntil(100, {.chunk_size = 10}, work), std::runtime_error);

  EXPECT_THAT(started, ElementsAre(0, 1, 2));
}

TEST(ParallelizeTest, AnExceptionReachesTheCallerAfterRunningCallsHaveReturned) {
  std::barrier all_running{4};
  std::atomic<int> ended{0};
  const auto work = [&](int i) {
    all_running.arrive_and_wait();
    if (i == 1) throw std::runtime_error("piece 1 is broken");
    ++ended;
  };

  EXPECT_THROW(ParallelizeUntil(4, {.workers = 4}, work), std::runtime_error);

  EXPECT_EQ(ended, 3);
}

TEST(ParallelizeTest, OneOfSeveralExceptionsReachesTheCaller) {
  std::barrier all_running{4};
  const auto work = [&](int i) {
    all_running.arrive_and_wait();
    throw i;
  };

  EXPECT_THROW(ParallelizeUntil(4, {.workers = 4}, work), int);
}

}  // namespace
}  // namespace kopp::workqueue
