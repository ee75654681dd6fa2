#include <string>

#include <gtest/gtest.h>

#include <kopp/informer/fields.hpp>

namespace kopp {

std::string NameInAnotherFile(const std::string& text);

namespace {

// Has the same name as the struct in fields_linkage_other.cpp, but the opposite order of members.
struct Local {
  std::string other;
  std::string name;
};
KOPP_FIELDS(Local, name, other)

TEST(FieldsTest, EquallyNamedStructsInUnnamedNamespacesOfTwoFilesKeepTheirOwnFields) {
  const std::string text = R"({"name":"n","other":"o"})";

  EXPECT_EQ(Decode<Local>(text).name, "n");
  EXPECT_EQ(NameInAnotherFile(text), "n");
}

}  // namespace
}  // namespace kopp
