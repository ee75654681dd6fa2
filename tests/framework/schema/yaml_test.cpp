// YAML as kubectl and kube-apiserver read it: YAML 1.1, with the rules of go.yaml.in/yaml/v2.
#include "schema/yaml.hpp"

#include <stdexcept>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace kopp::schema {
namespace {

using nlohmann::json;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

/// Returns the JSON text of a scalar, as it is sent to an API server.
std::string Scalar(const std::string& text) { return ParseYaml("a: " + text)["a"].dump(); }

TEST(YamlTest, BooleansAreThoseOfYaml11) {
  for (const char* text :
       {"true", "True", "TRUE", "yes", "Yes", "YES", "on", "On", "ON", "y", "Y"}) {
    EXPECT_EQ(Scalar(text), "true") << text;
  }
  for (const char* text : {"false", "False", "FALSE", "no", "No", "NO", "off", "Off", "OFF", "n"}) {
    EXPECT_EQ(Scalar(text), "false") << text;
  }
  for (const char* text : {"tRUE", "yEs", "oN", "t", "enabled"}) {
    EXPECT_EQ(Scalar(text), '"' + std::string(text) + '"');
  }
}

TEST(YamlTest, NullHasFiveForms) {
  for (const char* text : {"", "~", "null", "Null", "NULL"})
    EXPECT_EQ(Scalar(text), "null") << text;
  EXPECT_EQ(Scalar("nULL"), R"("nULL")");
}

TEST(YamlTest, IntegersHaveTheBasesOfGo) {
  EXPECT_EQ(Scalar("0o400"), "256");
  EXPECT_EQ(Scalar("0400"), "256");
  EXPECT_EQ(Scalar("0x1F"), "31");
  EXPECT_EQ(Scalar("0b101"), "5");
  EXPECT_EQ(Scalar("-0b101"), "-5");
  EXPECT_EQ(Scalar("+12"), "12");
  EXPECT_EQ(Scalar("1_000"), "1000");
  EXPECT_EQ(Scalar("0"), "0");
  EXPECT_EQ(Scalar("-0"), "0");
  EXPECT_EQ(Scalar("08"), "8") << "no octal number, so it is a decimal one";
}

TEST(YamlTest, IntegersHave64Bits) {
  EXPECT_EQ(Scalar("9223372036854775807"), "9223372036854775807");
  EXPECT_EQ(Scalar("18446744073709551615"), "18446744073709551615");
  EXPECT_EQ(Scalar("-9223372036854775808"), "-9223372036854775808");
  EXPECT_EQ(ParseYaml("a: -9223372036854775809")["a"], -9223372036854775808.0);
}

TEST(YamlTest, NumbersWithoutAFractionAreIntegers) {
  EXPECT_EQ(Scalar("1.0"), "1");
  EXPECT_EQ(Scalar("1e3"), "1000");
  EXPECT_EQ(Scalar("+1."), "1");
  EXPECT_EQ(Scalar("1.5"), "1.5");
  EXPECT_EQ(Scalar(".5"), "0.5");
  EXPECT_EQ(Scalar("-2.5e-1"), "-0.25");
}

TEST(YamlTest, OtherTextsThatBeginLikeNumbersAreStrings) {
  for (const char* text : {"1e400", "0x", "0o8", "1.2.3", "12:30", "1.1Gi", "2001-01-01", "+", "-",
                           ".", "1e", "0b2", "--1", "0x-1", "+-1"}) {
    if (std::string(text) == "-") continue;  // a list
    EXPECT_EQ(Scalar(text), '"' + std::string(text) + '"');
  }
}

TEST(YamlTest, QuotedScalarsAreStrings) {
  EXPECT_EQ(Scalar("'on'"), R"("on")");
  EXPECT_EQ(Scalar("\"0o400\""), R"("0o400")");
  EXPECT_EQ(Scalar("!!str 12"), R"("12")");
  EXPECT_EQ(Scalar("!own 12"), R"("12")");
  EXPECT_EQ(ParseYaml("a: |-\n  12\n")["a"], "12");
}

TEST(YamlTest, EscapesOfCharactersAreUtf8) {
  EXPECT_EQ(Scalar(R"("a\N\_\L\P\x85\u00e4\U0001F600z")"),
            "\"a\u0085\u00a0\u2028\u2029\u0085\u00e4\U0001F600z\"");
  EXPECT_EQ(Scalar("\"\u00e4\u20ac\\N\u00e4\\_\""), "\"\u00e4\u20ac\u0085\u00e4\u00a0\"");
}

TEST(YamlTest, TagsOfYamlSelectTheType) {
  EXPECT_EQ(Scalar("!!int \"0x1F\""), "31");
  EXPECT_EQ(Scalar("!!binary aGk="), R"("hi")");
  EXPECT_THROW(Scalar("!!binary '?'"), std::invalid_argument);
}

TEST(YamlTest, ValuesThatJsonCannotRepresentAreErrors) {
  for (const char* text : {".inf", "-.Inf", ".nan", ".NAN"}) {
    EXPECT_THROW(Scalar(text), std::invalid_argument) << text;
  }
}

TEST(YamlTest, NamesOfFieldsMayBeNumbersAndBooleans) {
  EXPECT_EQ(ParseYaml("{1: a, on: b, 0x10: c, '2': d}"),
            json({{"1", "a"}, {"true", "b"}, {"16", "c"}, {"2", "d"}}));
  EXPECT_THROW(static_cast<void>(ParseYaml("{[1]: a}")), std::invalid_argument);
  EXPECT_THROW(static_cast<void>(ParseYaml("{~: a}")), std::invalid_argument);
}

TEST(YamlTest, AMergeKeyAddsTheFieldsOfItsMap) {
  const json both = ParseYaml("base: &base {a: 1, b: 2}\nmerged: {<<: *base, b: 3, c: 4}\n");

  EXPECT_EQ(both["merged"], json({{"a", 1}, {"b", 3}, {"c", 4}}));
}

TEST(YamlTest, TheFirstMapOfAListHasPrecedenceInAMerge) {
  EXPECT_EQ(ParseYaml("{<<: [{a: 1}, {a: 2, b: 2}]}"), json({{"a", 1}, {"b", 2}}));
}

TEST(YamlTest, AQuotedMergeKeyIsAField) {
  EXPECT_EQ(ParseYaml("{'<<': {a: 1}}"), json({{"<<", {{"a", 1}}}}));
}

TEST(YamlTest, AMergeOfAnotherValueIsAnError) {
  for (const char* text : {"{<<: 1}", "{<<: [1]}", "{<<: ~}"}) {
    EXPECT_THROW(static_cast<void>(ParseYaml(text)), std::invalid_argument) << text;
  }
}

TEST(YamlTest, ListsAreReplacedByTheirItems) {
  EXPECT_THAT(ParseManifests("{kind: List, items: [{kind: Pod}]}\n---\nkind: Node\n"),
              ElementsAre(json({{"kind", "Pod"}}), json({{"kind", "Node"}})));
}

TEST(YamlTest, ItemsOfATypedListGetItsKind) {
  const auto objects = ParseManifests(
      "{apiVersion: v1, kind: ConfigMapList, items: [{metadata: {name: a}}, {kind: Secret}]}");

  EXPECT_THAT(
      objects,
      ElementsAre(
          json({{"apiVersion", "v1"}, {"kind", "ConfigMap"}, {"metadata", {{"name", "a"}}}}),
          json({{"kind", "Secret"}})));
}

/// Returns the error of ParseYaml and of ParseManifests, which is the same.
std::string YamlErrorOf(const std::string& text) {
  std::string error;
  try {
    ADD_FAILURE() << ParseYaml(text) << " is the value of " << text;
  } catch (const std::invalid_argument& thrown) {
    error = thrown.what();
  }
  try {
    ADD_FAILURE() << ParseManifests(text).size() << " objects are in " << text;
  } catch (const std::invalid_argument& thrown) {
    EXPECT_EQ(thrown.what(), error);
  }
  return error;
}

TEST(YamlTest, ASyntaxErrorNamesTheLineAndTheColumn) {
  EXPECT_EQ(YamlErrorOf("a: 1\nb: [c, }\n"),
            "error converting YAML to JSON: yaml: illegal flow end (line 2, column 8)");
}

TEST(YamlTest, AnErrorDoesNotShowTheTextOfTheDocument) {
  for (const char* text :
       {"a: *canary", "%YAML canary\n---\na: b", "a: \"canary", "a: canary: canary", "a: @canary",
        "a: !<canary", "a: !!binary canary?", "{<<: canary}", "{[canary]: canary}"}) {
    EXPECT_THAT(YamlErrorOf(text),
                AllOf(HasSubstr("error converting YAML to JSON: "), Not(HasSubstr("canary"))));
  }
  EXPECT_EQ(YamlErrorOf("a: \"\\q\""),
            "error converting YAML to JSON: yaml: unknown escape character (line 1, column 7)");
}

}  // namespace
}  // namespace kopp::schema
