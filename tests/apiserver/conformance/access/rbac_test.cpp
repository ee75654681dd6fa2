// Authorization by Roles, ClusterRoles and their bindings.
#include "conformance.hpp"

#include <string>

namespace kopp::conformance {
namespace {

using ::testing::HasSubstr;

const std::string rbac_group = "rbac.authorization.k8s.io";
const std::string rbac_path = "/apis/rbac.authorization.k8s.io/v1/";

/// Fixture of tests of the permissions of `user()`.
class RbacTest : public ConformanceTest {
 protected:
  RbacTest() : user_(UniqueName("user")) {}

  [[nodiscard]] const std::string& user() const { return user_; }

  /// Creates the Role "r" and binds it to `subject`, by default the user.
  void Grant(const json& rules, json subject = nullptr) {
    Post(Path("rbac.authorization.k8s.io/v1", "roles"),
         {{"metadata", {{"name", "r"}}}, {"rules", rules}});
    BindRole("Role", "r", std::move(subject));
  }
  /// Creates a RoleBinding to a role.
  void BindRole(const std::string& kind, const std::string& name, json subject = nullptr) {
    if (subject.is_null()) {
      subject = {{"kind", "User"}, {"name", user_}, {"apiGroup", rbac_group}};
    }
    Post(Path("rbac.authorization.k8s.io/v1", "rolebindings"),
         {{"metadata", {{"name", "b"}}},
          {"subjects", {subject}},
          {"roleRef", {{"apiGroup", rbac_group}, {"kind", kind}, {"name", name}}}});
  }
  /// Creates a ClusterRole, with labels, and returns its name.
  static std::string CreateClusterRole(const json& rules, const json& labels = json::object()) {
    std::string name = UniqueName("role");
    Post(rbac_path + "clusterroles",
         {{"metadata", {{"name", name}, {"labels", labels}}}, {"rules", rules}});
    return name;
  }
  /// Creates a ClusterRoleBinding of the ClusterRole `role` to the user.
  void BindClusterRole(const std::string& role) {
    Post(rbac_path + "clusterrolebindings",
         {{"metadata", {{"name", role}}},
          {"subjects", {{{"kind", "User"}, {"name", user_}, {"apiGroup", rbac_group}}}},
          {"roleRef", {{"apiGroup", rbac_group}, {"kind", "ClusterRole"}, {"name", role}}}});
  }

  JsonResponse GetAs(const std::string& target, const std::vector<std::string>& groups = {}) {
    return CallAs({.user = user_, .groups = groups}, {.target = target});
  }
  /// Returns the status of a request that becomes allowed soon.
  int StatusSoon(int status, const std::string& target,
                 const std::vector<std::string>& groups = {}) {
    return Eventually(status, [&] { return GetAs(target, groups); }).status;
  }

 private:
  const std::string user_;
};

TEST_F(RbacTest, UserWithoutARoleIsForbidden) {
  const JsonResponse got = GetAs(Path("pods") + "/a");

  EXPECT_EQ(got.status, 403);
  EXPECT_EQ(got.body,
            json({{"kind", "Status"},
                  {"apiVersion", "v1"},
                  {"metadata", json::object()},
                  {"status", "Failure"},
                  {"message", "pods \"a\" is forbidden: User \"" + user() +
                                  "\" cannot get resource \"pods\" in API group \"\" in the "
                                  "namespace \"" +
                                  ns() + '"'},
                  {"reason", "Forbidden"},
                  {"details", {{"name", "a"}, {"kind", "pods"}}},
                  {"code", 403}}));
}

TEST_F(RbacTest, ErrorNamesSubresourceGroupAndClusterScope) {
  EXPECT_EQ(GetAs("/api/v1/nodes/a/status").message(),
            "nodes \"a\" is forbidden: User \"" + user() +
                "\" cannot get resource \"nodes/status\" in API group \"\" at the cluster scope");
  const JsonResponse list = GetAs("/apis/apps/v1/deployments");
  EXPECT_EQ(list.message(), "deployments.apps is forbidden: User \"" + user() +
                                "\" cannot list resource \"deployments\" in API group \"apps\" at "
                                "the cluster scope");
  EXPECT_EQ(list.at("/details"), json({{"group", "apps"}, {"kind", "deployments"}}));
}

TEST_F(RbacTest, ResourceThatIsNotServedIsForbiddenToo) {
  EXPECT_EQ(GetAs("/apis/missing.example.com/v1/foos").status, 403);
}

TEST_F(RbacTest, NamespaceItselfIsInItsNamespace) {
  EXPECT_THAT(GetAs("/api/v1/namespaces/" + ns()).message(),
              HasSubstr("in the namespace \"" + ns() + '"'));
}

TEST_F(RbacTest, VerbOfTheErrorIsTheVerbOfTheRequest) {
  EXPECT_THAT(GetAs(Path("pods") + "?watch=true").message(), HasSubstr("cannot watch resource"));
  EXPECT_THAT(CallAs({.user = user()}, {.method = "DELETE", .target = Path("pods")}).message(),
              HasSubstr("cannot deletecollection resource"));
}

TEST_F(RbacTest, RoleAllowsItsVerbsAndResourcesInItsNamespace) {
  Grant({{{"apiGroups", {""}}, {"resources", {"pods"}}, {"verbs", {"get", "list"}}}});

  EXPECT_EQ(StatusSoon(200, Path("pods")), 200);
  EXPECT_EQ(GetAs(Path("pods") + "/missing").status, 404);
  EXPECT_EQ(GetAs(Path("pods") + "?watch=true").status, 403);
  EXPECT_EQ(GetAs(Path("secrets")).status, 403);
  EXPECT_EQ(GetAs(Path("pods") + "/missing/status").status, 403);
  EXPECT_EQ(GetAs("/api/v1/pods").status, 403);
}

TEST_F(RbacTest, SubresourceNeedsItsOwnRule) {
  Grant({{{"apiGroups", {""}}, {"resources", {"pods/status"}}, {"verbs", {"get"}}}});

  EXPECT_EQ(StatusSoon(404, Path("pods") + "/missing/status"), 404);
  EXPECT_EQ(GetAs(Path("pods") + "/missing").status, 403);
}

TEST_F(RbacTest, SubresourceWildcardAllowsTheSubresourceOfAllResources) {
  Grant({{{"apiGroups", {"apps"}}, {"resources", {"*/scale"}}, {"verbs", {"get"}}}});

  EXPECT_EQ(StatusSoon(404, Path("apps/v1", "deployments") + "/missing/scale"), 404);
  EXPECT_EQ(GetAs(Path("apps/v1", "deployments") + "/missing").status, 403);
}

TEST_F(RbacTest, ResourceNamesLimitTheObjects) {
  Grant({{{"apiGroups", {""}},
          {"resources", {"configmaps"}},
          {"resourceNames", {"a"}},
          {"verbs", {"get", "list"}}}});

  EXPECT_EQ(StatusSoon(404, Path("configmaps") + "/a"), 404);
  EXPECT_EQ(GetAs(Path("configmaps") + "/b").status, 403);
  EXPECT_EQ(GetAs(Path("configmaps")).status, 403);
  EXPECT_EQ(GetAs(Path("configmaps") + "?fieldSelector=metadata.name%3Da").status, 200);
}

TEST_F(RbacTest, FieldSelectorDoesNotNameTheObjectOfACreate) {
  Grant({{{"apiGroups", {""}},
          {"resources", {"configmaps"}},
          {"resourceNames", {"a"}},
          {"verbs", {"*"}}}});
  ASSERT_EQ(StatusSoon(404, Path("configmaps") + "/a"), 404);

  const JsonResponse created =
      CallAs({.user = user()}, {.method = "POST",
                                .target = Path("configmaps") + "?fieldSelector=metadata.name%3Da",
                                .body = MakeConfigMap("b").dump()});

  EXPECT_EQ(created.status, 403);
}

TEST_F(RbacTest, ApplyOfANewObjectNeedsThePermissionToCreate) {
  Grant({{{"apiGroups", {""}}, {"resources", {"configmaps"}}, {"verbs", {"get", "patch"}}}});
  ASSERT_EQ(StatusSoon(404, Path("configmaps") + "/a"), 404);
  json config = MakeConfigMap("a");
  config["apiVersion"] = "v1";
  config["kind"] = "ConfigMap";
  const auto apply = [&] {
    return CallAs({.user = user()}, {.method = "PATCH",
                                     .target = Path("configmaps") + "/a?fieldManager=a",
                                     .body = config.dump(),
                                     .content_type = "application/apply-patch+yaml"})
        .status;
  };

  EXPECT_EQ(apply(), 403);
  Post(Path("configmaps"), MakeConfigMap("a"));
  EXPECT_EQ(apply(), 200);
}

TEST_F(RbacTest, BindingToAGroupAppliesToItsMembers) {
  const std::string group = UniqueName("group");
  Grant({{{"apiGroups", {"*"}}, {"resources", {"*"}}, {"verbs", {"*"}}}},
        {{"kind", "Group"}, {"name", group}, {"apiGroup", rbac_group}});

  EXPECT_EQ(StatusSoon(200, Path("secrets"), {group}), 200);
  EXPECT_EQ(GetAs(Path("secrets")).status, 403);
}

TEST_F(RbacTest, BindingToAServiceAccountAppliesToIt) {
  Grant({{{"apiGroups", {""}}, {"resources", {"secrets"}}, {"verbs", {"list"}}}},
        {{"kind", "ServiceAccount"}, {"name", "a"}, {"namespace", ns()}});
  const ImpersonationConfig account{.user = "system:serviceaccount:" + ns() + ":a"};

  EXPECT_EQ(Eventually(200, [&] { return CallAs(account, {.target = Path("secrets")}); }).status,
            200);
}

TEST_F(RbacTest, RoleBindingOfAClusterRoleIsLimitedToItsNamespace) {
  BindRole("ClusterRole",
           CreateClusterRole(
               {{{"apiGroups", {""}}, {"resources", {"pods", "nodes"}}, {"verbs", {"list"}}}}));

  EXPECT_EQ(StatusSoon(200, Path("pods")), 200);
  EXPECT_EQ(GetAs("/api/v1/nodes").status, 403);
}

TEST_F(RbacTest, ClusterRoleBindingAppliesToAllNamespaces) {
  BindClusterRole(
      CreateClusterRole({{{"apiGroups", {""}}, {"resources", {"pods"}}, {"verbs", {"list"}}}}));

  EXPECT_EQ(StatusSoon(200, "/api/v1/pods"), 200);
  EXPECT_EQ(GetAs(Path("pods")).status, 200);
}

TEST_F(RbacTest, NonResourceUrlsMayEndWithAWildcard) {
  EXPECT_EQ(GetAs("/metrics").message(),
            "forbidden: User \"" + user() + "\" cannot get path \"/metrics\"");
  BindClusterRole(CreateClusterRole({{{"nonResourceURLs", {"/metric*"}}, {"verbs", {"get"}}}}));

  EXPECT_EQ(StatusSoon(200, "/metrics"), 200);
  EXPECT_EQ(GetAs("/logs").status, 403);
}

TEST_F(RbacTest, MissingRoleIsTheReasonOfTheError) {
  BindRole("Role", "missing");

  const JsonResponse list = Eventually(200, [&] {
    JsonResponse response = GetAs(Path("pods"));
    if (response.message().find("not found") != std::string::npos) response.status = 200;
    return response;
  });
  EXPECT_THAT(list.message(),
              HasSubstr("\": RBAC: role.rbac.authorization.k8s.io \"missing\" not found"));
}

TEST_F(RbacTest, AuthenticatedUserMayDiscoverTheApi) {
  EXPECT_EQ(GetAs("/apis").status, 200);
  EXPECT_EQ(GetAs("/api/v1").status, 200);
  EXPECT_EQ(GetAs("/openapi/v3").status, 200);
}

TEST_F(RbacTest, AnonymousUserMayOnlySeeHealthAndVersion) {
  EXPECT_EQ(CallWithToken("", {.target = "/livez"}).status, 200);
  EXPECT_EQ(CallWithToken("", {.target = "/version"}).status, 200);
  EXPECT_EQ(CallWithToken("", {.target = "/apis"}).message(),
            "forbidden: User \"system:anonymous\" cannot get path \"/apis\"");
}

TEST_F(RbacTest, DefaultClusterRolesExist) {
  for (const char* name : {"admin", "edit", "view", "system:aggregate-to-admin",
                           "system:aggregate-to-edit", "system:aggregate-to-view"}) {
    EXPECT_EQ(Get(rbac_path + "clusterroles/" + name).status, 200) << name;
  }
  for (const char* name : {"system:basic-user", "system:discovery", "system:public-info-viewer"}) {
    EXPECT_EQ(Get(rbac_path + "clusterroles/" + name).status, 200) << name;
    EXPECT_EQ(Get(rbac_path + "clusterrolebindings/" + name).at("/roleRef/name"), name);
  }
}

}  // namespace
}  // namespace kopp::conformance
