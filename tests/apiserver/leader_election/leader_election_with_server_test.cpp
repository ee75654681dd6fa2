// Tests of several LeaderElectors against one API server.
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <kopp/dynamic_client.hpp>
#include <kopp/kinds.hpp>
#include <kopp/leader_election/leader_elector.hpp>
#include <kopp/leader_election/write_fence.hpp>
#include <kopp/testing/api_server.hpp>
#include <kopp/testing/fake_clock.hpp>

namespace kopp {
namespace {

using namespace std::chrono_literals;
using nlohmann::json;
using Outcome = LeaderElector::Outcome;

constexpr Kind kLeaseKind{"coordination.k8s.io/v1", "Lease", "leases"};

/// A transport whose network can be cut: calls then get no response until they are cancelled.
class CuttableTransport final : public Transport {
 public:
  explicit CuttableTransport(Transport& next) : next_(next) {}

  void Cut() { cut_ = true; }
  void Restore() { cut_ = false; }
  /// Blocks until a call waits for a response.
  void AwaitWaitingCall() {
    std::unique_lock lock{mutex_};
    changed_.wait(lock, [&] { return waiting_ > 0; });
  }

  ApiResponse Call(const ApiRequest& request, std::stop_token stop) override {
    if (!cut_) return next_.Call(request, std::move(stop));
    const std::stop_callback wake(stop, [&] {
      const std::lock_guard guard{mutex_};
      changed_.notify_all();
    });
    std::unique_lock lock{mutex_};
    ++waiting_;
    changed_.notify_all();
    changed_.wait(lock, [&] { return stop.stop_requested(); });
    --waiting_;
    throw TransportError(TransportError::Kind::kCancelled, "no response");
  }
  std::unique_ptr<Stream> Open(const ApiRequest&, std::stop_token) override { return nullptr; }

 private:
  Transport& next_;
  std::atomic<bool> cut_ = false;
  std::mutex mutex_;
  std::condition_variable changed_;
  int waiting_ = 0;  // guarded by mutex_
};

/// One replica: it campaigns again when it has lost the lease.
class Replica {
 public:
  Replica(testing::ApiServer& server, Clock& clock, const std::string& identity)
      : fence_(clock),
        lease_network_(server.transport()),
        write_network_(std::make_shared<CuttableTransport>(server.transport())),
        fenced_(write_network_, fence_),
        elector_(Client(lease_network_, identity), fence_,
                 {.election = {.id = "web", .ns = "default", .identity = identity},
                  .log = Logger({.write = [](auto) {}}),
                  .clock = clock,
                  .random = [] { return 0.0; }}) {}

  void Start() {
    thread_ = std::jthread([this](const std::stop_token& stop) {
      while (elector_.Run([this](const std::stop_token& end) { Work(end); }, stop) ==
             Outcome::kLost) {
      }
    });
  }
  /// Blocks until the replica has stopped.
  void Stop() { thread_ = {}; }
  /// Blocks until the replica works, or until it has stopped working.
  void AwaitWorking(bool working) {
    std::unique_lock lock{mutex_};
    changed_.wait(lock, [&] { return working_ == working; });
  }
  [[nodiscard]] bool IsLeader() const { return elector_.IsLeader(); }
  /// Blocks until the replica has become leader for the `count`th time.
  void AwaitTerm(int count) {
    std::unique_lock lock{mutex_};
    changed_.wait(lock, [&] { return terms_ >= count; });
  }
  [[nodiscard]] CuttableTransport& lease_network() { return lease_network_; }
  [[nodiscard]] CuttableTransport& write_network() { return *write_network_; }
  /// A client whose writes are fenced.
  [[nodiscard]] Client client() { return Client(fenced_, "replica"); }

 private:
  void Work(const std::stop_token& end) {
    std::unique_lock lock{mutex_};
    working_ = true;
    ++terms_;
    changed_.notify_all();
    lock.unlock();
    SleepUntil(Clock::Real(), TimePoint::max(), end);
    lock.lock();
    working_ = false;
    changed_.notify_all();
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  bool working_ = false;  // guarded by mutex_
  int terms_ = 0;         // guarded by mutex_
  WriteFence fence_;
  CuttableTransport lease_network_;
  std::shared_ptr<CuttableTransport> write_network_;
  FencedTransport fenced_;
  LeaderElector elector_;
  std::jthread thread_;
};

/// Two replicas, "a" and "b", of which "a" is the leader.
///
/// A leader has three threads that sleep on the clock (renewal, fence, timer of the requests), a
/// candidate two (Run, timer of the requests) and, after it was the leader, its fence.
class LeaderElectionWithServerTest : public ::testing::Test {
 protected:
  LeaderElectionWithServerTest() {
    a_.Start();
    a_.AwaitWorking(true);
    clock_.AwaitSleepers(3);
    b_.Start();
    clock_.AwaitSleepers(5);
  }

  void Advance(Duration time, std::size_t sleepers) {
    clock_.Advance(time);
    clock_.AwaitSleepers(sleepers);
    EXPECT_FALSE(a_.IsLeader() && b_.IsLeader());
  }
  [[nodiscard]] json Spec() {
    return client_.Dynamic(kLeaseKind).Get({"default", "web"}).value().At("/spec");
  }
  /// Returns the holder of the Lease; "" if there is none.
  [[nodiscard]] std::string Holder() {
    const auto lease = client_.Dynamic(kLeaseKind).Get({"default", "web"});
    return lease ? lease->At("/spec").value("holderIdentity", "") : "";
  }
  static json Map() { return {{"metadata", {{"name", "a"}, {"namespace", "default"}}}}; }

  testing::FakeClock clock_;
  testing::ApiServer server_;
  Client client_{server_.transport()};
  Replica a_{server_, clock_, "a"};
  Replica b_{server_, clock_, "b"};
};

TEST_F(LeaderElectionWithServerTest, OnlyOneReplicaIsLeaderWhileItRenews) {
  for (int i = 0; i < 20; ++i) Advance(2s, 5);

  EXPECT_TRUE(a_.IsLeader());
  EXPECT_EQ(Holder(), "a");
  EXPECT_EQ(Spec()["leaseTransitions"], 0);
}

TEST_F(LeaderElectionWithServerTest, AReplicaThatStopsHandsTheLeaseOverAtTheNextTry) {
  a_.Stop();
  EXPECT_EQ(Holder(), "");

  clock_.Advance(2s);

  b_.AwaitWorking(true);
  EXPECT_EQ(Holder(), "b");
  EXPECT_EQ(Spec()["leaseTransitions"], 1);
}

TEST_F(LeaderElectionWithServerTest, ALeaderWithoutNetworkStopsBeforeAnotherReplicaTakesOver) {
  a_.lease_network().Cut();
  // "a" has sent its last renewal at 0 s. Its request of 2 s gets no response.
  for (int i = 0; i < 9; ++i) {
    Advance(1s, 4);
    EXPECT_TRUE(a_.IsLeader()) << i;
  }

  clock_.Advance(1s);

  EXPECT_FALSE(a_.IsLeader()) << "10 s have passed";
  a_.AwaitWorking(false);
  a_.Stop();  // so that it does not campaign again
  int seconds = 10;
  while (!b_.IsLeader() && seconds < 30) {
    Advance(1s, 4);
    ++seconds;
  }
  EXPECT_GE(seconds, 15);
  EXPECT_LE(seconds, 17) << "lease_duration and retry_period";
  b_.AwaitWorking(true);
  EXPECT_EQ(Holder(), "b");
}

TEST_F(LeaderElectionWithServerTest, AReplicaThatHasLostTheLeaseCampaignsAgain) {
  a_.lease_network().Cut();
  for (int i = 0; i < 9; ++i) Advance(1s, 4);
  a_.lease_network().Restore();

  clock_.Advance(1s);

  a_.AwaitTerm(2);
  EXPECT_EQ(Spec()["leaseTransitions"], 0) << "no other replica has held the lease";
}

TEST_F(LeaderElectionWithServerTest, AWriteOfALeaderThatWasSuspendedDoesNotReachTheServer) {
  const Client client = a_.client();
  client.Create<ConfigMap>(Map());
  a_.lease_network().Cut();  // it cannot become leader again

  clock_.Advance(40s);

  EXPECT_THROW(client.Delete<ConfigMap>({"default", "a"}), NotLeaderError);
  EXPECT_TRUE(client.Get<ConfigMap>({"default", "a"})) << "reads pass";
}

TEST_F(LeaderElectionWithServerTest, AWriteInFlightIsCancelledWhenTheLeaseIsLost) {
  a_.lease_network().Cut();
  a_.write_network().Cut();
  std::optional<NotLeaderError> cancelled;
  std::jthread writer([&] {
    try {
      a_.client().Create<ConfigMap>(Map());
    } catch (const NotLeaderError& error) {
      cancelled = error;
    }
  });
  a_.write_network().AwaitWaitingCall();

  clock_.Advance(10s);

  writer.join();
  ASSERT_TRUE(cancelled);
  EXPECT_TRUE(cancelled->sent());
}

TEST_F(LeaderElectionWithServerTest, ADeletedLeaseIsCreatedByOneReplica) {
  client_.Dynamic(kLeaseKind).Delete({"default", "web"});

  clock_.Advance(2s);

  while (Holder().empty()) std::this_thread::yield();
  a_.AwaitWorking(Holder() == "a");
  b_.AwaitWorking(Holder() == "b");
  EXPECT_NE(a_.IsLeader(), b_.IsLeader());
}

TEST_F(LeaderElectionWithServerTest, ALeaderStepsDownIfTheHolderWasEditedByHand) {
  auto lease = client_.Dynamic(kLeaseKind).Get({"default", "web"}).value().Json();
  lease["spec"]["holderIdentity"] = "b";
  client_.Dynamic(kLeaseKind).Update(lease);

  clock_.Advance(2s);

  a_.AwaitWorking(false);
  b_.AwaitWorking(true);
}

}  // namespace
}  // namespace kopp
