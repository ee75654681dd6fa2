#include "../../framework/src/kept.hpp"

#include <gtest/gtest.h>

#include <kopp/testing/fake_clock.hpp>

namespace kopp::detail {
namespace {

using namespace std::chrono_literals;

// Counts those that are open.
class Line {
 public:
  Line(int number, int& open) : number_(number), open_(open) { ++open_; }
  ~Line() { --open_; }
  Line(const Line&) = delete;
  Line& operator=(const Line&) = delete;

  [[nodiscard]] int number() const { return number_; }

 private:
  int number_;
  int& open_;
};

class KeptTest : public ::testing::Test {
 protected:
  void Put(int number) { kept_.Put(std::make_unique<Line>(number, open_)); }

  // The number of what is taken; 0: nothing.
  int Take() {
    const auto taken = kept_.Take();
    return taken ? taken->number() : 0;
  }

  int open_ = 0;
  kopp::testing::FakeClock clock_;
  Kept<Line> kept_{clock_};
};

TEST_F(KeptTest, WhatWasPutBackLastGoesFirst) {
  Put(1);
  Put(2);

  EXPECT_EQ(Take(), 2);
  EXPECT_EQ(Take(), 1);
  EXPECT_EQ(Take(), 0);
}

TEST_F(KeptTest, WhatIsThirtySecondsOldIsStillTaken) {
  Put(1);
  clock_.Advance(30s);

  EXPECT_EQ(Take(), 1);
}

TEST_F(KeptTest, WhatIsOlderIsClosedByTheNextTake) {
  Put(1);
  Put(2);
  clock_.Advance(30s + 1ns);

  EXPECT_EQ(Take(), 0);
  EXPECT_EQ(open_, 0);
}

TEST_F(KeptTest, ATakeClosesWhatIsOldAndLeavesWhatIsYoung) {
  Put(1);
  clock_.Advance(20s);
  Put(2);
  Put(3);
  clock_.Advance(20s);

  EXPECT_EQ(Take(), 3);
  EXPECT_EQ(open_, 1);
  EXPECT_EQ(Take(), 2);
}

TEST_F(KeptTest, APutClosesWhatIsOld) {
  Put(1);
  clock_.Advance(31s);
  Put(2);

  EXPECT_EQ(open_, 1);
}

TEST_F(KeptTest, ASeventeenthTakesThePlaceOfTheOldest) {
  for (int number = 1; number <= 17; ++number) Put(number);

  EXPECT_EQ(open_, 16);
  for (int number = 17; number >= 2; --number) EXPECT_EQ(Take(), number);
  EXPECT_EQ(Take(), 0);
}

}  // namespace
}  // namespace kopp::detail
