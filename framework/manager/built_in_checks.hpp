#pragma once

#include "manager_view.hpp"

#include <stop_token>

#include <kopp/serving/health.hpp>

namespace kopp {

/// Adds the checks of every program. `stop` is requested at the shutdown. The view must outlive the
/// checks. Readiness: synced caches, access to the Lease, no shutdown. Liveness: a leader that
/// works after it has lost its Lease, silent informers, a blocked log.
void AddReadinessChecks(const ManagerView& view, HealthChecks& readiness, std::stop_token stop);
void AddLivenessChecks(const ManagerView& view, HealthChecks& liveness);
/// Adds the liveness checks of a controller: workers that are stuck, a queue that does not move.
void AddLivenessChecks(const ManagerView& view, Controller::Impl& controller,
                       HealthChecks& liveness);

}  // namespace kopp
