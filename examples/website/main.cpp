#include "reconciler.hpp"

#include <utility>

int main(int argc, char** argv) {
  const auto stop = kopp::StopOnSignal();
  auto options = kopp::Options::FromCommandLine(argc, argv, "Serves each Website with nginx.");
  options.name = "website-operator";
  website::Dns dns;
  kopp::Manager manager{std::move(options)};
  website::AddController(manager, dns);
  return manager.Run(stop);
}
