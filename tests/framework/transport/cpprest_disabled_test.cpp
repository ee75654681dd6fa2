#include <gtest/gtest.h>

#include <kopp/transport.hpp>

// In a program that does not link kopp::cpprest.
namespace kopp::testing {
namespace {

TEST(CpprestDisabledTest, SelectingCpprestThrowsAnErrorThatNamesTheLibrary) {
  try {
    static_cast<void>(MakeTransport({.server = "http://127.0.0.1"},
                                    {.calls = TransportOptions::Calls::kCppRest}));
    FAIL() << "cpprestsdk is accepted";
  } catch (const ConfigError& error) {
    EXPECT_STREQ(error.what(),
                 "this program was built without cpprestsdk; use --http-transport=beast, or link "
                 "kopp::cpprest");
  }
}

}  // namespace
}  // namespace kopp::testing
