#include <string>

#include <gtest/gtest.h>

#include <kopp/informer/fields.hpp>

namespace kopp {

std::string NameInAnotherFile(const std::string& text);

namespace {

// Of the same name as the one in fields_linkage_other.cpp, with its members the other way round.
struct Local {
  std::string other;
  std::string name;
};
KOPP_FIELDS(Local, name, other)

TEST(FieldsTest, StructsOfOneNameInUnnamedNamespacesOfTwoFilesAreNotMixedUp) {
  const std::string text = R"({"name":"n","other":"o"})";

  EXPECT_EQ(Decode<Local>(text).name, "n");
  EXPECT_EQ(NameInAnotherFile(text), "n");
}

}  // namespace
}  // namespace kopp
