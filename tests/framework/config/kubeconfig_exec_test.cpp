#include "config_fixture.hpp"

#include <map>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <kopp/config.hpp>

namespace kopp {
namespace {

using ::testing::ElementsAre;
using ::testing::Pair;

// --- credential plugins

using KubeconfigExecTest = ConfigFixture;

std::string ExecUser(const std::string& fields) {
  return KubeconfigBuilder().UserField("exec: {" + fields + "}");
}

constexpr const char* kV1 = "apiVersion: client.authentication.k8s.io/v1";

TEST_F(KubeconfigExecTest, UserOfEksIsRead) {
  const Config config = LoadText(R"(apiVersion: v1
kind: Config
clusters:
- cluster:
    server: https://0123456789ABCDEF.gr7.eu-central-1.eks.amazonaws.com
  name: arn:aws:eks:eu-central-1:111122223333:cluster/prod
contexts:
- context:
    cluster: arn:aws:eks:eu-central-1:111122223333:cluster/prod
    user: arn:aws:eks:eu-central-1:111122223333:cluster/prod
  name: prod
current-context: prod
preferences: {}
users:
- name: arn:aws:eks:eu-central-1:111122223333:cluster/prod
  user:
    exec:
      apiVersion: client.authentication.k8s.io/v1beta1
      args:
      - --region
      - eu-central-1
      - eks
      - get-token
      - --cluster-name
      - prod
      - --output
      - json
      command: aws
      env:
      - name: AWS_PROFILE
        value: operators
)");

  EXPECT_EQ(config.exec.api_version, "client.authentication.k8s.io/v1beta1");
  EXPECT_EQ(config.exec.command, "aws");
  EXPECT_THAT(config.exec.args, ElementsAre("--region", "eu-central-1", "eks", "get-token",
                                            "--cluster-name", "prod", "--output", "json"));
  EXPECT_THAT(config.exec.env, ElementsAre(Pair("AWS_PROFILE", "operators")));
  EXPECT_FALSE(config.exec.provide_cluster_info);
}

TEST_F(KubeconfigExecTest, UserOfGkeIsRead) {
  const Config config = LoadText(R"(apiVersion: v1
kind: Config
clusters:
- cluster: {server: https://34.118.0.1}
  name: gke_project_europe-west1_prod
contexts:
- context: {cluster: gke_project_europe-west1_prod, user: gke_project_europe-west1_prod}
  name: gke_project_europe-west1_prod
current-context: gke_project_europe-west1_prod
users:
- name: gke_project_europe-west1_prod
  user:
    exec:
      apiVersion: client.authentication.k8s.io/v1beta1
      command: gke-gcloud-auth-plugin
      installHint: Install gke-gcloud-auth-plugin for use with kubectl by following
        https://cloud.google.com/kubernetes-engine/docs/how-to/cluster-access-for-kubectl#install_plugin
      provideClusterInfo: true
)");

  EXPECT_EQ(config.exec.command, "gke-gcloud-auth-plugin");
  EXPECT_THAT(config.exec.args, ElementsAre());
  EXPECT_TRUE(config.exec.provide_cluster_info);
  EXPECT_EQ(config.exec.install_hint,
            "Install gke-gcloud-auth-plugin for use with kubectl by following "
            "https://cloud.google.com/kubernetes-engine/docs/how-to/"
            "cluster-access-for-kubectl#install_plugin");
}

TEST_F(KubeconfigExecTest, UserOfAksIsRead) {
  const Config config = LoadText(R"(apiVersion: v1
kind: Config
clusters:
- cluster: {server: "https://prod-dns-0a1b2c3d.hcp.westeurope.azmk8s.io:443"}
  name: prod
contexts:
- context: {cluster: prod, user: clusterUser_group_prod}
  name: prod
current-context: prod
users:
- name: clusterUser_group_prod
  user:
    exec:
      apiVersion: client.authentication.k8s.io/v1beta1
      args: [get-token, --environment, AzurePublicCloud, --login, workloadidentity]
      command: kubelogin
      env: null
      installHint: |2

        kubelogin is not installed which is required to connect to AAD enabled cluster.

        To learn more, please go to https://aka.ms/aks/kubelogin
      provideClusterInfo: false
)");

  EXPECT_EQ(config.exec.command, "kubelogin");
  EXPECT_EQ(config.exec.args.size(), 5U);
  EXPECT_TRUE(config.exec.env.empty());
  EXPECT_TRUE(Contains(config.exec.install_hint, "https://aka.ms/aks/kubelogin"));
}

TEST_F(KubeconfigExecTest, CommandWithASlashIsRelativeToTheKubeconfig) {
  const std::string mode = ", interactiveMode: Never";

  EXPECT_EQ(LoadText(ExecUser(std::string(kV1) + ", command: bin/login" + mode)).exec.command,
            folder_ / "bin/login");
  EXPECT_EQ(LoadText(ExecUser(std::string(kV1) + ", command: ./login" + mode)).exec.command,
            folder_ / "login");
  EXPECT_EQ(LoadText(ExecUser(std::string(kV1) + ", command: /bin/login" + mode)).exec.command,
            "/bin/login");
}

TEST_F(KubeconfigExecTest, EmptyArgumentsAndValuesAreKept) {
  const Config config =
      LoadText(ExecUser(std::string(kV1) + ", command: login, interactiveMode: IfAvailable, args: "
                                           "['', b], env: [{name: A, value: ''}]"));

  EXPECT_THAT(config.exec.args, ElementsAre("", "b"));
  EXPECT_THAT(config.exec.env, ElementsAre(Pair("A", "")));
}

TEST_F(KubeconfigExecTest, PluginIsNotUsedForPlainHttpServer) {
  const std::string file =
      Write("config", ExecUser(std::string(kV1) + ", command: login, interactiveMode: Never"));

  EXPECT_EQ(Load({.kubeconfig = file, .master = "http://127.0.0.1:8001"}).exec.command, "");
}

struct InvalidExec {
  const char* name = "";
  std::string fields{};
  std::string error{};  // after the location of the user
};

class InvalidExecTest : public KubeconfigExecTest,
                        public ::testing::WithParamInterface<InvalidExec> {};

TEST_P(InvalidExecTest, IsRejected) {
  EXPECT_EQ(LoadErrorOfText(ExecUser(GetParam().fields)),
            "kubeconfig DIR/config: user \"me\"" + GetParam().error);
}

INSTANTIATE_TEST_SUITE_P(
    , InvalidExecTest,
    ::testing::Values(
        InvalidExec{"WithoutACommand", kV1,
                    ": exec: command is missing; add the name of the credential plugin"},
        InvalidExec{"OfARemovedVersion",
                    "apiVersion: client.authentication.k8s.io/v1alpha1, command: aws",
                    ": exec: apiVersion \"client.authentication.k8s.io/v1alpha1\" is not "
                    "supported; use client.authentication.k8s.io/v1 or "
                    "client.authentication.k8s.io/v1beta1, and a version of the plugin that "
                    "supports it"},
        InvalidExec{"ThatAlwaysNeedsATerminal",
                    std::string(kV1) + ", command: aws, interactiveMode: Always",
                    ": exec: interactiveMode Always is not supported: a plugin runs without a "
                    "terminal; use a plugin or a login that asks no questions, and set "
                    "interactiveMode to IfAvailable"},
        InvalidExec{"OfV1WithoutInteractiveMode", std::string(kV1) + ", command: aws",
                    ": exec: interactiveMode must be Never, IfAvailable or Always; add "
                    "\"interactiveMode: IfAvailable\""},
        InvalidExec{"WithAnUnknownInteractiveMode",
                    std::string(kV1) + ", command: aws, interactiveMode: never",
                    ": exec: interactiveMode must be Never, IfAvailable or Always; correct it"},
        InvalidExec{"WithAnArgumentThatIsAMap", std::string(kV1) + ", command: aws, args: [{a: b}]",
                    ": exec, line 11: args must be a list of strings"},
        InvalidExec{"WithAVariableThatIsAString", std::string(kV1) + ", command: aws, env: [A=B]",
                    ": exec, line 11: env must be a list of names and values"},
        InvalidExec{"WithAVariableWithoutAName",
                    std::string(kV1) + ", command: aws, env: [{value: b}]",
                    ": exec: env: \"\" is not a name of an environment variable; correct it"}),
    [](const auto& test) { return test.param.name; });

TEST_F(KubeconfigExecTest, PluginBesideATokenIsRejected) {
  EXPECT_EQ(LoadErrorOfText(KubeconfigBuilder()
                                .UserField("token: abc")
                                .UserField("exec: {" + std::string(kV1) +
                                           ", command: aws, interactiveMode: Never}")),
            "kubeconfig DIR/config: user \"me\": exec excludes a token and a client certificate; "
            "remove exec, or the others");
}

TEST_F(KubeconfigExecTest, ExecThatIsAStringIsRejected) {
  EXPECT_EQ(LoadErrorOfText(KubeconfigBuilder().UserField("exec: aws")),
            "kubeconfig DIR/config: user \"me\", line 11: exec must be a map");
}

// --- impersonation

using KubeconfigImpersonationTest = ConfigFixture;

TEST_F(KubeconfigImpersonationTest, ImpersonatedUserIsRead) {
  const Config config = LoadText(KubeconfigBuilder()
                                     .UserField("token: abc")
                                     .UserField("as: jane")
                                     .UserField("as-uid: 06f6ce97")
                                     .UserField("as-groups: [developers, auditors]")
                                     .UserField("as-user-extra: {scopes: [view, edit]}"));

  EXPECT_EQ(config.impersonate.user, "jane");
  EXPECT_EQ(config.impersonate.uid, "06f6ce97");
  EXPECT_THAT(config.impersonate.groups, ElementsAre("developers", "auditors"));
  EXPECT_THAT(config.impersonate.extra, ElementsAre(Pair("scopes", ElementsAre("view", "edit"))));
}

TEST_F(KubeconfigImpersonationTest, GroupWithoutUserIsRejected) {
  EXPECT_EQ(LoadErrorOfText(KubeconfigBuilder().UserField("as-groups: [developers]")),
            "kubeconfig DIR/config: user \"me\": as-uid, as-groups and as-user-extra require as; "
            "add \"as: USER\", or remove them");
}

TEST_F(KubeconfigImpersonationTest, LineBreakInAGroupIsRejected) {
  EXPECT_EQ(
      LoadErrorOfText(
          KubeconfigBuilder().UserField("as: jane").UserField("as-groups: [\"a\\r\\nX: y\"]")),
      "kubeconfig DIR/config: user \"me\": as-groups: \"a\\x0d\\x0aX: y\" cannot be sent in "
      "an HTTP header; remove line breaks, other control characters and surrounding blanks");
}

TEST_F(KubeconfigImpersonationTest, LineBreakInAnExtraKeyIsEscapedInError) {
  EXPECT_EQ(
      LoadErrorOfText(
          KubeconfigBuilder().UserField("as: jane").UserField("as-user-extra: {\"a\\nb\": view}")),
      "kubeconfig DIR/config: user \"me\": as-user-extra, line 12: \"a\\x0ab\" must be a list "
      "of strings");
}

TEST_F(KubeconfigImpersonationTest, BlankAfterTheUserIsRejected) {
  EXPECT_TRUE(Contains(LoadErrorOfText(KubeconfigBuilder().UserField("as: 'jane '")),
                       "as: \"jane \" cannot be sent in an HTTP header"));
}

}  // namespace
}  // namespace kopp
