// error: KOPP_FIELDS: Spec::days is a std::vector<bool>, which is not supported: use
// std::vector<int>, for example
#include <kopp/informer/fields.hpp>

struct Spec {
  std::vector<bool> days;
};
KOPP_FIELDS(Spec, days)
