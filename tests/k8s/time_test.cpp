#include <chrono>
#include <optional>
#include <stdexcept>
#include <string>

#include <gtest/gtest.h>

#include <kopp/informer/fields.hpp>
#include <kopp/k8s/time.hpp>

namespace kopp::k8s {
namespace {

using namespace std::chrono_literals;

struct Times {
  std::optional<Time> time = {};
  std::optional<MicroTime> micro = {};
};
KOPP_FIELDS(Times, time, micro)

TEST(K8sTimeTest, ATimeIsParsedInAnyZoneAndPrintedInUtc) {
  EXPECT_EQ(Time::Parse("2024-01-31T12:00:00Z").ToString(), "2024-01-31T12:00:00Z");
  EXPECT_EQ(Time::Parse("2024-01-31T01:30:00+02:00").ToString(), "2024-01-30T23:30:00Z");
  EXPECT_EQ(Time::Parse("2024-02-29T23:30:00-01:00").ToString(), "2024-03-01T00:30:00Z");
  EXPECT_EQ(Time::Parse("9999-12-31T23:59:59Z").ToString(), "9999-12-31T23:59:59Z");
  EXPECT_EQ(Time().ToString(), "1970-01-01T00:00:00Z");
}

TEST(K8sTimeTest, ATimeDropsFractionsAndAMicroTimeKeepsSixDigits) {
  EXPECT_EQ(Time::Parse("2024-01-31T12:00:00.999Z").ToString(), "2024-01-31T12:00:00Z");
  EXPECT_EQ(MicroTime::Parse("2024-01-31T12:00:00.000012999Z").ToString(),
            "2024-01-31T12:00:00.000012Z");
  EXPECT_EQ(MicroTime::Parse("2024-01-31T12:00:00.5Z").time() -
                MicroTime::Parse("2024-01-31T12:00:00Z").time(),
            500ms);
}

TEST(K8sTimeTest, TimesBefore1970AreRoundedDown) {
  const std::chrono::sys_time<std::chrono::milliseconds> time(-1ms);
  EXPECT_EQ(Time(time).ToString(), "1969-12-31T23:59:59Z");
  EXPECT_EQ(MicroTime(time).ToString(), "1969-12-31T23:59:59.999000Z");
}

TEST(K8sTimeTest, TimesCompareByTheirPointInTime) {
  EXPECT_EQ(Time::Parse("2024-01-31T12:00:00Z"), Time::Parse("2024-01-31T13:00:00+01:00"));
  EXPECT_LT(Time::Parse("2024-01-31T12:00:00Z"), Time::Parse("2024-01-31T12:00:01Z"));
}

TEST(K8sTimeTest, TextThatIsNoTimeIsRejected) {
  for (const char* text :
       {"", "2024-01-31", "2024-01-31 12:00:00Z", "2024-02-30T12:00:00Z", "2024-01-31T24:00:00Z",
        "2024-01-31T12:00:00", "2024-01-31T12:00:00.Z", "2024-01-31T12:00:00ZZ"}) {
    EXPECT_THROW((void)Time::Parse(text), std::invalid_argument) << text;
  }
}

TEST(K8sTimeTest, TimesKeepTheirFormInJson) {
  const std::string text =
      R"({"time":"2024-01-31T12:00:00Z","micro":"2024-01-31T12:00:00.123456Z"})";
  EXPECT_EQ(Encode(Decode<Times>(text)), text);
  EXPECT_THROW((void)Decode<Times>(R"({"time":"now"})"), DecodeError);
  EXPECT_THROW((void)Decode<Times>(R"({"micro":1})"), DecodeError);
}

}  // namespace
}  // namespace kopp::k8s
