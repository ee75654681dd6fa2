// What the API server does with the responses of webhooks: denials, errors, invalid responses.
#include "admission/webhook_test_server.hpp"

#include <atomic>
#include <latch>
#include <map>
#include <memory>
#include <string>

namespace kopp::conformance {
namespace {

using ::testing::HasSubstr;
using ::testing::SizeIs;
using ::testing::StartsWith;

class WebhookResponsesTest : public WebhookCallTest {
 protected:
  /// Returns the response to a create that a webhook with this response denies.
  JsonResponse DeniedWith(const json& status) {
    Install(Type::kValidating, {.respond = [status](const json&) {
              return status.is_null() ? json{{"allowed", false}} : Denied(status);
            }});
    return CreateMap("denied");
  }
  /// Returns the text after `failed calling webhook "w0.example.com": ` for an invalid response.
  std::string FailureOf(Type type, const Respond& respond) {
    Install(type, {.respond = respond});
    return Failure(CreateMap("failed"));
  }
  static std::string Failure(const JsonResponse& response) {
    EXPECT_EQ(response.status, 500) << response.text;
    EXPECT_EQ(response.reason(), "InternalError");
    const std::string start =
        R"(Internal error occurred: failed calling webhook "w0.example.com": )";
    EXPECT_THAT(response.message(), StartsWith(start));
    EXPECT_EQ(response.str("/details/causes/0/message"),
              response.message().substr(std::min(response.message().size(),
                                                 std::string("Internal error occurred: ").size())));
    return response.message().substr(std::min(start.size(), response.message().size()));
  }
};

// A22
TEST_F(WebhookResponsesTest, ADenialHasTheCodeAndTheMessageOfTheWebhook) {
  const JsonResponse response =
      DeniedWith({{"code", 409}, {"reason", "Conflict"}, {"message", "not now"}});

  EXPECT_EQ(response.status, 409);
  EXPECT_EQ(response.reason(), "Conflict");
  EXPECT_EQ(response.str("/status"), "Failure");
  EXPECT_EQ(response.message(),
            R"(admission webhook "w0.example.com" denied the request: not now)");
}

// A23
TEST_F(WebhookResponsesTest, ADenialWithoutMessageHasTheReason) {
  const JsonResponse response = DeniedWith({{"code", 200}, {"reason", "TooBig"}});

  EXPECT_EQ(response.status, 400);
  EXPECT_EQ(response.message(), R"(admission webhook "w0.example.com" denied the request: TooBig)");
}

// A23
TEST_F(WebhookResponsesTest, ADenialWithoutStatusHasNoExplanation) {
  const JsonResponse response = DeniedWith(nullptr);

  EXPECT_EQ(response.status, 400);
  EXPECT_EQ(response.message(),
            R"(admission webhook "w0.example.com" denied the request without explanation)");
}

// A24
TEST_F(WebhookResponsesTest, TheDetailsOfADenialReachTheClient) {
  const json details{{"name", "n"},
                     {"causes", {{{"reason", "R"}, {"message", "m"}, {"field", "data.a"}}}}};

  const JsonResponse response =
      DeniedWith({{"code", 422}, {"message", "bad"}, {"details", details}});

  EXPECT_EQ(response.at("/details"), details) << response.text;
}

// A2
TEST_F(WebhookResponsesTest, AllValidatingWebhooksAreCalledAndOneErrorIsReturned) {
  std::vector<Webhook> webhooks(3);
  webhooks[0].respond = [](const json&) { return Denied({{"code", 403}, {"message", "no"}}); };
  webhooks[2].respond = webhooks[0].respond;
  Install(Type::kValidating, webhooks);

  const JsonResponse response = CreateMap("denied");

  EXPECT_EQ(response.status, 403);
  EXPECT_THAT(response.message(), HasSubstr("denied the request: no"));
  EXPECT_THAT(Requests(), SizeIs(3));
}

// A25
TEST_F(WebhookResponsesTest, AnotherUidIsAFailure) {
  EXPECT_THAT(
      FailureOf(Type::kValidating,
                [](const json&) {
                  return json{{"uid", "other"}, {"allowed", true}};
                }),
      ::testing::MatchesRegex(
          "received invalid webhook response: expected response.uid=\".*\", got \"other\""));
}

// A28
TEST_F(WebhookResponsesTest, APatchWithoutItsTypeIsAFailure) {
  EXPECT_EQ(FailureOf(Type::kMutating,
                      [](const json&) {
                        json response = Allowed(json::array());
                        response.erase("patchType");
                        return response;
                      }),
            "received invalid webhook response: webhook returned response.patch but not "
            "response.patchType");
}

// A28
TEST_F(WebhookResponsesTest, APatchTypeWithoutAPatchIsAFailure) {
  EXPECT_EQ(FailureOf(Type::kMutating,
                      [](const json&) {
                        return json{{"allowed", true}, {"patchType", "JSONPatch"}};
                      }),
            "received invalid webhook response: webhook returned response.patchType but not "
            "response.patch");
}

TEST_F(WebhookResponsesTest, AnUnknownPatchTypeIsAFailure) {
  EXPECT_THAT(FailureOf(Type::kMutating,
                        [](const json&) {
                          json response = Allowed({{{"op", "test"}, {"path", ""}, {"value", {}}}});
                          response["patchType"] = "MergePatch";
                          return response;
                        }),
              HasSubstr("unsupported patch type \"MergePatch\""));
}

// A29
TEST_F(WebhookResponsesTest, APatchOfAValidatingWebhookIsAFailure) {
  EXPECT_EQ(FailureOf(Type::kValidating, [](const json&) { return Allowed(json::array()); }),
            "received invalid webhook response: validating webhook may not return response.patch");
}

// A29
TEST_F(WebhookResponsesTest, APatchTypeOfAValidatingWebhookIsAFailure) {
  EXPECT_EQ(
      FailureOf(Type::kValidating,
                [](const json&) {
                  return json{{"allowed", true}, {"patchType", "JSONPatch"}};
                }),
      "received invalid webhook response: validating webhook may not return response.patchType");
}

// A30
TEST_F(WebhookResponsesTest, AnUndecodablePatchIsAFailure) {
  EXPECT_THAT(FailureOf(Type::kMutating, [](const json&) { return Allowed("text"); }),
              StartsWith("received undecodable patch in webhook response: "));
}

TEST_F(WebhookResponsesTest, ADenialCountsEvenIfItsPatchCannotBeDecoded) {
  Install(Type::kMutating, {.respond =
                                [](const json&) {
                                  json response = Allowed("text");
                                  response["allowed"] = false;
                                  return response;
                                },
                            .fields = {{"failurePolicy", "Ignore"}}});

  EXPECT_EQ(CreateMap("denied").status, 400);
}

TEST_F(WebhookResponsesTest, AnEmptyPatchTextIsNoPatch) {
  Install(Type::kMutating, {.respond = [](const json&) {
            return json{{"allowed", true}, {"patch", ""}};
          }});

  EXPECT_EQ(CreateMap("empty").status, 201);
}

// A28
TEST_F(WebhookResponsesTest, AResponseOfVersionV1beta1NeedsNoPatchType) {
  Install(
      Type::kMutating,
      {.respond =
           [](const json&) {
             json response = Allowed({{{"op", "add"}, {"path", "/data"}, {"value", {{"a", "b"}}}}});
             response.erase("patchType");
             return response;
           },
       .fields = {{"admissionReviewVersions", {"v1beta1"}}}});

  EXPECT_EQ(CreateMap("beta").at("/data"), json({{"a", "b"}}));
}

// A26
TEST_F(WebhookResponsesTest, AReviewWithoutKindIsAFailure) {
  Install(Type::kValidating, {.change_response = [](HttpResponse& response) {
            json review = json::parse(response.body);
            review.erase("apiVersion");
            review.erase("kind");
            response.body = review.dump();
          }});

  EXPECT_EQ(Failure(CreateMap("kind")),
            "received invalid webhook response: expected webhook response of admission.k8s.io/v1, "
            "Kind=AdmissionReview, got /, Kind=");
}

// A27
TEST_F(WebhookResponsesTest, AReviewWithoutResponseIsAFailure) {
  Install(Type::kValidating, {.change_response = [](HttpResponse& response) {
            json review = json::parse(response.body);
            review.erase("response");
            response.body = review.dump();
          }});

  EXPECT_EQ(Failure(CreateMap("absent")),
            "received invalid webhook response: webhook response was absent");
}

// A33
TEST_F(WebhookResponsesTest, AnHttpErrorIsAFailure) {
  Install(Type::kValidating, {.change_response = [](HttpResponse& response) {
            response = {.status = 500, .body = "broken"};
          }});

  EXPECT_EQ(Failure(CreateMap("broken")),
            "failed to call webhook: an error on the server (\"broken\") has prevented the request "
            "from succeeding");
}

// A33
TEST_F(WebhookResponsesTest, TheTextOfAnHttpErrorDependsOnItsStatus) {
  const std::map<int, std::string> texts{
      {400, "the server rejected our request for an unknown reason"},
      {401, "the server has asked for the client to provide credentials"},
      {403, "broken"},
      {404, "the server could not find the requested resource"},
      {405, "the server does not allow this method on the requested resource"},
      {409, "the server reported a conflict"},
      {413, "the server responded with the status code 413 but did not return more information"},
      {415, "broken"},
      {418, "the server responded with the status code 418 but did not return more information"},
      {422, "the server rejected our request due to an error in our request"},
      {429, "the server has received too many requests and has asked us to try again later"},
      {502, R"(an error on the server ("broken") has prevented the request from succeeding)"},
      {503, "the server is currently unable to handle the request"},
      {504,
       "the server was unable to return a response in the time allotted, but may still be "
       "processing the request"}};
  const auto status = std::make_shared<std::atomic<int>>();
  Install(Type::kValidating, {.change_response = [status](HttpResponse& response) {
            response = {.status = *status, .body = "broken"};
          }});

  for (const auto& [code, text] : texts) {
    *status = code;
    EXPECT_EQ(Failure(CreateMap("status-" + std::to_string(code))),
              "failed to call webhook: " + text);
  }
}

// A32
TEST_F(WebhookResponsesTest, AFailureIsIgnoredIfThePolicySaysSo) {
  Install(Type::kMutating,
          {.fields = {{"failurePolicy", "Ignore"}},
           .change_response = [](HttpResponse& response) { response.status = 500; }});
  Install(Type::kValidating, {.respond =
                                  [](const json&) {
                                    return json{{"uid", "other"}};
                                  },
                              .fields = {{"failurePolicy", "Ignore"}}});

  EXPECT_EQ(CreateMap("ignored").status, 201);
  EXPECT_THAT(Requests(), SizeIs(2));
}

// A32
TEST_F(WebhookResponsesTest, AFieldOfAWrongTypeIsAFailureAndNoDenial) {
  int count = 0;
  for (const json& wrong :
       {json{{"allowed", "false"}}, json{{"allowed", true}, {"warnings", "w"}},
        json{{"allowed", true}, {"warnings", {1}}}, json{{"allowed", false}, {"status", "no"}},
        json{{"allowed", true}, {"patch", 1}, {"patchType", "JSONPatch"}}}) {
    Install(Type::kMutating, {.respond =
                                  [wrong](const json& request) {
                                    json response = wrong;
                                    response["uid"] = request.at("uid");
                                    return response;
                                  },
                              .fields = {{"failurePolicy", "Ignore"}}});

    EXPECT_EQ(CreateMap("map-" + std::to_string(++count)).status, 201) << wrong;
  }
}

// A32
TEST_F(WebhookResponsesTest, ADenialIsNotAFailureThatThePolicyIgnores) {
  Install(Type::kValidating, {.respond =
                                  [](const json&) {
                                    return Denied({{"code", 403}});
                                  },
                              .fields = {{"failurePolicy", "Ignore"}}});

  EXPECT_EQ(CreateMap("denied").status, 403);
}

// A34
TEST_F(WebhookResponsesTest, AServerThatDoesNotListenIsAFailure) {
  Install(Type::kValidating, {.fields = {{"clientConfig", {{"url", "https://127.0.0.1:1/x"}}}}});

  const std::string failure = Failure(CreateMap("refused"));

  EXPECT_THAT(failure,
              StartsWith("failed to call webhook: Post \"https://127.0.0.1:1/x?timeout=5s\": "));
  EXPECT_THAT(failure, HasSubstr("refused"));
}

// A35
TEST_F(WebhookResponsesTest, AWebhookThatTakesTooLongIsAFailure) {
  const auto done = std::make_shared<std::latch>(1);  // the function may return after the test
  Install(Type::kValidating, {.respond =
                                  [done](const json&) {
                                    done->wait();
                                    return Allowed();
                                  },
                              .fields = {{"timeoutSeconds", 1}}});

  const std::string failure = Failure(CreateMap("slow"));
  done->count_down();

  EXPECT_THAT(failure, HasSubstr("context deadline exceeded"));
}

}  // namespace
}  // namespace kopp::conformance
