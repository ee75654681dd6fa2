// What a whole control plane does and a kube-apiserver alone does not: no part of the conformance
// suite.
#include <string>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <kopp/client.hpp>
#include <kopp/kinds.hpp>
#include <kopp/testing/api_server.hpp>

namespace kopp {
namespace {

using nlohmann::json;

constexpr Kind kDefinitions{"apiextensions.k8s.io/v1", "CustomResourceDefinition",
                            "customresourcedefinitions", Scope::kCluster};

/// An owner "owner" and ConfigMaps that are owned.
class GarbageTest : public ::testing::Test {
 protected:
  GarbageTest() { owner_ = Make("owner"); }

  json Make(const std::string& name, const json& metadata = json::object()) {
    json object{{"metadata", {{"name", name}, {"namespace", "default"}}}};
    object["metadata"].update(metadata);
    return client_.Create(ConfigMap::kKind, object);
  }
  json MakeOwned(const std::string& name, const json& by, json metadata = json::object()) {
    metadata["ownerReferences"].push_back(Reference(by));
    return Make(name, metadata);
  }
  /// … without which its owner does not go, deleted in the foreground.
  json MakeHoldingUp(const std::string& name, const json& by, json metadata = json::object()) {
    metadata["ownerReferences"].push_back(Reference(by));
    metadata["ownerReferences"].back()["blockOwnerDeletion"] = true;
    return Make(name, metadata);
  }
  json MakeDefinition(const json& owners) {
    json definition = R"({"metadata": {"name": "widgets.example.com"},
                          "spec": {"group": "example.com", "scope": "Namespaced",
                                   "names": {"plural": "widgets", "kind": "Widget"},
                                   "versions": [{"name": "v1", "served": true, "storage": true,
                                       "schema": {"openAPIV3Schema": {"type": "object"}}}]}})"_json;
    definition["metadata"]["ownerReferences"] = owners;
    return client_.Create(kDefinitions, definition);
  }
  static json Reference(const json& owner) {
    return {{"apiVersion", "v1"},
            {"kind", "ConfigMap"},
            {"name", owner["metadata"]["name"]},
            {"uid", owner["metadata"]["uid"]}};
  }
  void Delete(const std::string& name, const std::string& propagation = "Background") {
    client_.Delete(ConfigMap::kKind, {"default", name}, {.propagation = propagation});
  }
  void DropFinalizers(const std::string& name) {
    client_.Patch(ConfigMap::kKind, {"default", name},
                  Patch::Merge({{"metadata", {{"finalizers", nullptr}}}}));
  }
  std::optional<json> Find(const std::string& name) {
    return client_.Get(ConfigMap::kKind, {"default", name});
  }
  bool Exists(const std::string& name) { return Find(name).has_value(); }

  testing::ApiServer server_;
  Client client_{server_.transport()};
  json owner_;
};

TEST_F(GarbageTest, WithItsOwnerAnObjectGoes) {
  MakeOwned("child", owner_);
  Make("other");

  Delete("owner");

  EXPECT_FALSE(Exists("child"));
  EXPECT_TRUE(Exists("other"));
}

TEST_F(GarbageTest, WithItsOwnersOwnerItGoesToo) {
  const json child = MakeOwned("child", owner_);
  MakeOwned("grandchild", child);

  Delete("owner");

  EXPECT_FALSE(Exists("grandchild"));
}

TEST_F(GarbageTest, WithAnotherOwnerItStaysWithThatOne) {
  const json other = Make("other");
  MakeOwned("child", owner_, {{"ownerReferences", {Reference(other)}}});

  Delete("owner");

  EXPECT_EQ((*Find("child"))["metadata"]["ownerReferences"], json::array({Reference(other)}));
}

TEST_F(GarbageTest, AnOrphanStaysWithoutItsOwner) {
  MakeOwned("child", owner_);

  Delete("owner", "Orphan");

  EXPECT_FALSE(Exists("owner"));
  EXPECT_FALSE((*Find("child"))["metadata"].contains("ownerReferences"));
}

TEST_F(GarbageTest, InTheForegroundTheOwnerGoesLast) {
  MakeHoldingUp("child", owner_, {{"finalizers", {"example.com/a"}}});

  Delete("owner", "Foreground");

  EXPECT_TRUE((*Find("owner"))["metadata"].contains("deletionTimestamp"));
  EXPECT_TRUE((*Find("child"))["metadata"].contains("deletionTimestamp"));
  DropFinalizers("child");
  EXPECT_FALSE(Exists("child"));
  EXPECT_FALSE(Exists("owner"));
}

TEST_F(GarbageTest, InTheForegroundTheOwnerDoesNotWaitForThoseThatDoNotHoldItUp) {
  MakeOwned("child", owner_, {{"finalizers", {"example.com/a"}}});

  Delete("owner", "Foreground");

  EXPECT_FALSE(Exists("owner"));
  EXPECT_TRUE((*Find("child"))["metadata"].contains("deletionTimestamp"));
}

TEST_F(GarbageTest, WhatIsMadeForAnOwnerThatWaitsForItsDependentsGoesAtOnce) {
  MakeHoldingUp("child", owner_, {{"finalizers", {"example.com/a"}}});
  Delete("owner", "Foreground");

  MakeHoldingUp("late", owner_);

  EXPECT_FALSE(Exists("late"));
  EXPECT_TRUE(Exists("owner"));
}

TEST_F(GarbageTest, InTheForegroundWithoutDependentsTheOwnerGoesAtOnce) {
  Delete("owner", "Foreground");

  EXPECT_FALSE(Exists("owner"));
}

TEST_F(GarbageTest, WhoseOwnerIsNotThereGoesAtOnce) {
  json former = owner_;
  former["metadata"]["uid"] = "another";

  MakeOwned("child", former);

  EXPECT_FALSE(Exists("child"));
}

TEST_F(GarbageTest, AnOwnerThatIsNotThereIsForgottenWhereAnotherIs) {
  json former = owner_;
  former["metadata"]["uid"] = "another";

  MakeOwned("child", former, {{"ownerReferences", {Reference(owner_)}}});

  EXPECT_EQ((*Find("child"))["metadata"]["ownerReferences"], json::array({Reference(owner_)}));
}

TEST_F(GarbageTest, AnOwnerOfAKindThatNobodyServesMayBeThere) {
  json reference = Reference(owner_);
  reference["kind"] = "Unknown";

  Make("child", {{"ownerReferences", {reference}}});

  EXPECT_TRUE(Exists("child"));
}

TEST_F(GarbageTest, ALongLineOfOwnersGoes) {
  json last = owner_;
  for (int i = 0; i < 2000; ++i) last = MakeOwned("child-" + std::to_string(i), last);

  Delete("owner");

  EXPECT_FALSE(Exists("child-1999"));
}

TEST_F(GarbageTest, ADefinitionThatGoesWithItsOwnerIsServedNoMore) {
  const json space = client_.Create(Namespace::kKind, {{"metadata", {{"name", "owner"}}}});
  json owner = Reference(space);
  owner["kind"] = "Namespace";
  MakeDefinition(json::array({owner}));
  const Request widgets{.target = "/apis/example.com/v1/widgets"};
  ASSERT_EQ(server_.transport().Call(widgets).status, 200);

  client_.Delete(Namespace::kKind, {"", "owner"});

  EXPECT_EQ(server_.transport().Call(widgets).status, 404);
}

TEST_F(GarbageTest, WithADefinitionGoesWhatItOwns) {
  const json definition = MakeDefinition(json::array());
  json owner = Reference(definition);
  owner["apiVersion"] = kDefinitions.api_version;
  owner["kind"] = kDefinitions.kind;
  Make("child", {{"ownerReferences", json::array({owner})}});
  ASSERT_TRUE(Exists("child"));

  client_.Delete(kDefinitions, {"", "widgets.example.com"});

  EXPECT_FALSE(Exists("child"));
}

TEST_F(GarbageTest, ANamespaceGoesWithAllThatIsInIt) {
  client_.Create(Namespace::kKind, {{"metadata", {{"name", "short-lived"}}}});
  client_.Create(ConfigMap::kKind, {{"metadata", {{"name", "a"}, {"namespace", "short-lived"}}}});

  client_.Delete(Namespace::kKind, {"", "short-lived"});

  EXPECT_FALSE(client_.Get(Namespace::kKind, {"", "short-lived"}));
  EXPECT_FALSE(client_.Get(ConfigMap::kKind, {"short-lived", "a"}));
}

TEST_F(GarbageTest, ANamespaceTakesAlongPodsThatHaveANodeAndVolumesThatAreProtected) {
  client_.Create(Namespace::kKind, {{"metadata", {{"name", "short-lived"}}}});
  const json metadata{{"name", "a"}, {"namespace", "short-lived"}};
  client_.Create(
      Pod::kKind,
      {{"metadata", metadata},
       {"spec", {{"nodeName", "node"}, {"containers", {{{"name", "c"}, {"image", "i"}}}}}}});
  const Kind claims{"v1", "PersistentVolumeClaim", "persistentvolumeclaims"};
  client_.Create(claims, {{"metadata", metadata},
                          {"spec",
                           {{"accessModes", {"ReadWriteOnce"}},
                            {"resources", {{"requests", {{"storage", "1Gi"}}}}}}}});

  client_.Delete(Namespace::kKind, {"", "short-lived"});

  EXPECT_FALSE(client_.Get(Namespace::kKind, {"", "short-lived"}));
}

TEST_F(GarbageTest, ANamespaceWaitsForWhatHasAFinalizer) {
  client_.Create(Namespace::kKind, {{"metadata", {{"name", "kept"}}}});
  client_.Create(
      ConfigMap::kKind,
      {{"metadata", {{"name", "a"}, {"namespace", "kept"}, {"finalizers", {"example.com/a"}}}}});

  client_.Delete(Namespace::kKind, {"", "kept"});

  EXPECT_EQ((*client_.Get(Namespace::kKind, {"", "kept"}))["status"]["phase"], "Terminating");
  client_.Patch(ConfigMap::kKind, {"kept", "a"},
                Patch::Merge({{"metadata", {{"finalizers", nullptr}}}}));
  EXPECT_FALSE(client_.Get(Namespace::kKind, {"", "kept"}));
}

}  // namespace
}  // namespace kopp
