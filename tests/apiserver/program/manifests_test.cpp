#include "environment/manifests.hpp"

#include "support/scratch_folder.hpp"

#include <stdexcept>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <kopp/client.hpp>
#include <kopp/dynamic_client.hpp>
#include <kopp/kinds.hpp>
#include <kopp/testing/api_server.hpp>

namespace kopp::apiserver {
namespace {

using nlohmann::json;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr const char* kWebCrd = R"(
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: webs.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {kind: Web, plural: webs}
  versions:
  - name: v1
    served: true
    storage: true
    subresources: {status: {}}
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec: {type: object, properties: {size: {type: integer, maximum: 9}}}
          status: {type: object, properties: {phase: {type: string}}}
)";
constexpr Kind kWeb{"example.com/v1", "Web", "webs"};

std::vector<std::string> Names(const std::vector<Manifest>& manifests) {
  std::vector<std::string> names;
  for (const Manifest& manifest : manifests) {
    names.push_back(manifest.object.at("metadata").at("name"));
  }
  return names;
}

class ManifestsTest : public ::testing::Test {
 protected:
  // Reads and applies all files in the folder.
  void ApplyAll() {
    const Manifests manifests = ReadManifests({folder / ""});
    ApplyManifests(server.transport(), manifests.base);
    ApplyManifests(server.transport(), manifests.custom_resources);
  }
  nlohmann::json GetCrd() {
    const std::string crds = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/";
    return nlohmann::json::parse(
        server.transport().Call({.target = crds + "webs.example.com"}).body);
  }
  std::string Failure() {
    try {
      ApplyAll();
    } catch (const std::runtime_error& error) {
      return error.what();
    }
    return "no failure";
  }

  testing::ScratchFolder folder;
  testing::ApiServer server;
  Client client{server.transport()};
};

TEST_F(ManifestsTest, OrderIsCrdsThenNamespacesThenOtherObjectsThenCustomResources) {
  folder.Write("a.yaml", R"({apiVersion: example.com/v1, kind: Web, metadata: {name: web}}
---
{apiVersion: v1, kind: ConfigMap, metadata: {name: settings, namespace: shop}}
---
{apiVersion: v1, kind: Namespace, metadata: {name: shop}})");
  folder.Write("b.yaml", kWebCrd);
  folder.Write("c.txt", "not: {a: manifest");

  const Manifests manifests = ReadManifests({folder / ""});

  EXPECT_THAT(Names(manifests.base), ElementsAre("webs.example.com", "shop", "settings"));
  EXPECT_THAT(Names(manifests.custom_resources), ElementsAre("web"));
}

TEST_F(ManifestsTest, AnAppliedObjectHasItsStatus) {
  folder.Write("all.yaml", std::string(kWebCrd) + R"(---
apiVersion: v1
kind: List
items:
- {apiVersion: example.com/v1, kind: Web, metadata: {name: a}, status: {phase: Ready}}
)");

  ApplyAll();

  EXPECT_EQ(client.Dynamic(kWeb).Get({"default", "a"}).value().At("/status/phase"), "Ready");
}

TEST_F(ManifestsTest, OutputOfKubectlGetCanBeApplied) {
  folder.Write("web.json", R"({"apiVersion": "v1", "kind": "ConfigMap", "data": {"key": "value"},
    "metadata": {"name": "a", "uid": "1-2-3", "resourceVersion": "77", "managedFields": []}})");

  ApplyAll();

  const auto loaded = client.Dynamic(Kind{"v1", "ConfigMap", "configmaps"}).Get({"default", "a"});
  EXPECT_EQ(loaded->At("/data/key"), "value");
  EXPECT_NE(loaded->metadata.uid, "1-2-3");
}

TEST_F(ManifestsTest, TheServiceOfTheApiServerOfAnotherClusterIsSkipped) {
  folder.Write("services.yaml", R"(
apiVersion: v1
kind: List
items:
- apiVersion: v1
  kind: Service
  metadata: {name: kubernetes, namespace: default}
  spec: {clusterIP: 10.96.0.1, clusterIPs: [10.96.0.1], ports: [{port: 443}]}
- apiVersion: v1
  kind: Service
  metadata: {name: web, namespace: default}
  spec: {clusterIP: 10.96.0.2, ports: [{port: 80}]}
)");
  ApplyAll();

  const auto cluster_ip = [&](const std::string& name) {
    return client.Dynamic(Kind{"v1", "Service", "services"})
        .Get({"default", name})
        .value()
        .At("/spec/clusterIP");
  };
  EXPECT_EQ(cluster_ip("kubernetes"), "10.0.0.1");
  EXPECT_EQ(cluster_ip("web"), "10.96.0.2");
}

TEST_F(ManifestsTest, AnApprovedCertificateSigningRequestCanBeApplied) {
  folder.Write("request.yaml", R"(
apiVersion: certificates.k8s.io/v1
kind: CertificateSigningRequest
metadata: {name: a}
spec:
  request: LS0tLS1CRUdJTiBDRVJUSUZJQ0FURSBSRVFVRVNULS0tLS0KTUlIPQotLS0tLUVORCBDRVJUSUZJQ0FURSBSRVFVRVNULS0tLS0K
  signerName: example.com/a
  usages: [client auth]
status:
  conditions: [{type: Approved, status: "True", reason: Checked}]
)");

  ApplyAll();

  constexpr Kind kRequests{"certificates.k8s.io/v1", "CertificateSigningRequest",
                           "certificatesigningrequests", Scope::kCluster};
  const auto request = client.Dynamic(kRequests).Get({"", "a"});
  EXPECT_EQ(request->At("/status/conditions/0/type"), "Approved");
}

TEST_F(ManifestsTest, ApplyingTwiceChangesNothing) {
  folder.Write("all.yaml", kWebCrd);

  ApplyAll();
  const auto first = GetCrd();
  ApplyAll();

  EXPECT_EQ(GetCrd(), first);
  EXPECT_EQ(first.at("metadata").at("name"), "webs.example.com");
}

TEST_F(ManifestsTest, AnErrorOfTheServerHasTheFileAndTheObject) {
  folder.Write("all.yaml", std::string(kWebCrd) + R"(---
{apiVersion: example.com/v1, kind: Web, metadata: {name: large}, spec: {size: 10}})");

  EXPECT_THAT(Failure(), HasSubstr("all.yaml, object 2 (Web large): "));
  EXPECT_THAT(Failure(), HasSubstr("spec.size: Invalid value: 10"));
}

TEST_F(ManifestsTest, AnUnknownGroupVersionIsAnErrorWithTheObject) {
  folder.Write("web.yaml", "{apiVersion: example.com/v1, kind: Web, metadata: {name: a}}");

  EXPECT_THAT(Failure(), HasSubstr("object 1 (Web a): the server does not serve example.com/v1"));
}

TEST_F(ManifestsTest, AnObjectWithoutKindIsAnError) {
  folder.Write("a.yaml", "{metadata: {name: a}}");

  EXPECT_THAT(Failure(), HasSubstr("object 1: apiVersion and kind are required"));
}

TEST_F(ManifestsTest, AScalarDocumentIsAnErrorWithTheFile) {
  folder.Write("text.yaml", "hello");

  EXPECT_THAT(Failure(), HasSubstr("text.yaml, object 1: not a Kubernetes object"));
}

TEST_F(ManifestsTest, InvalidYamlIsAnErrorWithTheLine) {
  folder.Write("bad.yaml", "a: [1,\nb: }");

  EXPECT_THAT(Failure(), HasSubstr("bad.yaml: error converting YAML to JSON"));
  EXPECT_THAT(Failure(), HasSubstr("line 2"));
}

TEST_F(ManifestsTest, AMissingFileIsAnErrorWithItsName) {
  EXPECT_THROW(
      {
        try {
          static_cast<void>(ReadManifests({folder / "none.yaml"}));
        } catch (const std::runtime_error& error) {
          EXPECT_THAT(error.what(), HasSubstr("none.yaml"));
          throw;
        }
      },
      std::runtime_error);
}

}  // namespace
}  // namespace kopp::apiserver
