#include "../test_seed.hpp"
#include "model.hpp"
#include "queue_under_test.hpp"
#include "recorded_queue.hpp"
#include "scheduler.hpp"

#include <chrono>
#include <cstdint>
#include <functional>
#include <iostream>
#include <optional>
#include <stop_token>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <kopp/testing/fake_clock.hpp>

namespace kopp::model_checking {
namespace {

using namespace std::chrono_literals;
using Program = std::function<void(RecordedQueue&)>;

constexpr OrderSpec kFifo{};
constexpr OrderSpec kPriority{.by_priority = true};
constexpr OrderSpec kFair{.by_priority = true, .fair = true};

/// Returns a function that runs `program` with a new queue, and compares the results of the queue
/// with the model.
std::function<void()> WithQueue(const OrderSpec& order, Program program) {
  return [program = std::move(program), order] {
    const auto queue = MakeQueue(order);
    RecordedQueue recorded(*queue, order);
    program(recorded);
    recorded.Check();
  };
}

template <typename Options>
void ExpectNoBug(const Options& options, const std::function<void()>& program) {
  const ExplorationResult result = Explore(options, program);

  std::cout << result.schedules << " schedules of up to " << result.max_steps << " steps\n";
  EXPECT_EQ(result.failure, "");
}

/// Runs all functions, each on its own thread. Blocks until they have returned.
void RunConcurrently(const std::vector<std::function<void()>>& functions) {
  std::vector<std::jthread> threads;
  for (const auto& function : functions) threads.emplace_back(function);
}

// AllSchedulesTest runs every schedule, except equivalent ones. Programs with stop tokens use
// atomics, which the scheduler does not track. For these programs no schedule may be omitted, so
// they use kNoPartialOrderReduction: a limit on preemptions that is higher than the number of steps
// turns partial-order reduction off.

constexpr ExhaustiveSearchOptions kNoPartialOrderReduction{.max_preemptions = 100,
                                                           .at_unlock = true};

TEST(AllSchedulesTest, AStopRequestAtAnyPointUnblocksGet) {
  ExpectNoBug(kNoPartialOrderReduction, WithQueue(kFifo, [](RecordedQueue& queue) {
                std::stop_source source;
                RunConcurrently({[&] { queue.RequestStop(source); },
                                 [&] { queue.ProcessItems(source.get_token()); }});
              }));
}

TEST(AllSchedulesTest, AnItemAddedDuringAStopRequestIsNotLost) {
  ExpectNoBug(kNoPartialOrderReduction, WithQueue(kFifo, [](RecordedQueue& queue) {
                std::stop_source source;
                RunConcurrently({[&] { queue.Add(1); }, [&] { queue.RequestStop(source); },
                                 [&] { queue.ProcessItems(source.get_token()); }});
                queue.ShutDown();
                queue.ProcessItems();
              }));
}

TEST(AllSchedulesTest, TwoWorkersProcessTheItemsOfTwoProducers) {
  ExpectNoBug(ExhaustiveSearchOptions{}, WithQueue(kFifo, [](RecordedQueue& queue) {
                RunConcurrently({[&] { queue.Add(1); }, [&] { queue.Add(2); },
                                 [&] { queue.ProcessItems(1); }, [&] { queue.ProcessItems(1); }});
              }));
}

TEST(AllSchedulesTest, AWorkerThatTakesTheFirstOfTwoItemsWakesAnotherWorker) {
  ExpectNoBug(ExhaustiveSearchOptions{}, WithQueue(kFifo, [](RecordedQueue& queue) {
                RunConcurrently({[&] {
                                   queue.Add(1);
                                   queue.Add(2);
                                 },
                                 [&] { queue.ProcessItems(1); }, [&] { queue.ProcessItems(1); }});
              }));
}

TEST(AllSchedulesTest, AnItemThatIsAddedRepeatedlyIsProcessedExclusively) {
  ExpectNoBug(ExhaustiveSearchOptions{}, WithQueue(kFifo, [](RecordedQueue& queue) {
                RunConcurrently({[&] {
                                   queue.Add(1);
                                   queue.Add(1);
                                   queue.Add(1);
                                   queue.ShutDown();
                                 },
                                 [&] { queue.ProcessItems(); }});
              }));
}

TEST(AllSchedulesTest, ShutDownAtAnyPointEndsTwoWorkers) {
  ExpectNoBug(ExhaustiveSearchOptions{}, WithQueue(kFifo, [](RecordedQueue& queue) {
                RunConcurrently({[&] { queue.ShutDown(); }, [&] { queue.ProcessItems(); },
                                 [&] { queue.ProcessItems(); }});
              }));
}

TEST(AllSchedulesTest, DrainReturnsWhenAllItemsAreDone) {
  ExpectNoBug(ExhaustiveSearchOptions{}, WithQueue(kFifo, [](RecordedQueue& queue) {
                RunConcurrently({[&] {
                                   queue.Add(1);
                                   queue.Add(2);
                                   queue.Drain();
                                 },
                                 [&] { queue.ProcessItems(); }});
              }));
}

TEST(AllSchedulesTest, DrainWaitsForAnItemThatItsWorkerAddsAgain) {
  ExpectNoBug(ExhaustiveSearchOptions{}, WithQueue(kFifo, [](RecordedQueue& queue) {
                RunConcurrently({[&] {
                                   queue.Add(1);
                                   queue.Drain();
                                 },
                                 [&] {
                                   if (const auto id = queue.Get()) {
                                     queue.Add(*id);
                                     queue.Done(*id);
                                   }
                                   queue.ProcessItems();
                                 }});
              }));
}

TEST(AllSchedulesTest, TwoDrainersReturnAfterTheLastDone) {
  ExpectNoBug(ExhaustiveSearchOptions{}, WithQueue(kFifo, [](RecordedQueue& queue) {
                queue.Add(1);
                const auto id = queue.Get();
                queue.Add(1);
                RunConcurrently({[&] { queue.Drain(); }, [&] { queue.Drain(); },
                                 [&] {
                                   queue.Done(*id);
                                   queue.ProcessItems();
                                 }});
              }));
}

TEST(AllSchedulesTest, ShutDownUnblocksTwoDrainersWhenAWorkerNeverCallsDone) {
  ExpectNoBug(ExhaustiveSearchOptions{}, WithQueue(kFifo, [](RecordedQueue& queue) {
                queue.Add(1);
                const auto stuck = queue.Get();
                RunConcurrently({[&] { queue.Drain(); }, [&] { queue.Drain(); },
                                 [&] {
                                   AwaitBlockedThreads(2);
                                   queue.ShutDown();
                                 }});
                queue.Done(*stuck);
              }));
}

TEST(AllSchedulesTest, ConcurrentDrainAndShutDownReturnAndEndTwoWorkers) {
  ExpectNoBug(ExhaustiveSearchOptions{}, WithQueue(kFifo, [](RecordedQueue& queue) {
                queue.Add(1);
                RunConcurrently({[&] { queue.Drain(); }, [&] { queue.ShutDown(); },
                                 [&] { queue.ProcessItems(); }, [&] { queue.ProcessItems(); }});
              }));
}

TEST(AllSchedulesTest, DoneOfAnotherItemDoesNotEndTheProcessingOfAnItem) {
  ExpectNoBug(ExhaustiveSearchOptions{}, WithQueue(kFifo, [](RecordedQueue& queue) {
                RunConcurrently({[&] {
                                   queue.Add(1);
                                   queue.Add(1);
                                 },
                                 [&] {
                                   queue.Done(2);
                                   queue.Done(3);
                                 },
                                 [&] { queue.ProcessItems(1); }});
                queue.ShutDown();
                queue.ProcessItems();
              }));
}

TEST(AllSchedulesTest, SpuriousWakeUpsLoseNoItem) {
  ExpectNoBug(ExhaustiveSearchOptions{.max_spurious_wakeups = 2},
              WithQueue(kFifo, [](RecordedQueue& queue) {
                RunConcurrently(
                    {[&] { queue.Add(1); }, [&] { queue.Add(2); }, [&] { queue.ProcessItems(2); }});
                queue.Add(3);
                queue.ShutDown();
                queue.ProcessItems();
              }));
}

TEST(AllSchedulesTest, GetReturnsItemsByPriorityDuringConcurrentChangesOfPriorities) {
  ExpectNoBug(ExhaustiveSearchOptions{}, WithQueue(kPriority, [](RecordedQueue& queue) {
                queue.Add(1, 0);
                queue.Add(2, 1);
                RunConcurrently({[&] {
                                   queue.Add(1, 2);
                                   queue.Add(2, 0);
                                 },
                                 [&] { queue.ProcessItems(1); }, [&] { queue.ProcessItems(1); }});
                queue.ShutDown();
                queue.ProcessItems();
              }));
}

TEST(AllSchedulesTest, TenantsTakeTurnsDuringConcurrentAdds) {
  ExpectNoBug(ExhaustiveSearchOptions{}, WithQueue(kFair, [](RecordedQueue& queue) {
                for (const int id : {2, 4, 6, 1}) queue.Add(id);
                RunConcurrently({[&] { queue.Add(8); }, [&] { queue.ProcessItems(3); },
                                 [&] { queue.ProcessItems(2); }});
                queue.ShutDown();
                queue.ProcessItems();
              }));
}

TEST(AllSchedulesTest, TheQueueBehavesLikeItsModelWithTwoProducersAndAWorker) {
  ExpectNoBug(ExhaustiveSearchOptions{}, WithQueue(kFifo, [](RecordedQueue& queue) {
                RunConcurrently({[&] {
                                   for (const int id : {1, 2, 1, 2}) queue.Add(id);
                                 },
                                 [&] {
                                   for (const int id : {2, 3, 2, 3}) queue.Add(id);
                                 },
                                 [&] { queue.ProcessItems(2); }});
                queue.ShutDown();
                queue.ProcessItems();
              }));
}

// PreemptionBoundedTest runs all schedules up to a number of preemptions. It does not find bugs
// that need more preemptions.

TEST(PreemptionBoundedTest,
     TheQueueBehavesLikeItsModelWithOneProducerTwoWorkersAndFourPreemptions) {
  ExpectNoBug(ExhaustiveSearchOptions{.max_preemptions = 4},
              WithQueue(kFifo, [](RecordedQueue& queue) {
                RunConcurrently({[&] {
                                   queue.Add(1);
                                   queue.Add(2);
                                   queue.Add(1);
                                   queue.ShutDown();
                                 },
                                 [&] { queue.ProcessItems(); }, [&] { queue.ProcessItems(); }});
              }));
}

TEST(PreemptionBoundedTest, ThreeWorkersProcessTheItemsOfTwoProducersWithTwoPreemptions) {
  ExpectNoBug(ExhaustiveSearchOptions{.max_preemptions = 2},
              WithQueue(kFifo, [](RecordedQueue& queue) {
                RunConcurrently({[&] {
                                   queue.Add(1);
                                   queue.Add(2);
                                 },
                                 [&] { queue.Add(3); }, [&] { queue.ProcessItems(1); },
                                 [&] { queue.ProcessItems(1); }, [&] { queue.ProcessItems(1); }});
              }));
}

TEST(PreemptionBoundedTest, AnotherWorkerProcessesTheItemWhenAWorkerStopsWithThreePreemptions) {
  ExpectNoBug(ExhaustiveSearchOptions{.max_preemptions = 3, .at_unlock = true},
              WithQueue(kFifo, [](RecordedQueue& queue) {
                std::stop_source source;
                RunConcurrently({[&] { queue.Add(1); }, [&] { queue.RequestStop(source); },
                                 [&] {
                                   const auto id = queue.Get(source.get_token());
                                   if (!id) return;  // the other worker must process the item
                                   queue.Done(*id);
                                   queue.Add(2);
                                 },
                                 [&] { queue.ProcessItems(1); }});
              }));
}

TEST(PreemptionBoundedTest, AWaitingWorkerReturnsFromGetWhenADelayPassesWithThreePreemptions) {
  ExpectNoBug(ExhaustiveSearchOptions{.max_preemptions = 3}, [] {
    kopp::testing::FakeClock clock;
    const auto queue = MakeDelayingQueue(kFifo, clock);
    std::jthread worker([&] {
      const auto returned = queue->Get({});
      if (!returned || returned->item.id != 1) return ReportFailure("Get did not return item 1");
      queue->Done(returned->item);
    });
    queue->AddAfter(TestItem{1}, 2s, {});
    queue->AddAfter(TestItem{1}, 1s, {});
    clock.Advance(1s);
  });
}

// RandomScheduleTest runs random schedules of programs that are too large for an exhaustive search.

class RandomScheduleTest : public ::testing::TestWithParam<NamedOrderSpec> {};

TEST_P(RandomScheduleTest, TheQueueBehavesLikeItsModelWithFourProducersThreeWorkersAndADrain) {
  const Program program = [](RecordedQueue& queue) {
    std::vector<std::jthread> workers;
    for (int w = 0; w < 3; ++w) workers.emplace_back([&] { queue.ProcessItems(); });
    std::vector<std::jthread> producers;
    for (int p = 0; p < 4; ++p) {
      producers.emplace_back([&, p] {
        for (int i = 0; i < 4; ++i) queue.Add((p + i) % 5, i % 3);
      });
    }
    producers.clear();
    queue.Drain();
  };

  ExpectNoBug(RandomSearchOptions{.seed = TestSeed(), .runs = 2000, .max_spurious_wakeups = 1},
              WithQueue(GetParam().order, program));
}

TEST_P(RandomScheduleTest,
       TheQueueBehavesLikeItsModelDuringConcurrentDrainShutDownAddsAndStrayDones) {
  const Program program = [](RecordedQueue& queue) {
    std::vector<std::function<void()>> bodies;
    for (int w = 0; w < 3; ++w) bodies.emplace_back([&] { queue.ProcessItems(); });
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

  ExpectNoBug(RandomSearchOptions{.seed = TestSeed(), .runs = 2000},
              WithQueue(GetParam().order, program));
}

TEST_P(RandomScheduleTest, AllItemsAreProcessedWhenManyAreAddedBeforeANotifiedWorkerRuns) {
  const Program program = [](RecordedQueue& queue) {
    std::vector<std::jthread> workers;
    for (int w = 0; w < 3; ++w) workers.emplace_back([&] { queue.ProcessItems(); });
    AwaitBlockedThreads(3);
    std::vector<std::jthread> producers;
    for (int p = 0; p < 2; ++p) {
      producers.emplace_back([&, p] {
        for (int id = p; id < 200; id += 2) queue.Add(id);
      });
    }
    producers.clear();
    queue.ShutDown();
  };

  ExpectNoBug(RandomSearchOptions{.seed = TestSeed(), .runs = 20},
              WithQueue(GetParam().order, program));
}

INSTANTIATE_TEST_SUITE_P(, RandomScheduleTest, ::testing::ValuesIn(AllOrderSpecs()),
                         [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace kopp::model_checking
