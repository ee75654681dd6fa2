#include <chrono>
#include <stdexcept>
#include <string>

#include <gtest/gtest.h>

#include <kopp/informer/fields.hpp>
#include <kopp/k8s/duration.hpp>

namespace kopp::k8s {
namespace {

using namespace std::chrono_literals;

struct Timeout {
  Duration timeout = {};
};
KOPP_FIELDS(Timeout, timeout)

TEST(K8sDurationTest, ToStringPrintsTheFormatOfGo) {
  EXPECT_EQ(Duration().ToString(), "0s");
  EXPECT_EQ(Duration(1ns).ToString(), "1ns");
  EXPECT_EQ(Duration(1100ns).ToString(), "1.1\u00b5s");
  EXPECT_EQ(Duration(2200us).ToString(), "2.2ms");
  EXPECT_EQ(Duration(3300ms).ToString(), "3.3s");
  EXPECT_EQ(Duration(4min + 5s).ToString(), "4m5s");
  EXPECT_EQ(Duration(4min + 5001ms).ToString(), "4m5.001s");
  EXPECT_EQ(Duration(5h + 6min + 7001ms).ToString(), "5h6m7.001s");
  EXPECT_EQ(Duration(8min + 1ns).ToString(), "8m0.000000001s");
  EXPECT_EQ(Duration(90min).ToString(), "1h30m0s");
  EXPECT_EQ(Duration(-90s).ToString(), "-1m30s");
  EXPECT_EQ(Duration(kopp::Duration::max()).ToString(), "2562047h47m16.854775807s");
  EXPECT_EQ(Duration(kopp::Duration::min()).ToString(), "-2562047h47m16.854775808s");
}

TEST(K8sDurationTest, ParseReadsTheSyntaxOfGo) {
  EXPECT_EQ(Duration::Parse("1h2m3.5s"), Duration(1h + 2min + 3500ms));
  EXPECT_EQ(Duration::Parse("-1.5h"), Duration(-90min));
  EXPECT_EQ(Duration::Parse("0"), Duration());
  for (const char* text : {"", "1", "1x", "s", "-", "300000000h"}) {
    EXPECT_THROW((void)Duration::Parse(text), std::invalid_argument) << text;
  }
}

TEST(K8sDurationTest, ADurationIsAStringInJson) {
  EXPECT_EQ(Encode(Timeout{90s}), R"({"timeout":"1m30s"})");
  EXPECT_EQ(Decode<Timeout>(R"({"timeout":"90s"})").timeout, Duration(90s));
  EXPECT_THROW((void)Decode<Timeout>(R"({"timeout":"soon"})"), DecodeError);
  EXPECT_LT(Duration(59s), Duration(1min));
}

}  // namespace
}  // namespace kopp::k8s
