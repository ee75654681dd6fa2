// Prints each change of the Pods in the cluster, or in one namespace with --namespace.
#include <iostream>
#include <string_view>

#include <kopp/framework.hpp>
#include <kopp/informer_set.hpp>

using kopp::Pod;

static void Print(std::string_view change, const Pod& pod) {
  std::cout << change << ' ' << kopp::KeyOf(pod).ToString() << ' ' << pod.status.phase << std::endl;
}

int main(int argc, char** argv) {
  const auto stop = kopp::StopOnSignal();
  kopp::Manager manager{kopp::Options::FromCommandLine(argc, argv, "Prints changes of Pods.")};
  manager.cache().InformerFor<Pod>().AddHandler(kopp::informer::EventHandler<Pod>{
      .on_add = [](const auto& pod, bool /*in_initial_list*/) { Print("added", *pod); },
      .on_update = [](const auto& /*before*/, const auto& after) { Print("changed", *after); },
      .on_delete = [](const auto& pod, bool /*final_state_unknown*/) { Print("deleted", *pod); }});
  return manager.Run(stop);
}
