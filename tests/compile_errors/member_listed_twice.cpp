// error: KOPP_FIELDS: two entries of Spec have the same name: remove one
#include <kopp/informer/fields.hpp>

struct Spec {
  std::string image;
  int replicas = 0;
};
KOPP_FIELDS(Spec, image, image)
