#include "controller/standalone_controller.hpp"

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <kopp/dynamic_client.hpp>
#include <kopp/manager.hpp>
#include <kopp/testing/in_memory_tracer.hpp>

namespace kopp {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;
using ::testing::MatchesRegex;
using ::testing::Not;
using testing::RecordedSpan;

class ReconcileTracingTest : public StandaloneControllerTest {
 protected:
  Controller::Impl& NewTracedController(Reconciler reconcile, ControllerOptions options = {}) {
    Controller::Impl& controller = NewController(std::move(reconcile), std::move(options));
    controller.SetTracer(&tracer_);
    return controller;
  }
  testing::InMemoryTracer tracer_{clock_};
};

TEST_F(ReconcileTracingTest, ARequestHasATraceparentInTheTraceOfTheReconcile) {
  transport_.Respond("GET", "/api/v1/namespaces/ns/pods/a", 200, "{}");
  NewTracedController([&](const ObjectKey& key, Context& context) {
    clock_.Advance(2s);
    static_cast<void>(context.client.Dynamic(Pod::kKind).Get(key));
    return Result{};
  });
  ReconcileOnce();

  const std::vector<RecordedSpan> spans = tracer_.Await(2);
  const RecordedSpan& call = spans.at(0);
  const RecordedSpan& reconcile = spans.at(1);
  EXPECT_EQ(transport_.Requests().at(0).traceparent,
            "00-" + reconcile.context.trace_id + '-' + call.context.span_id + "-01");
  EXPECT_EQ(call.parent_id, reconcile.context.span_id);
  EXPECT_EQ(call.kind, SpanKind::kClient);
  EXPECT_EQ(call.name, "GET /api/v1/namespaces/{namespace}/pods/{name}");
  EXPECT_EQ(call.attributes.at("http.response.status_code"), SpanValue(std::int64_t{200}));
  EXPECT_EQ(reconcile.name, "reconcile pod");
  EXPECT_EQ(reconcile.parent_id, "");
  EXPECT_EQ(reconcile.end - reconcile.start, 2s);
  EXPECT_THAT(reconcile.context.trace_id, MatchesRegex("[0-9a-f]{32}"));
  EXPECT_THAT(reconcile.context.span_id, MatchesRegex("[0-9a-f]{16}"));
}

TEST_F(ReconcileTracingTest, TheSpanHasTheObjectTheReasonsAndTheResult) {
  std::string id;
  NewTracedController(
      [&](const ObjectKey&, Context& context) {
        id = context.reconcile_id;
        context.span->SetAttribute("sites", std::int64_t{3});
        return Result{.requeue_after = 1s};
      },
      {.reasons = true, .track_times = true});
  controller_->EventsOf("clock").Add(key_);
  ReconcileOnce();

  const RecordedSpan span = tracer_.Await(1).at(0);
  EXPECT_EQ(span.attributes.at("kopp.controller"), SpanValue(std::string("pod")));
  EXPECT_EQ(span.attributes.at("k8s.namespace.name"), SpanValue(std::string("ns")));
  EXPECT_EQ(span.attributes.at("kopp.object.name"), SpanValue(std::string("a")));
  EXPECT_EQ(span.attributes.at("kopp.reconcile_id"), SpanValue(id));
  EXPECT_EQ(span.attributes.at("kopp.result"), SpanValue(std::string("requeue_after")));
  EXPECT_EQ(span.attributes.at("kopp.reasons"), SpanValue(std::string("clock event")));
  EXPECT_EQ(span.attributes.at("kopp.queue_wait_seconds"), SpanValue(0.0));
  EXPECT_EQ(span.attributes.at("sites"), SpanValue(std::int64_t{3}));
  EXPECT_EQ(span.error, std::nullopt);
}

TEST_F(ReconcileTracingTest, ErrorsOfCallsAndReconcilesAreInTheirSpans) {
  transport_.Respond("GET", "/api/v1/namespaces/ns/pods", 500, "{}");
  NewTracedController([&](const ObjectKey&, Context& context) {
    static_cast<void>(context.client.Dynamic(Pod::kKind).List({.ns = "ns"}));
    return Result{};
  });
  ReconcileOnce();

  const std::vector<RecordedSpan> spans = tracer_.Await(2);
  EXPECT_EQ(spans.at(0).error, "HTTP status 500");
  EXPECT_EQ(spans.at(1).error, AwaitEvents(1).at(0).error);
  EXPECT_EQ(spans.at(1).attributes.at("kopp.result"), SpanValue(std::string("error")));
}

TEST_F(ReconcileTracingTest, LogLinesHaveTheIdsOfTheSpan) {
  NewTracedController([&](const ObjectKey&, Context& context) {
    context.log.Info("Scaled");
    return Result{};
  });
  ReconcileOnce();

  const SpanContext context = tracer_.Await(1).at(0).context;
  EXPECT_THAT(LogText(), HasSubstr("trace_id=\"" + context.trace_id + "\" span_id=\"" +
                                   context.span_id + '"'));
}

TEST_F(ReconcileTracingTest, WithoutATracerNothingIsSentOrLogged) {
  NewController([&](const ObjectKey& key, Context& context) {
    EXPECT_EQ(context.span, nullptr);
    static_cast<void>(context.client.Dynamic(Pod::kKind).Get(key));
    return Result{};
  });
  ReconcileOnce();

  EXPECT_EQ(transport_.Requests().at(0).traceparent, "");
  EXPECT_THAT(LogText(), Not(HasSubstr("trace_id")));
}

TEST(SpanContextTest, AChildIsInTheTraceOfItsParent) {
  const SpanContext parent = SpanContext::New(nullptr);
  const SpanContext child = SpanContext::New(&parent);

  EXPECT_EQ(child.trace_id, parent.trace_id);
  EXPECT_NE(child.span_id, parent.span_id);
  EXPECT_EQ((SpanContext{"a", "b", false}).Traceparent(), "00-a-b-00");
}

}  // namespace
}  // namespace kopp
