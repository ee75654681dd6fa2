#include "widget.hpp"

#include <stdexcept>
#include <string>
#include <unordered_set>

#include <gtest/gtest.h>

#include <kopp/informer/object.hpp>

namespace kopp {
namespace {

using kopp::testing::AWidget;

TEST(ObjectKeyTest, ItsTextIsNamespaceSlashName) {
  EXPECT_EQ((ObjectKey{"ns", "a"}).ToString(), "ns/a");
  EXPECT_EQ((ObjectKey{"", "node"}).ToString(), "node");
}

TEST(ObjectKeyTest, ParseReadsWhatToStringWrites) {
  EXPECT_EQ(ObjectKey::Parse("ns/a"), (ObjectKey{"ns", "a"}));
  EXPECT_EQ(ObjectKey::Parse("node"), (ObjectKey{"", "node"}));
}

TEST(ObjectKeyTest, ParseRefusesWhatNamesNoObject) {
  EXPECT_THROW(ObjectKey::Parse(""), std::invalid_argument);
  EXPECT_THROW(ObjectKey::Parse("ns/"), std::invalid_argument);
  EXPECT_THROW(ObjectKey::Parse("a/b/c"), std::invalid_argument);
}

TEST(ObjectKeyTest, NamespaceAndNameAreNotInterchangeableInTheHash) {
  const std::hash<ObjectKey> hash;
  EXPECT_NE(hash({"a", "b"}), hash({"b", "a"}));
}

TEST(KindTest, TheGroupIsWhatStandsBeforeTheVersion) {
  EXPECT_EQ((Kind{"apps/v1", "Deployment", "deployments"}).group(), "apps");
  EXPECT_EQ((Kind{"v1", "Pod", "pods"}).group(), "");
}

TEST(ObjectTest, MetadataIsReadUnderItsJsonNames) {
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

TEST(ControllerOfTest, ItIsTheOneOwnerThatControls) {
  const auto widget =
      AWidget().OwnedBy({.name = "reader"}).OwnedBy({.name = "manager", .controller = true});

  ASSERT_NE(ControllerOf(widget.metadata), nullptr);
  EXPECT_EQ(ControllerOf(widget.metadata)->name, "manager");
  EXPECT_EQ(ControllerOf(AWidget().metadata), nullptr);
}

TEST(IsOlderVersionTest, VersionsAreComparedAsNumbersOfAnyLength) {
  EXPECT_TRUE(IsOlderVersion("9", "10"));
  EXPECT_TRUE(IsOlderVersion("99999999999999999999998", "99999999999999999999999"));
  EXPECT_FALSE(IsOlderVersion("10", "9"));
  EXPECT_FALSE(IsOlderVersion("10", "10"));
}

TEST(IsOlderVersionTest, OfVersionsThatAreNoNumbersNothingIsSaid) {
  EXPECT_FALSE(IsOlderVersion("a", "b"));
  EXPECT_FALSE(IsOlderVersion("", "1"));
  EXPECT_FALSE(IsOlderVersion("01", "2"));
}

TEST(ObjectKeyTest, InAQueueKeysThatReadTheSameWithoutTheirSlashAreHashedApart) {
  const workqueue::ItemHash<ObjectKey> hash;

  EXPECT_EQ(hash({"ab", "c"}, 1), hash({"ab", "c"}, 1));
  EXPECT_NE(hash({"ab", "c"}, 1), hash({"a", "bc"}, 1));
  EXPECT_NE(hash({"ab", "c"}, 1), hash({"ab", "c"}, 2)) << "each queue hashes in its own way";
}

}  // namespace
}  // namespace kopp
