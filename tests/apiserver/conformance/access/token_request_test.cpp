// The subresource "token" of ServiceAccounts, and requests with such a token.
#include "conformance.hpp"

#include <cstdint>
#include <string>

namespace kopp::conformance {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// Fixture of tests of tokens of the ServiceAccount "a".
class TokenRequestTest : public ConformanceTest {
 protected:
  TokenRequestTest() { account_ = Post(Path("serviceaccounts"), MakeObjectWithName("a")); }

  std::string TokenPath() { return Path("serviceaccounts") + "/a/token"; }
  JsonResponse RequestToken(const json& spec = json::object()) {
    return Post(
        TokenPath(),
        {{"apiVersion", "authentication.k8s.io/v1"}, {"kind", "TokenRequest"}, {"spec", spec}});
  }
  std::string Token(const json& spec = json::object()) {
    return RequestToken(spec).str("/status/token");
  }
  /// Returns the claims of a JSON Web Token.
  static json Claims(const std::string& token) {
    constexpr std::string_view kDigits =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    const auto begin = token.find('.') + 1;
    std::string text;
    std::uint32_t bits = 0;
    int count = 0;
    for (const char c : token.substr(begin, token.find('.', begin) - begin)) {
      bits = (bits << 6U) | static_cast<std::uint32_t>(kDigits.find(c));
      count += 6;
      if (count < 8) continue;
      count -= 8;
      text += static_cast<char>((bits >> static_cast<unsigned>(count)) & 0xffU);
    }
    return json::parse(text);
  }
  std::string UserName() { return "system:serviceaccount:" + ns() + ":a"; }
  static JsonResponse WhoAmI(const std::string& token) {
    return CallWithToken(token, {.method = "POST",
                                 .target = "/apis/authentication.k8s.io/v1/selfsubjectreviews",
                                 .body = "{}"});
  }

  JsonResponse account_;
};

TEST_F(TokenRequestTest, ResponseContainsATokenAndTheDefaults) {
  const JsonResponse created = RequestToken();

  EXPECT_EQ(created.status, 201);
  EXPECT_EQ(created.str("/kind"), "TokenRequest");
  EXPECT_EQ(created.str("/apiVersion"), "authentication.k8s.io/v1");
  EXPECT_EQ(created.name(), "a");
  EXPECT_EQ(created.str("/metadata/namespace"), ns());
  EXPECT_EQ(created.at("/metadata/uid"), account_.at("/metadata/uid"));
  EXPECT_EQ(created.at("/spec"), json({{"audiences", {"https://kubernetes.default.svc"}},
                                       {"expirationSeconds", 3600},
                                       {"boundObjectRef", nullptr}}));
  EXPECT_EQ(created.str("/metadata/managedFields/0/subresource"), "token");
  EXPECT_EQ(created.at("/metadata/managedFields/0/fieldsV1"),
            json({{"f:spec", {{"f:expirationSeconds", json::object()}}}}));
  EXPECT_FALSE(created.str("/status/expirationTimestamp").empty());
}

TEST_F(TokenRequestTest, ClaimsNameTheServiceAccountAndTheExpiration) {
  const json claims = Claims(Token({{"audiences", {"x", "y"}}, {"expirationSeconds", 700}}));

  EXPECT_EQ(claims["sub"], UserName());
  EXPECT_EQ(claims["iss"], "https://kubernetes.default.svc");
  EXPECT_EQ(claims["aud"], json({"x", "y"}));
  EXPECT_EQ(claims["exp"].get<std::int64_t>() - claims["iat"].get<std::int64_t>(), 700);
  EXPECT_EQ(claims["nbf"], claims["iat"]);
  EXPECT_EQ(claims["kubernetes.io"],
            json({{"namespace", ns()},
                  {"serviceaccount", {{"name", "a"}, {"uid", account_.at("/metadata/uid")}}}}));
}

TEST_F(TokenRequestTest, TokenAuthenticatesAsTheServiceAccount) {
  const JsonResponse review = WhoAmI(Token());

  EXPECT_EQ(review.status, 201);
  EXPECT_EQ(review.at("/status/userInfo/username"), UserName());
  EXPECT_EQ(review.at("/status/userInfo/uid"), account_.at("/metadata/uid"));
  EXPECT_EQ(
      review.at("/status/userInfo/groups"),
      json({"system:serviceaccounts", "system:serviceaccounts:" + ns(), "system:authenticated"}));
}

TEST_F(TokenRequestTest, TokenForAnotherAudienceIsUnauthorized) {
  EXPECT_EQ(WhoAmI(Token({{"audiences", {"x"}}})).status, 401);
}

TEST_F(TokenRequestTest, ChangedTokenIsUnauthorized) {
  std::string token = Token();
  token[token.size() - 10] = token[token.size() - 10] == 'A' ? 'B' : 'A';

  EXPECT_EQ(WhoAmI(token).status, 401);
}

TEST_F(TokenRequestTest, TokenBoundToAPodNamesThePod) {
  json pod = MakePod("p");
  pod["spec"]["serviceAccountName"] = "a";
  const JsonResponse created = Post(Path("pods"), pod);
  const json uid = created.at("/metadata/uid");

  const std::string token = Token(
      {{"boundObjectRef", {{"apiVersion", "v1"}, {"kind", "Pod"}, {"name", "p"}, {"uid", uid}}}});

  EXPECT_EQ(Claims(token)["kubernetes.io"]["pod"], json({{"name", "p"}, {"uid", uid}}));
  EXPECT_EQ(WhoAmI(token)
                .at("/status/userInfo/extra")
                .value("authentication.kubernetes.io/pod-name", json()),
            json({"p"}));
}

TEST_F(TokenRequestTest, TokenCannotBeBoundToAPodOfAnotherServiceAccount) {
  Post(Path("serviceaccounts"), MakeObjectWithName("b"));
  json pod = MakePod("p");
  pod["spec"]["serviceAccountName"] = "b";
  Post(Path("pods"), pod);

  const JsonResponse response =
      RequestToken({{"boundObjectRef", {{"apiVersion", "v1"}, {"kind", "Pod"}, {"name", "p"}}}});

  EXPECT_EQ(response.status, 400);
  EXPECT_EQ(response.message(),
            "cannot bind token for serviceaccount \"a\" to pod running with different "
            "serviceaccount name.");
}

TEST_F(TokenRequestTest, TokenBoundToADeletedPodIsUnauthorized) {
  json pod = MakePod("p");
  pod["spec"]["serviceAccountName"] = "a";
  Post(Path("pods"), pod);
  const std::string token =
      Token({{"boundObjectRef", {{"apiVersion", "v1"}, {"kind", "Pod"}, {"name", "p"}}}});
  Delete(Path("pods") + "/p");

  EXPECT_EQ(Eventually(401, [&] { return WhoAmI(token); }).status, 401);
}

TEST_F(TokenRequestTest, TokenOfADeletedServiceAccountIsUnauthorized) {
  const std::string token = Token();
  Delete(Path("serviceaccounts") + "/a");

  EXPECT_EQ(Eventually(401, [&] { return WhoAmI(token); }).status, 401);
}

TEST_F(TokenRequestTest, InvalidExpirationIsRejected) {
  EXPECT_THAT(Causes(RequestToken({{"expirationSeconds", 599}})),
              ElementsAre("FieldValueInvalid spec.expirationSeconds: Invalid value: 599: may not "
                          "specify a duration less than 10 minutes"));
  EXPECT_THAT(Causes(RequestToken({{"expirationSeconds", (std::int64_t{1} << 32U) + 1}})),
              ElementsAre(HasSubstr("may not specify a duration larger than 2^32 seconds")));
}

TEST_F(TokenRequestTest, BoundObjectMustExist) {
  const auto bind = [&](const json& reference) {
    return RequestToken({{"boundObjectRef", reference}});
  };

  const JsonResponse missing =
      bind({{"apiVersion", "v1"}, {"kind", "Secret"}, {"name", "missing"}});
  EXPECT_EQ(missing.status, 404);
  EXPECT_EQ(missing.message(), "secrets \"missing\" not found");

  Post(Path("secrets"), MakeObjectWithName("s"));
  const JsonResponse other =
      bind({{"apiVersion", "v1"}, {"kind", "Secret"}, {"name", "s"}, {"uid", "other"}});
  EXPECT_EQ(other.status, 409);
  EXPECT_EQ(other.message(),
            "Operation cannot be fulfilled on Secret \"s\": the UID in the bound object reference "
            "(other) does not match the UID in record. The object might have been deleted and then "
            "recreated");

  const JsonResponse unsupported =
      bind({{"apiVersion", "v1"}, {"kind", "ConfigMap"}, {"name", "s"}});
  EXPECT_EQ(unsupported.status, 400);
  EXPECT_EQ(unsupported.message(), "cannot bind token to object of type /v1, Kind=ConfigMap");
}

TEST_F(TokenRequestTest, MissingServiceAccountIsNotFound) {
  const JsonResponse created =
      Post(Path("serviceaccounts") + "/missing/token", {{"spec", json::object()}});

  EXPECT_EQ(created.status, 404);
  EXPECT_EQ(created.message(), "serviceaccounts \"missing\" not found");
}

TEST_F(TokenRequestTest, OtherNameIsRejected) {
  EXPECT_THAT(Causes(Post(TokenPath(), MakeObjectWithName("b"))),
              ElementsAre("FieldValueInvalid metadata.name: Invalid value: \"b\": must match the "
                          "service account name if specified"));
}

}  // namespace
}  // namespace kopp::conformance
