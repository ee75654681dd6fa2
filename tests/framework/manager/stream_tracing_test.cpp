#include "manager_fixture.hpp"

#include <algorithm>
#include <memory>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <kopp/kinds.hpp>
#include <kopp/testing/in_memory_tracer.hpp>

namespace kopp {
namespace {

using ::testing::HasSubstr;
using testing::RecordedSpan;

class StreamTracingTest : public ManagerTest {
 protected:
  /// Runs a manager that watches Pods until `until` returns; returns the spans.
  template <typename F>
  std::vector<RecordedSpan> SpansOfManager(F until) {
    const auto tracer = std::make_shared<testing::InMemoryTracer>(clock_);
    Manager manager{Options{
        .log = RecordingLogger(), .tracer = tracer, .transport = transport_, .clock = clock_}};
    manager.cache().InformerFor<Pod>();
    std::jthread runner([&](const std::stop_token& stop) { manager.Run(stop); });
    until();
    runner.request_stop();
    runner.join();
    return tracer->Await(0);
  }
  static RecordedSpan Find(const std::vector<RecordedSpan>& spans, const std::string& name) {
    const auto found = std::ranges::find(spans, name, &RecordedSpan::name);
    if (found != spans.end()) return *found;
    ADD_FAILURE() << "there is no span " << name;
    return {};
  }
};

TEST_F(StreamTracingTest, AWatchHasASpanUntilItEnds) {
  const auto spans = SpansOfManager([&] {
    transport_->Await("WATCH", kPods);
    clock_.AwaitSleepers(1);  // the watch reads
    clock_.Advance(std::chrono::seconds(2));
  });

  const RecordedSpan watch = Find(spans, "WATCH /api/v1/pods");
  EXPECT_EQ(watch.kind, SpanKind::kClient);
  EXPECT_EQ(watch.parent_id, "");
  EXPECT_EQ(watch.error, std::nullopt) << "a stop is no error";
  EXPECT_EQ(watch.attributes.at("http.response.status_code"), SpanValue(std::int64_t{200}));
  EXPECT_EQ(watch.end - watch.start, std::chrono::seconds(2));
  const auto requests = transport_->Requests();
  EXPECT_TRUE(std::ranges::any_of(requests, [&](const ApiRequest& request) {
    return request.traceparent == watch.context.Traceparent();
  }));
}

TEST_F(StreamTracingTest, AListThatFailsHasASpanWithTheError) {
  transport_->Respond("GET", kPods, 403, R"({"reason":"Forbidden"})");

  const auto spans = SpansOfManager([&] { AwaitLog("Reflector error"); });

  EXPECT_THAT(Find(spans, "GET /api/v1/pods").error, ::testing::Optional(HasSubstr("403")));
}

}  // namespace
}  // namespace kopp
