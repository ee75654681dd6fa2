// A complete operator: it creates the Deployment that each Foo names.
#include <kopp/framework.hpp>
#include <kopp/json.hpp>

using namespace std::chrono_literals;
using kopp::Deployment;
using nlohmann::json;

struct Foo {  // members have the names of the CRD's fields
  static constexpr kopp::Kind kKind{"samplecontroller.k8s.io/v1alpha1", "Foo", "foos"};
  struct Spec {
    std::string deploymentName;
    std::optional<int> replicas;
  };
  struct Status {
    int availableReplicas = 0;
  };
  kopp::ObjectMeta metadata;
  Spec spec;
  Status status;
};
KOPP_FIELDS(Foo::Spec, deploymentName, replicas)
KOPP_FIELDS(Foo::Status, availableReplicas)
KOPP_FIELDS(Foo, metadata, spec, status)

json Desired(const Foo& foo) {
  const json labels{{"app", "nginx"}, {"controller", foo.metadata.name}};
  const json pod{{"containers", json::array({{{"name", "nginx"}, {"image", "nginx:1.27"}}})}};
  return {{"metadata", kopp::OwnedBy(foo, foo.spec.deploymentName)},
          {"spec",
           {{"replicas", foo.spec.replicas.value_or(1)},
            {"selector", {{"matchLabels", labels}}},
            {"template", {{"metadata", {{"labels", labels}}}, {"spec", pod}}}}}};
}

kopp::Result Reconcile(const Foo& foo, kopp::Context& ctx) {
  if (foo.spec.deploymentName.empty()) {
    ctx.events.Warning(foo, "InvalidSpec", "spec.deploymentName is empty");
    throw kopp::TerminalError("spec.deploymentName is empty");  // a retry would not help
  }
  const auto live = ctx.client.Apply<Deployment>(Desired(foo));
  ctx.client.ApplyStatus(
      foo, Foo::Status{.availableReplicas = live.status.availableReplicas.value_or(0)});
  return {.requeue_after = 5min};
}

int main(int argc, char** argv) {
  kopp::Manager manager{kopp::Options::FromCommandLine(argc, argv)};
  manager.AddController<Foo>({.name = "foo", .workers = 2}).Owns<Deployment>().Reconcile(Reconcile);
  return manager.Run(kopp::StopOnSignal());
}
