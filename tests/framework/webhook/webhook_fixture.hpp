#pragma once

#include "webhook/webhook_registry.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <kopp/informer/fields.hpp>
#include <kopp/informer/object.hpp>
#include <kopp/standalone_cache.hpp>
#include <kopp/testing/fake_clock.hpp>
#include <kopp/testing/scripted_transport.hpp>
#include <kopp/webhook/webhook_builder.hpp>

namespace kopp {

/// A view of a kind: it lacks the field `color` of a spec and `size` of a part.
struct Widget {
  static constexpr Kind kKind{"shop.example.com/v1", "Widget", "widgets"};
  struct Part {
    std::string name;
    std::string image;
  };
  struct Spec {
    std::optional<std::int32_t> replicas;
    std::string owner;
    std::vector<Part> parts;
  };
  ObjectMeta metadata;
  Spec spec;
};
KOPP_FIELDS(Widget::Part, name, image)
KOPP_FIELDS(Widget::Spec, replicas, owner, parts)
KOPP_FIELDS(Widget, metadata, spec)

/// Webhooks without a server: requests are passed to their routes.
class WebhookTest : public ::testing::Test {
 protected:
  static constexpr const char* kMutate = "/mutate-shop-example-com-v1-widget";
  static constexpr const char* kValidate = "/validate-shop-example-com-v1-widget";

  WebhookBuilder<Widget> AddWebhook(const WebhookOptions& options = {}) {
    return {[this](KindWebhook webhook) { registry_.Add(std::move(webhook)); }, options};
  }

  /// Returns an object with the fields of `spec`.
  static nlohmann::json NewWidget(nlohmann::json spec) {
    return {{"apiVersion", "shop.example.com/v1"},
            {"kind", "Widget"},
            {"metadata", {{"name", "w"}, {"namespace", "shop"}}},
            {"spec", std::move(spec)}};
  }
  /// Returns a review of a create, or of an update if `old` is not null, or of a delete if `object`
  /// is null.
  static nlohmann::json NewReview(const nlohmann::json& object,
                                  const nlohmann::json& old = nullptr) {
    const char* operation = object.is_null() ? "DELETE" : old.is_null() ? "CREATE" : "UPDATE";
    return {
        {"apiVersion", "admission.k8s.io/v1"},
        {"kind", "AdmissionReview"},
        {"request",
         {{"uid", "u-1"},
          {"kind", {{"group", "shop.example.com"}, {"version", "v1"}, {"kind", "Widget"}}},
          {"resource", {{"group", "shop.example.com"}, {"version", "v1"}, {"resource", "widgets"}}},
          {"name", "w"},
          {"namespace", "shop"},
          {"operation", operation},
          {"userInfo", {{"username", "alice"}, {"groups", {"dev"}}}},
          {"object", object},
          {"oldObject", old},
          {"dryRun", false}}}};
  }

  HttpResponse Send(const std::string& path, const std::string& body,
                    const std::string& content_type = "application/json",
                    const std::string& query = "") {
    if (routes_.empty()) routes_ = registry_.Routes();
    return routes_.at(path).handler({.method = "POST",
                                     .path = path,
                                     .query = query,
                                     .body = body,
                                     .headers = {{"content-type", content_type}}});
  }
  /// Sends a review. Returns the field `response` of the answer.
  nlohmann::json SendReview(const std::string& path, const nlohmann::json& review) {
    const HttpResponse response = Send(path, review.dump());
    EXPECT_EQ(response.status, 200) << response.body;
    return nlohmann::json::parse(response.body).at("response");
  }

  testing::FakeClock clock_;
  testing::ScriptedTransport transport_{clock_};
  Client client_{transport_, "shop-operator"};
  StandaloneCache cache_{transport_, {}, Logger(), clock_};
  Metrics metrics_;
  std::string log_;
  WebhookRegistry registry_{
      {.client = client_,
       .cache = cache_,
       .metrics = metrics_,
       .log = Logger({.write = [this](std::string_view line) { log_ += line; }}),
       .clock = clock_}};
  HttpServer::Routes routes_;  // empty before the first request
};

}  // namespace kopp
