#include <chrono>
#include <optional>
#include <ostream>
#include <string>
#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <kopp/informer/api_error.hpp>

namespace kopp {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

TEST(ApiErrorTest, MessageHasTheRequestAndTheStatus) {
  const auto error = ApiError::FromBody(
      "PUT /apis/g/v1/foos/a", 409,
      R"({"kind": "Status", "reason": "Conflict", "message": "the object has been modified",
          "code": 409})");

  EXPECT_STREQ(error.what(),
               "PUT /apis/g/v1/foos/a: 409 Conflict: the object has been modified (read the object "
               "again and repeat the change)");
  EXPECT_TRUE(error.IsConflict());
  EXPECT_FALSE(error.IsAlreadyExists());
}

TEST(ApiErrorTest, AlreadyExistsIsNotAConflictAlthoughBothAre409) {
  const auto error = ApiError::FromBody("POST /x", 409, R"({"reason": "AlreadyExists"})");

  EXPECT_TRUE(error.IsAlreadyExists());
  EXPECT_FALSE(error.IsConflict());
}

TEST(ApiErrorTest, ABodyThatIsNotAStatusIsQuotedAsOneLine) {
  const auto error = ApiError::FromBody("GET /x", 508, "\n upstream  is\r\nlooping\n");

  EXPECT_STREQ(error.what(), "GET /x: 508: the response body is not a Status: upstream is looping");
  EXPECT_TRUE(error.IsServerFault());
}

TEST(ApiErrorTest, AJsonBodyThatIsNotAStatusIsQuoted) {
  EXPECT_STREQ(ApiError::FromBody("GET /x", 508, R"({"error":"upstream down"})").what(),
               "GET /x: 508: the response body is not a Status: {\"error\":\"upstream down\"}");
  const auto forbidden = ApiError::FromBody("GET /api/v1/pods", 403, R"({"error":"no"})");
  EXPECT_EQ(std::string(forbidden.what()).find("grant"), std::string::npos);
}

TEST(ApiErrorTest, AnHtmlPageIsNamedByItsTitle) {
  const auto error = ApiError::FromBody(
      "GET /x", 403, "<!DOCTYPE html>\n<HTML><head><Title>Sign\nin</Title></head></HTML>");

  EXPECT_STREQ(error.what(),
               "GET /x: 403: the response is an HTML page, \"Sign in\" (an API server sends JSON: "
               "check the address of the server, and whether a proxy or a login page answers "
               "instead)");
}

TEST(ApiErrorTest, AnHtmlPageWithoutATitleIsQuoted) {
  EXPECT_THAT(ApiError::FromBody("GET /x", 502, "<html>\nbad gateway</html>").what(),
              HasSubstr("the response is an HTML page: <html> bad gateway</html> (an API server"));
}

TEST(ApiErrorTest, AnHtmlPageWithStatus401SaysThatTheCredentialsWereRejected) {
  EXPECT_THAT(ApiError::FromBody("GET /x", 401, "<html>log in</html>").what(),
              HasSubstr("(the credentials were rejected or have expired"));
}

TEST(ApiErrorTest, IsGoneIsTrueForCode410AndForReasonExpired) {
  EXPECT_TRUE(ApiError("WATCH", {.code = 410}).IsGone());
  EXPECT_TRUE(ApiError("WATCH", {.reason = "Expired", .code = 500}).IsGone());
  EXPECT_FALSE(ApiError("WATCH", {.code = 404}).IsGone());
}

TEST(ApiErrorTest, IsTooLargeVersionIsTrueForTheCauseResourceVersionTooLarge) {
  const auto error = ApiError::FromBody(
      "GET /x", 504,
      R"({"reason": "Timeout", "details": {"causes": [{"reason": "ResourceVersionTooLarge",
          "message": "Too large resource version"}], "retryAfterSeconds": 1}})");

  EXPECT_TRUE(error.IsTooLargeVersion());
  EXPECT_EQ(error.retry_after(), 1s);
}

TEST(ApiErrorTest, TheRetryAfterHeaderTakesPrecedenceOverTheBody) {
  const auto error =
      ApiError::FromBody("GET /x", 429, R"({"details": {"retryAfterSeconds": 1}})", 7s);

  EXPECT_EQ(error.retry_after(), 7s);
}

TEST(ApiErrorTest, ANegativeRetryAfterInTheBodyIsIgnored) {
  EXPECT_EQ(ApiError("GET /x", {.details = {.retryAfterSeconds = -5}}).retry_after(), std::nullopt);
}

// Predicates.

struct PredicateCase {
  bool (ApiError::*predicate)() const;
  std::string reason;
  int code;
  bool by_code;  // the predicate compares the code if the reason is unknown
};

void PrintTo(const PredicateCase& test_case, std::ostream* out) { *out << test_case.reason; }

class ApiErrorPredicateTest : public ::testing::TestWithParam<PredicateCase> {
 protected:
  static bool IsTrue(const std::string& reason, int code) {
    const ApiError error("GET /x", {.reason = reason, .code = code});
    return (error.*GetParam().predicate)();
  }
};

TEST_P(ApiErrorPredicateTest, IsTrueForItsReason) {
  EXPECT_TRUE(IsTrue(GetParam().reason, GetParam().code));
  EXPECT_TRUE(IsTrue(GetParam().reason, 400)) << "the reason takes precedence over the code";
}

TEST_P(ApiErrorPredicateTest, AnUnknownReasonIsDecidedByTheCode) {
  EXPECT_EQ(IsTrue("", GetParam().code), GetParam().by_code);
  EXPECT_EQ(IsTrue("FutureReason", GetParam().code), GetParam().by_code);
  EXPECT_FALSE(IsTrue("", 418));
}

TEST_P(ApiErrorPredicateTest, IsFalseForAnotherKnownReason) {
  const bool ignores_reason = GetParam().code == 429 || GetParam().reason == "Gone";
  EXPECT_EQ(IsTrue("StoreReadError", GetParam().code), ignores_reason);
}

INSTANTIATE_TEST_SUITE_P(
    Reasons, ApiErrorPredicateTest,
    ::testing::Values(
        PredicateCase{&ApiError::IsBadRequest, "BadRequest", 400, true},
        PredicateCase{&ApiError::IsUnauthorized, "Unauthorized", 401, true},
        PredicateCase{&ApiError::IsForbidden, "Forbidden", 403, true},
        PredicateCase{&ApiError::IsNotFound, "NotFound", 404, true},
        PredicateCase{&ApiError::IsMethodNotSupported, "MethodNotAllowed", 405, true},
        PredicateCase{&ApiError::IsNotAcceptable, "NotAcceptable", 406, true},
        PredicateCase{&ApiError::IsAlreadyExists, "AlreadyExists", 409, false},
        PredicateCase{&ApiError::IsConflict, "Conflict", 409, true},
        PredicateCase{&ApiError::IsGone, "Gone", 410, true},
        PredicateCase{&ApiError::IsExpired, "Expired", 410, false},
        PredicateCase{&ApiError::IsRequestEntityTooLarge, "RequestEntityTooLarge", 413, true},
        PredicateCase{&ApiError::IsUnsupportedMediaType, "UnsupportedMediaType", 415, true},
        PredicateCase{&ApiError::IsInvalid, "Invalid", 422, true},
        PredicateCase{&ApiError::IsTooManyRequests, "TooManyRequests", 429, true},
        PredicateCase{&ApiError::IsInternalError, "InternalError", 500, true},
        PredicateCase{&ApiError::IsServerTimeout, "ServerTimeout", 500, false},
        PredicateCase{&ApiError::IsServiceUnavailable, "ServiceUnavailable", 503, true},
        PredicateCase{&ApiError::IsTimeout, "Timeout", 504, true}),
    [](const auto& test) { return test.param.reason; });

TEST(ApiErrorTest, HasCauseComparesTheReasonOfEachCause) {
  const ApiError error(
      "POST /api/v1/namespaces/shop/pods",
      {.code = 403,
       .details = {.causes = {{.reason = "Other"}, {.reason = "NamespaceTerminating"}}}});

  EXPECT_TRUE(error.HasCause("NamespaceTerminating"));
  EXPECT_TRUE(error.IsNamespaceTerminating());
  EXPECT_FALSE(error.HasCause("FieldManagerConflict"));
}

// Hints.

/// Returns what() without the request and the code.
std::string Hint(const std::string& request, Status status) {
  const std::string prefix = request + ": " + std::to_string(status.code);
  const std::string what = ApiError(request, std::move(status)).what();
  return what.substr(0, prefix.size()) == prefix ? what.substr(prefix.size()) : what;
}

constexpr const char* kFooStatus =
    "/apis/samplecontroller.k8s.io/v1alpha1/namespaces/shop/foos/a/status";

TEST(ApiErrorHintTest, ForbiddenNamesTheVerbTheResourceAndTheNamespaceToGrant) {
  EXPECT_EQ(Hint(std::string("PATCH ") + kFooStatus + "?force=true", {.code = 403}),
            " (grant verb patch on foos/status in API group samplecontroller.k8s.io with a Role in "
            "namespace shop)");
  EXPECT_EQ(Hint("WATCH /api/v1/pods?watch=true", {.code = 403}),
            " (grant verbs list and watch on pods in the core API group with a ClusterRole)");
}

TEST(ApiErrorHintTest, ForbiddenDerivesTheVerbFromTheMethodAndThePath) {
  const auto verb = [](const std::string& method, const std::string& path) {
    const std::string hint = Hint(method + " " + path, {.code = 403});
    return hint.substr(8, hint.find(" on ") - 8);
  };
  EXPECT_EQ(verb("GET", "/api/v1/pods"), "verb list");
  EXPECT_EQ(verb("GET", "/api/v1/pods?watch=true"), "verb watch");
  EXPECT_EQ(verb("GET", "/api/v1/namespaces/shop/pods/a"), "verb get");
  EXPECT_EQ(verb("POST", "/api/v1/namespaces/shop/pods"), "verb create");
  EXPECT_EQ(verb("PUT", "/api/v1/namespaces/shop/pods/a"), "verb update");
  EXPECT_EQ(verb("DELETE", "/api/v1/namespaces/shop/pods/a"), "verb delete");
  EXPECT_EQ(verb("DELETE", "/api/v1/namespaces/shop/pods"), "verb deletecollection");
}

TEST(ApiErrorHintTest, ForbiddenByAnAuthorizerIsRecognizedByItsMessage) {
  const std::string message = R"(pods "a" is forbidden: User "me" cannot get resource "pods")";
  EXPECT_EQ(Hint("GET /api/v1/namespaces/shop/pods/a",
                 {.message = message, .reason = "Forbidden", .code = 403}),
            " Forbidden: " + message +
                " (grant verb get on pods in the core API group with a Role in namespace shop)");
}

TEST(ApiErrorHintTest, ForbiddenNamesTheVerbThatTheServerDenied) {
  EXPECT_EQ(
      Hint("PATCH /api/v1/namespaces/shop/pods/a",
           {.message = R"(User "me" cannot create resource "pods" in API group "")", .code = 403}),
      R"(: User "me" cannot create resource "pods" in API group "" (grant verb create on )"
      "pods in the core API group with a Role in namespace shop)");
}

TEST(ApiErrorHintTest, ForbiddenOfAnAnonymousUserAsksForCredentials) {
  const std::string hint =
      Hint("LIST /api/v1/pods",
           {.message = R"(User "system:anonymous" cannot list resource "pods")", .code = 403});
  EXPECT_NE(hint.find("(the request had no valid credentials"), std::string::npos);
  EXPECT_EQ(hint.find("grant"), std::string::npos);
}

TEST(ApiErrorHintTest, ForbiddenImpersonationNamesTheVerbImpersonate) {
  const std::string hint = Hint(
      "PATCH /api/v1/namespaces/shop/pods/a",
      {.message = R"(User "ci" cannot impersonate resource "users" in API group "")", .code = 403});
  EXPECT_NE(hint.find("(grant verb impersonate on users with a ClusterRole)"), std::string::npos);
}

TEST(ApiErrorHintTest, ForbiddenByAQuotaHasNoHintAboutRoles) {
  EXPECT_EQ(Hint("POST /api/v1/namespaces/shop/pods",
                 {.message = "pods \"a\" is forbidden: exceeded quota: q",
                  .reason = "Forbidden",
                  .code = 403}),
            " Forbidden: pods \"a\" is forbidden: exceeded quota: q");
}

TEST(ApiErrorHintTest, ForbiddenForAPathWithoutAResourceNamesAClusterRole) {
  EXPECT_EQ(Hint("GET /version", {.code = 403}),
            " (grant this request to the user of the program with a ClusterRole)");
}

TEST(ApiErrorHintTest, NotFoundOfAWholeKindNamesTheMissingResource) {
  EXPECT_EQ(Hint("LIST /apis/samplecontroller.k8s.io/v1alpha1/foos?limit=5", {.code = 404}),
            " (the API server does not serve foos in API group samplecontroller.k8s.io, version "
            "v1alpha1: check that its CustomResourceDefinition is installed, or use a version that "
            "is served)");
}

TEST(ApiErrorHintTest, NotFoundOfABuiltInKindDoesNotNameADefinition) {
  EXPECT_EQ(Hint("LIST /apis/apps/v1/deployments", {.code = 404}),
            " (the API server does not serve deployments in API group apps, version v1: use a "
            "version that is served, and check that the address is that of an API server)");
}

TEST(ApiErrorHintTest, NotFoundOfAPathWithoutAResourceNamesTheAddress) {
  EXPECT_EQ(Hint("GET /version", {.code = 404}),
            " (check that the address of the server, with its path, is that of an API server)");
}

TEST(ApiErrorHintTest, ForbiddenWithoutAReasonNamesProxies) {
  EXPECT_THAT(
      ApiError::FromBody("GET /api/v1/pods", 403, "").what(),
      HasSubstr("(an API server gives a reason: check whether a proxy or firewall rejected"));
}

TEST(ApiErrorHintTest, ARequestWithoutTlsToATlsPortNamesHttps) {
  for (const char* body :
       {"Client sent an HTTP request to an HTTPS server.\n",
        "<html><title>400 The plain HTTP request was sent to HTTPS port</title>"}) {
    EXPECT_THAT(ApiError::FromBody("GET /version", 400, body).what(),
                HasSubstr("(write https:// in the address)"));
  }
}

TEST(ApiErrorHintTest, AServerFaultNamesWhereToLook) {
  EXPECT_EQ(Hint("PUT /x", {.message = "etcd", .code = 500}),
            ": etcd (look for the cause in the log of the API server)");
  EXPECT_THAT(Hint("PUT /x", {.message = "failed calling webhook \"a\"", .code = 500}),
              HasSubstr("(check the service and the certificate of this webhook)"));
  EXPECT_THAT(Hint("PUT /x", {.code = 502}), HasSubstr("or a proxy in front of it"));
  EXPECT_THAT(Hint("PUT /x", {.code = 504}), HasSubstr("or a proxy in front of it"));
}

TEST(ApiErrorHintTest, AProxyThatRequiresAUserIsNamed) {
  EXPECT_EQ(Hint("GET /version", {.code = 407}),
            " (set user and password in the URL of the proxy)");
}

TEST(ApiErrorHintTest, NotFoundOfOneObjectHasNoHint) {
  EXPECT_EQ(Hint("GET /api/v1/namespaces/shop/pods/a",
                 {.message = "pods \"a\" not found", .code = 404, .details = {.name = "a"}}),
            ": pods \"a\" not found");
}

TEST(ApiErrorHintTest, AFieldManagerConflictNamesForce) {
  EXPECT_THAT(Hint(std::string("PATCH ") + kFooStatus,
                   {.code = 409, .details = {.causes = {{.reason = "FieldManagerConflict"}}}}),
              HasSubstr("another field manager owns these fields"));
  EXPECT_EQ(Hint("POST /api/v1/x", {.reason = "AlreadyExists", .code = 409}), " AlreadyExists");
}

TEST(ApiErrorHintTest, InvalidNamesTheFieldsThatTheMessageDoesNotName) {
  const Status::Details details{.causes = {{.message = "must be positive", .field = "spec.a"},
                                           {.message = "is required", .field = "spec.b"}}};
  EXPECT_EQ(Hint("PUT /x", {.code = 422, .details = details}),
            " (correct spec.a: must be positive, spec.b: is required)");
  EXPECT_EQ(Hint("PUT /x", {.message = "spec.a and spec.b", .code = 422, .details = details}),
            ": spec.a and spec.b");
}

TEST(ApiErrorHintTest, InvalidNamesAtMostFiveFields) {
  Status status{.code = 422};
  for (const char* field : {"a", "b", "c", "d", "e", "f"}) {
    status.details.causes.push_back({.message = "bad", .field = field});
  }
  EXPECT_EQ(Hint("PUT /x", status), " (correct a: bad, b: bad, c: bad, d: bad, e: bad and more)");
}

TEST(ApiErrorHintTest, OtherCodesHaveTheirHints) {
  const auto hint = [](int code) { return Hint("PATCH /api/v1/pods", {.code = code}); };
  EXPECT_THAT(hint(401), HasSubstr("the credentials were rejected or have expired"));
  EXPECT_THAT(hint(410), HasSubstr("list again"));
  EXPECT_THAT(hint(413), HasSubstr("the object is too large"));
  EXPECT_THAT(hint(415), HasSubstr("custom resources do not support strategic merge patches"));
  EXPECT_THAT(hint(429), HasSubstr("limits this client"));
  EXPECT_THAT(hint(503), HasSubstr("try again later"));
  EXPECT_EQ(hint(405), "");
}

TEST(ApiErrorHintTest, AnEvictionThatIsRejectedWith429HasNoHintAboutLoad) {
  EXPECT_EQ(Hint("POST /api/v1/namespaces/shop/pods/a/eviction", {.code = 429}), "");
}

}  // namespace
}  // namespace kopp
