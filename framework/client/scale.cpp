#include <kopp/scale.hpp>

namespace kopp {

KOPP_DEFINE_FIELDS(Scale::Spec, replicas)
KOPP_DEFINE_FIELDS(Scale::Status, replicas, selector)
KOPP_DEFINE_FIELDS(Scale, metadata, spec, status)

}  // namespace kopp
