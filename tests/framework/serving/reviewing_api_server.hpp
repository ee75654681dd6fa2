#pragma once

#include <atomic>
#include <functional>
#include <string>

#include <nlohmann/json.hpp>

#include <kopp/client.hpp>
#include <kopp/testing/fake_clock.hpp>
#include <kopp/testing/scripted_transport.hpp>

namespace kopp::testing {

/// A scripted API server that reviews tokens and access: the token "good" belongs to the user
/// "prometheus", who may `get` /metrics; the token "other" to a user who may do nothing.
class ReviewingApiServer {
 public:
  static constexpr const char* kTokenReviews = "/apis/authentication.k8s.io/v1/tokenreviews";
  static constexpr const char* kAccessReviews =
      "/apis/authorization.k8s.io/v1/subjectaccessreviews";

  explicit ReviewingApiServer(Clock& clock) : transport_(clock) {
    transport_.On("POST", kTokenReviews, [this](const ApiRequest& request) {
      ++token_reviews_;
      if (before_token_review) before_token_review();
      return ApiResponse{.status = 201, .body = ReviewToken(request.body).dump()};
    });
    transport_.On("POST", kAccessReviews, [this](const ApiRequest& request) {
      ++access_reviews_;
      return ApiResponse{.status = 201, .body = ReviewAccess(request.body).dump()};
    });
  }

  [[nodiscard]] ScriptedTransport& transport() { return transport_; }
  [[nodiscard]] Client client() { return Client(transport_); }
  [[nodiscard]] int token_reviews() const { return token_reviews_; }
  [[nodiscard]] int access_reviews() const { return access_reviews_; }

  std::function<void()> before_token_review;  ///< called in each TokenReview, unless empty

 private:
  static nlohmann::json ReviewToken(const std::string& body) {
    auto review = nlohmann::json::parse(body);
    const std::string token = review["spec"]["token"];
    if (token == "good" || token == "other") {
      const std::string name = token == "good" ? "prometheus" : "stranger";
      review["status"] = {{"authenticated", true},
                          {"user", {{"username", name}, {"uid", "1"}, {"groups", {"scrapers"}}}}};
    } else {
      review["status"] = {{"user", nlohmann::json::object()}, {"error", "invalid bearer token"}};
    }
    return review;
  }
  static nlohmann::json ReviewAccess(const std::string& body) {
    auto review = nlohmann::json::parse(body);
    const auto& spec = review["spec"];
    const bool is_allowed =
        spec["user"] == "prometheus" && spec["groups"] == nlohmann::json{"scrapers"} &&
        spec["nonResourceAttributes"] == nlohmann::json{{"path", "/metrics"}, {"verb", "get"}};
    review["status"] = {{"allowed", is_allowed}};
    return review;
  }

  ScriptedTransport transport_;
  std::atomic<int> token_reviews_ = 0;
  std::atomic<int> access_reviews_ = 0;
};

}  // namespace kopp::testing
