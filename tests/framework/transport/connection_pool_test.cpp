#include "transport/connection_pool.hpp"

#include <gtest/gtest.h>

#include <kopp/testing/fake_clock.hpp>

namespace kopp::detail {
namespace {

using namespace std::chrono_literals;

// Counts the open connections in `open`.
class FakeConnection {
 public:
  FakeConnection(int number, TimePoint opened, int& open)
      : number_(number), opened_(opened), open_(open) {
    ++open_;
  }
  ~FakeConnection() { --open_; }
  FakeConnection(const FakeConnection&) = delete;
  FakeConnection& operator=(const FakeConnection&) = delete;

  [[nodiscard]] int number() const { return number_; }
  [[nodiscard]] TimePoint opened() const { return opened_; }

 private:
  int number_;
  TimePoint opened_;
  int& open_;
};

class ConnectionPoolTest : public ::testing::Test {
 protected:
  void Release(int number) { Release(number, clock_.Now()); }
  void Release(int number, TimePoint opened) {
    pool_.Release(std::make_unique<FakeConnection>(number, opened, open_));
  }

  // Acquires a connection and closes it. Returns its number, or 0 if there was none.
  int Acquire() {
    const auto connection = pool_.Acquire();
    return connection ? connection->number() : 0;
  }

  int open_ = 0;
  kopp::testing::FakeClock clock_;
  ConnectionPool<FakeConnection> pool_{clock_};
};

TEST_F(ConnectionPoolTest, ConnectionReleasedLastIsAcquiredFirst) {
  Release(1);
  Release(2);

  EXPECT_EQ(Acquire(), 2);
  EXPECT_EQ(Acquire(), 1);
  EXPECT_EQ(Acquire(), 0);
}

TEST_F(ConnectionPoolTest, ConnectionIdleForThirtySecondsIsReused) {
  Release(1);
  clock_.Advance(30s);

  EXPECT_EQ(Acquire(), 1);
}

TEST_F(ConnectionPoolTest, AcquireClosesConnectionsIdleForLonger) {
  Release(1);
  Release(2);
  clock_.Advance(30s + 1ns);

  EXPECT_EQ(Acquire(), 0);
  EXPECT_EQ(open_, 0);
}

TEST_F(ConnectionPoolTest, AcquireKeepsConnectionsThatHaveNotExpired) {
  Release(1);
  clock_.Advance(20s);
  Release(2);
  Release(3);
  clock_.Advance(20s);

  EXPECT_EQ(Acquire(), 3);
  EXPECT_EQ(open_, 1);
  EXPECT_EQ(Acquire(), 2);
}

TEST_F(ConnectionPoolTest, ReleaseClosesExpiredConnections) {
  Release(1);
  clock_.Advance(31s);
  Release(2);

  EXPECT_EQ(open_, 1);
}

TEST_F(ConnectionPoolTest, SeventeenthConnectionReplacesTheOldest) {
  for (int number = 1; number <= 17; ++number) Release(number);

  EXPECT_EQ(open_, 16);
  for (int number = 17; number >= 2; --number) EXPECT_EQ(Acquire(), number);
  EXPECT_EQ(Acquire(), 0);
}

TEST_F(ConnectionPoolTest, CloseIdleSinceClosesTheConnectionsThatHaveBeenIdleForThatLong) {
  Release(1);
  clock_.Advance(1s);
  Release(2);
  const TimePoint time = clock_.Now();
  clock_.Advance(1s);
  Release(3);

  pool_.CloseIdleSince(time, time);

  EXPECT_EQ(open_, 1);
  EXPECT_EQ(Acquire(), 3);
}

TEST_F(ConnectionPoolTest, CloseIdleSinceReturnsWhetherAnOlderConnectionRemains) {
  const TimePoint start = clock_.Now();
  clock_.Advance(1s);
  const TimePoint time = clock_.Now();
  clock_.Advance(1s);

  EXPECT_FALSE(pool_.CloseIdleSince(time, time));
  Release(1, clock_.Now());
  EXPECT_FALSE(pool_.CloseIdleSince(time, time)) << "it was opened later";
  Release(2, start);
  EXPECT_TRUE(pool_.CloseIdleSince(time, time));
}

}  // namespace
}  // namespace kopp::detail
