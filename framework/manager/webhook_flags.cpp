#include "webhook_flags.hpp"

#include <string>

#include <kopp/informer/detail/names.hpp>

namespace kopp::detail {
namespace {

constexpr const char* kWebhooksGroup = "Webhooks";

void AddFile(Flags& flags, const char* name, const char* help, std::string& value) {
  flags.Add({.name = name, .help = help, .type = "FILE", .group = kWebhooksGroup}, value);
}

}  // namespace

bool IsService(const std::string& text) {
  const auto slash = text.find('/');
  return slash != std::string::npos && !ValidateDnsLabel(text.substr(0, slash)) &&
         !ValidateDns1035Label(text.substr(slash + 1));
}

void AddWebhookFlags(Flags& flags, WebhookServerOptions& options) {
  flags.Add({.name = "webhook-port",
             .help = "The port that serves webhooks over HTTPS, if the program has any; -1: none.",
             .group = kWebhooksGroup,
             .advice = "write a port, such as 9443, or -1"},
            options.port, [](int port) { return port >= -1 && port <= 65535; });
  flags.Add({.name = "webhook-cert-path",
             .help = "The folder of the certificate for webhooks; empty: the program issues its "
                     "own, and stores its CA in the webhook configurations.",
             .type = "FOLDER",
             .group = kWebhooksGroup},
            options.cert_path);
  AddFile(flags, "webhook-cert-name", "The file of the certificate in this folder.",
          options.cert_name);
  AddFile(flags, "webhook-cert-key", "The file of the key in this folder.", options.cert_key);
  AddFile(flags, "webhook-client-ca-name",
          "The file in this folder with the CAs of the clients that may connect; empty: any client "
          "may.",
          options.client_ca_name);
  flags.Add({.name = "webhook-service",
             .help = "The Service of the webhooks, which names their configurations and the Secret "
                     "of their certificates; empty: PROGRAM-webhook-service in the namespace of "
                     "the Pod.",
             .type = "NAMESPACE/NAME",
             .group = kWebhooksGroup,
             .advice = "write the namespace and the name, such as shop/webhook-service"},
            options.service,
            [](const std::string& text) { return text.empty() || IsService(text); });
  flags.Add({.name = "webhook-cert-manager",
             .help = "With --print-webhooks, print a Certificate of cert-manager, too, and let "
                     "cert-manager add its CA to the configurations.",
             .group = kWebhooksGroup},
            options.cert_manager);
  flags.Add({.name = "webhook-shutdown-delay",
             .help = "How long webhooks are served after a stop request, while API servers notice "
                     "that this replica is not ready any more.",
             .group = kWebhooksGroup,
             .advice = "write a duration, such as 10s, or 0s"},
            options.shutdown_delay, [](Duration delay) { return delay >= Duration::zero(); });
}

}  // namespace kopp::detail
