#include "model.hpp"
#include "queue_under_test.hpp"
#include "recorded_queue.hpp"
#include "scheduler.hpp"

#include <chrono>
#include <cstdint>
#include <functional>
#include <iostream>
#include <optional>
#include <random>
#include <stop_token>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <kopp/testing/fake_clock.hpp>

namespace kopp::proof {
namespace {

using namespace std::chrono_literals;
using Program = std::function<void(RecordedQueue&)>;

constexpr Rules kFifo{};
constexpr Rules kPriority{.by_priority = true};
constexpr Rules kFair{.by_priority = true, .fair = true};

/// Runs `program` with a new queue, and compares its calls with the model.
std::function<void()> WithQueue(const Rules& rules, Program program) {
  return [program = std::move(program), rules] {
    const auto queue = MakeQueue(rules);
    RecordedQueue recorded(*queue, rules);
    program(recorded);
    recorded.Check();
  };
}

template <typename Kind>
void ExpectNoBug(const Kind& search, const std::function<void()>& program) {
  const Explored explored = Explore(search, program);

  std::cout << explored.schedules << " schedules of up to " << explored.longest << " steps\n";
  EXPECT_EQ(explored.failure, "");
}

/// Runs all functions, each on its own thread. Blocks until they have returned.
void RunConcurrently(const std::vector<std::function<void()>>& bodies) {
  std::vector<std::jthread> threads;
  for (const auto& body : bodies) threads.emplace_back(body);
}

// AllSchedulesTest runs every schedule. For programs with stop tokens, whose atomics the search
// does not see, it must not omit equivalent schedules: so it uses a bounded search with more
// preemptions than there are steps.

constexpr Search kWithoutReduction{.preemptions = 100, .at_unlock = true};

TEST(AllSchedulesTest, AStopRequestEndsGetAtAnyPoint) {
  ExpectNoBug(kWithoutReduction, WithQueue(kFifo, [](RecordedQueue& queue) {
                std::stop_source source;
                RunConcurrently(
                    {[&] { queue.RequestStop(source); }, [&] { queue.Work(source.get_token()); }});
              }));
}

TEST(AllSchedulesTest, AStoppedGetLeavesAddedItemsInTheQueue) {
  ExpectNoBug(kWithoutReduction, WithQueue(kFifo, [](RecordedQueue& queue) {
                std::stop_source source;
                RunConcurrently({[&] { queue.Add(1); }, [&] { queue.RequestStop(source); },
                                 [&] { queue.Work(source.get_token()); }});
                queue.ShutDown();
                queue.Work();
              }));
}

TEST(AllSchedulesTest, TwoWorkersProcessTheItemsOfTwoProducers) {
  ExpectNoBug(Search{}, WithQueue(kFifo, [](RecordedQueue& queue) {
                RunConcurrently({[&] { queue.Add(1); }, [&] { queue.Add(2); },
                                 [&] { queue.Work(1); }, [&] { queue.Work(1); }});
              }));
}

TEST(AllSchedulesTest, TheFirstWorkerWakesTheSecondOne) {
  ExpectNoBug(Search{}, WithQueue(kFifo, [](RecordedQueue& queue) {
                RunConcurrently({[&] {
                                   queue.Add(1);
                                   queue.Add(2);
                                 },
                                 [&] { queue.Work(1); }, [&] { queue.Work(1); }});
              }));
}

TEST(AllSchedulesTest, AKeyThatIsAddedRepeatedlyIsProcessedExclusively) {
  ExpectNoBug(Search{}, WithQueue(kFifo, [](RecordedQueue& queue) {
                RunConcurrently({[&] {
                                   queue.Add(1);
                                   queue.Add(1);
                                   queue.Add(1);
                                   queue.ShutDown();
                                 },
                                 [&] { queue.Work(); }});
              }));
}

TEST(AllSchedulesTest, ShutDownEndsTwoWorkersAtAnyPoint) {
  ExpectNoBug(
      Search{}, WithQueue(kFifo, [](RecordedQueue& queue) {
        RunConcurrently({[&] { queue.ShutDown(); }, [&] { queue.Work(); }, [&] { queue.Work(); }});
      }));
}

TEST(AllSchedulesTest, DrainReturnsWhenAllItemsAreDone) {
  ExpectNoBug(Search{}, WithQueue(kFifo, [](RecordedQueue& queue) {
                RunConcurrently({[&] {
                                   queue.Add(1);
                                   queue.Add(2);
                                   queue.Drain();
                                 },
                                 [&] { queue.Work(); }});
              }));
}

TEST(AllSchedulesTest, DrainWaitsForAKeyThatItsWorkerAddsAgain) {
  ExpectNoBug(Search{}, WithQueue(kFifo, [](RecordedQueue& queue) {
                RunConcurrently({[&] {
                                   queue.Add(1);
                                   queue.Drain();
                                 },
                                 [&] {
                                   if (const auto key = queue.Get()) {
                                     queue.Add(*key);
                                     queue.Done(*key);
                                   }
                                   queue.Work();
                                 }});
              }));
}

TEST(AllSchedulesTest, TwoDrainersReturnAfterTheLastDone) {
  ExpectNoBug(Search{}, WithQueue(kFifo, [](RecordedQueue& queue) {
                queue.Add(1);
                const auto key = queue.Get();
                queue.Add(1);
                RunConcurrently({[&] { queue.Drain(); }, [&] { queue.Drain(); },
                                 [&] {
                                   queue.Done(*key);
                                   queue.Work();
                                 }});
              }));
}

TEST(AllSchedulesTest, ShutDownReleasesTwoDrainersOfAKeyWithoutDone) {
  ExpectNoBug(Search{}, WithQueue(kFifo, [](RecordedQueue& queue) {
                queue.Add(1);
                const auto stuck = queue.Get();
                RunConcurrently({[&] { queue.Drain(); }, [&] { queue.Drain(); },
                                 [&] {
                                   AwaitAsleep(2);
                                   queue.ShutDown();
                                 }});
                queue.Done(*stuck);
              }));
}

TEST(AllSchedulesTest, ConcurrentDrainAndShutDownReturnAndEndTwoWorkers) {
  ExpectNoBug(Search{}, WithQueue(kFifo, [](RecordedQueue& queue) {
                queue.Add(1);
                RunConcurrently({[&] { queue.Drain(); }, [&] { queue.ShutDown(); },
                                 [&] { queue.Work(); }, [&] { queue.Work(); }});
              }));
}

TEST(AllSchedulesTest, AStrayDoneDoesNotEndTheProcessingOfAKey) {
  ExpectNoBug(Search{}, WithQueue(kFifo, [](RecordedQueue& queue) {
                RunConcurrently({[&] {
                                   queue.Add(1);
                                   queue.Add(1);
                                 },
                                 [&] {
                                   queue.Done(2);
                                   queue.Done(3);
                                 },
                                 [&] { queue.Work(1); }});
                queue.ShutDown();
                queue.Work();
              }));
}

TEST(AllSchedulesTest, SpuriousWakeUpsLoseNoItem) {
  ExpectNoBug(
      Search{.spurious_wakeups = 2}, WithQueue(kFifo, [](RecordedQueue& queue) {
        RunConcurrently({[&] { queue.Add(1); }, [&] { queue.Add(2); }, [&] { queue.Work(2); }});
        queue.Add(3);
        queue.ShutDown();
        queue.Work();
      }));
}

TEST(AllSchedulesTest, GetReturnsAPriorityThatIsRaisedConcurrently) {
  ExpectNoBug(Search{}, WithQueue(kPriority, [](RecordedQueue& queue) {
                queue.Add(1, 0);
                queue.Add(2, 1);
                RunConcurrently({[&] {
                                   queue.Add(1, 2);
                                   queue.Add(2, 0);
                                 },
                                 [&] { queue.Work(1); }, [&] { queue.Work(1); }});
                queue.ShutDown();
                queue.Work();
              }));
}

TEST(AllSchedulesTest, TenantsTakeTurnsDuringConcurrentAdds) {
  ExpectNoBug(
      Search{}, WithQueue(kFair, [](RecordedQueue& queue) {
        for (const int key : {2, 4, 6, 1}) queue.Add(key);
        RunConcurrently({[&] { queue.Add(8); }, [&] { queue.Work(3); }, [&] { queue.Work(2); }});
        queue.ShutDown();
        queue.Work();
      }));
}

TEST(AllSchedulesTest, ThreeThreadsWithFourCallsEach) {
  ExpectNoBug(Search{}, WithQueue(kFifo, [](RecordedQueue& queue) {
                RunConcurrently({[&] {
                                   for (const int key : {1, 2, 1, 2}) queue.Add(key);
                                 },
                                 [&] {
                                   for (const int key : {2, 3, 2, 3}) queue.Add(key);
                                 },
                                 [&] { queue.Work(2); }});
                queue.ShutDown();
                queue.Work();
              }));
}

// All schedules with a limited number of preemptions. They do not find bugs that need more of them.

TEST(PreemptionBoundedTest, FourPreemptionsOfThreeThreadsWithFourCallsEach) {
  ExpectNoBug(Search{.preemptions = 4}, WithQueue(kFifo, [](RecordedQueue& queue) {
                RunConcurrently({[&] {
                                   queue.Add(1);
                                   queue.Add(2);
                                   queue.Add(1);
                                   queue.ShutDown();
                                 },
                                 [&] { queue.Work(); }, [&] { queue.Work(); }});
              }));
}

TEST(PreemptionBoundedTest, TwoPreemptionsOfTwoProducersAndThreeWorkers) {
  ExpectNoBug(Search{.preemptions = 2}, WithQueue(kFifo, [](RecordedQueue& queue) {
                RunConcurrently({[&] {
                                   queue.Add(1);
                                   queue.Add(2);
                                 },
                                 [&] { queue.Add(3); }, [&] { queue.Work(1); },
                                 [&] { queue.Work(1); }, [&] { queue.Work(1); }});
              }));
}

TEST(PreemptionBoundedTest, ThreePreemptionsWhenAWorkerStopsAndAnotherTakesOver) {
  ExpectNoBug(Search{.preemptions = 3, .at_unlock = true},
              WithQueue(kFifo, [](RecordedQueue& queue) {
                std::stop_source source;
                RunConcurrently({[&] { queue.Add(1); }, [&] { queue.RequestStop(source); },
                                 [&] {
                                   const auto key = queue.Get(source.get_token());
                                   if (!key) return;  // then the other worker must wake up
                                   queue.Done(*key);
                                   queue.Add(2);
                                 },
                                 [&] { queue.Work(1); }});
              }));
}

TEST(PreemptionBoundedTest, ThreePreemptionsWhenADelayPassesWhileAWorkerWaits) {
  ExpectNoBug(Search{.preemptions = 3}, [] {
    kopp::testing::FakeClock clock;
    const auto queue = MakeDelayingQueue(kFifo, clock);
    std::jthread worker([&] {
      const auto returned = queue->Get({});
      if (!returned || returned->item.id != 1) return Fail("Get returned another key");
      queue->Done(returned->item);
    });
    queue->AddAfter(Key{1}, 2s, {});
    queue->AddAfter(Key{1}, 1s, {});
    clock.Advance(1s);
  });
}

// Random schedules, of programs that are too large for an exhaustive search.

class RandomScheduleTest : public ::testing::TestWithParam<NamedRules> {};

TEST_P(RandomScheduleTest, FourProducersThreeWorkersAndADrain) {
  const std::uint64_t seed = std::random_device{}();
  std::cout << "seed " << seed << "\n";
  const Program program = [](RecordedQueue& queue) {
    std::vector<std::jthread> workers;
    for (int w = 0; w < 3; ++w) workers.emplace_back([&] { queue.Work(); });
    std::vector<std::jthread> producers;
    for (int p = 0; p < 4; ++p) {
      producers.emplace_back([&, p] {
        for (int i = 0; i < 4; ++i) queue.Add((p + i) % 5, i % 3);
      });
    }
    producers.clear();
    queue.Drain();
  };

  ExpectNoBug(RandomSearch{.seed = seed, .runs = 2000, .spurious_wakeups = 1},
              WithQueue(GetParam().rules, program));
}

TEST_P(RandomScheduleTest, DrainAndShutDownDuringAddsAndStrayDones) {
  const std::uint64_t seed = std::random_device{}();
  std::cout << "seed " << seed << "\n";
  const Program program = [](RecordedQueue& queue) {
    std::vector<std::function<void()>> bodies;
    for (int w = 0; w < 3; ++w) bodies.emplace_back([&] { queue.Work(); });
    for (int p = 0; p < 3; ++p) {
      bodies.emplace_back([&, p] {
        for (int i = 0; i < 3; ++i) queue.Add((p + i) % 4, i);
      });
    }
    bodies.emplace_back([&] { queue.Done(9); });
    bodies.emplace_back([&] { queue.Drain(); });
    bodies.emplace_back([&] { queue.Drain(); });
    bodies.emplace_back([&] { queue.ShutDown(); });
    RunConcurrently(bodies);
  };

  ExpectNoBug(RandomSearch{.seed = seed, .runs = 2000}, WithQueue(GetParam().rules, program));
}

TEST_P(RandomScheduleTest, ManyKeysAreAddedBeforeANotifiedWorkerRuns) {
  const std::uint64_t seed = std::random_device{}();
  std::cout << "seed " << seed << "\n";
  const Program program = [](RecordedQueue& queue) {
    std::vector<std::jthread> workers;
    for (int w = 0; w < 3; ++w) workers.emplace_back([&] { queue.Work(); });
    AwaitAsleep(3);
    std::vector<std::jthread> producers;
    for (int p = 0; p < 2; ++p) {
      producers.emplace_back([&, p] {
        for (int key = p; key < 200; key += 2) queue.Add(key);
      });
    }
    producers.clear();
    queue.ShutDown();
  };

  ExpectNoBug(RandomSearch{.seed = seed, .runs = 20}, WithQueue(GetParam().rules, program));
}

INSTANTIATE_TEST_SUITE_P(, RandomScheduleTest, ::testing::ValuesIn(AllOrders()),
                         [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace kopp::proof
