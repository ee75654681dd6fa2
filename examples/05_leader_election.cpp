// Reconciles ConfigMaps in one of several replicas only: the leader. Start the program twice, and
// stop the replica that prints: the other one continues.
#include <iostream>

#include <kopp/framework.hpp>

using kopp::ConfigMap;

static kopp::Result Reconcile(const ConfigMap& map, kopp::Context& /*ctx*/) {
  std::cout << "reconciled " << kopp::KeyOf(map).ToString() << std::endl;
  return {};
}

int main(int argc, char** argv) {
  const auto stop = kopp::StopOnSignal();
  auto options = kopp::Options::FromCommandLine(argc, argv, "Reconciles ConfigMaps if it leads.");
  options.leader_election.enabled = true;  // as the flag --leader-elect does
  if (options.leader_election.id.empty()) options.leader_election.id = "leader-example";
  // In a Pod, the Lease is in the namespace of the Pod.
  if (options.leader_election.ns.empty()) options.leader_election.ns = "default";
  kopp::Manager manager{std::move(options)};
  manager.AddController<ConfigMap>().Reconcile(Reconcile);
  return manager.Run(stop);
}
