// Requests with the headers Impersonate-*.
#include "conformance.hpp"

#include <string>

namespace kopp::conformance {
namespace {

const std::string self_subject_reviews = "/apis/authentication.k8s.io/v1/selfsubjectreviews";

/// Fixture of tests of impersonation by the administrator and by a ServiceAccount.
class ImpersonationTest : public ConformanceTest {
 protected:
  static ApiRequest WhoAmI() {
    return {.method = "POST", .target = self_subject_reviews, .body = "{}"};
  }
  static json UserInfo(const ImpersonationConfig& user) {
    return CallAs(user, WhoAmI()).at("/status/userInfo");
  }
  /// Returns the token of the ServiceAccount "a".
  std::string NewToken() {
    Post(Path("serviceaccounts"), MakeObjectWithName("a"));
    return Post(Path("serviceaccounts") + "/a/token", json::object()).str("/status/token");
  }
  std::string AccountName() { return "system:serviceaccount:" + ns() + ":a"; }
  /// Allows the ServiceAccount "a" to impersonate, by this rule.
  void Allow(json rule) {
    const std::string name = UniqueName("impersonator");
    const std::string rbac = "/apis/rbac.authorization.k8s.io/v1/";
    rule["verbs"] = {"impersonate"};
    Post(rbac + "clusterroles", {{"metadata", {{"name", name}}}, {"rules", {rule}}});
    Post(rbac + "clusterrolebindings",
         {{"metadata", {{"name", name}}},
          {"subjects", {{{"kind", "ServiceAccount"}, {"name", "a"}, {"namespace", ns()}}}},
          {"roleRef",
           {{"apiGroup", "rbac.authorization.k8s.io"}, {"kind", "ClusterRole"}, {"name", name}}}});
  }
};

TEST_F(ImpersonationTest, RequestIsExecutedAsTheUser) {
  EXPECT_EQ(UserInfo({.user = "bob"}),
            json({{"username", "bob"}, {"groups", {"system:authenticated"}}}));
}

TEST_F(ImpersonationTest, GroupsUidAndExtraAreImpersonatedToo) {
  EXPECT_EQ(UserInfo({.user = "bob",
                      .uid = "u1",
                      .groups = {"g1", "g2"},
                      .extra = {{"example.com/Scope", {"a", "b"}}}}),
            json({{"username", "bob"},
                  {"uid", "u1"},
                  {"groups", {"g1", "g2", "system:authenticated"}},
                  {"extra", {{"example.com/scope", {"a", "b"}}}}}));
}

TEST_F(ImpersonationTest, ServiceAccountHasItsGroups) {
  EXPECT_EQ(UserInfo({.user = "system:serviceaccount:x:y"})["groups"],
            json({"system:serviceaccounts", "system:serviceaccounts:x", "system:authenticated"}));
}

TEST_F(ImpersonationTest, ImpersonatedUserHasOnlyItsOwnPermissions) {
  const JsonResponse list = CallAs({.user = "bob"}, {.target = Path("pods")});

  EXPECT_EQ(list.status, 403);
  EXPECT_EQ(list.message(),
            "pods is forbidden: User \"bob\" cannot list resource \"pods\" in API group \"\" in "
            "the namespace \"" +
                ns() + '"');
}

TEST_F(ImpersonationTest, AnonymousUserIsNotAuthenticated) {
  EXPECT_EQ(CallAs({.user = "system:anonymous"}, WhoAmI()).status, 403);
}

TEST_F(ImpersonationTest, ImpersonationNeedsThePermission) {
  const std::string token = NewToken();

  const JsonResponse user = CallWithToken(token, WhoAmI(), {.user = "bob"});
  EXPECT_EQ(user.status, 403);
  EXPECT_EQ(user.message(), "users \"bob\" is forbidden: User \"" + AccountName() +
                                "\" cannot impersonate resource \"users\" in API group \"\" at "
                                "the cluster scope");
  EXPECT_EQ(CallWithToken(token, WhoAmI(), {.user = "system:serviceaccount:x:y"}).message(),
            "serviceaccounts \"y\" is forbidden: User \"" + AccountName() +
                "\" cannot impersonate resource \"serviceaccounts\" in API group \"\" in the "
                "namespace \"x\"");
}

TEST_F(ImpersonationTest, EachGroupAndExtraValueNeedsThePermission) {
  const std::string token = NewToken();
  Allow({{"apiGroups", {""}}, {"resources", {"users"}}, {"resourceNames", {"bob"}}});
  const auto call = [&](const ImpersonationConfig& user) {
    return CallWithToken(token, WhoAmI(), user);
  };

  EXPECT_EQ(Eventually(201, [&] { return call({.user = "bob"}); }).status, 201);
  EXPECT_EQ(call({.user = "carol"}).status, 403);
  EXPECT_EQ(call({.user = "bob", .groups = {"g"}}).message(),
            "groups \"g\" is forbidden: User \"" + AccountName() +
                "\" cannot impersonate resource \"groups\" in API group \"\" at the cluster scope");
  EXPECT_EQ(call({.user = "bob", .extra = {{"scope", {"s"}}}}).message(),
            "userextras.authentication.k8s.io \"s\" is forbidden: User \"" + AccountName() +
                "\" cannot impersonate resource \"userextras/scope\" in API group "
                "\"authentication.k8s.io\" at the cluster scope");
  EXPECT_EQ(call({.user = "bob", .uid = "u"}).message(),
            "uids.authentication.k8s.io \"u\" is forbidden: User \"" + AccountName() +
                "\" cannot impersonate resource \"uids\" in API group \"authentication.k8s.io\" at "
                "the cluster scope");
}

TEST_F(ImpersonationTest, AnonymousClientCannotImpersonate) {
  const JsonResponse user = CallWithToken("", WhoAmI(), {.user = "bob"});

  EXPECT_EQ(user.status, 403);
}

}  // namespace
}  // namespace kopp::conformance
