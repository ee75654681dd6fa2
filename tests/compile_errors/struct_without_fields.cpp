// error: KOPP_FIELDS: the type of Spec::ports has no field list: write its KOPP_FIELDS above this
// one
#include <kopp/informer/fields.hpp>

struct Port {
  int number = 0;
};
struct Spec {
  std::vector<Port> ports;
};
KOPP_FIELDS(Spec, ports)
