#include "leader_election/lease_state.hpp"

#include <chrono>
#include <string>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace kopp::detail {
namespace {

using namespace std::chrono_literals;
using nlohmann::json;

constexpr const char* kNow = "2026-01-02T03:04:05.000006Z";
constexpr TimePoint kLeaseTestStart{1h};

/// The state of the replica "baz", as in the tests of client-go.
class LeaseStateTest : public ::testing::Test {
 protected:
  /// Lets the replica see a Lease of `holder` that is valid for `seconds`.
  void Observe(const std::string& holder, std::int64_t seconds = 15,
               TimePoint now = kLeaseTestStart, const std::string& renew_time = "r1") {
    state_.Observe({.holder = holder,
                    .duration_seconds = seconds,
                    .acquire_time = "a1",
                    .renew_time = renew_time,
                    .transitions = 3},
                   now);
  }

  LeaseState state_{"baz", 10s};
};

TEST_F(LeaseStateTest, TheFirstRecordNamesTheHolderAndHasNoTransitions) {
  EXPECT_EQ(
      state_.FirstRecord(kNow),
      (LeaseRecord{
          .holder = "baz", .duration_seconds = 10, .acquire_time = kNow, .renew_time = kNow}));
}

TEST_F(LeaseStateTest, ALeaseWithoutSpecIsAcquiredAndCountsATransition) {
  state_.Observe({}, kLeaseTestStart);

  EXPECT_TRUE(state_.MayAcquire(kLeaseTestStart));
  EXPECT_EQ(state_.ClaimRecord(kNow), (LeaseRecord{.holder = "baz",
                                                   .duration_seconds = 10,
                                                   .acquire_time = kNow,
                                                   .renew_time = kNow,
                                                   .transitions = 1}));
}

TEST_F(LeaseStateTest, AHeldLeaseIsAcquiredAfterTheDurationInTheLeaseNotTheOwnOne) {
  Observe("bing", 3);

  EXPECT_FALSE(state_.MayAcquire(kLeaseTestStart + 3s - 1ns));
  EXPECT_TRUE(state_.MayAcquire(kLeaseTestStart + 3s));
  EXPECT_EQ(state_.ClaimRecord(kNow).transitions, 4);
  EXPECT_EQ(state_.ClaimRecord(kNow).acquire_time, kNow);
}

TEST_F(LeaseStateTest, ALeaseWithoutHolderIsAcquiredBeforeItExpires) {
  Observe("");

  EXPECT_TRUE(state_.MayAcquire(kLeaseTestStart));
  EXPECT_EQ(state_.ClaimRecord(kNow).transitions, 4);
}

TEST_F(LeaseStateTest, ALeaseWithoutDurationHasExpiredAtOnce) {
  Observe("bing", 0);

  EXPECT_TRUE(state_.MayAcquire(kLeaseTestStart));
}

TEST_F(LeaseStateTest, AVeryLongDurationDoesNotOverflow) {
  Observe("bing", std::int64_t{1} << 62);

  EXPECT_FALSE(state_.MayAcquire(kLeaseTestStart + 24h));
}

TEST_F(LeaseStateTest, TheHolderRenewsAnExpiredLeaseAndKeepsAcquireTimeAndTransitions) {
  Observe("baz");

  EXPECT_TRUE(state_.IsHolder());
  EXPECT_TRUE(state_.MayAcquire(kLeaseTestStart + 1h));
  EXPECT_EQ(state_.ClaimRecord(kNow), (LeaseRecord{.holder = "baz",
                                                   .duration_seconds = 10,
                                                   .acquire_time = "a1",
                                                   .renew_time = kNow,
                                                   .transitions = 3}));
}

TEST_F(LeaseStateTest, AChangedRecordIsValidForItsDurationFromTheMomentItIsSeen) {
  Observe("bing", 15, kLeaseTestStart, "r1");
  Observe("bing", 15, kLeaseTestStart + 10s, "r2");

  EXPECT_FALSE(state_.MayAcquire(kLeaseTestStart + 25s - 1ns));
  EXPECT_TRUE(state_.MayAcquire(kLeaseTestStart + 25s));
}

TEST_F(LeaseStateTest, AnUnchangedRecordIsNotValidForLongerWhenItIsSeenAgain) {
  Observe("bing", 15, kLeaseTestStart);
  Observe("bing", 15, kLeaseTestStart + 10s);

  EXPECT_TRUE(state_.MayAcquire(kLeaseTestStart + 15s));
}

TEST_F(LeaseStateTest, TheTimesInTheRecordDoNotDecideWhetherTheLeaseHasExpired) {
  Observe("bing", 15, kLeaseTestStart, "1970-01-01T00:00:00.000000Z");
  EXPECT_FALSE(state_.MayAcquire(kLeaseTestStart + 14s)) << "the clock of the holder is late";

  Observe("bing", 15, kLeaseTestStart + 20s, "2999-01-01T00:00:00.000000Z");
  EXPECT_TRUE(state_.MayAcquire(kLeaseTestStart + 35s)) << "the clock of the holder is early";
}

TEST_F(LeaseStateTest, AFractionOfASecondOfTheDurationIsRoundedUp) {
  EXPECT_EQ(LeaseState("baz", 15001ms).FirstRecord(kNow).duration_seconds, 16);
}

TEST_F(LeaseStateTest, AReleasedRecordHasNoHolderAndADurationOfOneSecond) {
  const LeaseRecord held{.holder = "baz", .duration_seconds = 10, .transitions = 3};

  EXPECT_EQ(
      LeaseState::ReleaseRecord(held, kNow),
      (LeaseRecord{
          .duration_seconds = 1, .acquire_time = kNow, .renew_time = kNow, .transitions = 3}));
}

TEST_F(LeaseStateTest, ARecordThatWasWrittenIsReadAgainAndOtherFieldsAreKept) {
  const LeaseRecord record = state_.FirstRecord(kNow);
  json lease = {{"metadata", {{"name", "web"}}},
                {"spec", {{"strategy", "OldestEmulationVersion"}}}};

  WriteLeaseRecord(record, lease);

  EXPECT_EQ(ReadLeaseRecord(lease), record);
  EXPECT_EQ(lease["spec"]["strategy"], "OldestEmulationVersion");
  EXPECT_EQ(lease["metadata"]["name"], "web");
}

TEST_F(LeaseStateTest, FieldsOfAnotherTypeAreReadAsEmpty) {
  EXPECT_EQ(ReadLeaseRecord(json::parse(R"({"spec":{"holderIdentity":null,"renewTime":1,
      "leaseDurationSeconds":"15","leaseTransitions":{}}})")),
            LeaseRecord{});
  for (const char* lease : {"{}", "[]", "null", R"({"spec":null})", R"({"spec":[]})"}) {
    EXPECT_EQ(ReadLeaseRecord(json::parse(lease)), LeaseRecord{}) << lease;
  }
}

}  // namespace
}  // namespace kopp::detail
