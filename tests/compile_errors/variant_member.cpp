// error: KOPP_FIELDS: the type of Spec::port has no form in JSON: use a type that KOPP_FIELDS
// documents, or write KOPP_IGNORE(port)
#include <variant>

#include <kopp/informer/fields.hpp>

struct Spec {
  std::variant<int, std::string> port;
};
KOPP_FIELDS(Spec, port)
