#include <chrono>

#include <gtest/gtest.h>

#include <kopp/controller/expectations.hpp>
#include <kopp/testing/fake_clock.hpp>

namespace kopp {
namespace {

using namespace std::chrono_literals;

class ExpectationsTest : public ::testing::Test {
 protected:
  const ObjectKey key_{"ns", "a"};
  testing::FakeClock clock_;
  Expectations expectations_{clock_};
};

TEST_F(ExpectationsTest, AKeyWithoutExpectationsIsSatisfied) {
  EXPECT_TRUE(expectations_.Satisfied(key_));
  expectations_.CreationObserved(key_);
  expectations_.DeletionObserved(key_, "u-1");
  EXPECT_TRUE(expectations_.Satisfied(key_));
}

TEST_F(ExpectationsTest, AKeyIsSatisfiedAfterAllEffectsWereObserved) {
  expectations_.Expect(key_, {.creations = 2, .deletions = {"u-1"}});
  expectations_.CreationObserved(key_);
  expectations_.DeletionObserved(key_, "u-1");
  EXPECT_FALSE(expectations_.Satisfied(key_));

  expectations_.CreationObserved(key_);
  EXPECT_TRUE(expectations_.Satisfied(key_));
}

TEST_F(ExpectationsTest, ADeletionThatIsObservedTwiceCountsOnce) {
  expectations_.Expect(key_, {.deletions = {"u-1", "u-2"}});
  expectations_.DeletionObserved(key_, "u-1");
  expectations_.DeletionObserved(key_, "u-1");
  EXPECT_FALSE(expectations_.Satisfied(key_));

  expectations_.DeletionObserved(key_, "u-2");
  EXPECT_TRUE(expectations_.Satisfied(key_));
}

TEST_F(ExpectationsTest, ObservationsOfAnotherKeyDoNotCount) {
  expectations_.Expect(key_, {.creations = 1});
  expectations_.CreationObserved({"ns", "b"});
  EXPECT_FALSE(expectations_.Satisfied(key_));
}

TEST_F(ExpectationsTest, AKeyIsSatisfiedFiveMinutesAfterAMissedObservation) {
  expectations_.Expect(key_, {.creations = 1});
  clock_.Advance(5min - 1ns);
  EXPECT_FALSE(expectations_.Satisfied(key_));

  clock_.Advance(1ns);
  EXPECT_TRUE(expectations_.Satisfied(key_));
}

TEST_F(ExpectationsTest, ForgetAndAnEmptyExpectationRemoveWhatIsExpected) {
  expectations_.Expect(key_, {.creations = 1});
  expectations_.Forget(key_);
  EXPECT_TRUE(expectations_.Satisfied(key_));

  expectations_.Expect(key_, {.creations = 1});
  expectations_.Expect(key_, {});
  EXPECT_TRUE(expectations_.Satisfied(key_));
}

}  // namespace
}  // namespace kopp
