// Tests that users cannot grant permissions that they do not have (privilege escalation).
#include "conformance.hpp"

#include <string>

namespace kopp::conformance {
namespace {

const std::string role_group = "rbac.authorization.k8s.io";
const std::string role_path = "/apis/rbac.authorization.k8s.io/v1/";

/// Fixture with a user, the author, who may create and patch roles, cluster roles and role
/// bindings, get Pods and scale workloads.
class EscalationTest : public ConformanceTest {
 protected:
  EscalationTest() : author_(UniqueName("author")) {
    CreateClusterRole(author_,
                      {{{"apiGroups", {role_group}},
                        {"resources", {"roles", "rolebindings", "clusterroles"}},
                        {"verbs", {"create", "patch"}}},
                       {{"apiGroups", {""}}, {"resources", {"pods"}}, {"verbs", {"get"}}},
                       {{"apiGroups", {"apps"}}, {"resources", {"*/scale"}}, {"verbs", {"*"}}}});
    Bind("clusterrolebindings", author_);
    const auto create_own_role = [&] {
      return CreateAs(
          Roles(), "own",
          {{{"apiGroups", {role_group}}, {"resources", {"roles"}}, {"verbs", {"create"}}}});
    };
    Eventually(201, create_own_role);  // a kube-apiserver applies the binding after a moment
  }

  [[nodiscard]] const std::string& author() const { return author_; }
  std::string Roles() { return Path(role_group + "/v1", "roles"); }

  static void CreateClusterRole(const std::string& name, const json& rules) {
    Post(role_path + "clusterroles", {{"metadata", {{"name", name}}}, {"rules", rules}});
  }
  json MakeBinding(const std::string& cluster_role) {
    return {
        {"metadata", {{"name", cluster_role}}},
        {"subjects", {{{"kind", "User"}, {"name", author_}, {"apiGroup", role_group}}}},
        {"roleRef", {{"apiGroup", role_group}, {"kind", "ClusterRole"}, {"name", cluster_role}}}};
  }
  /// Binds a ClusterRole to the author, as the administrator.
  void Bind(const std::string& resource, const std::string& cluster_role) {
    Post(resource == "clusterrolebindings" ? role_path + resource
                                           : Path(role_group + "/v1", resource),
         MakeBinding(cluster_role));
  }
  JsonResponse CallAsAuthor(const std::string& method, const std::string& target,
                            const json& body) {
    return CallAs(
        {.user = author_},
        {.method = method,
         .target = target,
         .body = body.dump(),
         .content_type = method == "PATCH" ? "application/merge-patch+json" : "application/json"});
  }
  /// Creates a role as the author.
  JsonResponse CreateAs(const std::string& path, const std::string& name, const json& rules) {
    return CallAsAuthor("POST", path, {{"metadata", {{"name", name}}}, {"rules", rules}});
  }
  std::string Error(const std::string& resource, const std::string& name,
                    const std::string& permissions) {
    return resource + ".rbac.authorization.k8s.io \"" + name + "\" is forbidden: user \"" +
           author_ +
           "\" (groups=[\"system:authenticated\"]) is attempting to grant RBAC permissions not "
           "currently held:\n" +
           permissions;
  }

 private:
  const std::string author_;
};

TEST_F(EscalationTest, CreatingARoleWithAPartOfTheAuthorsPermissionsIsAllowed) {
  const json rules{
      {{"apiGroups", {""}}, {"resources", {"pods"}}, {"resourceNames", {"a"}}, {"verbs", {"get"}}},
      {{"apiGroups", {"apps"}}, {"resources", {"deployments/scale"}}, {"verbs", {"get"}}}};

  EXPECT_EQ(CreateAs(Roles(), "a", rules).status, 201);
}

TEST_F(EscalationTest, CreatingARoleWithPermissionsThatTheAuthorLacksIsForbidden) {
  const json rules{
      {{"apiGroups", {"", "apps"}}, {"resources", {"pods", "b"}}, {"verbs", {"get", "list"}}}};

  const JsonResponse created = CreateAs(Roles(), "a", rules);

  EXPECT_EQ(created.status, 403);
  EXPECT_EQ(created.message(),
            Error("roles", "a",
                  "{APIGroups:[\"\"], Resources:[\"b\"], Verbs:[\"get\" \"list\"]}\n"
                  "{APIGroups:[\"\"], Resources:[\"pods\"], Verbs:[\"list\"]}\n"
                  "{APIGroups:[\"apps\"], Resources:[\"b\"], Verbs:[\"get\" \"list\"]}\n"
                  "{APIGroups:[\"apps\"], Resources:[\"pods\"], Verbs:[\"get\" \"list\"]}"));
}

TEST_F(EscalationTest, TheErrorListsTheResourceNamesAndUrlsOfTheMissingPermissions) {
  EXPECT_EQ(CreateAs(Roles(), "a",
                     {{{"apiGroups", {"x"}},
                       {"resources", {"b"}},
                       {"resourceNames", {"n", "m"}},
                       {"verbs", {"get", "list"}}}})
                .message(),
            Error("roles", "a",
                  "{APIGroups:[\"x\"], Resources:[\"b\"], ResourceNames:[\"m\"], Verbs:[\"get\" "
                  "\"list\"]}\n"
                  "{APIGroups:[\"x\"], Resources:[\"b\"], ResourceNames:[\"n\"], Verbs:[\"get\" "
                  "\"list\"]}"));
  EXPECT_EQ(CreateAs(role_path + "clusterroles", "a",
                     {{{"nonResourceURLs", {"/a"}}, {"verbs", {"get", "put"}}}})
                .message(),
            Error("clusterroles", "a",
                  "{NonResourceURLs:[\"/a\"], Verbs:[\"get\"]}\n"
                  "{NonResourceURLs:[\"/a\"], Verbs:[\"put\"]}"));
}

TEST_F(EscalationTest, PatchingARoleToPermissionsThatTheAuthorLacksIsForbidden) {
  const json rules{{{"apiGroups", {""}}, {"resources", {"secrets"}}, {"verbs", {"*"}}}};

  EXPECT_EQ(CallAsAuthor("PATCH", Roles() + "/own", {{"rules", rules}}).message(),
            Error("roles", "own", "{APIGroups:[\"\"], Resources:[\"secrets\"], Verbs:[\"*\"]}"));
}

TEST_F(EscalationTest, AddingAnAggregationRuleWithoutAllPermissionsIsForbidden) {
  const json selector{{"matchLabels", {{"a", "b"}}}};

  EXPECT_EQ(CallAsAuthor("POST", role_path + "clusterroles",
                         {{"metadata", {{"name", "a"}}},
                          {"aggregationRule", {{"clusterRoleSelectors", {selector}}}}})
                .message(),
            "clusterroles.rbac.authorization.k8s.io \"a\" is forbidden: must have cluster-admin "
            "privileges to use the aggregationRule");
}

TEST_F(EscalationTest, RemovingAnAggregationRuleWithoutAllPermissionsIsForbidden) {
  const std::string name = UniqueName("aggregated");
  const json selector{{"matchLabels", {{"a", name}}}};
  Post(role_path + "clusterroles", {{"metadata", {{"name", name}}},
                                    {"aggregationRule", {{"clusterRoleSelectors", {selector}}}}});

  EXPECT_EQ(CallAsAuthor("PATCH", role_path + "clusterroles/" + name,
                         {{"aggregationRule", nullptr}, {"rules", json::array()}})
                .message(),
            "clusterroles.rbac.authorization.k8s.io \"" + name +
                "\" is forbidden: must have cluster-admin privileges to use the aggregationRule");
}

TEST_F(EscalationTest, BindingARoleWithPermissionsThatTheAuthorLacksIsForbidden) {
  const std::string role = UniqueName("role");
  CreateClusterRole(role, {{{"apiGroups", {""}}, {"resources", {"pods"}}, {"verbs", {"list"}}}});

  EXPECT_EQ(
      CallAsAuthor("POST", Path(role_group + "/v1", "rolebindings"), MakeBinding(role)).message(),
      Error("rolebindings", role, "{APIGroups:[\"\"], Resources:[\"pods\"], Verbs:[\"list\"]}"));
}

TEST_F(EscalationTest, BindingAMissingRoleReturnsNotFound) {
  const JsonResponse bound =
      CallAsAuthor("POST", Path(role_group + "/v1", "rolebindings"), MakeBinding("missing"));

  EXPECT_EQ(bound.status, 404);
  EXPECT_EQ(bound.message(), "rolebindings.rbac.authorization.k8s.io \"missing\" not found");
}

TEST_F(EscalationTest, VerbsEscalateAndBindAllowGrantingPermissionsThatTheAuthorLacks) {
  const std::string special = UniqueName("special");
  const std::string role = UniqueName("role");
  const json rules{{{"apiGroups", {""}}, {"resources", {"secrets"}}, {"verbs", {"list"}}}};
  CreateClusterRole(role, rules);
  CreateClusterRole(
      special, {{{"apiGroups", {role_group}}, {"resources", {"roles"}}, {"verbs", {"escalate"}}},
                {{"apiGroups", {role_group}},
                 {"resources", {"clusterroles"}},
                 {"resourceNames", {role}},
                 {"verbs", {"bind"}}}});
  Bind("rolebindings", special);

  EXPECT_EQ(Eventually(201, [&] { return CreateAs(Roles(), "a", rules); }).status, 201);
  EXPECT_EQ(
      CallAsAuthor("POST", Path(role_group + "/v1", "rolebindings"), MakeBinding(role)).status,
      201);
}

}  // namespace
}  // namespace kopp::conformance
