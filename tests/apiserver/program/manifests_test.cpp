#include "manifests.hpp"

#include "scratch_folder.hpp"

#include <stdexcept>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <kopp/client.hpp>
#include <kopp/kinds.hpp>
#include <kopp/testing/api_server.hpp>

namespace kopp::apiserver {
namespace {

using nlohmann::json;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr const char* kWebs = R"(
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
  // Loads all of the folder.
  void LoadAll() {
    const Manifests manifests = ReadManifestFiles({folder / ""});
    Load(server.transport(), manifests.first);
    Load(server.transport(), manifests.custom);
  }
  nlohmann::json Definition() {
    const std::string kinds = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/";
    return nlohmann::json::parse(
        server.transport().Call({.target = kinds + "webs.example.com"}).body);
  }
  std::string Failure() {
    try {
      LoadAll();
    } catch (const std::runtime_error& error) {
      return error.what();
    }
    return "no failure";
  }

  ScratchFolder folder;
  testing::ApiServer server;
  Client client{server.transport()};
};

TEST_F(ManifestsTest, DefinitionsComeFirstThenNamespacesAndTheirObjectsLast) {
  folder.Write("a.yaml", R"({apiVersion: example.com/v1, kind: Web, metadata: {name: web}}
---
{apiVersion: v1, kind: ConfigMap, metadata: {name: settings, namespace: shop}}
---
{apiVersion: v1, kind: Namespace, metadata: {name: shop}})");
  folder.Write("b.yaml", kWebs);
  folder.Write("c.txt", "not: {a: manifest");

  const Manifests manifests = ReadManifestFiles({folder / ""});

  EXPECT_THAT(Names(manifests.first), ElementsAre("webs.example.com", "shop", "settings"));
  EXPECT_THAT(Names(manifests.custom), ElementsAre("web"));
}

TEST_F(ManifestsTest, WhatIsLoadedIsThereWithItsStatus) {
  folder.Write("all.yaml", std::string(kWebs) + R"(---
apiVersion: v1
kind: List
items:
- {apiVersion: example.com/v1, kind: Web, metadata: {name: a}, status: {phase: Ready}}
)");

  LoadAll();

  EXPECT_EQ(client.Get(kWeb, {"default", "a"})->at("status").at("phase"), "Ready");
}

TEST_F(ManifestsTest, WhatKubectlGetHasWrittenMayBeLoaded) {
  folder.Write("web.json", R"({"apiVersion": "v1", "kind": "ConfigMap", "data": {"key": "value"},
    "metadata": {"name": "a", "uid": "1-2-3", "resourceVersion": "77", "managedFields": []}})");

  LoadAll();

  const auto loaded = client.Get(Kind{"v1", "ConfigMap", "configmaps"}, {"default", "a"});
  EXPECT_EQ(loaded->at("data").at("key"), "value");
  EXPECT_NE(loaded->at("metadata").at("uid"), "1-2-3");
}

TEST_F(ManifestsTest, LoadingTwiceLeavesWhatIsThere) {
  folder.Write("all.yaml", kWebs);

  LoadAll();
  const auto first = Definition();
  LoadAll();

  EXPECT_EQ(Definition(), first);
  EXPECT_EQ(first.at("metadata").at("name"), "webs.example.com");
}

TEST_F(ManifestsTest, ARefusalNamesTheFileTheObjectAndTheServersReason) {
  folder.Write("all.yaml", std::string(kWebs) + R"(---
{apiVersion: example.com/v1, kind: Web, metadata: {name: large}, spec: {size: 10}})");

  EXPECT_THAT(Failure(), HasSubstr("all.yaml, object 2 (Web large): "));
  EXPECT_THAT(Failure(), HasSubstr("spec.size: Invalid value: 10"));
}

TEST_F(ManifestsTest, AKindThatNobodyDefinesIsNamed) {
  folder.Write("web.yaml", "{apiVersion: example.com/v1, kind: Web, metadata: {name: a}}");

  EXPECT_THAT(Failure(), HasSubstr("object 1 (Web a): the server has no example.com/v1"));
}

TEST_F(ManifestsTest, AnObjectWithoutAKindIsRefused) {
  folder.Write("a.yaml", "{metadata: {name: a}}");

  EXPECT_THAT(Failure(), HasSubstr("object 1: it has no apiVersion and kind"));
}

TEST_F(ManifestsTest, WhatIsNoObjectIsNamedByItsFile) {
  folder.Write("text.yaml", "hello");

  EXPECT_THAT(Failure(), HasSubstr("text.yaml, object 1: it is no object"));
}

TEST_F(ManifestsTest, TextThatIsNoYamlIsNamedWithItsLine) {
  folder.Write("bad.yaml", "a: [1,\nb: }");

  EXPECT_THAT(Failure(), HasSubstr("bad.yaml: error converting YAML to JSON"));
  EXPECT_THAT(Failure(), HasSubstr("line 2"));
}

TEST_F(ManifestsTest, AFileThatIsNotThereIsNamed) {
  EXPECT_THROW(
      {
        try {
          static_cast<void>(ReadManifestFiles({folder / "none.yaml"}));
        } catch (const std::runtime_error& error) {
          EXPECT_THAT(error.what(), HasSubstr("none.yaml"));
          throw;
        }
      },
      std::runtime_error);
}

}  // namespace
}  // namespace kopp::apiserver
