// error: KOPP_ENUM: the enum Policy has no enumerator 'kSometimes': correct the name
#include <kopp/informer/fields.hpp>

enum class Policy { kAlways, kNever };
KOPP_ENUM(Policy, kAlways, (kSometimes, "sometimes"))
