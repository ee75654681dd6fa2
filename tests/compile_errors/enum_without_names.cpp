// error: KOPP_FIELDS: the type of Spec::policy is an enum without names: list them above with
// KOPP_ENUM
#include <kopp/informer/fields.hpp>

enum class Policy { kAlways, kNever };
struct Spec {
  Policy policy = Policy::kAlways;
};
KOPP_FIELDS(Spec, policy)
