#include "foo_reconciler.hpp"

#include "deployment_view.hpp"

#include <map>
#include <stdexcept>
#include <string>

#include <kopp/kinds.hpp>
#include <kopp/owner.hpp>

namespace sample {
namespace {

/// Returns the Deployment that `foo` requests.
kopp::Deployment DesiredDeployment(const Foo& foo) {
  const std::map<std::string, std::string> labels{{"app", "nginx"},
                                                  {"controller", foo.metadata.name}};
  const kopp::k8s::core::v1::Container nginx{.image = "nginx:latest", .name = "nginx"};
  return kopp::Deployment{
      .metadata = kopp::OwnedBy(foo, foo.spec.deploymentName),
      .spec = {.replicas = foo.spec.replicas,
               .selector = {.matchLabels = labels},
               .template_ = {.metadata = {.labels = labels}, .spec = {.containers = {nginx}}}}};
}

/// Emits a Warning Event and throws if `foo` does not control `deployment`.
void RequireControlledBy(const Foo& foo, const DeploymentView& deployment, kopp::Context& context) {
  if (kopp::IsControlledBy(deployment, foo)) return;
  const std::string message =
      "Resource \"" + deployment.metadata.name + "\" already exists and is not managed by Foo";
  context.events.Warning(foo, "ErrResourceExists", message);
  throw std::runtime_error(message);
}

/// Creates the Deployment or updates its replicas where needed. Returns its available replicas.
int EnsureDeployment(const Foo& foo, kopp::Context& context) {
  const auto existing =
      context.cache.Get<DeploymentView>({foo.metadata.ns, foo.spec.deploymentName});
  if (!existing) {
    return context.client.Create(DesiredDeployment(foo)).status.availableReplicas.value_or(0);
  }
  RequireControlledBy(foo, *existing, context);

  constexpr int kDefaultReplicas = 1;
  const int current = existing->spec.replicas.value_or(kDefaultReplicas);
  if (!foo.spec.replicas || *foo.spec.replicas == current) {
    return existing->status.availableReplicas;
  }
  context.log.V(4).Info("Update deployment resource",
                        {{"currentReplicas", current}, {"desiredReplicas", *foo.spec.replicas}});
  // Replaces the whole Deployment, as the Go sample controller does.
  return context.client.Replace(DesiredDeployment(foo)).status.availableReplicas.value_or(0);
}

/// Writes the available replicas to the status of `foo`, if they differ. The write fails if `foo`
/// was deleted and created again.
void UpdateStatus(const Foo& foo, int available, kopp::Context& context) {
  if (foo.status.availableReplicas == available) return;
  // A JSON patch can test the uid. The server ignores a uid in a merge patch of a status.
  const auto patch = kopp::JsonPatch()
                         .Test("/metadata/uid", foo.metadata.uid)
                         .Add("/status", Foo::Status{.availableReplicas = available});
  try {
    context.client.PatchStatus<Foo>(kopp::KeyOf(foo), patch);
  } catch (const kopp::ApiError& error) {
    // The server returns NotFound both for a deleted Foo and for a path that it does not serve. The
    // retry distinguishes them, and succeeds if the subresource was installed meanwhile.
    if (!error.IsNotFound()) throw;
    throw std::runtime_error(std::string(error.what()) +
                             " (or the CustomResourceDefinition of Foo has no status subresource: "
                             "install crd-status-subresource.yaml)");
  }
}

}  // namespace

kopp::Result ReconcileFoo(const Foo& foo, kopp::Context& context) {
  if (foo.spec.deploymentName.empty()) {  // a retry would not help
    context.log.Error("spec.deploymentName is empty; set it to the name of the Deployment");
    return {};
  }
  UpdateStatus(foo, EnsureDeployment(foo, context), context);
  context.events.Normal(foo, "Synced", "Foo synced successfully");
  context.log.Info("Successfully synced");
  return {};
}

}  // namespace sample
