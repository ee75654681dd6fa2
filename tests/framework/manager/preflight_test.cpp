#include "manager/preflight.hpp"

#include <chrono>
#include <sstream>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <kopp/kinds.hpp>
#include <kopp/manager.hpp>
#include <kopp/testing/fake_clock.hpp>
#include <kopp/testing/scripted_transport.hpp>

namespace preflight_kinds {

namespace v1beta1 {
struct Site {
  static constexpr kopp::Kind kKind{"example.com/v1beta1", "Site", "sites"};
  kopp::ObjectMeta metadata;
};
KOPP_FIELDS(Site, metadata)
KOPP_CRD(Site)
}  // namespace v1beta1

namespace v1 {
struct Site {
  static constexpr kopp::Kind kKind{"example.com/v1", "Site", "sites"};
  struct Spec {
    std::string host;
  };
  kopp::ObjectMeta metadata;
  Spec spec;
};
KOPP_FIELDS(Site::Spec, host)
KOPP_FIELDS(Site, metadata, spec)
KOPP_CRD(Site, StorageVersion())
}  // namespace v1

namespace v2 {
struct Site {
  static constexpr kopp::Kind kKind{"example.com/v2", "Site", "sites"};
  kopp::ObjectMeta metadata;
};
KOPP_FIELDS(Site, metadata)
KOPP_CRD(Site)
}  // namespace v2

}  // namespace preflight_kinds

namespace kopp {
namespace {

using namespace std::chrono_literals;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* kReviews = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews";

/// A scripted API server that serves Pods and allows every request but deletions.
class PreflightTest : public ::testing::Test {
 protected:
  PreflightTest() {
    SetVersion("Sun, 09 Sep 2001 01:46:40 GMT");
    transport_.Respond(
        "GET", "/api/v1", 200,
        R"({"kind":"APIResourceList","resources":[{"name":"pods","kind":"Pod","namespaced":true}]})");
    transport_.On("POST", kReviews, [](const ApiRequest& request) -> ApiResponse {
      auto review = nlohmann::json::parse(request.body);
      review["status"]["allowed"] = review["spec"]["resourceAttributes"]["verb"] != "delete";
      return {.status = 201, .body = review.dump()};
    });
  }

  void SetVersion(const std::string& date) {
    transport_.On("GET", "/version", [date](const ApiRequest&) -> ApiResponse {
      return {.status = 200, .body = R"({"gitVersion":"v1.36.1"})", .date = date};
    });
  }
  /// Runs the check and returns its output.
  std::string Run() {
    std::ostringstream out;
    problems_ = Preflight(input_, transport_, out, {});
    return out.str();
  }

  testing::FakeClock clock_;
  testing::ScriptedTransport transport_{clock_};
  PreflightInput input_{.clock = clock_};
  int problems_ = -1;
};

TEST_F(PreflightTest, AServerThatServesAndAllowsEverythingHasNoProblems) {
  input_.server = "https://10.0.0.1:6443, configured by in-cluster";
  input_.kinds = {Pod::kKind};
  input_.permissions = {PermissionFor(Pod::kKind, {"list", "watch"})};

  EXPECT_THAT(Run(), AllOf(HasSubstr("API server https://10.0.0.1:6443, configured by in-cluster"),
                           HasSubstr("ok      server version v1.36.1"),
                           HasSubstr("ok      the clock agrees with that of the server"),
                           HasSubstr("ok      the server serves pods.v1."),
                           HasSubstr("ok      may list pods in all namespaces"),
                           HasSubstr("ok      may watch pods in all namespaces"),
                           HasSubstr("No problems were found.")));
  EXPECT_EQ(problems_, 0);
}

TEST_F(PreflightTest, AMissingKindIsAProblemWithARemedy) {
  transport_.Respond("GET", "/apis/example.com/v1", 404, "{}");
  input_.kinds = {preflight_kinds::v1::Site::kKind};

  EXPECT_THAT(Run(),
              HasSubstr("FAILED  the server does not serve sites of example.com/v1: install the "
                        "CustomResourceDefinition of Site with kubectl apply"));
  EXPECT_EQ(problems_, 1);
}

TEST_F(PreflightTest, AMissingBuiltInKindIsAProblemOfTheServer) {
  transport_.Respond("GET", "/apis/apps/v1", 404, "{}");
  input_.kinds = {Deployment::kKind};

  EXPECT_THAT(Run(),
              HasSubstr("FAILED  the server does not serve deployments of apps/v1: check the "
                        "version of the server, and that its address is that of an API"));
  EXPECT_EQ(problems_, 1);
}

TEST_F(PreflightTest, APermissionForASubresourceThatIsNotServedIsAProblem) {
  input_.kinds = {Pod::kKind};
  input_.permissions = {PermissionFor(Pod::kKind, {"patch"}, "scale"),
                        PermissionFor(Pod::kKind, {"update"}, "finalizers")};

  EXPECT_THAT(Run(), HasSubstr("FAILED  the server serves pods of v1 without the subresource "
                               "scale: add it to the CustomResourceDefinition"));
  EXPECT_EQ(problems_, 1) << "nobody serves finalizers: it is a word of Roles";
}

TEST_F(PreflightTest, ADenialHasTheReasonsOfTheServer) {
  transport_.Respond("POST", kReviews, 201,
                     R"({"status":{"allowed":false,"reason":"no role","evaluationError":"lost"}})");
  input_.permissions = {PermissionFor(Pod::kKind, {"list"})};

  EXPECT_THAT(Run(), HasSubstr("FAILED  may not list pods in all namespaces: no role; lost\n"));
}

class InvalidReviewTest : public PreflightTest,
                          public ::testing::WithParamInterface<const char*> {};

TEST_P(InvalidReviewTest, IsOneProblemThatNamesTheRequest) {
  transport_.Respond("POST", kReviews, 201, GetParam());
  input_.permissions = {PermissionFor(Pod::kKind, {"list", "watch"})};

  EXPECT_THAT(Run(), AllOf(HasSubstr(std::string("FAILED  POST ") + kReviews),
                           HasSubstr("the response is not from a Kubernetes API server: "),
                           Not(HasSubstr("json.exception"))));
  EXPECT_EQ(problems_, 1);
}

INSTANTIATE_TEST_SUITE_P(, InvalidReviewTest,
                         ::testing::Values("", "<html>log in</html>", "null", "[]",
                                           "{\"status\":", R"({"status":{}})", R"({"status":7})",
                                           R"({"message":"hello"})"));

TEST_F(PreflightTest, EachDeniedVerbIsAProblemInEachNamespace) {
  input_.permissions = {PermissionFor(Pod::kKind, {"delete", "get"}, "eviction")};
  input_.namespaces = {"shop", "web"};

  EXPECT_THAT(Run(), AllOf(HasSubstr(R"(FAILED  may not delete pods/eviction in namespace "shop")"),
                           HasSubstr(R"(FAILED  may not delete pods/eviction in namespace "web")"),
                           HasSubstr(R"(ok      may get pods/eviction in namespace "web")"),
                           HasSubstr("2 problems were found.")));
}

TEST_F(PreflightTest, APermissionWithANamespaceAndNamesIsCheckedThere) {
  Permission lease{.group = "coordination.k8s.io", .resource = "leases", .verbs = {"update"}};
  lease.ns = "kopp-system";
  lease.names = {"my-operator"};
  input_.permissions = {lease};
  input_.namespaces = {"shop"};

  const std::string text = Run();

  EXPECT_THAT(text, HasSubstr(R"(may update leases.coordination.k8s.io "my-operator" in )"
                              R"(namespace "kopp-system")"));
  EXPECT_THAT(text, Not(HasSubstr("shop")));
}

TEST_F(PreflightTest, AClockThatIsWrongByMoreThanFiveSecondsIsAProblem) {
  clock_.Advance(5s);
  EXPECT_THAT(Run(), HasSubstr("ok      the clock agrees"));

  clock_.Advance(1s);
  EXPECT_THAT(Run(), HasSubstr("FAILED  the clock is 6 s ahead of that of the server"));
  EXPECT_EQ(problems_, 1);
}

TEST_F(PreflightTest, AnUnreachableServerIsTheOnlyProblem) {
  transport_.On("GET", "/version", [](const ApiRequest&) -> ApiResponse {
    throw TransportError(TransportError::Kind::kUnreachable, "GET …: connection refused");
  });
  input_.kinds = {Pod::kKind};

  EXPECT_EQ(Run(), "FAILED  GET …: connection refused\n1 problem was found.\n");
}

/// A response to GET /version, and the only problem that is reported for it.
struct RejectedVersion {
  int status = 0;
  std::string body{};
  std::string problem{};

  friend void PrintTo(const RejectedVersion& response, std::ostream* out) {
    *out << response.status << ' ' << response.body;
  }
};

class RejectedVersionTest : public PreflightTest,
                            public ::testing::WithParamInterface<RejectedVersion> {};

TEST_P(RejectedVersionTest, TheProblemSaysWhatToDo) {
  transport_.Respond("GET", "/version", GetParam().status, GetParam().body);
  input_.kinds = {Pod::kKind};

  EXPECT_THAT(Run(), HasSubstr("FAILED  GET /version: " + GetParam().problem));
  EXPECT_EQ(problems_, 1);
}

INSTANTIATE_TEST_SUITE_P(
    , RejectedVersionTest,
    ::testing::Values(
        RejectedVersion{401,
                        R"({"kind":"Status","message":"Unauthorized","reason":"Unauthorized"})",
                        "401 Unauthorized: Unauthorized (the credentials were rejected or have "
                        "expired: renew them"},
        RejectedVersion{403, R"({"kind":"Status","message":"no","reason":"Forbidden"})",
                        "403 Forbidden: no"},
        RejectedVersion{404, "404 page not found",
                        "404: the response body is not a Status: 404 page not found"},
        RejectedVersion{429, "", "429: the response has no body (the API server is overloaded"},
        RejectedVersion{
            503, "<html>down</html>",
            "503: the response is an HTML page: <html>down</html> (an API server sends"},
        RejectedVersion{200, "<html>log in</html>",
                        "the response is not from a Kubernetes API server: it is an HTML page: "
                        "<html>log in</html>; check the address"},
        RejectedVersion{200, R"({"gitVersion":5})",
                        "the response is not from a Kubernetes API server: it has no gitVersion"},
        RejectedVersion{
            200, "", "the response is not from a Kubernetes API server: it has no body; check"}));

TEST(PermissionTest, RulesForTheSameObjectsAreMerged) {
  const auto merged = Merge({PermissionFor(Deployment::kKind, {"watch", "list"}),
                             PermissionFor(Pod::kKind, {"list"}),
                             PermissionFor(Deployment::kKind, {"create", "list"})});

  ASSERT_EQ(merged.size(), 2U);
  EXPECT_EQ(merged[0].resource, "pods");
  EXPECT_THAT(merged[1].verbs, ::testing::ElementsAre("create", "list", "watch"));
}

TEST(PermissionTest, AllNamespacesNeedAClusterRole) {
  EXPECT_EQ(PrintRbac({PermissionFor(Deployment::kKind, {"list", "watch"})}, {.name = "web"}),
            R"(apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata:
  name: web
rules:
  - apiGroups: ["apps"]
    resources: ["deployments"]
    verbs: ["list", "watch"]
)");
}

TEST(PermissionTest, SomeNamespacesNeedARoleEachAndAClusterRoleForObjectsWithoutOne) {
  Permission lease{.group = "coordination.k8s.io", .resource = "leases", .verbs = {"get"}};
  lease.ns = "system";
  lease.names = {"web"};
  const std::string text = PrintRbac(
      {PermissionFor(Pod::kKind, {"list"}), PermissionFor(Namespace::kKind, {"get"}), lease},
      {.name = "web", .namespaces = {"a", "b"}});

  EXPECT_THAT(text,
              AllOf(HasSubstr("kind: ClusterRole\nmetadata:\n  name: web\nrules:\n"
                              "  - apiGroups: [\"\"]\n    resources: [\"namespaces\"]"),
                    HasSubstr("kind: Role\nmetadata:\n  name: web\n  namespace: a\n"),
                    HasSubstr("kind: Role\nmetadata:\n  name: web\n  namespace: b\n"),
                    HasSubstr("namespace: system\nrules:\n"
                              "  - apiGroups: [\"coordination.k8s.io\"]\n"
                              "    resources: [\"leases\"]\n    resourceNames: [\"web\"]\n")));
}

TEST(ManagerActionsTest, CheckPrintsTheResultAndReturnsItsCode) {
  testing::FakeClock clock;
  const auto transport = std::make_shared<testing::ScriptedTransport>(clock);
  transport->Respond("GET", "/version", 200, R"({"gitVersion":"v1.36.1"})");
  transport->Respond("POST", kReviews, 201, R"({"status":{"allowed":false}})");
  transport->Respond(
      "GET", "/api/v1", 200,
      R"({"kind":"APIResourceList","resources":[{"name":"pods","kind":"Pod","namespaced":true}]})");
  Manager manager{
      Options{.action = Options::Action::kCheck, .transport = transport, .clock = clock}};
  manager.AddController<Pod>().Reconcile([](const Pod&, Context&) { return Result{}; });
  ::testing::internal::CaptureStdout();

  EXPECT_EQ(manager.Run({}), 1);

  EXPECT_THAT(::testing::internal::GetCapturedStdout(),
              AllOf(HasSubstr("ok      the server serves pods.v1."),
                    HasSubstr("FAILED  may not watch pods in all namespaces"),
                    HasSubstr("FAILED  may not create events in all namespaces")));
}

TEST(ManagerActionsTest, CheckWarnsAboutFieldsThatAVersionDeletes) {
  testing::FakeClock clock;
  const auto transport = std::make_shared<testing::ScriptedTransport>(clock);
  transport->On("GET", "/version", [](const ApiRequest&) -> ApiResponse {
    return {.status = 200,
            .body = R"({"gitVersion":"v1.36.1"})",
            .date = "Sun, 09 Sep 2001 01:46:40 GMT"};
  });
  Manager manager{
      Options{.action = Options::Action::kCheck, .transport = transport, .clock = clock}};
  manager.AddCrd<preflight_kinds::v1::Site>();
  manager.AddCrd<preflight_kinds::v1beta1::Site>();
  ::testing::internal::CaptureStdout();

  EXPECT_EQ(manager.Run({}), 0);

  EXPECT_THAT(::testing::internal::GetCapturedStdout(),
              AllOf(HasSubstr("WARNING Site (sites.example.com): a write through v1beta1 deletes "
                              "fields of v1: spec\n"),
                    HasSubstr("No problems were found.")));
}

TEST(ManagerActionsTest, CheckWarnsAboutADefinitionThatIsNotValid) {
  testing::FakeClock clock;
  Manager manager{Options{.action = Options::Action::kCheck,
                          .transport = std::make_shared<testing::ScriptedTransport>(clock),
                          .clock = clock}};
  manager.AddCrd<preflight_kinds::v1beta1::Site>();
  manager.AddCrd<preflight_kinds::v2::Site>();
  ::testing::internal::CaptureStdout();

  manager.Run({});

  EXPECT_THAT(::testing::internal::GetCapturedStdout(),
              HasSubstr("WARNING the CustomResourceDefinition sites.example.com is not valid: 0 of "
                        "its versions are the storage version"));
}

TEST(ManagerActionsTest, PrintRbacPrintsWatchesDeclaredWritesEventsAndTheLease) {
  testing::FakeClock clock;
  Options options{.action = Options::Action::kPrintRbac,
                  .name = "web",
                  .metrics = {.bind_address = ":0"},
                  .transport = std::make_shared<testing::ScriptedTransport>(clock),
                  .clock = clock};
  options.leader_election.enabled = true;
  options.leader_election.ns = "system";
  Manager manager{std::move(options)};
  manager.AddController<Pod>().Reconcile([](const Pod&, Context&) { return Result{}; });
  manager.Declare(PermissionFor(Pod::kKind, {"patch"}, "status"));
  ::testing::internal::CaptureStdout();

  EXPECT_EQ(manager.Run({}), 0);

  const std::string text = ::testing::internal::GetCapturedStdout();
  for (const char* resource :
       {"pods", "pods/status", "events", "leases", "tokenreviews", "subjectaccessreviews"}) {
    EXPECT_THAT(text, HasSubstr("resources: [\"" + std::string(resource) + "\"]"));
  }
  EXPECT_THAT(text, HasSubstr("resourceNames: [\"web\"]"));
}

TEST(ManagerActionsTest, CheckFindsThatTheNamespaceOfTheLeaseIsNotKnown) {
  testing::FakeClock clock;
  Options options{.action = Options::Action::kCheck,
                  .transport = std::make_shared<testing::ScriptedTransport>(clock),
                  .clock = clock};
  options.leader_election.enabled = true;
  Manager manager{std::move(options)};
  ::testing::internal::CaptureStdout();

  EXPECT_EQ(manager.Run({}), 1);

  EXPECT_THAT(::testing::internal::GetCapturedStdout(),
              AllOf(HasSubstr("FAILED"), HasSubstr("set --leader-election-namespace")));
}

TEST(ManagerActionsTest, AControllerThatOwnsObjectsNeedsUpdateOnTheFinalizersOfItsKind) {
  const auto finish = [](const auto&, Context&) { return Result{}; };
  Manager typed{{}};
  typed.AddController<ConfigMap>().Owns<Pod>().Reconcile(finish);
  Manager dynamic{{}};
  dynamic.AddController(OwningKind(ConfigMap::kKind))
      .Owns(OwningKind(Pod::kKind))
      .Reconcile(finish);
  Manager watching{{}};
  watching.AddController<ConfigMap>()
      .Watches<Pod>([](const Pod&) { return std::vector<ObjectKey>{}; })
      .Reconcile(finish);

  const Permission finalizers = PermissionFor(ConfigMap::kKind, {"update"}, "finalizers");

  EXPECT_THAT(typed.Permissions(), Contains(finalizers));
  EXPECT_THAT(dynamic.Permissions(), Contains(finalizers));
  EXPECT_THAT(watching.Permissions(), Not(Contains(finalizers)));
}

TEST(ManagerActionsTest, AControllerThatOwnsObjectsNeedsToReadThem) {
  const auto finish = [](const auto&, Context&) { return Result{}; };
  Manager typed{{}};
  typed.AddController<ConfigMap>().Owns<Pod>().Reconcile(finish);
  Manager dynamic{{}};
  dynamic.AddController(OwningKind(ConfigMap::kKind))
      .Owns(OwningKind(Pod::kKind))
      .Reconcile(finish);

  const Permission pods = PermissionFor(Pod::kKind, {"get", "list", "watch"});
  const Permission maps = PermissionFor(ConfigMap::kKind, {"list", "watch"});

  EXPECT_THAT(typed.Permissions(), AllOf(Contains(pods), Contains(maps)));
  EXPECT_THAT(dynamic.Permissions(), AllOf(Contains(pods), Contains(maps)));
}

TEST(ManagerActionsTest, TheLeaderNeedsEventsInTheNamespaceOfTheLease) {
  Options options{.watch_namespace = "shop,web"};
  options.leader_election = {.enabled = true, .id = "lock", .ns = "system"};
  const auto permissions = Manager(options).Permissions();
  options.leader_election.ns = "web";
  const auto permissions_in_watched_namespace = Manager(options).Permissions();

  Permission events{.resource = "events", .verbs = {"create", "patch"}, .ns = "system"};
  EXPECT_THAT(permissions, ::testing::Contains(events));
  events.ns = "web";
  EXPECT_THAT(permissions_in_watched_namespace, Not(::testing::Contains(events)));
}

TEST(ManagerActionsTest, TheApiOfTheEventsDecidesAboutTheirPermission) {
  Options options{.watch_namespace = "shop", .events = {.api = EventApi::kEvents}};
  options.leader_election = {.enabled = true, .id = "lock", .ns = "system"};

  EXPECT_THAT(Manager(options).Permissions(),
              ::testing::Contains(Permission{.group = "events.k8s.io",
                                             .resource = "events",
                                             .verbs = {"create", "patch"},
                                             .ns = "system"}));
}

}  // namespace
}  // namespace kopp
