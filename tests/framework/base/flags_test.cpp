#include "base/duration.hpp"
#include "base/flag_settings.hpp"

#include <chrono>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <kopp/flags.hpp>

namespace kopp {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

// Sets the flag "x" as the command line would do it.
void SetX(const Flags& flags, std::vector<std::string> values) {
  detail::ApplySettings(flags, {{{"x", {"--x", std::move(values)}}}});
}

TEST(FlagsTest, OfSeveralValuesTheLastOneCounts) {
  std::string text;
  SetX(Flags().Add({.name = "x"}, text), {"a", "b"});

  EXPECT_EQ(text, "b");
}

TEST(FlagsTest, NumbersAreParsedCompletely) {
  int number = 7;
  double real = 0;
  SetX(Flags().Add({.name = "x"}, number), {"-42"});
  SetX(Flags().Add({.name = "x"}, real), {"1.5e3"});
  EXPECT_EQ(number, -42);
  EXPECT_EQ(real, 1500);

  for (const char* text : {"", "4x", "4.5", " 4", "99999999999"}) {
    EXPECT_THROW(SetX(Flags().Add({.name = "x"}, number), {text}), detail::UsageError) << text;
  }
  for (const char* text : {"", "x", "nan", "inf", "1e999"}) {
    EXPECT_THROW(SetX(Flags().Add({.name = "x"}, real), {text}), detail::UsageError) << text;
  }
  EXPECT_EQ(number, -42);
}

TEST(FlagsTest, ListsAreSplitAtCommasAndReplaceTheDefault) {
  std::vector<std::string> list{"default"};
  const Flags flags = Flags().Add({.name = "x"}, list);

  SetX(flags, {"a,b", "c"});
  EXPECT_THAT(list, ElementsAre("a", "b", "c"));
  SetX(flags, {"a,"});
  EXPECT_THAT(list, ElementsAre("a", ""));
  SetX(flags, {""});
  EXPECT_THAT(list, IsEmpty());
}

TEST(FlagsTest, EachElementOfAListIsValidated) {
  std::vector<std::string> list;
  const Flags flags = Flags().Add({.name = "x", .advice = "write letters"}, list,
                                  [](const std::string& element) { return element != "1"; });

  EXPECT_THROW(SetX(flags, {"a,1"}), detail::UsageError);
  EXPECT_THAT(list, IsEmpty());
}

TEST(FlagsTest, AFlagIsFoundByItsNameAndItsAliases) {
  bool on = false;
  const Flags flags = Flags().Add({.name = "x", .aliases = {"y"}}, on);

  EXPECT_NE(flags.Find("x"), nullptr);
  EXPECT_EQ(flags.Find("y"), flags.Find("x"));
  EXPECT_EQ(flags.Find("z"), nullptr);
}

TEST(FlagsTest, NamesMustBeValidAndUnique) {
  bool on = false;
  for (const char* name : {"", "-x", "X", "a b", "a=b", "help", "version"}) {
    EXPECT_THROW(Flags().Add({.name = name}, on), std::logic_error) << name;
  }
  EXPECT_THROW(Flags().Add({.name = "x"}, on).Add({.name = "y", .aliases = {"x"}}, on),
               std::logic_error);
  EXPECT_THROW(Flags().Add({.name = "x"}, on).Append(Flags().Add({.name = "x"}, on)),
               std::logic_error);
}

TEST(FlagsTest, DefaultsAreShownAsTheyAreWritten) {
  bool on = true;
  double real = 2.5;
  Duration duration = 90s;
  const Flags flags =
      Flags().Add({.name = "a"}, on).Add({.name = "b"}, real).Add({.name = "c"}, duration);

  std::vector<std::string> defaults;
  for (const Flags::Entry& entry : flags.entries()) defaults.push_back(entry.default_text);
  EXPECT_THAT(defaults, ElementsAre("true", "2.5", "1m30s"));
}

TEST(FormatDurationTest, TheTextHasNoFractionsAndIsParsedToTheSameDuration) {
  const std::vector<std::pair<Duration, std::string>> texts{
      {0s, "0s"},          {10h, "10h"},     {90s, "1m30s"},
      {1500ms, "1s500ms"}, {1us, "1us"},     {-90s, "-1m30s"},
      {1h + 1ns, "1h1ns"}, {500ms, "500ms"}, {Duration::max(), "2562047h47m16s854ms775us807ns"}};
  for (const auto& [duration, text] : texts) {
    EXPECT_EQ(detail::FormatDuration(duration), text);
    EXPECT_EQ(detail::ParseDuration(text), duration);
  }
}

}  // namespace
}  // namespace kopp
