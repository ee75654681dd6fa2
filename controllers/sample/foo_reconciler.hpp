#pragma once

#include "foo.hpp"

#include <kopp/reconcile.hpp>

namespace sample {

/// Gives `foo` the Deployment that it names, with the replicas that it asks for, and writes back
/// how many of them are available.
///
/// Writes nothing that stands already. A Deployment of that name which `foo` does not control is
/// left alone: a Warning Event says so, and the throw has it tried again until the name is free.
kopp::Result ReconcileFoo(const Foo& foo, kopp::Context& context);

}  // namespace sample
