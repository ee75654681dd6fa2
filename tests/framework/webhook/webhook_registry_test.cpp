// Tests how WebhookRegistry decodes reviews, and its paths, deadlines and metrics.
#include "webhook_fixture.hpp"

#include <chrono>
#include <latch>
#include <stdexcept>
#include <thread>

#include <gmock/gmock.h>

#include <kopp/dynamic_client.hpp>

namespace kopp {
namespace {

using nlohmann::json;
using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class WebhookRegistryTest : public WebhookTest {
 protected:
  static AdmissionHandler AllowAll() {
    return [](const AdmissionRequest&, AdmissionContext&) { return AdmissionResponse{}; };
  }
  /// Sends a request that contains no valid review. Returns the message of the answer.
  std::string ErrorOf(const std::string& body, int code,
                      const std::string& content_type = "application/json") {
    const HttpResponse response = Send("/all", body, content_type);
    EXPECT_EQ(response.status, code);
    const json answer = json::parse(response.body);
    EXPECT_EQ(answer.at("kind"), "AdmissionReview");
    EXPECT_EQ(answer.at("apiVersion"), "admission.k8s.io/v1");
    EXPECT_EQ(answer.at("/response/allowed"_json_pointer), false);
    EXPECT_EQ(answer.at("/response/status/code"_json_pointer), code);
    return answer.at("/response/status/message"_json_pointer);
  }
};

// O3
TEST_F(WebhookRegistryTest, TheVersionOfTheRequestIsThatOfTheResponse) {
  registry_.AddAdmission("/all", AllowAll(), {});
  json review = NewReview(NewWidget(json::object()));
  review["apiVersion"] = "admission.k8s.io/v1beta1";

  const json answer = json::parse(Send("/all", review.dump()).body);

  EXPECT_EQ(answer, json({{"apiVersion", "admission.k8s.io/v1beta1"},
                          {"kind", "AdmissionReview"},
                          {"response", {{"uid", "u-1"}, {"allowed", true}}}}));
}

// O3
TEST_F(WebhookRegistryTest, AnExceptionIsAnsweredWithTheUidAndTheVersionOfTheRequest) {
  registry_.AddAdmission("/broken",
                         [](const AdmissionRequest&, AdmissionContext&) -> AdmissionResponse {
                           throw std::out_of_range("map::at");
                         },
                         {});
  json review = NewReview(NewWidget(json::object()));
  review["apiVersion"] = "admission.k8s.io/v1beta1";

  const json answer = json::parse(Send("/broken", review.dump()).body);

  EXPECT_EQ(answer.at("apiVersion"), "admission.k8s.io/v1beta1");
  EXPECT_EQ(answer.at("/response/uid"_json_pointer), "u-1");
  EXPECT_EQ(answer.at("/response/status/code"_json_pointer), 500);
}

// O2
TEST_F(WebhookRegistryTest, RequestsWithoutAReviewAreRejectedWith400) {
  registry_.AddAdmission("/all", AllowAll(), {});
  json other = NewReview(NewWidget(json::object()));
  other["apiVersion"] = "admission.k8s.io/v2";

  EXPECT_EQ(ErrorOf("", 400), "request body is empty");
  EXPECT_EQ(ErrorOf("{}", 400, "text/plain"), "contentType=text/plain, expected application/json");
  EXPECT_THAT(ErrorOf("{", 400), HasSubstr("cannot decode the AdmissionReview: "));
  EXPECT_THAT(ErrorOf("[1]", 400), HasSubstr("cannot decode the AdmissionReview: "));
  EXPECT_EQ(ErrorOf("{}", 400),
            "expected AdmissionReview of admission.k8s.io/v1 or v1beta1, got \"\" of \"\"");
  EXPECT_THAT(ErrorOf(other.dump(), 400), HasSubstr("got \"AdmissionReview\" of"));
  EXPECT_EQ(ErrorOf(R"({"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview"})", 400),
            "the AdmissionReview has no request");
  EXPECT_THAT(log_, HasSubstr("request body is empty"));
}

TEST_F(WebhookRegistryTest, AContentTypeMayHaveParameters) {
  registry_.AddAdmission("/all", AllowAll(), {});
  const std::string review = NewReview(NewWidget(json::object())).dump();

  EXPECT_EQ(Send("/all", review, "application/json; charset=utf-8").status, 200);
  EXPECT_EQ(Send("/all", review, "Application/JSON").status, 200);
}

TEST_F(WebhookRegistryTest, AllFieldsOfTheRequestAreDecoded) {
  registry_.AddAdmission(
      "/all",
      [](const AdmissionRequest& request, AdmissionContext&) {
        EXPECT_EQ(request.requestKind.version, "v1beta1");
        EXPECT_EQ(request.requestResource.resource, "widgets");
        EXPECT_EQ(request.subResource, "status");
        EXPECT_EQ(request.requestSubResource, "status");
        EXPECT_EQ(request.operation, AdmissionOperation::kUpdate);
        EXPECT_EQ(request.userInfo.uid, "u-alice");
        EXPECT_EQ(request.userInfo.extra.at("scopes").at(1), "b");
        EXPECT_TRUE(request.dryRun);
        EXPECT_EQ(request.options.text, R"({"kind":"UpdateOptions"})");
        EXPECT_EQ(json::parse(request.object.text).at("/spec/color"_json_pointer), "red");
        EXPECT_EQ(json::parse(request.oldObject.text).at("/spec/color"_json_pointer), "blue");
        return AdmissionResponse::Denied("seen");
      },
      {});
  json review = NewReview(NewWidget({{"color", "red"}}), NewWidget({{"color", "blue"}}));
  review["request"].update({{"requestKind", {{"version", "v1beta1"}}},
                            {"requestResource", {{"resource", "widgets"}}},
                            {"subResource", "status"},
                            {"requestSubResource", "status"},
                            {"dryRun", true},
                            {"options", {{"kind", "UpdateOptions"}}}});
  review["request"]["userInfo"].update({{"uid", "u-alice"}, {"extra", {{"scopes", {"a", "b"}}}}});

  EXPECT_EQ(SendReview("/all", review).at("/status/message"_json_pointer), "seen");
}

// O1, O11
TEST_F(WebhookRegistryTest, PathsMustBeValidAndDifferent) {
  registry_.AddAdmission("/all", AllowAll(), {});

  EXPECT_THROW(registry_.AddAdmission("/all", AllowAll(), {}), std::logic_error);
  for (const char* path : {"", "all", "//", "/a//b", "/a/", "/a b", "/ä"}) {
    EXPECT_THROW(registry_.AddAdmission(path, AllowAll(), {}), std::invalid_argument) << path;
  }
  registry_.AddAdmission("/", AllowAll(), {});
  registry_.AddAdmission("/a/B-1_c", AllowAll(), {});
  registry_.Close();
  EXPECT_THROW(registry_.AddAdmission("/late", AllowAll(), {}), std::logic_error);
}

// O1
TEST_F(WebhookRegistryTest, CustomPathsReplaceThoseOfTheKind) {
  AddWebhook({.mutate_path = "/m", .validate_path = "/v"})
      .Default([](Widget&) {})
      .Validate([](const Widget&) {})
      .ValidateDelete([](const Widget&) {});

  const json review = NewReview(NewWidget(json::object()));

  EXPECT_EQ(SendReview("/m", review).at("allowed"), true);
  EXPECT_EQ(SendReview("/v", review).at("allowed"), true);
  EXPECT_EQ(routes_.size(), 2);
}

TEST_F(WebhookRegistryTest, TheApiServersTimeoutStopsTheFunction) {
  registry_.AddAdmission("/slow",
                         [this](const AdmissionRequest&, AdmissionContext& context) {
                           static_cast<void>(SleepUntil(clock_, TimePoint::max(), context.stop));
                           return AdmissionResponse::Denied("stopped");
                         },
                         {});
  const std::string review = NewReview(NewWidget(json::object())).dump();
  HttpResponse response;
  routes_ = registry_.Routes();

  {
    const std::jthread call(
        [&] { response = Send("/slow", review, "application/json", "timeout=10s"); });
    clock_.AwaitSleepers(2);  // the function and the timer
    clock_.Advance(10s);
  }

  EXPECT_THAT(response.body, HasSubstr("stopped"));
}

TEST_F(WebhookRegistryTest, RequestStopStopsTheRunningFunctions) {
  std::latch entered{1};
  registry_.AddAdmission("/slow",
                         [&](const AdmissionRequest&, AdmissionContext& context) {
                           entered.count_down();
                           static_cast<void>(SleepUntil(clock_, TimePoint::max(), context.stop));
                           return AdmissionResponse::Denied("stopped");
                         },
                         {});
  const std::string review = NewReview(NewWidget(json::object())).dump();
  HttpResponse response;
  routes_ = registry_.Routes();

  {
    const std::jthread call([&] { response = Send("/slow", review); });
    entered.wait();
    registry_.RequestStop();
  }

  EXPECT_THAT(response.body, HasSubstr("stopped"));
}

TEST_F(WebhookRegistryTest, AFunctionThatStartsAfterRequestStopIsStoppedFromTheBeginning) {
  registry_.AddAdmission(
      "/late",
      [](const AdmissionRequest&, AdmissionContext& context) {
        return AdmissionResponse::Denied(context.stop.stop_requested() ? "stopped" : "running");
      },
      {});
  routes_ = registry_.Routes();

  registry_.RequestStop();

  EXPECT_THAT(Send("/late", NewReview(NewWidget(json::object())).dump()).body,
              HasSubstr("stopped"));
}

TEST_F(WebhookRegistryTest, AnExceptionAfterTheStopIsNoDenial) {
  registry_.AddAdmission(
      "/cancelled",
      [this](const AdmissionRequest&, AdmissionContext& context) -> AdmissionResponse {
        registry_.RequestStop();
        constexpr Kind kConfigMap{"v1", "ConfigMap", "configmaps"};
        static_cast<void>(context.client.Dynamic(kConfigMap).Get({"shop", "x"}));
        return {};
      },
      {});

  json review = NewReview(NewWidget(json::object()));
  review["apiVersion"] = "admission.k8s.io/v1beta1";
  const HttpResponse response = Send("/cancelled", review.dump());

  EXPECT_EQ(response.status, 503);
  const json answer = json::parse(response.body);
  EXPECT_EQ(answer.at("apiVersion"), "admission.k8s.io/v1beta1");
  EXPECT_EQ(answer.at("/response/uid"_json_pointer), "u-1");
  EXPECT_THAT(answer.at("/response/status/message"_json_pointer).get<std::string>(),
              HasSubstr("the webhook was stopped: "));
  EXPECT_THAT(log_, HasSubstr("\"A webhook was stopped\" webhook=\"/cancelled\" requestID=\"u-1\" "
                              "namespace=\"shop\" name=\"w\""));
  EXPECT_THAT(metrics_.Text(), HasSubstr("\ncontroller_runtime_webhook_panics_total 0\n"));
}

TEST_F(WebhookRegistryTest, ATimeoutThatTheApiServerWouldRejectIsRejected) {
  for (const Duration timeout : {Duration(0s), Duration(31s), Duration(1500ms)}) {
    EXPECT_THROW(AddWebhook({.timeout = timeout}).Default([](Widget&) {}), std::invalid_argument);
  }
}

TEST_F(WebhookRegistryTest, AMalformedOrMissingTimeoutDoesNotStopTheFunction) {
  registry_.AddAdmission("/all",
                         [](const AdmissionRequest&, AdmissionContext& context) {
                           return context.stop.stop_requested()
                                      ? AdmissionResponse::Denied("stopped")
                                      : AdmissionResponse{};
                         },
                         {});
  const std::string review = NewReview(NewWidget(json::object())).dump();

  for (const char* query : {"", "timeout=", "timeout=soon", "timeout=10", "other=1s", "timeout"}) {
    EXPECT_THAT(Send("/all", review, "application/json", query).body, HasSubstr("\"allowed\":true"))
        << query;
  }
}

TEST_F(WebhookRegistryTest, ANegativeTimeoutStopsTheFunctionAtOnce) {
  registry_.AddAdmission("/slow",
                         [this](const AdmissionRequest&, AdmissionContext& context) {
                           static_cast<void>(SleepUntil(clock_, TimePoint::max(), context.stop));
                           return AdmissionResponse::Denied("stopped");
                         },
                         {});
  const std::string review = NewReview(NewWidget(json::object())).dump();

  EXPECT_THAT(Send("/slow", review, "application/json", "timeout=-1s").body, HasSubstr("stopped"));
}

TEST_F(WebhookRegistryTest, APatchThatTheApiServerWouldRejectIsA500) {
  const auto patching = [](const std::string& patch) -> AdmissionHandler {
    return [patch](const AdmissionRequest&, AdmissionContext&) {
      return AdmissionResponse{.patch = patch};
    };
  };
  registry_.AddAdmission("/garbage", patching("{]"), {});
  registry_.AddAdmission("/object", patching("{}"), {});
  registry_.AddAdmission("/patch", patching("[]"), {});
  AddWebhook().Handle(WebhookType::kValidating, patching("[]"));
  const json create = NewReview(NewWidget(json::object()));
  const auto message_of = [this](const char* path, const json& review) {
    const json response = SendReview(path, review);
    EXPECT_EQ(response.at("/status/code"_json_pointer), 500) << path;
    return response.at("/status/message"_json_pointer).get<std::string>();
  };

  EXPECT_THAT(message_of("/garbage", create), HasSubstr("is not a JSON Patch"));
  EXPECT_THAT(message_of("/object", create), HasSubstr("is not a JSON Patch"));
  EXPECT_THAT(message_of(kValidate, create), HasSubstr("only mutating webhooks"));
  EXPECT_THAT(message_of("/patch", NewReview(nullptr, NewWidget(json::object()))),
              HasSubstr("only mutating webhooks"));
  EXPECT_EQ(SendReview("/patch", create).at("patchType"), "JSONPatch");
  EXPECT_THAT(metrics_.Text(), HasSubstr("\ncontroller_runtime_webhook_panics_total 4\n"));
}

TEST_F(WebhookRegistryTest, EachPathHasItsOwnThreadsAndLimitsOfRequests) {
  registry_.AddAdmission("/default", AllowAll(), {});
  registry_.AddAdmission("/small", AllowAll(), {.threads = 2, .max_in_flight = 7});

  const HttpServer::Routes routes = registry_.Routes();

  EXPECT_EQ(routes.at("/default").threads, 4);
  EXPECT_EQ(routes.at("/default").max_in_flight, 100);
  EXPECT_EQ(routes.at("/small").threads, 2);
  EXPECT_EQ(routes.at("/small").max_in_flight, 7);
  for (const auto& [path, route] : routes) {
    EXPECT_EQ(route.max_body_bytes_in_flight, 64 << 20) << path;
  }
}

// O10
TEST_F(WebhookRegistryTest, EachPathHasItsMetricsBeforeTheFirstRequest) {
  registry_.AddAdmission("/all", AllowAll(), {});
  static_cast<void>(registry_.Routes());

  const std::string text = metrics_.Text();

  for (const char* series : {"webhook_requests_total{code=\"200\",webhook=\"/all\"}",
                             "webhook_requests_total{code=\"500\",webhook=\"/all\"}",
                             "webhook_requests_in_flight{webhook=\"/all\"}", "webhook_panics_total",
                             "conversion_webhook_panics_total"}) {
    EXPECT_THAT(text, HasSubstr(std::string("\ncontroller_runtime_") + series + " 0\n"));
  }
  std::vector<std::string> bounds;
  const std::string start = "webhook_latency_seconds_bucket{webhook=\"/all\",le=\"";
  for (auto at = text.find(start); at != std::string::npos; at = text.find(start, at + 1)) {
    const auto first = at + start.size();
    bounds.push_back(text.substr(first, text.find('"', first) - first));
  }
  // The rounding is that of Go.
  EXPECT_THAT(bounds, ElementsAre("1e-08", "1e-07", "1e-06", "9.999999999999999e-06",
                                  "9.999999999999999e-05", "0.001", "0.01", "0.1", "1", "10", "100",
                                  "1000", "+Inf"));
}

TEST_F(WebhookRegistryTest, TheStateOfEachWebhookIsDescribed) {
  AddWebhook().Validate([](const Widget& widget) {
    if (widget.spec.owner.empty()) throw AdmissionDenied("no owner");
    if (widget.spec.owner == "broken") throw std::out_of_range("map::at");
  });
  registry_.AddAdmission("/all", AllowAll(), {.max_in_flight = 7});
  for (const char* owner : {"alice", "broken", ""}) {
    static_cast<void>(SendReview(kValidate, NewReview(NewWidget({{"owner", owner}}))));
  }

  const std::vector<DebugWebhook> webhooks = registry_.Describe();

  ASSERT_EQ(webhooks.size(), 2);
  EXPECT_EQ(webhooks[0].path, "/all");
  EXPECT_EQ(webhooks[0].kind, "");
  EXPECT_EQ(webhooks[0].max_in_flight, 7);
  EXPECT_EQ(webhooks[0].requests, 0);
  EXPECT_EQ(webhooks[1].path, kValidate);
  EXPECT_EQ(webhooks[1].kind, "validating widgets.v1.shop.example.com");
  EXPECT_EQ(webhooks[1].in_flight, 0);
  EXPECT_EQ(webhooks[1].requests, 3);
  EXPECT_EQ(webhooks[1].denied, 1);
  EXPECT_EQ(webhooks[1].failed, 1);
  EXPECT_EQ(webhooks[1].last_failure, "std::out_of_range: map::at");
}

// O10
TEST_F(WebhookRegistryTest, RequestsAreCountedByPathAndCode) {
  registry_.AddAdmission("/all", AllowAll(), {});
  registry_.AddAdmission("/other", AllowAll(), {});
  static_cast<void>(SendReview("/all", NewReview(NewWidget(json::object()))));
  static_cast<void>(ErrorOf("", 400));

  const std::string text = metrics_.Text();

  for (const char* line :
       {"controller_runtime_webhook_requests_total{code=\"200\",webhook=\"/all\"} 1",
        "controller_runtime_webhook_requests_total{code=\"400\",webhook=\"/all\"} 1",
        "controller_runtime_webhook_requests_total{code=\"500\",webhook=\"/other\"} 0",
        "controller_runtime_webhook_requests_in_flight{webhook=\"/all\"} 0",
        "controller_runtime_webhook_latency_seconds_count{webhook=\"/all\"} 2",
        "controller_runtime_webhook_panics_total 0"}) {
    EXPECT_THAT(text, HasSubstr(std::string("\n") + line + '\n'));
  }
}

}  // namespace
}  // namespace kopp
