// An operator that creates a ConfigMap for each Greeting.
#include "greeting.hpp"

int main(int argc, char** argv) {
  kopp::Manager manager{kopp::Options::FromCommandLine(argc, argv)};
  manager.AddController<Greeting>().Owns<kopp::ConfigMap>().Reconcile(Reconcile);
  return manager.Run(kopp::StopOnSignal());
}
