// The values of flags: durations and addresses.
#include "manager/options_fixture.hpp"

#include <chrono>
#include <ostream>
#include <string>

#include <gtest/gtest.h>

namespace kopp {
namespace {

using namespace std::chrono_literals;

// Durations.

struct DurationCase {
  std::string text;
  Duration duration;
};

void PrintTo(const DurationCase& test_case, std::ostream* out) { *out << test_case.text; }

class DurationFlagTest : public ::testing::TestWithParam<DurationCase> {};

TEST_P(DurationFlagTest, DurationIsParsedAsInGo) {
  const Options options = Parsed({"--graceful-shutdown-timeout", GetParam().text.c_str()});

  EXPECT_EQ(options.graceful_shutdown_timeout, GetParam().duration);
}

INSTANTIATE_TEST_SUITE_P(Texts, DurationFlagTest,
                         ::testing::Values(DurationCase{"0", 0s}, DurationCase{"30s", 30s},
                                           DurationCase{"500ms", 500ms},
                                           DurationCase{"1h2m3.5s", 1h + 2min + 3500ms},
                                           DurationCase{".5h", 30min}, DurationCase{"1.s", 1s},
                                           DurationCase{"+1us", 1us}, DurationCase{"1µs1μs", 2us},
                                           DurationCase{"7ns", 7ns},
                                           DurationCase{"0.0000000001s", 0s},
                                           DurationCase{"9223372036854775807ns", Duration::max()}));

TEST(OptionsTest, ANegativeGracefulShutdownTimeoutMeansForEver) {
  EXPECT_EQ(Parsed({"--graceful-shutdown-timeout=-1s"}).graceful_shutdown_timeout, -1s);
  EXPECT_EQ(Parsed({"--graceful-shutdown-timeout", "-1ns"}).graceful_shutdown_timeout, -1ns);
}

class InvalidDurationFlagTest : public ::testing::TestWithParam<const char*> {};

TEST_P(InvalidDurationFlagTest, InvalidDurationIsRejected) {
  EXPECT_EQ(
      ErrorOf({"--sync-period", GetParam()}),
      std::string("web-operator: invalid value \"") + GetParam() +
          "\" for --sync-period: write a duration with its unit, such as 500ms, 30s or 1m30s\n");
}

INSTANTIATE_TEST_SUITE_P(Texts, InvalidDurationFlagTest,
                         ::testing::Values("", "30", "s", ".s", "30 s", "30s ", "1d", "-5s", "--1s",
                                           "1e3s", "9223372036854775808ns", "3000000h", "1s.",
                                           "99999999999999999999s"));

// Addresses to listen on.

class BindAddressFlagTest : public ::testing::TestWithParam<const char*> {};

TEST_P(BindAddressFlagTest, BindAddressIsAccepted) {
  EXPECT_EQ(Parsed({"--metrics-bind-address", GetParam()}).metrics.bind_address, GetParam());
}

INSTANTIATE_TEST_SUITE_P(Texts, BindAddressFlagTest,
                         ::testing::Values("0", ":8080", ":0", "127.0.0.1:65535", "0.0.0.0:80",
                                           "[::1]:8080", "[::]:8080", "localhost:8080"));

class InvalidBindAddressFlagTest : public ::testing::TestWithParam<const char*> {};

TEST_P(InvalidBindAddressFlagTest, InvalidBindAddressIsRejected) {
  EXPECT_EQ(ErrorOf({"--metrics-bind-address", GetParam()}),
            std::string("web-operator: invalid value \"") + GetParam() +
                "\" for --metrics-bind-address: write :8080 for all addresses, or 127.0.0.1:8080 "
                "or [::1]:8080 for one, or 0 "
                "for no metrics\n");
}

INSTANTIATE_TEST_SUITE_P(Texts, InvalidBindAddressFlagTest,
                         ::testing::Values("", "8080", ":", ":65536", ":-1", ":+1", ": 80", ":80 ",
                                           ":http", "*:80", "::1:80", "[::1]", "[]:80", "[:80",
                                           "]:80", "[localhost]:80", "http://localhost:80", "00",
                                           "false"));

}  // namespace
}  // namespace kopp
