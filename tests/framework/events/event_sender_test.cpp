#include "events/event_sender.hpp"

#include "events/event_correlator.hpp"
#include "events_fixture.hpp"

#include <gmock/gmock.h>

namespace kopp {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

class EventSenderTest : public EventsTest {
 protected:
  SendResult TryWith(Transport& transport) {
    EventCorrelator aggregator({"shop-operator", "a"}, clock_);
    EventSender sender(
        Client(transport), NewLogger(), aggregator, [] { return 0.0; }, 1ms);
    auto request = aggregator.Add(
        {.type = "Normal", .object = {.kind = "Pod", .ns = "shop", .name = "web"}, .reason = "A"});
    return sender.Try(*request, /*may_exist=*/false);
  }
};

TEST_F(EventSenderTest, ATryWithoutAResponseEndsAtItsTimeLimitAndIsRepeated) {
  UnresponsiveTransport transport;

  const SendResult result = TryWith(transport);

  EXPECT_EQ(result.outcome, SendResult::Outcome::kRetry);
  EXPECT_EQ(result.delay, 10s);
  EXPECT_THAT(LogText(), HasSubstr("did not respond to the write of an event in time"));
}

}  // namespace
}  // namespace kopp
