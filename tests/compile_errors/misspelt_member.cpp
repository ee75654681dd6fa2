// error: KOPP_FIELDS: Spec has no member 'replica': correct the name in the list
#include <kopp/informer/fields.hpp>

struct Spec {
  std::string image;
  int replicas = 0;
};
KOPP_FIELDS(Spec, image, replica)

// the only error
