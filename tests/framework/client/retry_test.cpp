#include <stdexcept>
#include <string>
#include <thread>

#include <gtest/gtest.h>

#include <kopp/retry.hpp>
#include <kopp/testing/fake_clock.hpp>

namespace kopp {
namespace {

ApiError MakeApiError(int code, const std::string& reason) {
  return ApiError("PUT /api/v1/namespaces/shop/pods/a", {.reason = reason, .code = code});
}

TEST(RetryOnConflictTest, AConflictIsRetriedUntilTheUpdateSucceeds) {
  int attempts = 0;

  const int updated = RetryOnConflict({.steps = 3}, [&] {
    if (++attempts < 3) throw MakeApiError(409, "Conflict");
    return attempts;
  });

  EXPECT_EQ(updated, 3);
}

TEST(RetryOnConflictTest, TheLastConflictIsThrownAfterTheLastStep) {
  int attempts = 0;
  const auto update = [&] {
    ++attempts;
    throw MakeApiError(409, "Conflict");
  };

  EXPECT_THROW(RetryOnConflict({.steps = 3}, update), ApiError);

  EXPECT_EQ(attempts, 3);
}

TEST(RetryOnConflictTest, AnotherApiErrorIsThrownWithoutARetry) {
  int attempts = 0;
  const auto update = [&] {
    ++attempts;
    throw MakeApiError(409, "AlreadyExists");
  };

  EXPECT_THROW(RetryOnConflict(kDefaultRetry, update), ApiError);

  EXPECT_EQ(attempts, 1);
}

TEST(RetryOnConflictTest, AnExceptionThatIsNotAnApiErrorIsThrownWithoutARetry) {
  int attempts = 0;
  const auto update = [&] {
    ++attempts;
    throw std::runtime_error("no route to host");
  };

  EXPECT_THROW(RetryOnConflict(kDefaultRetry, update), std::runtime_error);

  EXPECT_EQ(attempts, 1);
}

TEST(RetryOnConflictTest, TheDelayUsesTheGivenClock) {
  testing::FakeClock clock;
  int attempts = 0;
  std::jthread updater([&] {
    RetryOnConflict(kDefaultRetry,
                    [&] {
                      if (++attempts < 2) throw MakeApiError(409, "Conflict");
                    },
                    {.clock = clock, .random = [] { return 0.0; }});
  });

  clock.AwaitSleepers(1);
  clock.Advance(kDefaultRetry.duration);
  updater.join();

  EXPECT_EQ(attempts, 2);
}

}  // namespace
}  // namespace kopp
