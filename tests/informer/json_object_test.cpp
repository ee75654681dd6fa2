#include <string>
#include <string_view>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <kopp/informer/json_object.hpp>

namespace kopp {
namespace {

struct Parcel {
  std::string kind;
  std::string label;
  RawJson extra;
};
KOPP_FIELDS(Parcel, kind, label, extra)

constexpr Kind kParcelKind{"shop/v1", "Parcel", "parcels"};

/// Returns what `use` returns for the object `text`.
template <typename Use>
auto WithObject(const std::string& text, Use use) {
  decltype(use(std::declval<const JsonObject&>())) result{};
  ParseObject(text, [&](const JsonObject& object) { result = use(object); });
  return result;
}

bool IsParcel(const std::string& text) {
  return WithObject(text, [](const JsonObject& object) { return object.IsOfKind(kParcelKind); });
}

std::string WithoutManagedFields(const std::string& text) {
  return WithObject(text,
                    [](const JsonObject& object) { return object.TextWithoutManagedFields(); });
}

TEST(JsonObjectTest, AnObjectCanBeDecodedSeveralTimes) {
  std::string escapes;
  for (int i = 0; i < 1000; ++i) escapes += "a\\n";
  ParseObject(R"({"label":")" + escapes + R"(","extra":[1]})", [](const JsonObject& object) {
    const auto first = object.Decode<Parcel>();
    EXPECT_EQ(first.label.substr(0, 4), "a\na\n");
    EXPECT_EQ(first.extra.text, "[1]");
    for (int i = 0; i < 3; ++i) EXPECT_EQ(object.Decode<Parcel>().label, first.label);
  });
}

TEST(JsonObjectTest, AnObjectCanBeDecodedAgainAfterATypeMismatch) {
  ParseObject(R"({"label":5,"kind":"Parcel"})", [](const JsonObject& object) {
    EXPECT_THROW((void)object.Decode<Parcel>(), DecodeError);
    EXPECT_THROW((void)object.Decode<Parcel>(), DecodeError);
    EXPECT_EQ(object.text(), R"({"label":5,"kind":"Parcel"})");
  });
}

TEST(JsonObjectTest, ObjectsCanBeParsedWhileAnotherIsParsed) {
  ParseObject(R"({"label":"outer"})", [](const JsonObject& outer) {
    EXPECT_EQ(Decode<Parcel>(R"({"label":"a longer text"})").label, "a longer text");
    ParseObject(R"({"label":"inner"})",
                [](const JsonObject& inner) { EXPECT_EQ(inner.Decode<Parcel>().label, "inner"); });
    EXPECT_EQ(outer.Decode<Parcel>().label, "outer");
  });
}

TEST(JsonObjectTest, TheKindIsComparedInAnyOrderOfTheMembers) {
  EXPECT_TRUE(IsParcel(R"({"kind":"Parcel","apiVersion":"shop/v1"})"));
  EXPECT_TRUE(IsParcel(R"({"metadata":{"kind":"x"},"apiVersion":"shop/v1","kind":"Parcel"})"));
  EXPECT_FALSE(IsParcel(R"({"kind":"Parcels","apiVersion":"shop/v1"})"));
  EXPECT_FALSE(IsParcel(R"({"kind":"Parcel","apiVersion":"shop/v2"})"));
  EXPECT_FALSE(IsParcel(R"({"kind":"Parcel"})"));
  EXPECT_FALSE(IsParcel(R"({"kind":["Parcel"],"apiVersion":"shop/v1"})"));
}

TEST(JsonObjectTest, TheTextOfTheObjectOfAWatchEventHasNoBytesOfTheEvent) {
  std::string text = R"({"type":"ADDED","object": {"label":"}"} })";
  const std::size_t size = text.size();
  text.append(PaddedText::kPadding, ' ');

  ParseWatchEvent({std::string_view(text).substr(0, size)},
                  [](std::string_view type, const JsonObject& object) {
                    EXPECT_EQ(type, "ADDED");
                    EXPECT_EQ(object.text(), R"({"label":"}"})");
                    EXPECT_EQ(object.Decode<Parcel>().label, "}");
                  });
}

TEST(JsonObjectTest, AWatchEventMayHaveItsObjectBeforeItsType) {
  std::string text = R"({"object":{"label":"x"},"type":"ADDED"})";
  const std::size_t size = text.size();
  text.append(PaddedText::kPadding, ' ');

  ParseWatchEvent({std::string_view(text).substr(0, size)},
                  [](std::string_view type, const JsonObject& object) {
                    EXPECT_EQ(type, "ADDED");
                    EXPECT_EQ(object.Decode<Parcel>().label, "x");
                  });
}

TEST(JsonObjectTest, AWatchEventWithoutAnObjectIsMalformed) {
  const std::string text = R"({"type":"ADDED"})" + std::string(PaddedText::kPadding, ' ');
  try {
    ParseWatchEvent({std::string_view(text).substr(0, text.size() - PaddedText::kPadding)},
                    [](std::string_view, const JsonObject&) { ADD_FAILURE() << "no exception"; });
  } catch (const DecodeError& error) {
    EXPECT_EQ(error.kind(), DecodeError::Kind::kMalformed);
    EXPECT_STREQ(error.what(), "a watch event has no member \"object\"");
  }
}

TEST(JsonObjectTest, ManagedFieldsAreRemovedWithTheirComma) {
  EXPECT_EQ(WithoutManagedFields(R"({"metadata":{"managedFields":[{"a":1}]},"spec":1})"),
            R"({"metadata":{},"spec":1})");
  EXPECT_EQ(WithoutManagedFields(R"({"metadata":{"managedFields":[], "name":"a"}})"),
            R"({"metadata":{ "name":"a"}})");
  EXPECT_EQ(
      WithoutManagedFields(R"({"metadata":{"name":"a" , "managedFields" : [{}] ,"uid":"b"}})"),
      R"({"metadata":{"name":"a"  ,"uid":"b"}})");
  EXPECT_EQ(WithoutManagedFields(R"({"metadata":{"name":"a","managedFields":null}})"),
            R"({"metadata":{"name":"a"}})");
}

TEST(JsonObjectTest, TextWithoutManagedFieldsIsUnchangedIfThereAreNone) {
  for (const std::string text :
       {R"({"managedFields":1})", R"({"metadata":{"name":"a"}})", R"({"metadata":null})",
        R"({"spec":{"managedFields":[]}})", "{}"}) {
    EXPECT_EQ(WithoutManagedFields(text), text);
  }
}

}  // namespace
}  // namespace kopp
