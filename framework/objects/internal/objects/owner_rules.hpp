#pragma once

#include <kopp/informer/object.hpp>
#include <kopp/informer/object_key.hpp>

namespace kopp {

/// Throws std::invalid_argument if `owner`, an object of `kind`, cannot be an owner of `object`:
/// the garbage collector would delete it.
void RequireValidOwner(const Kind& kind, const ObjectMeta& owner, const ObjectKey& object);

}  // namespace kopp
