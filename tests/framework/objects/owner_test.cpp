#include <stdexcept>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <kopp/informer/owning_kind.hpp>
#include <kopp/kinds.hpp>
#include <kopp/owner.hpp>

namespace kopp {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::SizeIs;

class OwnerTest : public ::testing::Test {
 protected:
  OwnerTest() {
    web_.metadata.name = "web";
    web_.metadata.ns = "shop";
    web_.metadata.uid = "u1";
    child_.name = "web-config";
    child_.ns = "shop";
  }
  /// Returns the error of SetControllerReference, which must leave the owner references alone.
  template <typename Error = std::invalid_argument, ApiObject T>
  std::string ErrorOf(const T& owner, ObjectMeta child) {
    const OwnerReferences before = child.ownerReferences;
    try {
      SetControllerReference(owner, child);
    } catch (const Error& error) {
      EXPECT_EQ(child.ownerReferences, before);
      return error.what();
    }
    return "no error";
  }

  Deployment web_;
  ObjectMeta child_;
};

TEST_F(OwnerTest, OwnedByAddsTheOwnerAsController) {
  const ObjectMeta child = OwnedBy(web_, "web-config");

  EXPECT_EQ(json(child), json::parse(R"({"name":"web-config","namespace":"shop",
      "ownerReferences":[{"apiVersion":"apps/v1","kind":"Deployment","name":"web","uid":"u1",
                          "controller":true,"blockOwnerDeletion":true}]})"));
}

TEST_F(OwnerTest, OwnedByTakesAKindThatIsOnlyKnownAtRunTime) {
  const OwningKind kind(Deployment::kKind);
  EXPECT_EQ(OwnedBy(kind, web_.metadata, "web-config"), OwnedBy(web_, "web-config"));
}

TEST_F(OwnerTest, IsControlledByComparesTheUid) {
  ConfigMap config;
  config.metadata = OwnedBy(web_, "web-config");
  EXPECT_TRUE(IsControlledBy(config, web_));

  config.metadata.ownerReferences[0].uid = "u-of-an-earlier-web";
  EXPECT_FALSE(IsControlledBy(config, web_));
}

TEST_F(OwnerTest, SetControllerReferenceAddsTheOwnerAsController) {
  SetControllerReference(web_, child_);

  EXPECT_EQ(child_, OwnedBy(web_, "web-config"));
}

TEST_F(OwnerTest, SetControllerReferenceReplacesTheReferenceOfAnEarlierOwnerOrAnotherVersion) {
  child_.ownerReferences.push_back({.apiVersion = "v1", .kind = "Pod", .name = "other"});
  child_.ownerReferences.push_back(
      {.apiVersion = "apps/v1beta1", .kind = "Deployment", .name = "web", .uid = "old"});

  SetControllerReference(web_, child_);

  ASSERT_THAT(child_.ownerReferences, SizeIs(2));
  EXPECT_EQ(child_.ownerReferences[1], OwnedBy(web_, "").ownerReferences[0]);
}

TEST_F(OwnerTest, AnObjectThatAnotherOwnerControlsIsRejectedWithThatOwner) {
  Deployment other = web_;
  other.metadata.name = "db";
  SetControllerReference(other, child_);

  EXPECT_THAT(ErrorOf<AlreadyOwnedError>(web_, child_),
              HasSubstr("shop/web-config is already controlled by Deployment db"));
  try {
    SetControllerReference(web_, child_);
  } catch (const AlreadyOwnedError& error) {
    EXPECT_EQ(error.controller().name, "db");
  }
  SetOwnerReference(web_, child_);
  EXPECT_THAT(child_.ownerReferences, SizeIs(2)) << "a second owner may be added";
  EXPECT_EQ(ControllerOf(child_)->name, "db");
}

TEST_F(OwnerTest, AnOwnerInAnotherNamespaceIsRejected) {
  child_.ns = "other";

  EXPECT_THAT(ErrorOf(web_, child_), HasSubstr("Deployment shop/web cannot own other/web-config"));
}

TEST_F(OwnerTest, AnOwnerInANamespaceIsRejectedForAClusterScopedObject) {
  child_.ns = "";

  EXPECT_THAT(ErrorOf(web_, child_), HasSubstr("cluster-scoped object cannot have an owner"));
}

TEST_F(OwnerTest, AClusterScopedOwnerMayOwnObjectsOfAnyNamespace) {
  Namespace owner;
  owner.metadata.name = "tenant";
  owner.metadata.uid = "u2";

  SetControllerReference(owner, child_);

  EXPECT_EQ(ControllerOf(child_)->uid, "u2");
}

TEST_F(OwnerTest, AnOwnerWithoutAUidIsRejected) {
  web_.metadata.uid = "";

  EXPECT_THAT(ErrorOf(web_, child_), HasSubstr("it has no uid"));
}

TEST_F(OwnerTest, SetControllerReferenceOfAJsonObjectKeepsOtherReferencesAsTheyAre) {
  json object = json::parse(R"({"metadata":{"name":"web-config","namespace":"shop",
      "ownerReferences":[{"apiVersion":"v1","kind":"Pod","name":"other","uid":"u2"}]}})");

  SetControllerReference(web_, object);
  SetControllerReference(web_, object);

  EXPECT_EQ(object["metadata"]["ownerReferences"], json::parse(R"([
      {"apiVersion":"v1","kind":"Pod","name":"other","uid":"u2"},
      {"apiVersion":"apps/v1","kind":"Deployment","name":"web","uid":"u1",
       "controller":true,"blockOwnerDeletion":true}])"));
  object["metadata"]["namespace"] = "other";
  EXPECT_THROW(SetControllerReference(web_, object), std::invalid_argument);
}

TEST_F(OwnerTest, RemoveOwnerReferenceRemovesTheReferenceToThisOwnerOnly) {
  Deployment other = web_;
  other.metadata.name = "db";
  SetControllerReference(web_, child_);
  SetOwnerReference(other, child_);

  EXPECT_TRUE(RemoveOwnerReference(Deployment::kKind, web_.metadata, child_));
  EXPECT_FALSE(RemoveOwnerReference(Deployment::kKind, web_.metadata, child_));

  ASSERT_THAT(child_.ownerReferences, SizeIs(1));
  EXPECT_EQ(child_.ownerReferences[0].name, "db");
}

}  // namespace
}  // namespace kopp
