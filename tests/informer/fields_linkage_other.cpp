#include <string>

#include <kopp/informer/fields.hpp>

namespace kopp {
namespace {

// Of the same name as the one in fields_linkage_test.cpp, with its members the other way round.
struct Local {
  std::string name;
  std::string other;
};
KOPP_FIELDS(Local, name, other)

}  // namespace

std::string NameInAnotherFile(const std::string& text);

std::string NameInAnotherFile(const std::string& text) { return Decode<Local>(text).name; }

}  // namespace kopp
