// Serves a defaulting webhook for Deployments, which sets two fields. peers/webhook does the same
// with controller-runtime.
//
//     webhook_operator PORT FOLDER KUBECONFIG   FOLDER has tls.crt and tls.key

#include <cstdint>
#include <cstdio>
#include <exception>
#include <optional>
#include <string>
#include <vector>

#include <kopp/kinds.hpp>
#include <kopp/manager.hpp>
#include <kopp/signals.hpp>

namespace {

/// The fields of a Deployment that the webhook changes.
struct DeploymentView {
  static constexpr kopp::Kind kKind = kopp::Deployment::kKind;
  struct Spec {
    std::optional<std::int32_t> revisionHistoryLimit;
    std::optional<std::int32_t> minReadySeconds;
  };
  kopp::ObjectMeta metadata;
  Spec spec;
};
KOPP_FIELDS(DeploymentView::Spec, revisionHistoryLimit, minReadySeconds)
KOPP_FIELDS(DeploymentView, metadata, spec)

template <typename T>
void SetDefaults(T& deployment) {
  deployment.spec.revisionHistoryLimit = 3;
  deployment.spec.minReadySeconds = 5;
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  if (arguments.size() != 3) {
    std::fputs("usage: webhook_operator PORT FOLDER KUBECONFIG\n", stderr);
    return 2;
  }
  try {
    kopp::Options options{.name = "webhook-operator", .kubeconfig = arguments[2]};
    options.webhook = {
        .port = std::stoi(arguments[0]), .host = "127.0.0.1", .cert_path = arguments[1]};
    kopp::Manager manager(options);
    manager.AddWebhook<kopp::Deployment>().Default(SetDefaults<kopp::Deployment>);
    manager.AddWebhook<DeploymentView>({.mutate_path = "/view"})
        .Default(SetDefaults<DeploymentView>);
    return manager.Run(kopp::StopOnSignal());
  } catch (const std::exception& error) {
    std::fprintf(stderr, "webhook_operator: %s\n", error.what());
    return 1;
  }
}
