#include <stdexcept>
#include <string>
#include <thread>

#include <gtest/gtest.h>

#include <kopp/retry.hpp>
#include <kopp/testing/fake_clock.hpp>

namespace kopp {
namespace {

ApiError Refusal(int code, const std::string& reason) {
  return ApiError("PUT /api/v1/namespaces/shop/pods/a", {.reason = reason, .code = code});
}

TEST(RetryOnConflictTest, AConflictIsTriedAgainUntilItIsNone) {
  int tries = 0;

  const int updated = RetryOnConflict({.steps = 3}, [&] {
    if (++tries < 3) throw Refusal(409, "Conflict");
    return tries;
  });

  EXPECT_EQ(updated, 3);
}

TEST(RetryOnConflictTest, TheLastConflictIsThrownAfterTheLastStep) {
  int tries = 0;
  const auto update = [&] {
    ++tries;
    throw Refusal(409, "Conflict");
  };

  EXPECT_THROW(RetryOnConflict({.steps = 3}, update), ApiError);

  EXPECT_EQ(tries, 3);
}

TEST(RetryOnConflictTest, AnotherRefusalIsThrownAtOnce) {
  int tries = 0;
  const auto update = [&] {
    ++tries;
    throw Refusal(409, "AlreadyExists");
  };

  EXPECT_THROW(RetryOnConflict(kDefaultRetry, update), ApiError);

  EXPECT_EQ(tries, 1);
}

TEST(RetryOnConflictTest, AFailureThatIsNoRefusalIsThrownAtOnce) {
  int tries = 0;
  const auto update = [&] {
    ++tries;
    throw std::runtime_error("no route to host");
  };

  EXPECT_THROW(RetryOnConflict(kDefaultRetry, update), std::runtime_error);

  EXPECT_EQ(tries, 1);
}

TEST(RetryOnConflictTest, ItWaitsOnTheClockThatItIsGiven) {
  testing::FakeClock clock;
  int tries = 0;
  std::jthread updater([&] {
    RetryOnConflict(kDefaultRetry,
                    [&] {
                      if (++tries < 2) throw Refusal(409, "Conflict");
                    },
                    {.clock = clock, .chance = [] { return 0.0; }});
  });

  clock.AwaitSleepers(1);
  clock.Advance(kDefaultRetry.duration);
  updater.join();

  EXPECT_EQ(tries, 2);
}

}  // namespace
}  // namespace kopp
