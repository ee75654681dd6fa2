#include "transport/dead_connection_detector.hpp"

#include <gtest/gtest.h>

#include <kopp/testing/fake_clock.hpp>

namespace kopp::detail {
namespace {

using namespace std::chrono_literals;

// A stream on a connection that may be dead.
class FakeStream final : public DeadConnectionDetector::MonitoredStream {
 public:
  FakeStream(DeadConnectionDetector& detector, Clock& clock)
      : clock_(clock), last_received_(clock.Now()), registration_(detector, *this, clock.Now()) {}

  [[nodiscard]] TimePoint LastReceived() const override { return last_received_; }
  void Cut() override { was_cut_ = true; }

  void Receive() { last_received_ = clock_.Now(); }
  [[nodiscard]] bool was_cut() const { return was_cut_; }

 private:
  Clock& clock_;
  TimePoint last_received_;
  bool was_cut_ = false;
  DeadConnectionDetector::Registration registration_;
};

// A pool in which an older connection remains if `responds` is set.
struct FakePool {
  bool CloseIdleSince(TimePoint time, TimePoint) {
    closed_since = time;
    return responds;
  }
  bool responds = false;
  std::optional<TimePoint> closed_since{};
};

class DeadConnectionDetectorTest : public ::testing::Test {
 protected:
  DeadConnectionDetectorTest() { clock_.Advance(1s); }

  // A request on a reused connection gets no byte for `length`.
  void Silence(Duration length) {
    clock_.Advance(1ms);
    sent_ = clock_.Now();
    clock_.Advance(length);
    detector_.OnSilence(sent_, clock_.Now(), pool_);
  }
  // A response arrives after `delay` on a connection that was opened at `opened`.
  void Respond(TimePoint opened, Duration delay) {
    const TimePoint sent = clock_.Now();
    clock_.Advance(delay);
    detector_.Check(opened, sent, clock_.Now());
  }
  void RespondOnNewConnection(Duration delay = 10ms) { Respond(clock_.Now(), delay); }

  kopp::testing::FakeClock clock_;
  const TimePoint start_ = clock_.Now();
  TimePoint sent_;
  FakePool pool_;
  DeadConnectionDetector detector_;
  FakeStream stream_{detector_, clock_};
};

TEST_F(DeadConnectionDetectorTest, ASilentStreamIsCutWhenANewConnectionRespondsAndAnOldOneDoesNot) {
  Silence(4s);
  EXPECT_FALSE(stream_.was_cut());
  RespondOnNewConnection();

  EXPECT_TRUE(stream_.was_cut());
}

TEST_F(DeadConnectionDetectorTest, ASilentStreamIsKeptWhileRequestsAreAnswered) {
  clock_.Advance(1h);
  RespondOnNewConnection();
  Respond(start_, 10ms);

  EXPECT_FALSE(stream_.was_cut());
}

TEST_F(DeadConnectionDetectorTest, IdleConnectionsThatDidNotRespondMeanwhileAreClosed) {
  Silence(4s);

  EXPECT_EQ(pool_.closed_since, sent_ + 2s);
}

TEST_F(DeadConnectionDetectorTest, ASilenceBelow900MillisecondsClosesNoConnection) {
  Silence(899ms);
  RespondOnNewConnection();

  EXPECT_EQ(pool_.closed_since, std::nullopt);
  EXPECT_FALSE(stream_.was_cut());
}

TEST_F(DeadConnectionDetectorTest,
       NoStreamIsCutIfTheServerRespondsToOtherRequestsOnOldConnections) {
  pool_.responds = true;
  Silence(4s);
  RespondOnNewConnection();

  EXPECT_FALSE(stream_.was_cut());
}

TEST_F(DeadConnectionDetectorTest, NoStreamIsCutIfAnOldOneReceivesBytes) {
  FakeStream busy(detector_, clock_);
  sent_ = clock_.Now() + 1ms;
  clock_.Advance(3s);
  busy.Receive();
  clock_.Advance(1s);
  detector_.OnSilence(sent_, clock_.Now(), pool_);
  RespondOnNewConnection();

  EXPECT_FALSE(stream_.was_cut());
}

TEST_F(DeadConnectionDetectorTest,
       AStreamThatWasOpenedMeanwhileIsKeptAndIsNoSignOfLifeOfOlderOnes) {
  sent_ = clock_.Now() + 1ms;
  clock_.Advance(3s);
  const FakeStream newer(detector_, clock_);
  clock_.Advance(1s);
  detector_.OnSilence(sent_, clock_.Now(), pool_);
  RespondOnNewConnection();

  EXPECT_TRUE(stream_.was_cut());
  EXPECT_FALSE(newer.was_cut());
}

TEST_F(DeadConnectionDetectorTest, AResponseOnAnOldConnectionEndsTheSuspicion) {
  Silence(4s);
  Respond(start_, 10ms);
  RespondOnNewConnection();

  EXPECT_FALSE(stream_.was_cut());
}

TEST_F(DeadConnectionDetectorTest, ANewConnectionThatRespondsAsLateDoesNotConfirmTheSuspicion) {
  Silence(4s);
  RespondOnNewConnection(4s);
  EXPECT_FALSE(stream_.was_cut());
  RespondOnNewConnection(1s);

  EXPECT_TRUE(stream_.was_cut());
}

TEST_F(DeadConnectionDetectorTest, ARequestThatIsSafeToRepeatWaitsForAThirdOfItsTime) {
  EXPECT_EQ(DeadConnectionDetector::SilenceDeadline(start_, start_ + 30s), start_ + 10s);
  EXPECT_EQ(DeadConnectionDetector::SilenceDeadline(start_, start_ + 1s), start_ + 900ms);
}

}  // namespace
}  // namespace kopp::detail
