// Tests the spans of reviews.
#include "webhook_fixture.hpp"

#include <chrono>
#include <map>
#include <optional>
#include <stdexcept>

#include <gmock/gmock.h>

#include <kopp/dynamic_client.hpp>
#include <kopp/testing/in_memory_tracer.hpp>

namespace kopp {
namespace {

using nlohmann::json;
using namespace std::chrono_literals;
using ::testing::HasSubstr;
using ::testing::MatchesRegex;
using ::testing::Not;
using testing::RecordedSpan;
using ::testing::SizeIs;

constexpr Kind kConfigMap{"v1", "ConfigMap", "configmaps"};

/// Fixture with a second registry, which has a tracer.
class WebhookTracingTest : public WebhookTest {
 protected:
  /// Sends `review` to a webhook of the traced registry at "/review". Returns the spans that have
  /// ended, in the order of their ends.
  std::vector<RecordedSpan> SpansOf(const AdmissionHandler& handler, const json& review) {
    traced_.AddAdmission("/review", handler, {});
    routes_ = traced_.Routes();
    static_cast<void>(Send("/review", review.dump()));
    return tracer_.Await(0);
  }
  /// Returns the only span of the review of a create.
  RecordedSpan SpanOf(const AdmissionHandler& handler) {
    const std::vector<RecordedSpan> spans = SpansOf(handler, NewReview(NewWidget(json::object())));
    EXPECT_THAT(spans, SizeIs(1));
    return spans.empty() ? RecordedSpan() : spans[0];
  }
  static void ExpectAllowed(const RecordedSpan& span, bool allowed) {
    EXPECT_EQ(span.attributes.at("kopp.allowed"), SpanValue(allowed));
  }

  testing::InMemoryTracer tracer_{clock_};
  WebhookRegistry traced_{
      {.client = client_,
       .cache = cache_,
       .metrics = metrics_,
       .tracer = &tracer_,
       .log = Logger({.write = [this](std::string_view line) { log_ += line; }}),
       .clock = clock_}};
};

TEST_F(WebhookTracingTest, ASpanDescribesTheReviewAndItsResult) {
  json review = NewReview(NewWidget(json::object()), NewWidget(json::object()));
  review["request"]["dryRun"] = true;

  const std::vector<RecordedSpan> spans = SpansOf(
      [this](const AdmissionRequest&, AdmissionContext&) {
        clock_.Advance(2s);
        return AdmissionResponse{};
      },
      review);

  ASSERT_THAT(spans, SizeIs(1));
  EXPECT_EQ(spans[0].name, "webhook /review");
  EXPECT_EQ(spans[0].kind, SpanKind::kInternal);
  EXPECT_EQ(spans[0].parent_id, "");
  EXPECT_THAT(spans[0].context.trace_id, MatchesRegex("[0-9a-f]{32}"));
  EXPECT_EQ(spans[0].end - spans[0].start, 2s);
  EXPECT_EQ(spans[0].error, std::nullopt);
  EXPECT_EQ(spans[0].attributes,
            (std::map<std::string, SpanValue>{{"kopp.operation", std::string("UPDATE")},
                                              {"kopp.object.kind", std::string("Widget")},
                                              {"k8s.namespace.name", std::string("shop")},
                                              {"kopp.object.name", std::string("w")},
                                              {"kopp.request_id", std::string("u-1")},
                                              {"kopp.dry_run", true},
                                              {"kopp.allowed", true}}));
}

TEST_F(WebhookTracingTest, EachReviewHasATraceOfItsOwn) {
  const RecordedSpan first =
      SpanOf([](const AdmissionRequest&, AdmissionContext&) { return AdmissionResponse{}; });

  static_cast<void>(SendReview("/review", NewReview(NewWidget(json::object()))));

  const std::vector<RecordedSpan> spans = tracer_.Await(0);
  ASSERT_THAT(spans, SizeIs(2));
  EXPECT_NE(spans[1].context.trace_id, first.context.trace_id);
}

TEST_F(WebhookTracingTest, ADenialIsNoErrorOfTheSpan) {
  const RecordedSpan span = SpanOf([](const AdmissionRequest&, AdmissionContext&) {
    return AdmissionResponse::Denied("not today", 422);
  });

  ExpectAllowed(span, false);
  EXPECT_EQ(span.error, std::nullopt);
}

TEST_F(WebhookTracingTest, AnExceptionIsTheErrorOfTheSpan) {
  const RecordedSpan span =
      SpanOf([](const AdmissionRequest&, AdmissionContext&) -> AdmissionResponse {
        throw std::out_of_range("map::at");
      });

  ExpectAllowed(span, false);
  EXPECT_EQ(span.error, "map::at");
}

TEST_F(WebhookTracingTest, AServerErrorOfAnApiCallIsTheErrorOfBothSpans) {
  transport_.Respond("GET", "/api/v1/namespaces/shop/configmaps/x", 500,
                     R"({"kind":"Status","status":"Failure","message":"etcd is gone","code":500})");

  const std::vector<RecordedSpan> spans = SpansOf(
      [](const AdmissionRequest&, AdmissionContext& context) {
        static_cast<void>(context.client.Dynamic(kConfigMap).Get({"shop", "x"}));
        return AdmissionResponse{};
      },
      NewReview(NewWidget(json::object())));

  ASSERT_THAT(spans, SizeIs(2));
  EXPECT_EQ(spans[0].error, "HTTP status 500");
  EXPECT_EQ(spans[1].error, "etcd is gone");
  ExpectAllowed(spans[1], false);
}

TEST_F(WebhookTracingTest, TheSpanOfAStoppedCallHasAnErrorAndNoResult) {
  const RecordedSpan span =
      SpanOf([this](const AdmissionRequest&, AdmissionContext&) -> AdmissionResponse {
        traced_.RequestStop();
        throw std::runtime_error("cancelled");
      });

  EXPECT_EQ(span.error, "the webhook was stopped: cancelled");
  EXPECT_FALSE(span.attributes.contains("kopp.allowed"));
}

TEST_F(WebhookTracingTest, TheCallsOfTheFunctionAreChildrenOfTheSpan) {
  transport_.Respond("GET", "/api/v1/namespaces/shop/configmaps/x", 200, "{}");

  const std::vector<RecordedSpan> spans = SpansOf(
      [](const AdmissionRequest&, AdmissionContext& context) {
        static_cast<void>(context.client.Dynamic(kConfigMap).Get({"shop", "x"}));
        return AdmissionResponse{};
      },
      NewReview(NewWidget(json::object())));

  ASSERT_THAT(spans, SizeIs(2));
  const RecordedSpan& call = spans[0];
  const RecordedSpan& review = spans[1];
  EXPECT_EQ(call.kind, SpanKind::kClient);
  EXPECT_EQ(call.parent_id, review.context.span_id);
  EXPECT_EQ(call.context.trace_id, review.context.trace_id);
  EXPECT_EQ(transport_.Requests().at(0).traceparent,
            "00-" + review.context.trace_id + '-' + call.context.span_id + "-01");
}

TEST_F(WebhookTracingTest, LogLinesHaveTheIdsOfTheSpan) {
  const RecordedSpan span = SpanOf([](const AdmissionRequest&, AdmissionContext& context) {
    context.log.Info("Checked");
    return AdmissionResponse{};
  });

  EXPECT_THAT(log_,
              HasSubstr("\"Checked\" webhook=\"/review\" requestID=\"u-1\" "
                        "namespace=\"shop\" name=\"w\" trace_id=\"" +
                        span.context.trace_id + "\" span_id=\"" + span.context.span_id + '"'));
}

TEST_F(WebhookTracingTest, WithoutATracerNothingIsSentOrLogged) {
  registry_.AddAdmission("/all",
                         [](const AdmissionRequest&, AdmissionContext& context) {
                           static_cast<void>(context.client.Dynamic(kConfigMap).Get({"shop", "x"}));
                           context.log.Info("Checked");
                           return AdmissionResponse{};
                         },
                         {});

  static_cast<void>(SendReview("/all", NewReview(NewWidget(json::object()))));

  EXPECT_EQ(transport_.Requests().at(0).traceparent, "");
  EXPECT_THAT(log_, HasSubstr("Checked"));
  EXPECT_THAT(log_, Not(HasSubstr("trace_id")));
}

}  // namespace
}  // namespace kopp
