#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <kopp/informer/fields.hpp>

namespace port {

// The names without a leading k are part of the test.
enum class Protocol { kTcp, kUdp, kICMP, keep, k };  // NOLINT(readability-identifier-naming)
KOPP_ENUM(Protocol, kTcp, kUdp, kICMP, keep, k)

struct Rule {
  enum Action : unsigned char { kNone = 7, kAllow = 200, kDeny };
  Protocol protocol = Protocol::kTcp;
  Action action = kNone;
  std::optional<Protocol> reply;
  std::vector<Protocol> others;
};
KOPP_ENUM(Rule::Action, (kNone, ""), (kAllow, "allow"), kDeny)
KOPP_FIELDS(Rule, protocol, action, reply, others)

}  // namespace port

namespace kopp {
namespace {

using port::Protocol;
using port::Rule;

TEST(EnumNamesTest, TheNameOfAnEnumeratorHasNoLeadingK) {
  EXPECT_EQ(JsonNameOf(Protocol::kTcp), "Tcp");
  EXPECT_EQ(JsonNameOf(Protocol::kICMP), "ICMP");
  EXPECT_EQ(JsonNameOf(Protocol::keep), "keep") << "k is part of the word";
  EXPECT_EQ(JsonNameOf(Protocol::k), "k");
}

TEST(EnumNamesTest, AnEntryInParenthesesHasTheGivenName) {
  EXPECT_EQ(JsonNameOf(Rule::kAllow), "allow");
  EXPECT_EQ(JsonNameOf(Rule::kDeny), "Deny");
}

TEST(EnumNamesTest, AMemberIsDecodedFromAndEncodedAsTheName) {
  const std::string text =
      R"({"protocol":"Udp","action":"allow","reply":"ICMP","others":["Tcp","keep"]})";

  const Rule rule = Decode<Rule>(text);

  EXPECT_EQ(rule.protocol, Protocol::kUdp);
  EXPECT_EQ(rule.action, Rule::kAllow);
  EXPECT_EQ(rule.reply, Protocol::kICMP);
  EXPECT_THAT(rule.others, ::testing::ElementsAre(Protocol::kTcp, Protocol::keep));
  EXPECT_EQ(Encode(rule), text);
}

TEST(EnumNamesTest, AValueWithAnEmptyNameIsOmitted) {
  EXPECT_EQ(Encode(Rule{}), R"({"protocol":"Tcp"})");
}

TEST(EnumNamesTest, DecodingAnUnknownNameListsTheKnownOnes) {
  try {
    (void)Decode<Rule>(R"({"action":"permit"})");
    ADD_FAILURE() << "no exception";
  } catch (const DecodeError& error) {
    EXPECT_EQ(error.kind(), DecodeError::Kind::kTypeMismatch);
    EXPECT_STREQ(error.what(),
                 R"(action: unknown value "permit": expected one of "", "allow", "Deny")");
  }
}

TEST(EnumNamesTest, EncodingAValueWithoutANameThrows) {
  Rule rule;
  rule.action = static_cast<Rule::Action>(9);

  EXPECT_THROW((void)Encode(rule), std::invalid_argument);
  EXPECT_THROW((void)JsonNameOf(rule.action), std::invalid_argument);
}

}  // namespace
}  // namespace kopp
