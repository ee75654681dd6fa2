#include "foo_reconciler.hpp"

#include <stdexcept>
#include <string>

#include <nlohmann/json.hpp>

#include <kopp/kinds.hpp>
#include <kopp/owner.hpp>

namespace sample {
namespace {

using kopp::Deployment;
using nlohmann::json;

/// Returns the manifest of the Deployment that `foo` requests.
json DesiredDeployment(const Foo& foo) {
  const json labels{{"app", "nginx"}, {"controller", foo.metadata.name}};
  const json container{{"name", "nginx"}, {"image", "nginx:latest"}};
  json spec{
      {"selector", {{"matchLabels", labels}}},
      {"template",
       {{"metadata", {{"labels", labels}}}, {"spec", {{"containers", json::array({container})}}}}}};
  if (foo.spec.replicas) spec["replicas"] = *foo.spec.replicas;
  return {{"metadata", kopp::OwnedBy(foo, foo.spec.deploymentName)}, {"spec", spec}};
}

/// Emits a Warning Event and throws if `foo` does not control `deployment`.
void RequireControlledBy(const Foo& foo, const Deployment& deployment, kopp::Context& context) {
  if (kopp::IsControlledBy(deployment, foo)) return;
  const std::string message =
      "Resource \"" + deployment.metadata.name + "\" already exists and is not managed by Foo";
  context.events.Warning(foo, "ErrResourceExists", message);
  throw std::runtime_error(message);
}

/// Creates the Deployment or updates its replicas where needed. Returns the resulting Deployment.
Deployment EnsureDeployment(const Foo& foo, kopp::Context& context) {
  const auto existing = context.cache.Get<Deployment>({foo.metadata.ns, foo.spec.deploymentName});
  if (!existing) return context.client.Create<Deployment>(DesiredDeployment(foo));
  RequireControlledBy(foo, *existing, context);

  constexpr int kDefaultReplicas = 1;
  const int current = existing->spec.replicas.value_or(kDefaultReplicas);
  if (!foo.spec.replicas || *foo.spec.replicas == current) return *existing;
  context.log.V(4).Info("Update deployment resource",
                        {{"currentReplicas", current}, {"desiredReplicas", *foo.spec.replicas}});
  return context.client.Update<Deployment>(DesiredDeployment(foo));
}

/// Writes the available replicas of `deployment` to the status of `foo`, if they differ. The write
/// fails if `foo` was deleted and created again.
void UpdateStatus(const Foo& foo, const Deployment& deployment, kopp::Context& context) {
  const int available = deployment.status.availableReplicas;
  if (foo.status.availableReplicas == available) return;
  // A JSON patch can test the uid. The server ignores a uid in a merge patch of a status.
  const json same_uid{{"op", "test"}, {"path", "/metadata/uid"}, {"value", foo.metadata.uid}};
  const json status{
      {"op", "add"}, {"path", "/status"}, {"value", {{"availableReplicas", available}}}};
  try {
    context.client.PatchStatus<Foo>(kopp::KeyOf(foo),
                                    kopp::Patch::Json(json::array({same_uid, status})));
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
