#include "types.hpp"

#include <stdexcept>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <kopp/crd.hpp>
#include <kopp/validate.hpp>

namespace {

using nlohmann::json;
using testing::ElementsAre;
using testing::IsEmpty;

template <typename T>
std::vector<std::string> ErrorTextsOf(const T& object) {
  std::vector<std::string> texts;
  for (const kopp::FieldError& error : kopp::Validate(object)) texts.push_back(error.ToString());
  return texts;
}

TEST(ValidateTest, AValidObjectHasNoErrors) {
  EXPECT_THAT(ErrorTextsOf(crd_types::Foo{
                  .metadata = {}, .spec = {.deploymentName = "web", .replicas = 3}, .status = {}}),
              IsEmpty());
}

TEST(ValidateTest, AValueBelowTheMinimumIsRefusedInTheWordsOfTheServer) {
  const crd_types::Foo foo{
      .metadata = {}, .spec = {.deploymentName = "web", .replicas = 0}, .status = {}};
  EXPECT_THAT(ErrorTextsOf(foo),
              ElementsAre("spec.replicas: Invalid value: 0: spec.replicas in body should be "
                          "greater than or equal to 1"));
  EXPECT_EQ(kopp::Validate(foo).front().field, "spec.replicas");
  EXPECT_EQ(kopp::Validate(foo).front().reason, "FieldValueInvalid");
}

TEST(ValidateTest, ARequiredFieldThatIsEmptyIsReported) {
  EXPECT_THAT(ErrorTextsOf(crd_types::Foo{}), ElementsAre("spec.deploymentName: Required value"));
}

TEST(ValidateTest, AllFieldsAreReported) {
  const crd_types::Guestbook book{
      .metadata = {}, .spec = {.size = 11, .configMapName = "", .alias = "Fax"}, .status = {}};
  EXPECT_THAT(
      ErrorTextsOf(book),
      ElementsAre("spec.alias: Unsupported value: \"Fax\": supported values: \"Phone\", "
                  "\"Address\", \"Name\"",
                  "spec.size: Invalid value: 11: spec.size in body should be less than or equal to "
                  "10",
                  "spec.configMapName: Required value"));
}

TEST(ValidateTest, DuplicateKeysOfAListMapAreRefused) {
  crd_types::Gateway gateway;
  gateway.spec.listeners = {{.port = 80, .protocol = "TCP", .hostname = {}},
                            {.port = 80, .protocol = "", .hostname = {}}};  // defaulted to TCP
  EXPECT_THAT(
      ErrorTextsOf(gateway),
      ElementsAre("spec.listeners[1]: Duplicate value: {\"port\":80,\"protocol\":\"TCP\"}"));
}

TEST(ValidateTest, JsonIsValidatedAgainstTheVersionThatItNames) {
  const auto definition = kopp::CustomResourceDefinitionOf<crd_types::Foo>();
  const json foo{{"apiVersion", "example.com/v1"},
                 {"kind", "Foo"},
                 {"spec", {{"deploymentName", 7}, {"unknown", true}}}};
  const auto errors = kopp::Validate(foo, definition);
  ASSERT_EQ(errors.size(), 1U);
  EXPECT_EQ(errors.front().ToString(),
            "spec.deploymentName: Invalid value: \"integer\": spec.deploymentName in body must be "
            "of type string: \"integer\"");
  EXPECT_THROW((void)kopp::Validate(json{{"apiVersion", "example.com/v9"}}, definition),
               std::invalid_argument);
  EXPECT_THROW((void)kopp::Validate(json::array(), definition), std::invalid_argument);
}

TEST(ValidateTest, AWholeNumberWithAFractionIsAnInteger) {
  const auto definition = kopp::CustomResourceDefinitionOf<crd_types::Foo>();
  const auto errors_for = [&](double replicas) {
    return kopp::Validate(json{{"apiVersion", "example.com/v1"},
                               {"kind", "Foo"},
                               {"spec", {{"deploymentName", "web"}, {"replicas", replicas}}}},
                          definition);
  };
  EXPECT_THAT(errors_for(3.0), IsEmpty());
  EXPECT_EQ(errors_for(3.5).size(), 1U);
}

TEST(ValidateTest, AWrongTypeInAnEmbeddedResourceIsReported) {
  const auto definition = kopp::CustomResourceDefinitionOf<crd_types::Plugin>();
  const auto errors = kopp::Validate(
      json{{"apiVersion", "example.com/v1"},
           {"kind", "Plugin"},
           {"spec",
            {{"open", {{"region", "r"}, {"zone", "z"}}},
             {"template",
              {{"apiVersion", "v1"}, {"kind", 5}, {"metadata", {{"annotations", {{"a", 5}}}}}}}}}},
      definition);
  std::vector<std::string> texts;
  for (const kopp::FieldError& error : errors) texts.push_back(error.ToString());
  EXPECT_THAT(
      texts,
      ElementsAre("spec.template.kind: Invalid value: 5: must be a string",
                  "spec.template.metadata.annotations.a: Invalid value: 5: must be a string"));
}

}  // namespace
