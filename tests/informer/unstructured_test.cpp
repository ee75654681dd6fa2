#include "widget.hpp"

#include <stdexcept>
#include <string>
#include <string_view>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <kopp/informer/unstructured.hpp>

namespace kopp {
namespace {

using nlohmann::json;
using testing::Widget;

constexpr Kind kDeploymentKind{"apps/v1", "Deployment", "deployments"};

/// Returns the text that an Unstructured stores for an object with these members of metadata.
std::string StoredText(const std::string& metadata) {
  return std::string(
      Unstructured::FromJson(R"({"kind":"Widget","metadata":{)" + metadata + R"(},"spec":1})")
          .text());
}

TEST(UnstructuredTest, HasTheMetadataAndEveryFieldOfTheObject) {
  const auto object = Unstructured::FromJson(
      R"({"apiVersion":"apps/v1","kind":"Deployment",
          "metadata":{"name":"web","namespace":"shop","selfLink":"/x"},
          "spec":{"replicas":3,"template":{"a/b":[{"image":"nginx"}]}}})");

  EXPECT_EQ(object.metadata.name, "web");
  EXPECT_EQ(object.metadata.ns, "shop");
  EXPECT_EQ(object.At("/spec/replicas"), 3);
  EXPECT_EQ(object.At("/spec/template/a~1b/0/image"), "nginx");
  EXPECT_EQ(object.At("/metadata/selfLink"), "/x");
  EXPECT_EQ(object.At("").at("kind"), "Deployment");
  EXPECT_EQ(object.Json(), object.At(""));
}

TEST(UnstructuredTest, AtReturnsNullForAMissingValueAndThrowsForAnInvalidPointer) {
  const auto object = Unstructured::FromJson(R"({"metadata":{"name":"a"},"list":[1]})");

  EXPECT_EQ(object.At("/spec"), nullptr);
  EXPECT_EQ(object.At("/metadata/name/deeper"), nullptr);
  EXPECT_EQ(object.At("/list/7"), nullptr);
  EXPECT_THROW((void)object.At("spec.replicas"), std::invalid_argument);
}

TEST(UnstructuredTest, JsonThrowsWithoutTheTextOfAnObjectThatIsNotValid) {
  const auto object = Unstructured::FromJson(R"({"metadata":{},"data":{"token":"canary\q"}})");

  try {
    FAIL() << object.Json();
  } catch (const DecodeError& error) {
    EXPECT_STREQ(error.what(), "not valid JSON: the error is at byte 40");
  }
}

TEST(UnstructuredTest, FromResponseKeepsTheTextAndAddsAMissingType) {
  constexpr std::string_view kTyped = R"({"kind":"Widget","metadata":{"managedFields":[1]}})";
  EXPECT_EQ(Unstructured::FromResponse(std::string(kTyped), kDeploymentKind).text(), kTyped);
  EXPECT_EQ(Unstructured::FromResponse(R"({"metadata":{"name":"a"}})", kDeploymentKind).text(),
            R"({"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"a"}})");
  EXPECT_EQ(Unstructured::FromResponse(" {} ", kDeploymentKind).text(),
            R"( {"apiVersion":"apps/v1","kind":"Deployment"} )");
  EXPECT_EQ(Unstructured::FromResponse("{}").text(), "{}");
  EXPECT_THROW((void)Unstructured::FromResponse("[]", kDeploymentKind), DecodeError);
  EXPECT_THROW((void)Unstructured::FromResponse("", kDeploymentKind), DecodeError);
}

TEST(UnstructuredTest, ManagedFieldsAreRemovedAtAnyPositionInMetadata) {
  const std::string fields = R"("managedFields":[{"manager":"a,}","fieldsV1":{"f:x":{}}}])";

  EXPECT_EQ(StoredText(fields), R"({"kind":"Widget","metadata":{},"spec":1})");
  EXPECT_EQ(StoredText(fields + R"(,"name":"a")"),
            R"({"kind":"Widget","metadata":{"name":"a"},"spec":1})");
  EXPECT_EQ(StoredText(R"("name":"a",)" + fields),
            R"({"kind":"Widget","metadata":{"name":"a"},"spec":1})");
  EXPECT_EQ(json::parse(StoredText("\n\"name\" : \"a\" ,\n " + fields + " \n , \"uid\":\"u\"")),
            json::parse(R"({"kind":"Widget","metadata":{"name":"a","uid":"u"},"spec":1})"));
}

TEST(UnstructuredTest, ManagedFieldsOutsideTheTopLevelMetadataAreKept) {
  const std::string text =
      R"({"kind":"Widget","metadata":{"name":"a"},"spec":{"metadata":{"managedFields":[1]}}})";

  EXPECT_EQ(Unstructured::FromJson(text).text(), text);
}

TEST(UnstructuredTest, AnItemOfAListGetsItsApiVersionAndKind) {
  const auto item = Unstructured::FromJson(R"({"metadata":{"name":"a"}})", kDeploymentKind);
  const auto event = Unstructured::FromJson(R"({"kind":"Other","metadata":{}})", kDeploymentKind);

  EXPECT_EQ(item.text(), R"({"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"a"}})");
  EXPECT_EQ(event.text(), R"({"kind":"Other","metadata":{}})");
}

TEST(UnstructuredTest, ATextWithOnlyAnApiVersionDoesNotGetASecondOne) {
  const std::string text = R"({"apiVersion":"v1","metadata":{}})";

  EXPECT_EQ(Unstructured::FromJson(text, kDeploymentKind).text(), text);
}

TEST(UnstructuredTest, AnObjectWithoutMembersGetsItsApiVersionAndKind) {
  for (const char* text : {"{}", " { \n}"}) {
    EXPECT_EQ(Unstructured::FromJson(text, kDeploymentKind).Json(),
              json({{"apiVersion", "apps/v1"}, {"kind", "Deployment"}}));
  }
}

TEST(UnstructuredTest, AValueThatIsNotValidJsonThrowsDecodeErrorWhenItIsRead) {
  const auto object = Unstructured::FromJson(R"({"metadata":{"name":"a"},"spec":{"size":nul}})");

  EXPECT_EQ(object.At("/metadata/name"), "a");
  EXPECT_THROW((void)object.At("/spec/size"), DecodeError);
  EXPECT_THROW((void)object.Json(), DecodeError);
}

TEST(UnstructuredTest, DecodesTheFieldsOfAnyView) {
  const auto object =
      Unstructured::FromJson("\n {\"metadata\":{\"name\":\"a\"},\"spec\":{\"size\":3}}");

  EXPECT_EQ(object.As<Widget>().spec.size, 3);
  EXPECT_THROW((void)Unstructured::FromJson(R"({"metadata":3})"), DecodeError);
  EXPECT_THROW((void)Unstructured::FromJson(R"({"metadata":{)"), DecodeError);
}

TEST(WholeTest, DecodingAWholeKeepsAllFieldsAndAddsTheKind) {
  static_assert(ApiObject<Whole<Widget>>);

  const auto whole = Decode<Whole<Widget>>(R"({"metadata":{"name":"a"},"anything":[1,2]})");

  EXPECT_EQ(whole.metadata.name, "a");
  EXPECT_EQ(whole.At("/anything/1"), 2);
  EXPECT_EQ(whole.At("/kind"), std::string(Widget::kKind.kind));
}

}  // namespace
}  // namespace kopp
