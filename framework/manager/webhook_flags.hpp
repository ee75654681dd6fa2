#pragma once

#include <string>

#include <kopp/flags.hpp>
#include <kopp/webhook/webhook_server_options.hpp>

namespace kopp::detail {

/// Returns whether `text` is "NAMESPACE/NAME" of a Service.
[[nodiscard]] bool IsService(const std::string& text);

/// Adds the flags --webhook-…, which set `options`. It must outlive the parsing.
void AddWebhookFlags(Flags& flags, WebhookServerOptions& options);

}  // namespace kopp::detail
