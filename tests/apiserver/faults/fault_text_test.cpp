#include <chrono>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <kopp/config.hpp>
#include <kopp/testing/fault.hpp>

namespace kopp::testing {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;
using Type = Fault::Type;

std::string ParseErrorOf(const std::string& text) {
  try {
    (void)ParseFault(text);
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "none";
}

TEST(FaultTextTest, ATypeWithoutFieldsIsValid) {
  EXPECT_EQ(ParseFault("conflict").type, Type::kConflict);
  EXPECT_EQ(ParseFault("no-bookmarks").type, Type::kNoBookmarks);
}

TEST(FaultTextTest, ParsesTheFieldsThatMatchRequests) {
  const Fault fault =
      ParseFault("reset,verb=update,resource=foos.example.com,namespace=ns,name=a,user=jane");

  EXPECT_EQ(fault.type, Type::kReset);
  EXPECT_EQ(fault.verb, "update");
  EXPECT_EQ(fault.resource, "foos.example.com");
  EXPECT_EQ(fault.ns, "ns");
  EXPECT_EQ(fault.name, "a");
  EXPECT_EQ(fault.user, "jane");
}

TEST(FaultTextTest, ParsesTheFieldsWithNumbersAndDurations) {
  const Fault fault = ParseFault(
      "server-error,times=3,share=0.1,status=503,delay=200ms,retry-after=5s,versions=7,bytes=9");

  EXPECT_EQ(fault.times, 3);
  EXPECT_EQ(fault.share, 0.1);
  EXPECT_EQ(fault.status, 503);
  EXPECT_EQ(fault.delay, 200ms);
  EXPECT_EQ(fault.retry_after, 5s);
  EXPECT_EQ(fault.versions, 7);
  EXPECT_EQ(fault.bytes, 9);
}

TEST(FaultTextTest, AnUnknownTypeIsAnErrorWithTheValidTypes) {
  EXPECT_EQ(ParseErrorOf("flood,times=3"),
            "unknown fault type \"flood\"; valid: conflict, too-many-requests, server-error, "
            "refuse, latency, reset, stale-list, backwards-version, truncated-body, gone, "
            "malformed-body, silent-watch, drop-watch, lost-event, duplicate-event, no-bookmarks, "
            "webhook-timeout, webhook-refuse, webhook-latency");
}

TEST(FaultTextTest, AnUnknownFieldIsAnErrorWithTheValidFields) {
  EXPECT_EQ(ParseErrorOf("reset,kind=Foo"),
            "unknown fault field \"kind\"; valid: verb, resource, namespace, name, "
            "user, times, share, status, delay, retry-after, versions, bytes");
}

TEST(FaultTextTest, AnUnreadableValueIsAnErrorWithTheExpectedFormat) {
  EXPECT_EQ(ParseErrorOf("latency,delay=5"),
            "fault field delay must be a duration such as 200ms, not \"5\"");
  EXPECT_EQ(ParseErrorOf("reset,times=-1"), "fault field times must be a whole number, not \"-1\"");
  EXPECT_EQ(ParseErrorOf("reset,times=3x"), "fault field times must be a whole number, not \"3x\"");
  EXPECT_EQ(ParseErrorOf("reset,verb"), "fault field verb must be text, not \"\"");
}

TEST(FaultTextTest, AValueOutOfRangeIsAnErrorWithTheRange) {
  EXPECT_EQ(ParseErrorOf("reset,share=2"),
            "fault \"reset,share=2\": share must be a number from 0 to 1");
  EXPECT_THAT(ParseErrorOf("reset,share=nan"), HasSubstr("share must be a number from 0 to 1"));
  EXPECT_THAT(ParseErrorOf("server-error,status=404"),
              HasSubstr("status must be a number from 500 to 599"));
  EXPECT_THAT(ParseErrorOf("latency,delay=-1s"), HasSubstr("delay must not be negative"));
  EXPECT_THAT(ParseErrorOf("reset,times=0"), HasSubstr("times must be at least 1"));
}

TEST(FaultTextTest, AVerbThatTheTypeDoesNotApplyToIsAnErrorWithTheValidVerbs) {
  EXPECT_THAT(
      ParseErrorOf("conflict,verb=list"),
      HasSubstr(
          "verb \"list\" is not valid for this fault; valid verbs: create, update, patch, delete"));
  EXPECT_THAT(ParseErrorOf("server-error,verb=PUT"),
              HasSubstr("valid verbs: get, list, watch, create, update, patch, delete, "
                        "deletecollection"));
  EXPECT_THAT(ParseErrorOf("lost-event,verb=list"), HasSubstr("valid verbs: watch"));
}

TEST(FaultTextTest, AMisspeltNameIsAnErrorWithTheNearMatch) {
  EXPECT_THAT(ParseErrorOf("conflct"),
              HasSubstr("unknown fault type \"conflct\": did you mean \"conflict\"?"));
  EXPECT_THAT(ParseErrorOf("reset,tims=3"), HasSubstr("did you mean \"times\"?"));
  EXPECT_THAT(ParseErrorOf("reset,verb=udpate"), HasSubstr("did you mean \"update\"?"));
  EXPECT_THAT(ParseErrorOf("reset,verb=Patch"), HasSubstr("did you mean \"patch\"?"));
}

TEST(FaultTextTest, EmptyTextIsAnError) {
  EXPECT_THAT(ParseErrorOf(""), HasSubstr("unknown fault type \"\""));
}

}  // namespace
}  // namespace kopp::testing
