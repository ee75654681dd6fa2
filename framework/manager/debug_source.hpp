#pragma once

#include "manager_view.hpp"
#include "webhook/webhook_registry.hpp"

#include <kopp/serving/debug.hpp>

namespace kopp {

/// Returns what the debug pages show. Its functions run on threads of the HTTP server. `view` and
/// `history`, which may be null, must outlive the result.
[[nodiscard]] DebugSource MakeDebugSource(const ManagerView& view, const ReconcileHistory* history,
                                          const WebhookRegistry& webhooks);

/// Returns an observer of reconciles that adds them to `history`, which must outlive it, as does
/// `clock`.
[[nodiscard]] ReconcileObserver RecordIn(ReconcileHistory& history, Clock& clock);

}  // namespace kopp
