#include "history.hpp"
#include "model.hpp"
#include "scheduler.hpp"
#include "subject.hpp"

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
using Program = std::function<void(Recorded&)>;

constexpr Rules kFirstCome{};
constexpr Rules kPriority{.by_priority = true};
constexpr Rules kFair{.by_priority = true, .fair = true};

/// `program` on a new queue each time, and what it did there compared with the model.
std::function<void()> OnAQueue(const Rules& rules, Program program) {
  return [program = std::move(program), rules] {
    const auto queue = MakeQueue(rules);
    Recorded recorded(*queue, rules);
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

/// Starts them all, and returns when all have ended.
void AtOnce(const std::vector<std::function<void()>>& bodies) {
  std::vector<std::jthread> threads;
  for (const auto& body : bodies) threads.emplace_back(body);
}

// Nothing is left out here. With stops, which the search knows nothing of, not even what leads to
// the same: there are no more preemptions than steps.

constexpr Search kEachByItself{.preemptions = 100, .at_unlock = true};

TEST(AllSchedulesTest, AGetThatIsToldToStopReturnsWhereverItIs) {
  ExpectNoBug(
      kEachByItself, OnAQueue(kFirstCome, [](Recorded& queue) {
        std::stop_source source;
        AtOnce({[&] { queue.RequestStop(source); }, [&] { queue.Work(source.get_token()); }});
      }));
}

TEST(AllSchedulesTest, AGetThatWasToldToStopLeavesWhatIsAdded) {
  ExpectNoBug(kEachByItself, OnAQueue(kFirstCome, [](Recorded& queue) {
                std::stop_source source;
                AtOnce({[&] { queue.Add(1); }, [&] { queue.RequestStop(source); },
                        [&] { queue.Work(source.get_token()); }});
                queue.ShutDown();
                queue.Work();
              }));
}

TEST(AllSchedulesTest, TwoWorkersTakeWhatTwoProducersAddAndNobodySleepsOn) {
  ExpectNoBug(Search{}, OnAQueue(kFirstCome, [](Recorded& queue) {
                AtOnce({[&] { queue.Add(1); }, [&] { queue.Add(2); }, [&] { queue.Work(1); },
                        [&] { queue.Work(1); }});
              }));
}

TEST(AllSchedulesTest, OneWakeUpIsPassedOnToTheSecondWorker) {
  ExpectNoBug(Search{}, OnAQueue(kFirstCome, [](Recorded& queue) {
                AtOnce({[&] {
                          queue.Add(1);
                          queue.Add(2);
                        },
                        [&] { queue.Work(1); }, [&] { queue.Work(1); }});
              }));
}

TEST(AllSchedulesTest, AKeyAddedAgainAndAgainIsInOneHandAndComesOnceMore) {
  ExpectNoBug(Search{}, OnAQueue(kFirstCome, [](Recorded& queue) {
                AtOnce({[&] {
                          queue.Add(1);
                          queue.Add(1);
                          queue.Add(1);
                          queue.ShutDown();
                        },
                        [&] { queue.Work(); }});
              }));
}

TEST(AllSchedulesTest, ShutDownEndsTwoWorkersWhereverTheyAre) {
  ExpectNoBug(Search{}, OnAQueue(kFirstCome, [](Recorded& queue) {
                AtOnce({[&] { queue.ShutDown(); }, [&] { queue.Work(); }, [&] { queue.Work(); }});
              }));
}

TEST(AllSchedulesTest, ADrainReturnsWhenNothingIsQueuedAndNothingInHand) {
  ExpectNoBug(Search{}, OnAQueue(kFirstCome, [](Recorded& queue) {
                AtOnce({[&] {
                          queue.Add(1);
                          queue.Add(2);
                          queue.Drain();
                        },
                        [&] { queue.Work(); }});
              }));
}

TEST(AllSchedulesTest, ADrainWaitsForAKeyThatItsWorkerAddsAgain) {
  ExpectNoBug(Search{}, OnAQueue(kFirstCome, [](Recorded& queue) {
                AtOnce({[&] {
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
  ExpectNoBug(Search{}, OnAQueue(kFirstCome, [](Recorded& queue) {
                queue.Add(1);
                const auto in_hand = queue.Get();
                queue.Add(1);
                AtOnce({[&] { queue.Drain(); }, [&] { queue.Drain(); },
                        [&] {
                          queue.Done(*in_hand);
                          queue.Work();
                        }});
              }));
}

TEST(AllSchedulesTest, ShutDownFreesTwoDrainersOfAKeyThatIsNotGivenBack) {
  ExpectNoBug(Search{}, OnAQueue(kFirstCome, [](Recorded& queue) {
                queue.Add(1);
                const auto stuck = queue.Get();
                AtOnce({[&] { queue.Drain(); }, [&] { queue.Drain(); },
                        [&] {
                          AwaitAsleep(2);
                          queue.ShutDown();
                        }});
                queue.Done(*stuck);
              }));
}

TEST(AllSchedulesTest, ADrainThatMeetsAShutDownReturnsAndSoDoTwoWorkers) {
  ExpectNoBug(Search{}, OnAQueue(kFirstCome, [](Recorded& queue) {
                queue.Add(1);
                AtOnce({[&] { queue.Drain(); }, [&] { queue.ShutDown(); }, [&] { queue.Work(); },
                        [&] { queue.Work(); }});
              }));
}

TEST(AllSchedulesTest, AStrayDoneTakesNoKeyFromItsWorker) {
  ExpectNoBug(Search{}, OnAQueue(kFirstCome, [](Recorded& queue) {
                AtOnce({[&] {
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

TEST(AllSchedulesTest, WakingForNoReasonLosesNothing) {
  ExpectNoBug(Search{.spurious_wakeups = 2}, OnAQueue(kFirstCome, [](Recorded& queue) {
                AtOnce({[&] { queue.Add(1); }, [&] { queue.Add(2); }, [&] { queue.Work(2); }});
                queue.Add(3);
                queue.ShutDown();
                queue.Work();
              }));
}

TEST(AllSchedulesTest, APriorityRaisedWhileWorkersTakeKeysIsTheOneHandedOut) {
  ExpectNoBug(Search{}, OnAQueue(kPriority, [](Recorded& queue) {
                queue.Add(1, 0);
                queue.Add(2, 1);
                AtOnce({[&] {
                          queue.Add(1, 2);
                          queue.Add(2, 0);
                        },
                        [&] { queue.Work(1); }, [&] { queue.Work(1); }});
                queue.ShutDown();
                queue.Work();
              }));
}

TEST(AllSchedulesTest, TenantsTakeTurnsWhileOneOfThemAddsMore) {
  ExpectNoBug(Search{}, OnAQueue(kFair, [](Recorded& queue) {
                for (const int key : {2, 4, 6, 1}) queue.Add(key);
                AtOnce({[&] { queue.Add(8); }, [&] { queue.Work(3); }, [&] { queue.Work(2); }});
                queue.ShutDown();
                queue.Work();
              }));
}

TEST(AllSchedulesTest, ThreeThreadsOfFourCallsEach) {
  ExpectNoBug(Search{}, OnAQueue(kFirstCome, [](Recorded& queue) {
                AtOnce({[&] {
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

// All schedules with up to so many preemptions: a bug that needs more is not found here.

TEST(PreemptionBoundedTest, UpToFourOfThreeThreadsWithFourCallsEach) {
  ExpectNoBug(Search{.preemptions = 4}, OnAQueue(kFirstCome, [](Recorded& queue) {
                AtOnce({[&] {
                          queue.Add(1);
                          queue.Add(2);
                          queue.Add(1);
                          queue.ShutDown();
                        },
                        [&] { queue.Work(); }, [&] { queue.Work(); }});
              }));
}

TEST(PreemptionBoundedTest, UpToTwoWhereTwoProducersFeedThreeWorkers) {
  ExpectNoBug(Search{.preemptions = 2}, OnAQueue(kFirstCome, [](Recorded& queue) {
                AtOnce({[&] {
                          queue.Add(1);
                          queue.Add(2);
                        },
                        [&] { queue.Add(3); }, [&] { queue.Work(1); }, [&] { queue.Work(1); },
                        [&] { queue.Work(1); }});
              }));
}

TEST(PreemptionBoundedTest, UpToThreeWhereAWorkerIsToldToStopAndTheOtherOneTakesOver) {
  ExpectNoBug(Search{.preemptions = 3, .at_unlock = true},
              OnAQueue(kFirstCome, [](Recorded& queue) {
                std::stop_source source;
                AtOnce({[&] { queue.Add(1); }, [&] { queue.RequestStop(source); },
                        [&] {
                          const auto key = queue.Get(source.get_token());
                          if (!key) return;  // then the other one must not sleep on
                          queue.Done(*key);
                          queue.Add(2);
                        },
                        [&] { queue.Work(1); }});
              }));
}

TEST(PreemptionBoundedTest, UpToThreeWhereADelayPassesWhileAWorkerWaits) {
  ExpectNoBug(Search{.preemptions = 3}, [] {
    kopp::testing::FakeClock clock;
    const auto queue = MakeDelayingQueue(kFirstCome, clock);
    std::jthread worker([&] {
      const auto handed = queue->Get({});
      if (!handed || handed->item.id != 1) return Fail("another key came");
      queue->Done(handed->item);
    });
    queue->AddAfter(Key{1}, 2s, {});
    queue->AddAfter(Key{1}, 1s, {});
    clock.Advance(1s);
  });
}

// Schedules at random, of programs that are too large for more.

class RandomScheduleTest : public ::testing::TestWithParam<Named> {};

TEST_P(RandomScheduleTest, FourProducersThreeWorkersAndADrain) {
  const std::uint64_t seed = std::random_device{}();
  std::cout << "seed " << seed << "\n";
  const Program program = [](Recorded& queue) {
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
              OnAQueue(GetParam().rules, program));
}

TEST_P(RandomScheduleTest, ADrainAndAShutDownInTheMidstOfAddsAndStrayDones) {
  const std::uint64_t seed = std::random_device{}();
  std::cout << "seed " << seed << "\n";
  const Program program = [](Recorded& queue) {
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
    AtOnce(bodies);
  };

  ExpectNoBug(RandomSearch{.seed = seed, .runs = 2000}, OnAQueue(GetParam().rules, program));
}

TEST_P(RandomScheduleTest, ManyKeysPileUpBehindAWorkerThatIsOnItsWay) {
  const std::uint64_t seed = std::random_device{}();
  std::cout << "seed " << seed << "\n";
  const Program program = [](Recorded& queue) {
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

  ExpectNoBug(RandomSearch{.seed = seed, .runs = 20}, OnAQueue(GetParam().rules, program));
}

INSTANTIATE_TEST_SUITE_P(, RandomScheduleTest, ::testing::ValuesIn(AllOrders()),
                         [](const auto& of) { return of.param.name; });

}  // namespace
}  // namespace kopp::proof
