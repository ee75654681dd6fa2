#pragma once

#include <functional>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <kopp/client.hpp>
#include <kopp/kinds.hpp>
#include <kopp/testing/api_server.hpp>
#include <kopp/testing/fake_clock.hpp>

namespace kopp::testing {

/// Fixture with a server whose webhooks are functions of the test. Webhooks are for all writes of
/// ConfigMaps.
class InProcessWebhooks : public ::testing::Test {
 protected:
  using json = nlohmann::json;  // NOLINT(readability-identifier-naming)

  static json Allowed() { return {{"allowed", true}}; }
  static json Denied() { return {{"allowed", false}, {"status", {{"code", 403}}}}; }

  /// Creates the configuration "hooks". Each webhook needs a name, "NAME.example.com".
  void Install(const std::string& plural, std::vector<json> webhooks) {
    for (json& webhook : webhooks) {
      const std::string name = webhook.at("name");
      json defaults{{"clientConfig", {{"url", "https://x/" + name.substr(0, name.find('.'))}}},
                    {"admissionReviewVersions", {"v1"}},
                    {"sideEffects", "None"},
                    {"rules",
                     {{{"operations", {"*"}},
                       {"apiGroups", {""}},
                       {"apiVersions", {"v1"}},
                       {"resources", {"configmaps"}}}}}};
      defaults.update(webhook);
      webhook = std::move(defaults);
    }
    const ApiResponse created = server_.transport().Call(
        {.method = "POST",
         .target = "/apis/admissionregistration.k8s.io/v1/" + plural,
         .body = json{{"metadata", {{"name", "hooks"}}}, {"webhooks", webhooks}}.dump()});
    ASSERT_EQ(created.status, 201) << created.body;
  }

  void CreateMap(const std::string& name) {
    client_.Create(ConfigMap{.metadata = {.name = name, .ns = "default"}});
  }
  ApiError CreateError(const std::string& name) {
    try {
      CreateMap(name);
    } catch (const ApiError& error) {
      return error;
    }
    throw std::runtime_error("the create of " + name + " was not rejected");
  }

  FakeClock clock_;
  /// Called before `respond_`.
  std::function<void(const WebhookCall& call)> on_call_ = [](const WebhookCall&) {};
  /// Returns the field `response` for the field `request` of a review, to which "webhook" is added:
  /// the name before the first dot.
  std::function<json(const json& request)> respond_ = [](const json&) { return Allowed(); };
  ApiServer server_{{.clock = clock_, .call_webhook = [this](const WebhookCall& call) {
                       on_call_(call);
                       json review = json::parse(call.body);
                       json request = review.at("request");
                       request["webhook"] = call.url.substr(call.url.rfind('/') + 1);
                       json response = respond_(request);
                       response["uid"] = request.at("uid");
                       review.erase("request");
                       review["response"] = std::move(response);
                       return review.dump();
                     }}};
  Client client_{server_.transport()};
};

}  // namespace kopp::testing
