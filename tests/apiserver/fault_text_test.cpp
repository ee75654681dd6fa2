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
using What = Fault::What;

std::string ProblemWith(const std::string& text) {
  try {
    (void)ParseFault(text);
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "none";
}

TEST(FaultTextTest, ANameAloneIsAFault) {
  EXPECT_EQ(ParseFault("conflict").what, What::kConflict);
  EXPECT_EQ(ParseFault("no-bookmarks").what, What::kNoBookmarks);
}

TEST(FaultTextTest, FieldsSayToWhomItHappens) {
  const Fault fault =
      ParseFault("reset,verb=update,resource=foos.example.com,namespace=ns,name=a,user=jane");

  EXPECT_EQ(fault.what, What::kReset);
  EXPECT_EQ(fault.verb, "update");
  EXPECT_EQ(fault.resource, "foos.example.com");
  EXPECT_EQ(fault.ns, "ns");
  EXPECT_EQ(fault.name, "a");
  EXPECT_EQ(fault.user, "jane");
}

TEST(FaultTextTest, FieldsSayHowOftenAndHowMuch) {
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

TEST(FaultTextTest, AnUnknownNameIsToldWithThoseThatThereAre) {
  EXPECT_EQ(ProblemWith("flood,times=3"),
            "there is no fault \"flood\"; there are conflict, too-many-requests, server-error, "
            "refuse, latency, reset, stale-list, backwards-version, truncated-body, gone, "
            "malformed-body, silent-watch, drop-watch, lost-event, duplicate-event, no-bookmarks");
}

TEST(FaultTextTest, AnUnknownFieldIsToldWithThoseThatThereAre) {
  EXPECT_EQ(ProblemWith("reset,kind=Foo"),
            "there is no field of a fault \"kind\"; there are verb, resource, namespace, name, "
            "user, times, share, status, delay, retry-after, versions, bytes");
}

TEST(FaultTextTest, AValueThatCannotBeReadIsToldWithWhatItShouldBe) {
  EXPECT_EQ(ProblemWith("latency,delay=5"),
            "the field delay of a fault is a duration such as 200ms, not \"5\"");
  EXPECT_EQ(ProblemWith("reset,times=-1"),
            "the field times of a fault is a whole number, not \"-1\"");
  EXPECT_EQ(ProblemWith("reset,times=3x"),
            "the field times of a fault is a whole number, not \"3x\"");
  EXPECT_EQ(ProblemWith("reset,verb"), "the field verb of a fault is text, not \"\"");
}

TEST(FaultTextTest, AValueThatCannotBeIsTold) {
  EXPECT_EQ(ProblemWith("reset,share=2"), "fault \"reset,share=2\": share is a number from 0 to 1");
  EXPECT_THAT(ProblemWith("reset,share=nan"), HasSubstr("share is a number from 0 to 1"));
  EXPECT_THAT(ProblemWith("server-error,status=404"),
              HasSubstr("status is a number from 500 to 599"));
  EXPECT_THAT(ProblemWith("latency,delay=-1s"), HasSubstr("delay is not negative"));
  EXPECT_THAT(ProblemWith("reset,times=0"), HasSubstr("times is at least 1"));
}

TEST(FaultTextTest, AVerbThatItNeverBefallsIsToldWithThoseThatItDoes) {
  EXPECT_THAT(ProblemWith("conflict,verb=list"),
              HasSubstr("it befalls no \"list\"; its verbs are create, update, patch, delete"));
  EXPECT_THAT(ProblemWith("server-error,verb=PUT"),
              HasSubstr("its verbs are get, list, watch, create, update, patch, delete, "
                        "deletecollection"));
  EXPECT_THAT(ProblemWith("lost-event,verb=list"), HasSubstr("its verbs are watch"));
}

TEST(FaultTextTest, NoTextIsNoFault) {
  EXPECT_THAT(ProblemWith(""), HasSubstr("there is no fault \"\""));
}

}  // namespace
}  // namespace kopp::testing
