#include "leader_elector_fixture.hpp"

#include <atomic>
#include <chrono>
#include <cstddef>
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

TEST_F(LeaderElectorTest, ALeaseIsCreatedWithIdentityDurationTimesAndLabels) {
  options_.labels = {{"app", "web"}};
  StartAndLead();

  EXPECT_EQ(Methods(), "GET POST");
  const json lease = Lease();
  EXPECT_EQ(lease["kind"], "Lease");
  EXPECT_EQ(lease["apiVersion"], "coordination.k8s.io/v1");
  EXPECT_EQ(lease["metadata"]["labels"], json({{"app", "web"}}));
  EXPECT_EQ(lease["spec"], json({{"holderIdentity", "baz"},
                                 {"leaseDurationSeconds", 15},
                                 {"acquireTime", "2001-09-09T01:46:40.000000Z"},
                                 {"renewTime", "2001-09-09T01:46:40.000000Z"},
                                 {"leaseTransitions", 0}}));
  EXPECT_TRUE(elector_->IsLeader());
  EXPECT_EQ(elector_->Status().lease, "shop/web");
  EXPECT_EQ(elector_->Status().holder, "baz");
  EXPECT_EQ(elector_->Status().renewed_before, 0s);
}

TEST_F(LeaderElectorTest, ALeaderRenewsEachRetryPeriodWithOneUpdateWithoutRead) {
  random_ = 1;  // without effect: only candidates have a jitter
  StartAndLead();

  AdvanceAsLeader(2s);
  AdvanceAsLeader(2s);

  EXPECT_EQ(Methods(), "GET POST PUT PUT");
  EXPECT_EQ(Lease()["spec"]["renewTime"], "2001-09-09T01:46:44.000000Z");
  EXPECT_EQ(Lease()["spec"]["acquireTime"], "2001-09-09T01:46:40.000000Z");
}

TEST_F(LeaderElectorTest, ALeaderThatRenewsIsLeaderForLongerThanTheLeaseDuration) {
  StartAndLead();

  for (int i = 0; i < 20; ++i) AdvanceAsLeader(2s);

  EXPECT_TRUE(elector_->IsLeader());
}

TEST_F(LeaderElectorTest, AFailedUpdateIsRepeatedAfterARead) {
  for (const int status : {409, 500}) {
    SCOPED_TRACE(status);
    FailNextUpdate(status);
    if (!elector_) StartAndLead();
    transport_.Await("POST", kLeasesPath);
    const std::string before = Methods();

    AdvanceAsLeader(2s);

    EXPECT_EQ(Methods(), before + " PUT GET PUT");
    EXPECT_TRUE(elector_->IsLeader());
  }
  EXPECT_THAT(metrics_.Text(), HasSubstr("leader_election_slowpath_total{name=\"web\"} 2"));
}

TEST_F(LeaderElectorTest,
       ALeaderThatCannotRenewForAShortTimeRemainsLeaderWhenTheServerRespondsAgain) {
  StartAndLead();
  Disconnect();
  for (int i = 0; i < 3; ++i) AdvanceAsLeader(2s);

  RespondToUpdates();
  for (int i = 0; i < 3; ++i) AdvanceAsLeader(2s);

  EXPECT_TRUE(elector_->IsLeader()) << "12 s have passed";
}

TEST_F(LeaderElectorTest, ADeletedLeaseIsCreatedAgainByItsLeader) {
  StartAndLead();
  DeleteLease();

  AdvanceAsLeader(2s);

  EXPECT_EQ(Methods(), "GET POST PUT GET POST");
  EXPECT_EQ(Holder(), "baz");
  EXPECT_TRUE(elector_->IsLeader());
}

TEST_F(LeaderElectorTest, ALeaseWhoseHolderWasRemovedByHandIsTakenAgainByItsLeader) {
  StartAndLead();
  SetLease("", 0);

  AdvanceAsLeader(2s);

  EXPECT_EQ(Holder(), "baz");
  EXPECT_EQ(Lease()["spec"]["leaseTransitions"], 1);
  EXPECT_TRUE(elector_->IsLeader());
}

TEST_F(LeaderElectorTest, ALeaderStopsAtOnceWhenAnotherReplicaHoldsTheLease) {
  StartAndLead();
  SetLease("bing");

  clock_.Advance(2s);

  EXPECT_EQ(Join(), Outcome::kLost);
  EXPECT_EQ(Methods(), "GET POST PUT GET") << "the lease of another replica must not be written";
  EXPECT_FALSE(elector_->IsLeader());
  EXPECT_THAT(Log(), HasSubstr("another replica holds the lease"));
  EXPECT_THAT(metrics_.Text(), HasSubstr("leader_election_master_status{name=\"web\"} 0"));
}

TEST_F(LeaderElectorTest, ALeaderThatLosesARaceReadsTheLeaseAgainAtOnce) {
  StartAndLead();
  DeleteLease();
  transport_.On("POST", kLeasesPath, [this](const ApiRequest&) {
    SetLease("bing");  // another replica was faster
    return ApiResponse{.status = 409, .body = R"({"reason":"AlreadyExists"})"};
  });

  clock_.Advance(2s);

  EXPECT_EQ(Join(), Outcome::kLost);
  EXPECT_EQ(Methods(), "GET POST PUT GET POST PUT GET");
}

TEST_F(LeaderElectorTest, ALeaderGivesUpAtTheRenewDeadlineIfTheServerCannotBeReached) {
  StartAndLead();
  AdvanceAsLeader(2s);
  Disconnect();
  for (int i = 0; i < 4; ++i) AdvanceAsLeader(2s);
  AdvanceAsLeader(2s - 1ns);
  EXPECT_TRUE(elector_->IsLeader());

  clock_.Advance(1ns);

  EXPECT_FALSE(elector_->IsLeader());
  EXPECT_EQ(Join(), Outcome::kLost);
  EXPECT_THAT(Log(), HasSubstr("the renew deadline has passed"));
}

TEST_F(LeaderElectorTest, ALeaderThatWasSuspendedGivesUpWithoutAWrite) {
  StartAndLead();

  clock_.Advance(40s);

  EXPECT_FALSE(elector_->IsLeader());
  EXPECT_EQ(Join(), Outcome::kLost);
  EXPECT_THAT(Methods(), Not(HasSubstr("PUT")));
}

TEST_F(LeaderElectorTest, TheFenceIsCountedFromWhenTheRenewalWasSent) {
  StartAndLead();
  transport_.On("PUT", kLeasePath, [this](const ApiRequest&) {
    clock_.Advance(3s);  // the response takes 3 s
    return ApiResponse{.status = 200, .body = Lease().dump()};
  });

  AdvanceAsLeader(2s);

  EXPECT_EQ(elector_->Status().renewed_before, 3s);
  AdvanceAsLeader(2s - 1ns);
  EXPECT_TRUE(elector_->IsLeader());
  Disconnect();
  clock_.Advance(5s + 1ns);
  EXPECT_FALSE(elector_->IsLeader());
}

TEST_F(LeaderElectorTest, ACandidateWaitsUntilTheLeaseHasNotChangedForItsDuration) {
  SetLease("bing");
  Start();
  for (int i = 0; i < 7; ++i) {
    clock_.AwaitSleepers(kSleepersOfCandidate);
    clock_.Advance(2s);
  }
  clock_.AwaitSleepers(kSleepersOfCandidate);
  EXPECT_FALSE(elector_->IsLeader()) << "14 s have passed";
  EXPECT_THAT(Methods(), Not(HasSubstr("PUT")));
  EXPECT_EQ(elector_->Status().holder, "bing");

  clock_.Advance(2s);

  AwaitLeader();
  EXPECT_EQ(Holder(), "baz");
  EXPECT_EQ(Lease()["spec"]["leaseTransitions"], 4);
}

TEST_F(LeaderElectorTest, ACandidateTakesAReleasedLeaseAtItsNextTry) {
  SetLease("bing");
  Start();
  clock_.AwaitSleepers(kSleepersOfCandidate);
  SetLease("");

  clock_.Advance(2s);

  AwaitLeader();
  EXPECT_EQ(Holder(), "baz");
}

TEST_F(LeaderElectorTest, ACandidateThatLosesARaceForTheLeaseTriesAgain) {
  SetLease("");
  FailNextUpdate(409);
  Start();
  clock_.AwaitSleepers(kSleepersOfCandidate);
  EXPECT_FALSE(elector_->IsLeader());
  EXPECT_THAT(Log(), HasSubstr("Another client has written the lease"));

  clock_.Advance(2s);

  AwaitLeader();
}

TEST_F(LeaderElectorTest, TheJitterOfACandidateIsUpTo120PercentOfTheRetryPeriod) {
  SetLease("bing");
  random_ = 1;
  Start();

  clock_.AwaitSleeperFor(4400ms);
}

TEST_F(LeaderElectorTest, ElectedIsStoppedWhenTheReplicaBecomesLeaderAndRemainsSo) {
  const std::stop_token elected = NewElector().Elected();
  EXPECT_FALSE(elected.stop_requested());
  StartAndLead();
  EXPECT_TRUE(elected.stop_requested());

  static_cast<void>(Stop());

  EXPECT_TRUE(elector_->Elected().stop_requested());
}

TEST_F(LeaderElectorTest, TheMetricShowsWhetherTheReplicaIsLeader) {
  NewElector();
  EXPECT_THAT(metrics_.Text(), HasSubstr("leader_election_master_status{name=\"web\"} 0"));
  StartAndLead();
  EXPECT_THAT(metrics_.Text(), HasSubstr("leader_election_master_status{name=\"web\"} 1"));

  static_cast<void>(Stop());

  EXPECT_THAT(metrics_.Text(), HasSubstr("leader_election_master_status{name=\"web\"} 0"));
}

TEST_F(LeaderElectorTest, EventsOnTheLeaseTellWhoBecameLeaderAndStopped) {
  EventRecorder events(Client(transport_, "web"), "web", Logger({.write = [](auto) {}}), clock_);
  events_ = &events;
  StartAndLead();
  static_cast<void>(Stop());
  events.Stop();

  std::string written;
  for (const ApiRequest& request : transport_.Requests()) {
    if (request.target.find("events") != std::string::npos) written += request.body;
  }
  EXPECT_THAT(written, HasSubstr("baz became leader"));
  EXPECT_THAT(written, HasSubstr("baz stopped leading"));
  EXPECT_THAT(written, HasSubstr(R"("reason":"LeaderElection")"));
  EXPECT_THAT(written, HasSubstr(R"("uid":"u1")"));
}

TEST_F(LeaderElectorTest, TheHealthCheckFailsIfTheWorkContinuesLongAfterTheLeaseWasLost) {
  wait_for_finish_ = true;
  StartAndLead();
  clock_.Advance(10s);
  AwaitEndOfWork();
  clock_.Advance(25s);
  EXPECT_EQ(elector_->CheckHealth(20s), std::nullopt);

  clock_.Advance(1s);

  EXPECT_EQ(elector_->CheckHealth(20s),
            "the lease shop/web was last renewed 36 s ago, and the work of the leader has not "
            "ended");
  Finish();
  EXPECT_EQ(Join(), Outcome::kLost);
  EXPECT_EQ(elector_->CheckHealth(20s), std::nullopt);
}

TEST_F(LeaderElectorTest, ACandidateIsHealthy) {
  SetLease("bing");
  Start();
  clock_.AwaitSleepers(kSleepersOfCandidate);

  EXPECT_EQ(elector_->CheckHealth(0s), std::nullopt);
}

TEST_F(LeaderElectorTest, AReplicaWithoutAccessToTheLeaseIsNotReadyAfter30SecondsUntilItHasAccess) {
  EventRecorder events(Client(transport_, "web"), "web", Logger({.write = [](auto) {}}), clock_);
  events_ = &events;
  std::atomic<bool> refused = true;
  transport_.On("GET", kLeasePath, [&](const ApiRequest&) -> ApiResponse {
    if (!refused) return {.status = 404, .body = R"({"reason":"NotFound"})"};
    return {.status = 403,
            .body = R"({"reason":"Forbidden","message":"cannot get resource \"leases\""})"};
  });
  Start();
  const auto advance = [&](Duration time) {
    for (const TimePoint end = clock_.Now() + time; clock_.Now() < end; clock_.Advance(1s)) {
      clock_.AwaitSleepers(kSleepersOfCandidate);
    }
  };
  advance(25s);
  EXPECT_EQ(elector_->CheckReadiness(), std::nullopt) << "the Role may come after the Pod";

  advance(15s);

  const std::string problem = elector_->CheckReadiness().value_or("");
  EXPECT_THAT(problem, HasSubstr("cannot be elected: it has had no access to the lease shop/web"));
  EXPECT_THAT(problem, HasSubstr("cannot get resource \"leases\""));
  EXPECT_EQ(elector_->CheckHealth(0s), std::nullopt) << "a restart would not help";
  refused = false;
  advance(5s);
  AwaitLeader();
  EXPECT_EQ(elector_->CheckReadiness(), std::nullopt);
  static_cast<void>(Stop());
  events.Stop();
  std::size_t warnings = 0;
  for (const ApiRequest& request : transport_.Requests()) {
    if (request.body.find("LeaseForbidden") != std::string::npos) ++warnings;
  }
  EXPECT_EQ(warnings, 1U) << "one Event, not one for each try";
}

TEST_F(LeaderElectorTest, AReplicaThatIsNotTheLeaderIsReady) {
  SetLease("bing");
  Start();
  clock_.AwaitSleepers(kSleepersOfCandidate);
  EXPECT_EQ(elector_->CheckReadiness(), std::nullopt);
}

/// A transport whose calls do not return before a stop.
class SilentTransport final : public Transport {
 public:
  ApiResponse Call(const ApiRequest&, std::stop_token stop) override {
    std::promise<void> stopped;
    const std::stop_callback wake(stop, [&] { stopped.set_value(); });
    stopped.get_future().wait();
    throw TransportError(TransportError::Kind::kCancelled, "stopped");
  }
  std::unique_ptr<Stream> Open(const ApiRequest&, std::stop_token) override { return nullptr; }
};

TEST_F(LeaderElectorTest, ARequestWithoutResponseTimesOutBeforeHalfTheRenewDeadline) {
  SilentTransport silent;
  LeaderElector elector(Client(silent, "web"), fence_,
                        {.election = options_,
                         .log = Logger({.write =
                                            [this](auto line) {
                                              const std::lock_guard guard{mutex_};
                                              log_ += line;
                                            }}),
                         .clock = clock_,
                         .random = [] { return 0.0; }});
  EXPECT_EQ(elector.RequestTimeout(), 4s);
  const std::jthread runner(
      [&](const std::stop_token& stop) { elector.Run([](const std::stop_token&) {}, stop); });

  clock_.AwaitSleeperFor(4s);
  clock_.Advance(4s);

  clock_.AwaitSleeperFor(2s);  // until the next try
  EXPECT_THAT(Log(), HasSubstr("no response to a request for the Lease in time"));
}

TEST_F(LeaderElectorTest, InvalidOptionsAreRejectedByTheConstructor) {
  options_.lease_duration = 10s;

  EXPECT_THROW(NewElector(), ConfigError);
}

}  // namespace
}  // namespace kopp
