// error: KOPP_FIELDS: a member of Spec is not in the list: list it, or write KOPP_IGNORE(member)
#include <kopp/informer/fields.hpp>

struct Spec {
  std::string image;
  int replicas = 0;
};
KOPP_FIELDS(Spec, image)
