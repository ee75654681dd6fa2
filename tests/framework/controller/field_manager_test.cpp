#include "controller/standalone_controller.hpp"

#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <kopp/kinds.hpp>

namespace kopp {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

class FieldManagerOfControllerTest : public StandaloneControllerTest {
 protected:
  std::string FieldManagerOf(ControllerOptions options, const std::string& program = "shop") {
    controller_.reset();
    return NewController([](const ObjectKey&, Context&) { return Result{}; }, std::move(options))
        .FieldManager(program);
  }
  /// Returns the message of the exception for an option that is not valid.
  std::string ErrorOf(ControllerOptions options, const std::string& program = "shop") {
    try {
      FieldManagerOf(std::move(options), program);
    } catch (const std::invalid_argument& error) {
      return error.what();
    }
    return "no exception";
  }
};

TEST_F(FieldManagerOfControllerTest, TheDefaultNamesTheProgramAndTheController) {
  EXPECT_EQ(FieldManagerOf({}), "shop/pod");
  EXPECT_EQ(FieldManagerOf({.field_manager = "other"}), "other");
}

TEST_F(FieldManagerOfControllerTest, ALongDefaultEndsWithAHash) {
  EXPECT_EQ(FieldManagerOf({}, std::string(124, 'x')), std::string(124, 'x') + "/pod");

  const std::string manager = FieldManagerOf({}, std::string(125, 'x'));

  EXPECT_EQ(manager, std::string(111, 'x') + "-17ef4af05b39d503");
  EXPECT_NE(FieldManagerOf({}, std::string(126, 'x')), manager);
}

TEST_F(FieldManagerOfControllerTest, ALongDefaultHasNoPartOfACharacter) {
  const std::string manager =
      FieldManagerOf({}, std::string(110, 'x') + "\u00fc" + std::string(20, 'x'));

  EXPECT_THAT(manager, StartsWith(std::string(110, 'x') + '-'));
}

TEST_F(FieldManagerOfControllerTest, AFieldManagerThatTheApiServerRejectsIsAnError) {
  EXPECT_THAT(ErrorOf({.field_manager = std::string(129, 'x')}),
              HasSubstr("the option field_manager of the controller \"pod\" is \"xxx"));
  EXPECT_THAT(ErrorOf({.field_manager = "a\nb"}), HasSubstr("1 to 128 printable characters"));
  EXPECT_THAT(ErrorOf({.former_field_managers = {{"a", ""}}}),
              HasSubstr("the option former_field_managers of the controller \"pod\" is \"\""));
  EXPECT_THAT(ErrorOf({}, "a\tb"), HasSubstr("the field manager of the controller \"pod\""));
  EXPECT_EQ(FieldManagerOf({.field_manager = std::string(128, 'x')}), std::string(128, 'x'));
}

}  // namespace
}  // namespace kopp
