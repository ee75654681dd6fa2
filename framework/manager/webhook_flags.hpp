#pragma once

#include <kopp/flags.hpp>
#include <kopp/webhook/webhook_server_options.hpp>

namespace kopp::detail {

/// Adds the flags --webhook-…, which set `options`. It must outlive the parsing.
void AddWebhookFlags(Flags& flags, WebhookServerOptions& options);

}  // namespace kopp::detail
