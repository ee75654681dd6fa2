#pragma once

#include "foo.hpp"

#include <kopp/reconcile.hpp>

namespace sample {

/// Creates or updates the Deployment that `foo` names, and writes its available replicas to the
/// status of `foo`.
///
/// Writes only what differs. If `foo` does not control the existing Deployment of that name,
/// ReconcileFoo does not change it, emits a Warning Event and throws, so that the reconcile is
/// retried until the name is free. If `foo.spec.deploymentName` is empty, ReconcileFoo logs an
/// error and returns; it is not retried. Throws kopp::ApiError or kopp::TransportError if an API
/// call fails.
kopp::Result ReconcileFoo(const Foo& foo, kopp::Context& context);

}  // namespace sample
