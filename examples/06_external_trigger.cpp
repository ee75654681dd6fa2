// Reconciles a ConfigMap when an external system requests it with a POST to /reconcile. The body is
// NAMESPACE/NAME.
#include <iostream>

#include <kopp/framework.hpp>

using kopp::ConfigMap;

static kopp::Result Reconcile(const ConfigMap& map, kopp::Context& /*ctx*/) {
  std::cout << "reconciled " << kopp::KeyOf(map).ToString() << std::endl;
  return {};
}

int main(int argc, char** argv) {
  const auto stop = kopp::StopOnSignal();
  const kopp::Channel<kopp::ObjectKey> channel;
  kopp::Manager manager{kopp::Options::FromCommandLine(argc, argv, "Reconciles on request.")};
  manager.AddController<ConfigMap>().WatchesChannel(channel).Reconcile(Reconcile);

  const auto trigger = [channel](const kopp::HttpRequest& request) {
    const bool accepted = channel.TrySend(kopp::ObjectKey::Parse(request.body));
    return kopp::HttpResponse{.status = accepted ? 202 : 503};
  };
  const kopp::HttpServer server{{.address = "127.0.0.1:0"}, {{"/reconcile", {trigger, {"POST"}}}}};
  std::cout << "listening at " << server.address() << std::endl;
  return manager.Run(stop);
}
