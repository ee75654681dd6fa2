// error: KOPP_FIELDS: Spec::parent is a pointer or a reference: use std::optional, or write
// KOPP_IGNORE(parent)
#include <kopp/informer/fields.hpp>

struct Spec {
  const char* parent = nullptr;
};
KOPP_FIELDS(Spec, parent)
