#include <gtest/gtest.h>

#include <kopp/field_error.hpp>

namespace kopp {
namespace {

TEST(FieldErrorTest, MessagesAreThoseOfTheApiServer) {
  EXPECT_EQ(field::Required("spec.a").ToString(), "spec.a: Required value");
  EXPECT_EQ(field::Required("spec.a", "set it").ToString(), "spec.a: Required value: set it");
  EXPECT_EQ(field::Forbidden("spec.a", "is immutable").ToString(),
            "spec.a: Forbidden: is immutable");
  EXPECT_EQ(field::Invalid("a[0]", "x\"y", "no quotes").ToString(),
            "a[0]: Invalid value: \"x\\\"y\": no quotes");
  EXPECT_EQ(field::Duplicate("a", 7).ToString(), "a: Duplicate value: 7");
  EXPECT_EQ(field::NotFound("a", "b").ToString(), "a: Not found: \"b\"");
  EXPECT_EQ(field::NotSupported("a", "c", {"x", "y"}).ToString(),
            "a: Unsupported value: \"c\": supported values: \"x\", \"y\"");
}

TEST(FieldErrorTest, ValuesOfEachTypeAreFormattedAsInGo) {
  EXPECT_EQ(field::Value(true).text(), "true");
  EXPECT_EQ(field::Value(-3L).text(), "-3");
  EXPECT_EQ(field::Value(18446744073709551615U).text(), "18446744073709551615");
  EXPECT_EQ(field::Value(0.5).text(), "0.5");
  EXPECT_EQ(field::Value(std::string("a\nb")).text(), "\"a\\nb\"");
}

TEST(FieldErrorTest, ReasonsAreThoseOfTheApi) {
  EXPECT_EQ(field::Required("a").reason, "FieldValueRequired");
  EXPECT_EQ(field::Invalid("a", 1, "b").reason, "FieldValueInvalid");
  EXPECT_EQ(field::Forbidden("a", "b").reason, "FieldValueForbidden");
  EXPECT_EQ(field::Duplicate("a", 1).reason, "FieldValueDuplicate");
  EXPECT_EQ(field::NotSupported("a", 1, {}).reason, "FieldValueNotSupported");
  EXPECT_EQ(field::NotFound("a", 1).reason, "FieldValueNotFound");
}

TEST(FieldErrorTest, AnErrorWithoutFieldIsItsMessage) {
  EXPECT_EQ(FieldError{.message = "no"}.ToString(), "no");
}

}  // namespace
}  // namespace kopp
