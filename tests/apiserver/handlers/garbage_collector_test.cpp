// Tests of garbage collection and namespace deletion. They are not in the conformance suite,
// because controllers of the control plane do this work in a real cluster, not kube-apiserver.
#include <string>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <kopp/client.hpp>
#include <kopp/dynamic_client.hpp>
#include <kopp/kinds.hpp>
#include <kopp/testing/api_server.hpp>

namespace kopp {
namespace {

using nlohmann::json;

constexpr Kind kCrds{"apiextensions.k8s.io/v1", "CustomResourceDefinition",
                     "customresourcedefinitions", Scope::kCluster};

/// Fixture with a ConfigMap "owner", and helpers to create dependents of it.
class GarbageCollectorTest : public ::testing::Test {
 protected:
  GarbageCollectorTest() { owner_ = Create("owner"); }

  json Create(const std::string& name, const json& metadata = json::object()) {
    json object{{"metadata", {{"name", name}, {"namespace", "default"}}}};
    object["metadata"].update(metadata);
    return client_.Dynamic(ConfigMap::kKind).Create(object).Json();
  }
  json CreateOwned(const std::string& name, const json& owner, json metadata = json::object()) {
    metadata["ownerReferences"].push_back(Reference(owner));
    return Create(name, metadata);
  }
  /// Same as CreateOwned, with blockOwnerDeletion: a foreground deletion of the owner waits for it.
  json CreateBlockingDependent(const std::string& name, const json& owner,
                               json metadata = json::object()) {
    metadata["ownerReferences"].push_back(Reference(owner));
    metadata["ownerReferences"].back()["blockOwnerDeletion"] = true;
    return Create(name, metadata);
  }
  json CreateCrd(const json& owners) {
    json crd = R"({"metadata": {"name": "widgets.example.com"},
                          "spec": {"group": "example.com", "scope": "Namespaced",
                                   "names": {"plural": "widgets", "kind": "Widget"},
                                   "versions": [{"name": "v1", "served": true, "storage": true,
                                       "schema": {"openAPIV3Schema": {"type": "object"}}}]}})"_json;
    crd["metadata"]["ownerReferences"] = owners;
    return client_.Dynamic(kCrds).Create(crd).Json();
  }
  static json Reference(const json& owner) {
    return {{"apiVersion", "v1"},
            {"kind", "ConfigMap"},
            {"name", owner["metadata"]["name"]},
            {"uid", owner["metadata"]["uid"]}};
  }
  void Delete(const std::string& name,
              DeletionPropagation propagation = DeletionPropagation::kBackground) {
    client_.Delete<ConfigMap>({"default", name}, {.propagation = propagation});
  }
  void RemoveFinalizers(const std::string& name) {
    client_.Patch<ConfigMap>({"default", name},
                             Patch::Merge({{"metadata", {{"finalizers", nullptr}}}}));
  }
  std::optional<json> Find(const std::string& name) {
    const auto object = client_.Dynamic(ConfigMap::kKind).Get({"default", name});
    return object ? std::optional(object->Json()) : std::nullopt;
  }
  bool Exists(const std::string& name) { return Find(name).has_value(); }

  testing::ApiServer server_;
  Client client_{server_.transport()};
  json owner_;
};

TEST_F(GarbageCollectorTest, ADependentIsDeletedWithItsOwner) {
  CreateOwned("child", owner_);
  Create("other");

  Delete("owner");

  EXPECT_FALSE(Exists("child"));
  EXPECT_TRUE(Exists("other"));
}

TEST_F(GarbageCollectorTest, DependentsOfDependentsAreDeleted) {
  const json child = CreateOwned("child", owner_);
  CreateOwned("grandchild", child);

  Delete("owner");

  EXPECT_FALSE(Exists("grandchild"));
}

TEST_F(GarbageCollectorTest, ADependentWithAnotherOwnerKeepsOnlyThatOwner) {
  const json other = Create("other");
  CreateOwned("child", owner_, {{"ownerReferences", {Reference(other)}}});

  Delete("owner");

  EXPECT_EQ((*Find("child"))["metadata"]["ownerReferences"], json::array({Reference(other)}));
}

TEST_F(GarbageCollectorTest, OrphanPropagationKeepsTheDependentWithoutOwnerReferences) {
  CreateOwned("child", owner_);

  Delete("owner", DeletionPropagation::kOrphan);

  EXPECT_FALSE(Exists("owner"));
  EXPECT_FALSE((*Find("child"))["metadata"].contains("ownerReferences"));
}

TEST_F(GarbageCollectorTest, ForegroundDeletionRemovesTheOwnerAfterItsBlockingDependent) {
  CreateBlockingDependent("child", owner_, {{"finalizers", {"example.com/a"}}});

  Delete("owner", DeletionPropagation::kForeground);

  EXPECT_TRUE((*Find("owner"))["metadata"].contains("deletionTimestamp"));
  EXPECT_TRUE((*Find("child"))["metadata"].contains("deletionTimestamp"));
  RemoveFinalizers("child");
  EXPECT_FALSE(Exists("child"));
  EXPECT_FALSE(Exists("owner"));
}

TEST_F(GarbageCollectorTest, ForegroundDeletionDoesNotWaitForNonBlockingDependents) {
  CreateOwned("child", owner_, {{"finalizers", {"example.com/a"}}});

  Delete("owner", DeletionPropagation::kForeground);

  EXPECT_FALSE(Exists("owner"));
  EXPECT_TRUE((*Find("child"))["metadata"].contains("deletionTimestamp"));
}

TEST_F(GarbageCollectorTest, ADependentCreatedDuringForegroundDeletionIsDeleted) {
  CreateBlockingDependent("child", owner_, {{"finalizers", {"example.com/a"}}});
  Delete("owner", DeletionPropagation::kForeground);

  CreateBlockingDependent("late", owner_);

  EXPECT_FALSE(Exists("late"));
  EXPECT_TRUE(Exists("owner"));
}

TEST_F(GarbageCollectorTest, ForegroundDeletionWithoutDependentsRemovesTheOwner) {
  Delete("owner", DeletionPropagation::kForeground);

  EXPECT_FALSE(Exists("owner"));
}

TEST_F(GarbageCollectorTest, ADependentOfAMissingOwnerIsDeleted) {
  json missing_owner = owner_;
  missing_owner["metadata"]["uid"] = "another";

  CreateOwned("child", missing_owner);

  EXPECT_FALSE(Exists("child"));
}

TEST_F(GarbageCollectorTest, AnOwnerInAnotherNamespaceIsMissingAndReported) {
  constexpr Kind kEvents{"v1", "Event", "events"};
  json missing_owner = owner_;
  missing_owner["metadata"]["uid"] = "u-1";
  CreateOwned("first", missing_owner, {{"namespace", "kube-public"}});
  EXPECT_TRUE(client_.Dynamic(kEvents).List({.ns = "kube-public"}).empty());

  CreateOwned("child", owner_, {{"namespace", "kube-public"}});

  EXPECT_FALSE(client_.Get<ConfigMap>({"kube-public", "child"}).has_value());
  const auto events = client_.Dynamic(kEvents).List({.ns = "kube-public"});
  ASSERT_EQ(events.size(), 1U);
  const json event = events[0].Json();
  EXPECT_EQ(event["reason"], "OwnerRefInvalidNamespace");
  EXPECT_EQ(event["involvedObject"]["name"], "child");
  EXPECT_EQ(event["message"], "ownerRef [v1/ConfigMap, namespace: kube-public, name: owner, uid: " +
                                  owner_["metadata"]["uid"].get<std::string>() +
                                  "] does not exist in namespace \"kube-public\"");
}

TEST_F(GarbageCollectorTest, AReferenceToAMissingOwnerIsRemovedIfAnotherOwnerExists) {
  json missing_owner = owner_;
  missing_owner["metadata"]["uid"] = "another";

  CreateOwned("child", missing_owner, {{"ownerReferences", {Reference(owner_)}}});

  EXPECT_EQ((*Find("child"))["metadata"]["ownerReferences"], json::array({Reference(owner_)}));
}

TEST_F(GarbageCollectorTest, ADependentOfAnUnknownKindIsKept) {
  json reference = Reference(owner_);
  reference["kind"] = "Unknown";

  Create("child", {{"ownerReferences", {reference}}});

  EXPECT_TRUE(Exists("child"));
}

TEST_F(GarbageCollectorTest, ALongChainOfOwnersIsDeleted) {
  json last = owner_;
  for (int i = 0; i < 2000; ++i) last = CreateOwned("child-" + std::to_string(i), last);

  Delete("owner");

  EXPECT_FALSE(Exists("child-1999"));
}

TEST_F(GarbageCollectorTest, ACrdDeletedWithItsOwnerIsNotServed) {
  const json space =
      client_.Dynamic(Namespace::kKind).Create({{"metadata", {{"name", "owner"}}}}).Json();
  json owner = Reference(space);
  owner["kind"] = "Namespace";
  CreateCrd(json::array({owner}));
  const ApiRequest widgets{.target = "/apis/example.com/v1/widgets"};
  ASSERT_EQ(server_.transport().Call(widgets).status, 200);

  client_.Delete<Namespace>({"", "owner"});

  EXPECT_EQ(server_.transport().Call(widgets).status, 404);
}

TEST_F(GarbageCollectorTest, DependentsOfACrdAreDeletedWithIt) {
  const json crd = CreateCrd(json::array());
  json owner = Reference(crd);
  owner["apiVersion"] = kCrds.api_version;
  owner["kind"] = kCrds.kind;
  Create("child", {{"ownerReferences", json::array({owner})}});
  ASSERT_TRUE(Exists("child"));

  client_.Dynamic(kCrds).Delete({"", "widgets.example.com"});

  EXPECT_FALSE(Exists("child"));
}

TEST_F(GarbageCollectorTest, DeletingANamespaceDeletesItsObjects) {
  client_.Create<Namespace>({{"metadata", {{"name", "short-lived"}}}});
  client_.Create<ConfigMap>({{"metadata", {{"name", "a"}, {"namespace", "short-lived"}}}});

  client_.Delete<Namespace>({"", "short-lived"});

  EXPECT_FALSE(client_.Get<Namespace>({"", "short-lived"}));
  EXPECT_FALSE(client_.Get<ConfigMap>({"short-lived", "a"}));
}

TEST_F(GarbageCollectorTest, DeletingANamespaceDeletesScheduledPodsAndProtectedClaims) {
  client_.Create<Namespace>({{"metadata", {{"name", "short-lived"}}}});
  const json metadata{{"name", "a"}, {"namespace", "short-lived"}};
  client_.Create<Pod>(
      {{"metadata", metadata},
       {"spec", {{"nodeName", "node"}, {"containers", {{{"name", "c"}, {"image", "i"}}}}}}});
  const Kind claims{"v1", "PersistentVolumeClaim", "persistentvolumeclaims"};
  client_.Dynamic(claims).Create({{"metadata", metadata},
                                  {"spec",
                                   {{"accessModes", {"ReadWriteOnce"}},
                                    {"resources", {{"requests", {{"storage", "1Gi"}}}}}}}});

  client_.Delete<Namespace>({"", "short-lived"});

  EXPECT_FALSE(client_.Get<Namespace>({"", "short-lived"}));
}

TEST_F(GarbageCollectorTest, ANamespaceIsTerminatingWhileAnObjectHasAFinalizer) {
  client_.Create<Namespace>({{"metadata", {{"name", "kept"}}}});
  client_.Create<ConfigMap>(
      {{"metadata", {{"name", "a"}, {"namespace", "kept"}, {"finalizers", {"example.com/a"}}}}});

  client_.Delete<Namespace>({"", "kept"});

  EXPECT_EQ(client_.Dynamic(Namespace::kKind).Get({"", "kept"}).value().Json()["status"]["phase"],
            "Terminating");
  client_.Patch<ConfigMap>({"kept", "a"}, Patch::Merge({{"metadata", {{"finalizers", nullptr}}}}));
  EXPECT_FALSE(client_.Get<Namespace>({"", "kept"}));
}

}  // namespace
}  // namespace kopp
