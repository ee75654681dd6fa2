#include "widget.hpp"

#include <map>
#include <string>
#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <kopp/informer/detail/interned.hpp>

namespace kopp {
namespace {

using kopp::testing::Widget;
using ::testing::ElementsAre;
using ::testing::Pair;

Widget DecodeWidget(const std::string& metadata) {
  return Decode<Widget>(R"({"metadata":)" + metadata + "}");
}

TEST(InternedTest, EqualDecodedValuesShareMemory) {
  const std::string metadata =
      R"({"labels":{"app":"web"},"annotations":{"a":"1"},"finalizers":["f"],
          "ownerReferences":[{"kind":"ReplicaSet","name":"web-1","uid":"u"}]})";
  const Widget first = DecodeWidget(metadata);
  const Widget second = DecodeWidget(metadata);

  EXPECT_EQ(&first.metadata.labels.get(), &second.metadata.labels.get());
  EXPECT_EQ(&first.metadata.annotations.get(), &second.metadata.annotations.get());
  EXPECT_EQ(&first.metadata.ownerReferences.get(), &second.metadata.ownerReferences.get());
  EXPECT_EQ(&first.metadata.finalizers.get(), &second.metadata.finalizers.get());
}

TEST(InternedTest, ValuesThatDifferInOneElementAreNotShared) {
  const Widget first = DecodeWidget(R"({"labels":{"app":"web","tier":"a"}})");
  const Widget second = DecodeWidget(R"({"labels":{"app":"web","tier":"b"}})");

  EXPECT_NE(first.metadata.labels, second.metadata.labels);
  EXPECT_EQ(second.metadata.labels.at("tier"), "b");
}

TEST(InternedTest, OwnersWithEqualNamesAndUidsThatDifferOtherwiseAreNotShared) {
  const Widget first = DecodeWidget(R"({"ownerReferences":[{"name":"a","uid":"u"}]})");
  const Widget second =
      DecodeWidget(R"({"ownerReferences":[{"name":"a","uid":"u","controller":true}]})");

  EXPECT_EQ(ControllerOf(first.metadata), nullptr);
  EXPECT_NE(ControllerOf(second.metadata), nullptr);
}

TEST(InternedTest, AChangeOfASharedValueDoesNotAffectOtherObjects) {
  const std::string metadata = R"({"labels":{"app":"web"}})";
  Widget changed = DecodeWidget(metadata);
  const Widget other = DecodeWidget(metadata);
  const Widget copy = changed;

  changed.metadata.labels["app"] = "changed";

  EXPECT_EQ(changed.metadata.labels.at("app"), "changed");
  EXPECT_EQ(other.metadata.labels.at("app"), "web");
  EXPECT_EQ(copy.metadata.labels.at("app"), "web");
  EXPECT_EQ(DecodeWidget(metadata).metadata.labels.at("app"), "web");
}

TEST(InternedTest, ACopyOfAPrivateValueIsIndependent) {
  StringMap original{{"a", "1"}};
  std::string& value = original["a"];
  const StringMap copy = original;

  value = "2";

  EXPECT_EQ(original.at("a"), "2");
  EXPECT_EQ(copy.at("a"), "1");
}

TEST(InternedTest, ConstFunctionsDoNotCopyASharedValue) {
  Widget widget = DecodeWidget(R"({"labels":{"app":"web"}})");
  const auto* shared = &widget.metadata.labels.get();

  EXPECT_TRUE(widget.metadata.labels.contains("app"));
  EXPECT_NE(widget.metadata.labels.find("app"), widget.metadata.labels.end());
  EXPECT_EQ(widget.metadata.labels.size(), 1);
  EXPECT_EQ(&widget.metadata.labels.get(), shared);
}

TEST(InternedTest, HasTheFunctionsOfAMap) {
  StringMap map{{"b", "2"}, {"a", "1"}};
  map["c"] = "3";
  map.insert_or_assign("a", "4");
  EXPECT_FALSE(map.emplace("b", "unused"));
  EXPECT_EQ(map.erase("c"), 1);

  EXPECT_THAT(map, ElementsAre(Pair("a", "4"), Pair("b", "2")));
  EXPECT_EQ(map.count("a"), 1);
  const std::map<std::string, std::string> converted = map;
  EXPECT_EQ(map, converted);
  map = {};
  EXPECT_TRUE(map.empty());
  EXPECT_EQ(map, StringMap(std::map<std::string, std::string>{}));
}

TEST(InternedTest, HasTheFunctionsOfAVector) {
  OwnerReferences owners;
  owners.push_back({.name = "a"});
  owners.emplace_back(OwnerReference{.name = "b"});
  owners[0].uid = "u";

  EXPECT_EQ(owners.front().uid, "u");
  EXPECT_EQ(owners.back().name, "b");
  EXPECT_EQ(std::as_const(owners)[1].name, "b");
  owners.clear();
  EXPECT_EQ(owners, OwnerReferences());
}

TEST(InternedTest, EncodingWritesTheValueAndOmitsAnEmptyOne) {
  Widget widget = testing::MakeWidget();
  EXPECT_FALSE(nlohmann::json(widget)["metadata"].contains("labels"));

  widget.metadata.labels["app"] = "web";
  EXPECT_EQ(nlohmann::json(widget)["metadata"]["labels"], (nlohmann::json{{"app", "web"}}));
}

TEST(InternedTest, InterningReturnsTheRightValueWhileUnusedValuesAreRemoved) {
  for (int i = 0; i < 1000; ++i) {
    const std::string text = std::to_string(i);
    const auto interned = StringMap::Intern({{"i", text}});
    EXPECT_EQ(interned.at("i"), text);
    EXPECT_EQ(&StringMap::Intern({{"i", text}}).get(), &interned.get());
  }
}

}  // namespace
}  // namespace kopp
