#pragma once

#include "webhook/webhook_registry.hpp"

#include <kopp/manager.hpp>

namespace kopp {

/// Returns the webhooks of a manager. The API server in memory calls them in this process.
[[nodiscard]] WebhookRegistry& WebhooksOf(Manager& manager);

}  // namespace kopp
