#include <string>

#include <kopp/informer/fields.hpp>

namespace kopp {
namespace {

// Has the same name as the struct in fields_linkage_test.cpp, but the opposite order of members.
struct Local {
  std::string name;
  std::string other;
};
KOPP_FIELDS(Local, name, other)

}  // namespace

std::string NameInAnotherFile(const std::string& text);

std::string NameInAnotherFile(const std::string& text) { return Decode<Local>(text).name; }

}  // namespace kopp
