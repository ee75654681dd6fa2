#include "widget.hpp"

#include <stdexcept>
#include <string>
#include <unordered_set>

#include <gtest/gtest.h>

#include <kopp/informer/object.hpp>

namespace kopp {
namespace {

using kopp::testing::MakeWidget;

TEST(ObjectKeyTest, ToStringReturnsNamespaceSlashName) {
  EXPECT_EQ((ObjectKey{"ns", "a"}).ToString(), "ns/a");
  EXPECT_EQ((ObjectKey{"", "node"}).ToString(), "node");
}

TEST(ObjectKeyTest, ParseIsTheInverseOfToString) {
  EXPECT_EQ(ObjectKey::Parse("ns/a"), (ObjectKey{"ns", "a"}));
  EXPECT_EQ(ObjectKey::Parse("node"), (ObjectKey{"", "node"}));
}

TEST(ObjectKeyTest, ParseThrowsForAnEmptyNameOrMoreThanOneSlash) {
  EXPECT_THROW(ObjectKey::Parse(""), std::invalid_argument);
  EXPECT_THROW(ObjectKey::Parse("ns/"), std::invalid_argument);
  EXPECT_THROW(ObjectKey::Parse("a/b/c"), std::invalid_argument);
}

TEST(ObjectKeyTest, SwappingNamespaceAndNameChangesTheHash) {
  const std::hash<ObjectKey> hash;
  EXPECT_NE(hash({"a", "b"}), hash({"b", "a"}));
}

TEST(KindTest, VersionReturnsThePartOfApiVersionAfterTheSlash) {
  EXPECT_EQ((Kind{"apps/v1", "Deployment", "deployments"}).version(), "v1");
  EXPECT_EQ((Kind{"v1", "Pod", "pods"}).version(), "v1");
}

TEST(KindTest, GroupReturnsThePartOfApiVersionBeforeTheSlash) {
  EXPECT_EQ((Kind{"apps/v1", "Deployment", "deployments"}).group(), "apps");
  EXPECT_EQ((Kind{"v1", "Pod", "pods"}).group(), "");
}

TEST(ObjectTest, DecodingReadsMetadataByItsJsonNames) {
  const auto widget = Decode<kopp::testing::Widget>(
      R"({"metadata": {"name": "a", "namespace": "ns", "uid": "u", "generation": 3,
          "deletionTimestamp": "2024-01-01T00:00:00Z", "labels": {"k": "v"},
          "ownerReferences": [{"kind": "X", "controller": true}], "finalizers": ["f"]}})");

  EXPECT_EQ(KeyOf(widget), (ObjectKey{"ns", "a"}));
  EXPECT_EQ(widget.metadata.generation, 3);
  EXPECT_TRUE(widget.metadata.deletionTimestamp.has_value());
  EXPECT_EQ(widget.metadata.labels.at("k"), "v");
  EXPECT_EQ(widget.metadata.finalizers.front(), "f");
}

TEST(ControllerOfTest, ReturnsTheOwnerReferenceWithControllerTrueOrNull) {
  const auto widget = MakeWidget()
                          .AddOwnerReference({.name = "reader"})
                          .AddOwnerReference({.name = "manager", .controller = true});

  ASSERT_NE(ControllerOf(widget.metadata), nullptr);
  EXPECT_EQ(ControllerOf(widget.metadata)->name, "manager");
  EXPECT_EQ(ControllerOf(MakeWidget().metadata), nullptr);
}

TEST(IsOlderResourceVersionTest, ComparesDecimalNumbersOfAnyLength) {
  EXPECT_TRUE(IsOlderResourceVersion("9", "10"));
  EXPECT_TRUE(IsOlderResourceVersion("99999999999999999999998", "99999999999999999999999"));
  EXPECT_FALSE(IsOlderResourceVersion("10", "9"));
  EXPECT_FALSE(IsOlderResourceVersion("10", "10"));
}

TEST(IsOlderResourceVersionTest, ReturnsFalseIfAVersionIsNotADecimalNumber) {
  EXPECT_FALSE(IsOlderResourceVersion("a", "b"));
  EXPECT_FALSE(IsOlderResourceVersion("", "1"));
  EXPECT_FALSE(IsOlderResourceVersion("01", "2"));
}

TEST(ObjectKeyTest, ItemHashDependsOnTheBoundaryBetweenNamespaceAndName) {
  const workqueue::ItemHash<ObjectKey> hash;

  EXPECT_EQ(hash({"ab", "c"}, 1), hash({"ab", "c"}, 1));
  EXPECT_NE(hash({"ab", "c"}, 1), hash({"a", "bc"}, 1));
  EXPECT_NE(hash({"ab", "c"}, 1), hash({"ab", "c"}, 2)) << "the hash depends on the seed";
}

}  // namespace
}  // namespace kopp
