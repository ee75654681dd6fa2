#include "decode_errors.hpp"

#include <stdexcept>
#include <stop_token>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <kopp/client.hpp>
#include <kopp/dynamic_client.hpp>
#include <kopp/kinds.hpp>
#include <kopp/testing/fake_clock.hpp>
#include <kopp/testing/scripted_transport.hpp>

namespace kopp {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

constexpr const char* kWeb = "/apis/apps/v1/namespaces/shop/deployments/web";
constexpr const char* kWebText = R"({"apiVersion":"apps/v1","kind":"Deployment",
    "metadata":{"name":"web","namespace":"shop","uid":"u1"},"spec":{"replicas":3,"unseen":[1]}})";

/// An object with apiVersion and kind of its own.
struct TypedConfigMap {
  static constexpr Kind kKind = ConfigMap::kKind;
  static constexpr bool kIsView = false;
  std::string apiVersion = {};
  std::string kind = {};
  ObjectMeta metadata = {};
};
KOPP_FIELDS(TypedConfigMap, apiVersion, kind, metadata)

class ClientTest : public ::testing::Test {
 protected:
  ApiRequest LastRequest() { return transport_.Requests().back(); }
  static json Web() { return {{"metadata", {{"name", "web"}, {"namespace", "shop"}}}}; }

  testing::FakeClock clock_;
  testing::ScriptedTransport transport_{clock_};
  Client client_{transport_, "shop-operator"};
};

TEST_F(ClientTest, GetDecodesTheObjectIntoTheView) {
  transport_.Respond("GET", kWeb, 200, kWebText);

  const auto web = client_.Get<Deployment>({"shop", "web"});

  ASSERT_TRUE(web.has_value());
  EXPECT_EQ(web->spec.replicas, 3);
}

TEST_F(ClientTest, GetOfAMissingObjectReturnsNothing) {
  EXPECT_EQ(client_.Get<Deployment>({"shop", "web"}), std::nullopt);
  EXPECT_EQ(client_.Dynamic(Deployment::kKind).Get({"shop", "web"}), std::nullopt);
}

TEST_F(ClientTest, AResponseThatIsNotAnObjectIsAnErrorThatNamesTheRequest) {
  const std::string html = "<!DOCTYPE html><title>Sign in</title>";
  for (const std::string& body : {html, std::string(), std::string("null"), std::string("[]"),
                                  std::string(R"({"canary":)")}) {
    transport_.On("GET", kWeb,
                  [&](const ApiRequest&) -> ApiResponse { return {.status = 200, .body = body}; });
    transport_.Respond("PUT", kWeb, 200, body);
    const std::string typed = DecodeErrorOf([&] {
      (void)client_.Get<Deployment>({"shop", "web"});
    });
    EXPECT_THAT(typed, HasSubstr(std::string("GET ") + kWeb +
                                 ": the response is not from a Kubernetes API server: it "));
    EXPECT_EQ(typed.find("canary"), std::string::npos) << "it may be the data of a Secret";
    EXPECT_EQ(DecodeErrorOf([&] {
                (void)client_.Dynamic(Deployment::kKind).Get({"shop", "web"});
              }),
              typed);
    EXPECT_THAT(DecodeErrorOf([&] { (void)client_.Dynamic(Deployment::kKind).Update(Web()); }),
                HasSubstr(std::string("PUT ") + kWeb));
  }
}

TEST_F(ClientTest, The404PageOfAProxyDoesNotMeanThatTheObjectIsMissing) {
  ApiResponse page{.status = 404, .body = "<html><title>404 Not Found</title></html>"};
  transport_.On("GET", kWeb, [&](const ApiRequest&) { return page; });
  transport_.On("DELETE", kWeb, [&](const ApiRequest&) { return page; });

  EXPECT_THROW((void)client_.Get<Deployment>({"shop", "web"}), ApiError);
  EXPECT_THROW((void)client_.Delete<Deployment>({"shop", "web"}), ApiError);
}

TEST_F(ClientTest, ALoginPageIsNamedByItsTitle) {
  transport_.Respond("DELETE", kWeb, 200, "<!DOCTYPE html><title>Sign in</title>");

  EXPECT_THAT(DecodeErrorOf([&] {
                (void)client_.Delete<Deployment>({"shop", "web"});
              }),
              HasSubstr("it is an HTML page, \"Sign in\"; check the address of the server, and "
                        "whether a proxy or a login page answers instead"));
}

TEST_F(ClientTest, AnErrorStatusThrowsAnApiErrorThatNamesTheRequest) {
  transport_.Respond("GET", kWeb, 403, R"({"reason":"Forbidden","message":"not you"})");

  try {
    (void)client_.Get<Deployment>({"shop", "web"});
    FAIL() << "Get returned";
  } catch (const ApiError& error) {
    EXPECT_STREQ(error.what(),
                 "GET /apis/apps/v1/namespaces/shop/deployments/web: 403 Forbidden: "
                 "not you");
  }
}

TEST_F(ClientTest, GetByKindReturnsTheWholeObject) {
  transport_.Respond("GET", kWeb, 200, kWebText);

  EXPECT_EQ(client_.Dynamic(Deployment::kKind)
                .Get({"shop", "web"})
                .value()
                .Json()
                .at("spec")
                .at("unseen"),
            json::array({1}));
}

TEST_F(ClientTest, CoreAndClusterScopedKindsHaveTheirOwnPaths) {
  (void)client_.Get<Namespace>({"", "shop"});
  EXPECT_EQ(LastRequest().target, "/api/v1/namespaces/shop");
  (void)client_.Get<Pod>({"shop", "web-0"});
  EXPECT_EQ(LastRequest().target, "/api/v1/namespaces/shop/pods/web-0");
}

TEST_F(ClientTest, NamesThatWouldChangeTheUrlPathAreRejectedBeforeTheRequest) {
  for (const std::string name : {"", ".", "..", "a/b", "a%2fb"}) {
    EXPECT_THROW((void)client_.Get<Pod>({"shop", name}), std::invalid_argument) << name;
    EXPECT_THROW((void)client_.Get<Pod>({name, "web"}), std::invalid_argument) << name;
  }
  for (const Kind& kind :
       {Kind{"v1/namespaces/other/secrets?", "Pod", "pods"}, Kind{"", "Pod", "pods"},
        Kind{"/v1", "Pod", "pods"}, Kind{"v1", "Pod", "pods/x"}}) {
    EXPECT_THROW((void)client_.Dynamic(kind).Get({"shop", "web"}), std::invalid_argument);
  }
  EXPECT_TRUE(transport_.Requests().empty());
}

TEST_F(ClientTest, ANamespaceIsRejectedForClusterScopedKindsAndRequiredForOthers) {
  EXPECT_THROW((void)client_.Get<Namespace>({"shop", "shop"}), std::invalid_argument);
  EXPECT_THROW((void)client_.Get<Pod>({"", "web"}), std::invalid_argument);
}

TEST_F(ClientTest, SpecialCharactersInANameArePercentEncoded) {
  (void)client_.Get<Pod>({"shop", "a b:c?"});

  EXPECT_EQ(LastRequest().target, "/api/v1/namespaces/shop/pods/a%20b%3Ac%3F");
}

TEST_F(ClientTest, ListReadsAllPagesAndSendsTheSelectors) {
  transport_.On("GET", "/api/v1/namespaces/shop/pods", [](const ApiRequest& request) {
    const bool second = request.target.find("continue=next") != std::string::npos;
    return ApiResponse{.status = 200,
                       .body = second ? R"({"metadata":{},"items":[{"metadata":{"name":"b"}}]})"
                                      : R"({"metadata":{"continue":"next"},
                                         "items":[{"metadata":{"name":"a"}}]})"};
  });

  const auto pods = client_.List<Pod>({.ns = "shop", .labels = "app=web,!old"});

  ASSERT_EQ(pods.size(), 2);
  EXPECT_EQ(pods[0].metadata.name, "a");
  EXPECT_EQ(pods[1].metadata.name, "b");
  EXPECT_EQ(transport_.Requests()[0].target,
            "/api/v1/namespaces/shop/pods?labelSelector=app%3Dweb%2C%21old&limit=500");
}

/// Returns the value of a parameter in the query of a request, or "".
std::string QueryParameter(const ApiRequest& request, const std::string& name) {
  const auto start = request.target.find(name + '=');
  if (start == std::string::npos) return "";
  const auto value = start + name.size() + 1;
  return request.target.substr(value, request.target.find('&', value) - value);
}

TEST_F(ClientTest, ListReadsSmallerPagesIfAPageIsTooLarge) {
  std::vector<std::string> limits;
  transport_.On("GET", "/api/v1/namespaces/shop/pods",
                [&](const ApiRequest& request) -> ApiResponse {
                  limits.push_back(QueryParameter(request, "limit"));
                  const bool second = QueryParameter(request, "continue") == "next";
                  if (std::stoi(limits.back()) > 125) {
                    throw TransportError(TransportError::Kind::kTooLarge, "too large");
                  }
                  return {.status = 200,
                          .body = second ? R"({"metadata":{},"items":[{"metadata":{"name":"b"}}]})"
                                         : R"({"metadata":{"continue":"next"},
                                 "items":[{"metadata":{"name":"a"}}]})"};
                });

  EXPECT_EQ(client_.List<Pod>({.ns = "shop"}).size(), 2);

  EXPECT_THAT(limits, ::testing::ElementsAre("500", "250", "125", "125"));
}

TEST_F(ClientTest, ListReadsPagesOfTheNewestVersionIfTheListOfVersion0IsTooLarge) {
  transport_.On("GET", "/api/v1/pods", [&](const ApiRequest& request) -> ApiResponse {
    if (QueryParameter(request, "resourceVersion") == "0") {
      throw TransportError(TransportError::Kind::kTooLarge, "too large");
    }
    return {.status = 200, .body = R"({"metadata":{},"items":[]})"};
  });

  EXPECT_TRUE(client_.List<Pod>({}, {.resource_version = "0"}).empty());

  EXPECT_EQ(transport_.Requests().size(), 2);
}

TEST_F(ClientTest, ListThrowsIfTheResponseIsNotAList) {
  for (const std::string body : {"{}", R"({"kind":"Status"})", R"({"kind":"Table","rows":[]})",
                                 R"({"kind":"Pod","metadata":{"name":"a"}})"}) {
    transport_.Respond("GET", "/api/v1/pods", 200, body);
    EXPECT_THROW((void)client_.List<Pod>(), DecodeError) << body;
  }
  transport_.Respond("GET", "/api/v1/pods", 200, R"({"kind":"PodList","items":null})");
  EXPECT_TRUE(client_.List<Pod>().empty()) << "as a server written in Go may send an empty list";
}

TEST_F(ClientTest, ListThrowsIfASingleObjectIsTooLarge) {
  transport_.On("GET", "/api/v1/pods", [](const ApiRequest&) -> ApiResponse {
    throw TransportError(TransportError::Kind::kTooLarge, "too large");
  });

  EXPECT_THROW((void)client_.List<Pod>(), TransportError);

  EXPECT_EQ(QueryParameter(transport_.Requests().back(), "limit"), "1");
}

TEST_F(ClientTest, ListStartsAgainIfItExpiresBetweenTwoPages) {
  int pages = 0;
  transport_.On("GET", "/api/v1/pods", [&](const ApiRequest& request) -> ApiResponse {
    ++pages;
    if (QueryParameter(request, "continue").empty()) {
      return {.status = 200,
              .body = R"({"metadata":{"continue":"next"},"items":[{"metadata":{"name":"a"}}]})"};
    }
    if (pages == 2) return {.status = 410, .body = R"({"reason":"Expired"})"};
    return {.status = 200, .body = R"({"metadata":{},"items":[{"metadata":{"name":"b"}}]})"};
  });

  const auto pods = client_.List<Pod>();

  ASSERT_EQ(pods.size(), 2) << "the first page must not be returned twice";
  EXPECT_EQ(pods[0].metadata.name, "a");
  EXPECT_EQ(pods[1].metadata.name, "b");
}

TEST_F(ClientTest, ListThrowsIfItExpiresAgainAndAgain) {
  transport_.On("GET", "/api/v1/pods", [&](const ApiRequest& request) -> ApiResponse {
    if (QueryParameter(request, "continue").empty()) {
      return {.status = 200, .body = R"({"metadata":{"continue":"next"},"items":[]})"};
    }
    return {.status = 410, .body = R"({"reason":"Expired"})"};
  });

  EXPECT_THROW((void)client_.List<Pod>(), ApiError);

  EXPECT_EQ(transport_.Requests().size(), 8) << "two pages, and three restarts";
}

TEST_F(ClientTest, CreatePostsTheObjectWithApiVersionKindAndFieldManager) {
  transport_.Respond("POST", "/apis/apps/v1/namespaces/shop/deployments", 201, kWebText);

  const auto web = client_.Create<Deployment>(Web());

  EXPECT_EQ(web.metadata.uid, "u1");
  EXPECT_EQ(LastRequest().target,
            "/apis/apps/v1/namespaces/shop/deployments?fieldManager=shop-operator");
  EXPECT_EQ(json::parse(LastRequest().body),
            json::parse(R"({"apiVersion":"apps/v1","kind":"Deployment",
                            "metadata":{"name":"web","namespace":"shop"}})"));
}

TEST_F(ClientTest, CreateWithoutANamespaceOrWithoutAnObjectThrows) {
  EXPECT_THROW(client_.Create<Deployment>({{"metadata", {{"name", "web"}}}}),
               std::invalid_argument);
  EXPECT_THROW(client_.Create<Deployment>(json::array()), std::invalid_argument);
}

TEST_F(ClientTest, ATypedObjectIsSentWithItsTypeAndNamespace) {
  const std::string configs = "/api/v1/namespaces/shop/configmaps";
  transport_.Respond("POST", configs, 201, R"({"metadata":{"name":"a","namespace":"shop"}})");
  transport_.Respond("PATCH", configs + "/a", 200, "{}");
  json expected{{"apiVersion", "v1"},
                {"kind", "ConfigMap"},
                {"metadata", {{"name", "a"}, {"namespace", "shop"}}},
                {"data", {{"color", "red"}}}};

  const ConfigMap config{.metadata = {.name = "a", .ns = "shop"}, .data = {{"color", "red"}}};
  client_.Create(config);
  EXPECT_EQ(json::parse(LastRequest().body), expected);
  client_.Create<ConfigMap>(config, {.dry_run = true});
  EXPECT_EQ(LastRequest().method, "POST");
  EXPECT_THAT(LastRequest().target, HasSubstr("dryRun=All"));
  EXPECT_EQ(json::parse(LastRequest().body), expected);
  client_.Apply<ConfigMap>(config, {.field_manager = "other"});
  EXPECT_EQ(LastRequest().method, "PATCH");
  EXPECT_THAT(LastRequest().target, HasSubstr("fieldManager=other"));
  EXPECT_EQ(json::parse(LastRequest().body), expected);

  client_.InNamespace("shop").Apply(
      ConfigMap{.metadata = {.name = "a"}, .data = {{"color", "red"}}});
  EXPECT_EQ(json::parse(LastRequest().body), expected);
}

TEST_F(ClientTest, ATypedObjectKeepsATypeOfItsOwn) {
  transport_.Respond("POST", "/api/v1/namespaces/shop/configmaps", 201, "{}");
  client_.Create(
      TypedConfigMap{.apiVersion = "v2", .kind = "Other", .metadata = {.name = "a", .ns = "shop"}});
  EXPECT_EQ(LastRequest().body,
            R"({"apiVersion":"v2","kind":"Other","metadata":{"name":"a","namespace":"shop"}})");
}

TEST_F(ClientTest, UpdatePutsTheObjectAndUpdateStatusItsStatus) {
  transport_.Respond("PUT", kWeb, 200, kWebText);
  transport_.Respond("PUT", std::string(kWeb) + "/status", 200, kWebText);

  client_.Update<Deployment>(Web());
  EXPECT_EQ(LastRequest().method, "PUT");
  client_.UpdateStatus<Deployment>(Web());
  EXPECT_EQ(LastRequest().target, std::string(kWeb) + "/status?fieldManager=shop-operator");
}

TEST_F(ClientTest, PatchSendsTheContentTypeOfItsPatchType) {
  transport_.Respond("PATCH", kWeb, 200, kWebText);

  client_.Patch<Deployment>({"shop", "web"}, Patch::Merge({{"spec", {{"paused", nullptr}}}}));
  EXPECT_EQ(LastRequest().content_type, "application/merge-patch+json");
  EXPECT_EQ(LastRequest().body, R"({"spec":{"paused":null}})");
  client_.Patch<Deployment>({"shop", "web"}, Patch::Json(json::array()));
  EXPECT_EQ(LastRequest().content_type, "application/json-patch+json");
}

TEST_F(ClientTest, ApplySendsForceAndTheFieldManager) {
  transport_.Respond("PATCH", kWeb, 200, kWebText);

  client_.Apply<Deployment>(Web());

  EXPECT_EQ(LastRequest().target, std::string(kWeb) + "?fieldManager=shop-operator&force=true");
  EXPECT_EQ(LastRequest().content_type, "application/apply-patch+yaml");
}

TEST_F(ClientTest, ApplyStatusSendsTheStatusAndTheUid) {
  transport_.Respond("PATCH", std::string(kWeb) + "/status", 200, kWebText);
  const auto web = Decode<Deployment>(kWebText);

  client_.ApplyStatus(web, {.availableReplicas = 2});

  const json body = json::parse(LastRequest().body);
  EXPECT_EQ(body.at("metadata"), json::parse(R"({"name":"web","namespace":"shop","uid":"u1"})"));
  EXPECT_EQ(body.at("status").at("availableReplicas"), 2);
  EXPECT_FALSE(body.contains("spec"));
}

TEST_F(ClientTest, AStatusThatIsNotFoundMayBeMissingInTheDefinition) {
  constexpr Kind kFoo{"example.com/v1", "Foo", "foos"};
  transport_.Respond("PUT", "/apis/example.com/v1/namespaces/shop/foos/web/status", 404,
                     R"({"reason":"NotFound","message":"foos.example.com \"web\" not found"})");
  try {
    client_.Dynamic(kFoo).UpdateStatus({{"metadata", {{"name", "web"}, {"namespace", "shop"}}}});
    FAIL() << "no ApiError";
  } catch (const ApiError& error) {
    EXPECT_TRUE(error.IsNotFound());
    EXPECT_THAT(error.what(), HasSubstr("\"web\" not found. If the object exists, its "
                                        "CustomResourceDefinition has no subresource status: "
                                        "add StatusSubresource() to KOPP_CRD"));
  }
}

TEST_F(ClientTest, AScaleThatIsNotFoundMayBeMissingInTheDefinitionOfACustomKind) {
  Scale scale;
  scale.metadata.name = "web";
  scale.metadata.ns = "shop";
  const auto problem_of = [&](const Kind& kind) -> std::string {
    try {
      static_cast<void>(client_.Dynamic(kind).UpdateScale(scale));
    } catch (const ApiError& error) {
      return error.what();
    }
    return "none";
  };
  const std::string advice = "has no subresource scale: add ScaleSubresource(…)";
  EXPECT_THAT(problem_of({"example.com/v1", "Foo", "foos"}), HasSubstr(advice));
  EXPECT_THAT(problem_of(Deployment::kKind), ::testing::Not(HasSubstr(advice)));
}

TEST_F(ClientTest, DeleteReturnsWhetherTheObjectExisted) {
  EXPECT_FALSE(client_.Delete<Deployment>({"shop", "web"}));
  transport_.Respond("DELETE", kWeb, 200, R"({"kind":"Status","status":"Success"})");

  EXPECT_TRUE(client_.Delete<Deployment>(
      {"shop", "web"},
      {.uid = "u1", .resource_version = "7", .propagation = DeletionPropagation::kForeground}));

  EXPECT_EQ(json::parse(LastRequest().body),
            json::parse(R"({"apiVersion":"v1","kind":"DeleteOptions",
                            "propagationPolicy":"Foreground",
                            "preconditions":{"uid":"u1","resourceVersion":"7"}})"));
}

TEST_F(ClientTest, AFailedRequestIsNotRetried) {
  transport_.On("POST", "/apis/apps/v1/namespaces/shop/deployments",
                [](const ApiRequest&) -> ApiResponse {
                  throw TransportError(TransportError::Kind::kBroken, "connection reset");
                });

  EXPECT_THROW(client_.Create<Deployment>(Web()), TransportError);
  EXPECT_EQ(transport_.Requests().size(), 1);
}

TEST_F(ClientTest, AClientSendsNoRequestAfterAStop) {
  std::stop_source source;
  source.request_stop();

  EXPECT_THROW((void)client_.With(source.get_token()).Get<Pod>({"shop", "web"}), TransportError);
  EXPECT_TRUE(transport_.Requests().empty());
}

}  // namespace
}  // namespace kopp
