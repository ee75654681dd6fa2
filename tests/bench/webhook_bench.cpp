// Sends admission reviews to a webhook server and measures it. webhook.sh runs it with
// webhook_operator and with the Go program in peers/webhook.
//
//     webhook_bench URL CA-FILE PROCESS-ID   prints lines with a measure and its value

#include "apiserver_objects.hpp"
#include "process_usage.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <exception>
#include <fstream>
#include <iterator>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <nlohmann/json.hpp>

#include <kopp/config.hpp>
#include <kopp/transport.hpp>

namespace {

using nlohmann::json;
using Clock = std::chrono::steady_clock;

constexpr std::size_t kWarmUp = 200;       // per client
constexpr std::size_t kReviews = 8000;     // of all clients
constexpr std::size_t kClients = 4;        // at the same time, for CPU time and latency
constexpr std::size_t kManyClients = 100;  // at the same time, for memory

/// A Deployment of 10 kB, as an API server sends it to a webhook.
json MakeLargeDeployment() {
  json deployment = MakeDeployment("web", 1);
  json containers = json::array();
  for (int i = 0; i < 7; ++i) containers.push_back(MakeContainer("container-" + std::to_string(i)));
  deployment["spec"]["template"]["spec"]["containers"] = containers;
  return deployment;
}

std::string MakeReview() {
  const json request{
      {"uid", "705ab4f5-6393-11e8-b7cc-42010a800002"},
      {"kind", {{"group", "apps"}, {"version", "v1"}, {"kind", "Deployment"}}},
      {"resource", {{"group", "apps"}, {"version", "v1"}, {"resource", "deployments"}}},
      {"name", "web"},
      {"namespace", "default"},
      {"operation", "CREATE"},
      {"userInfo", {{"username", "admin"}, {"groups", {"system:masters"}}}},
      {"object", MakeLargeDeployment()},
      {"oldObject", nullptr},
      {"dryRun", false}};
  return json{
      {"apiVersion", "admission.k8s.io/v1"}, {"kind", "AdmissionReview"}, {"request", request}}
      .dump();
}

/// A client with a connection of its own.
class Client {
 public:
  Client(const kopp::Config& config, std::string target)
      : transport_(kopp::MakeTransport(config)), target_(std::move(target)) {}

  /// Sends `count` reviews. Returns the seconds that each took.
  std::vector<double> Send(const std::string& review, std::size_t count) {
    std::vector<double> seconds;
    for (std::size_t i = 0; i < count; ++i) {
      const auto start = Clock::now();
      const kopp::ApiResponse response =
          transport_->Call({.method = "POST", .target = target_, .body = review});
      seconds.push_back(std::chrono::duration<double>(Clock::now() - start).count());
      if (response.status != 200 || response.body.find("\"patch\"") == std::string::npos) {
        throw std::runtime_error("there is no patch in the response: " + response.body);
      }
    }
    return seconds;
  }

 private:
  std::unique_ptr<kopp::Transport> transport_;
  const std::string target_;
};

/// Sends `count` reviews with each client at the same time. Returns the sorted times.
std::vector<double> SendAll(std::vector<Client>& clients, const std::string& review,
                            std::size_t count) {
  std::vector<std::vector<double>> times(clients.size());
  {
    std::vector<std::jthread> threads;
    for (std::size_t i = 0; i < clients.size(); ++i) {
      threads.emplace_back([&, i] {
        try {
          times[i] = clients[i].Send(review, count);
        } catch (const std::exception& error) {
          std::fprintf(stderr, "webhook_bench: %s\n", error.what());
          std::_Exit(1);
        }
      });
    }
  }
  std::vector<double> all;
  for (const auto& part : times) all.insert(all.end(), part.begin(), part.end());
  std::ranges::sort(all);
  return all;
}

void Print(const char* measure, double value) { std::printf("%s %.9g\n", measure, value); }

void Measure(const kopp::Config& config, const std::string& target, const ProcessUsage& server) {
  const std::string review = MakeReview();
  std::vector<Client> clients;
  for (std::size_t i = 0; i < kClients; ++i) clients.emplace_back(config, target);
  SendAll(clients, review, kWarmUp);
  const double before = server.CpuSeconds();
  const std::vector<double> times = SendAll(clients, review, kReviews / kClients);
  Print("cpu", (server.CpuSeconds() - before) * 1e6 / static_cast<double>(times.size()));
  Print("p50", times[times.size() / 2] * 1e6);
  Print("p99", times[times.size() / 100 * 99] * 1e6);
  clients.clear();
  for (std::size_t i = 0; i < kManyClients; ++i) clients.emplace_back(config, target);
  SendAll(clients, review, 50);
  Print("memory", server.AnonymousMiB());
  Print("peak_rss", server.PeakResidentMiB());
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  if (arguments.size() != 3) {
    std::fputs("usage: webhook_bench URL CA-FILE PROCESS-ID\n", stderr);
    return 2;
  }
  try {
    std::ifstream file(arguments[1]);
    const std::string& url = arguments[0];
    const auto path = url.find('/', url.find("//") + 2);
    kopp::Config config;
    config.server = url.substr(0, path);
    config.certificate_authority = {std::istreambuf_iterator<char>(file), {}};
    Measure(config, url.substr(path), ProcessUsage(std::stoi(arguments[2])));
  } catch (const std::exception& error) {
    std::fprintf(stderr, "webhook_bench: %s\n", error.what());
    return 1;
  }
}
