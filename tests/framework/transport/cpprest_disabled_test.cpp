#include "transport_fixture.hpp"

#include <gtest/gtest.h>

// Built only with KOPP_WITH_CPPREST=OFF.
namespace kopp::testing {
namespace {

TEST(CpprestDisabledTest, SelectingCpprestThrowsAnErrorThatNamesTheBuildOption) {
  try {
    static_cast<void>(MakeTransport({.server = "http://127.0.0.1"},
                                    {.calls = TransportOptions::Calls::kCppRest}));
    FAIL() << "cpprestsdk is accepted";
  } catch (const ConfigError& error) {
    EXPECT_STREQ(
        error.what(),
        "this program was built without cpprestsdk; use --http-transport=beast, or rebuild "
        "kopp with -DKOPP_WITH_CPPREST=ON");
  }
}

}  // namespace
}  // namespace kopp::testing
