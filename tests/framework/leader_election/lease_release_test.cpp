#include "leader_elector_fixture.hpp"

#include <chrono>
#include <future>
#include <memory>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <kopp/events.hpp>

namespace kopp {
namespace {

using namespace std::chrono_literals;
using nlohmann::json;
using Outcome = LeaderElector::Outcome;
using ::testing::HasSubstr;
using ::testing::Not;

TEST_F(LeaderElectorTest, AStopBeforeTheLeaseIsAcquiredReturnsWithoutWork) {
  SetLease("bing");
  Start();
  clock_.AwaitSleepers(kSleepersOfCandidate);

  EXPECT_EQ(Stop(), Outcome::kStopped);
  EXPECT_EQ(Methods(), "GET");
  EXPECT_FALSE(elector_->Elected().stop_requested());
}

TEST_F(LeaderElectorTest, TheLeaseIsRenewedUntilTheWorkHasEndedAndOnlyThenReleased) {
  wait_for_finish_ = true;
  StartAndLead();
  RequestStop();
  AwaitEndOfWork();

  AdvanceAsLeader(2s);
  EXPECT_EQ(Methods(), "GET POST PUT");
  EXPECT_TRUE(elector_->IsLeader()) << "the work may still write";
  Finish();

  EXPECT_EQ(Join(), Outcome::kStopped);
  EXPECT_EQ(Methods(), "GET POST PUT GET PUT");
  EXPECT_FALSE(elector_->IsLeader());
  EXPECT_EQ(Lease()["spec"], json({{"holderIdentity", ""},
                                   {"leaseDurationSeconds", 1},
                                   {"acquireTime", "2001-09-09T01:46:42.000000Z"},
                                   {"renewTime", "2001-09-09T01:46:42.000000Z"},
                                   {"leaseTransitions", 0}}));
}

TEST_F(LeaderElectorTest, AReleaseIsRepeatedAfterAConflict) {
  at_end_of_work_ = [this] { FailNextUpdate(409); };
  StartAndLead();

  EXPECT_EQ(Stop(), Outcome::kStopped);
  EXPECT_EQ(Methods(), "GET POST GET PUT GET PUT");
  EXPECT_EQ(Holder(), "");
}

TEST_F(LeaderElectorTest, AReleaseThatFailsIsLogged) {
  at_end_of_work_ = [this] { FailNextUpdate(500); };
  StartAndLead();

  EXPECT_EQ(Stop(), Outcome::kStopped);
  EXPECT_THAT(Log(), HasSubstr("Failed to release lease"));
}

TEST_F(LeaderElectorTest, AReleaseThatHasNoTimeLeftIsNotTried) {
  release_timeout_ = [] { return 0s; };
  StartAndLead();

  EXPECT_EQ(Stop(), Outcome::kStopped);
  EXPECT_EQ(Methods(), "GET POST");
  EXPECT_THAT(Log(), HasSubstr("Failed to release lease"));
}

TEST_F(LeaderElectorTest, TheLeaseOfAnotherReplicaIsNotReleased) {
  at_end_of_work_ = [this] { SetLease("bing"); };
  StartAndLead();

  EXPECT_EQ(Stop(), Outcome::kStopped);
  EXPECT_EQ(Holder(), "bing");
}

TEST_F(LeaderElectorTest, TheLeaseIsKeptWithoutReleaseOnCancel) {
  options_.release_on_cancel = false;
  StartAndLead();

  EXPECT_EQ(Stop(), Outcome::kStopped);
  EXPECT_EQ(Methods(), "GET POST");
  EXPECT_EQ(Holder(), "baz");
  EXPECT_FALSE(elector_->IsLeader());
}

TEST_F(LeaderElectorTest, AnExceptionOfTheWorkIsRethrownAfterTheRelease) {
  at_end_of_work_ = [] { throw std::runtime_error("no cache"); };
  StartAndLead();
  RequestStop();

  EXPECT_THROW(static_cast<void>(Join()), std::runtime_error);
  EXPECT_EQ(Holder(), "");
}

}  // namespace
}  // namespace kopp
