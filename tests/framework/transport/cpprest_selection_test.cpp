#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <kopp/config.hpp>
#include <kopp/transport.hpp>

// Built only with KOPP_WITH_CPPREST=ON.
namespace kopp::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// Selects cpprestsdk for the calls to the server of `config` and returns the warnings.
std::vector<std::string> WarningsWithCpprest(const Config& config) {
  std::vector<std::string> warnings;
  static_cast<void>(MakeTransport(
      config, {.calls = TransportOptions::Calls::kCppRest,
               .on_warning = [&](const std::string& problem) { warnings.push_back(problem); }}));
  return warnings;
}

std::string WarningAbout(const std::string& setting) {
  return "cpprestsdk does not support " + setting + ", so calls use Boost.Beast";
}

TEST(CpprestSelectionTest, AConfigurationThatCpprestDoesNotSupportLeadsToAWarning) {
  EXPECT_THAT(WarningsWithCpprest({.server = "http://[::1]:1"}),
              ElementsAre(WarningAbout("an IPv6 address")));
  EXPECT_THAT(WarningsWithCpprest({.server = "https://127.0.0.1:1", .tls_server_name = "api"}),
              ElementsAre(WarningAbout("tls-server-name")));
  EXPECT_THAT(WarningsWithCpprest(
                  {.server = "https://127.0.0.1:1", .proxy_url = SecretString("http://proxy:1")}),
              ElementsAre(WarningAbout("a proxy")));
  EXPECT_THAT(WarningsWithCpprest(
                  {.server = "https://127.0.0.1:1", .proxy_url = SecretString("https://proxy:1")}),
              ElementsAre(WarningAbout("a proxy")));
  EXPECT_THAT(
      WarningsWithCpprest({.server = "https://127.0.0.1:1", .impersonate = {.user = "jane"}}),
      ElementsAre(WarningAbout("impersonation")));
}

TEST(CpprestSelectionTest, AConfigurationThatCpprestSupportsLeadsToNoWarning) {
  EXPECT_THAT(WarningsWithCpprest({.server = "https://127.0.0.1:1"}), IsEmpty());
}

}  // namespace
}  // namespace kopp::testing
