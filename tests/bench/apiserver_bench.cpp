// Benchmark client for API servers. It prints lines with a measure and its value. apiserver.sh runs
// it against kopp-apiserver and kube-apiserver alternately, and compares the results.
//
//     apiserver_bench KUBECONFIG PIDS     measures the server with these process ids, such as 1,2
//     apiserver_bench start KUBECONFIG RESULT COMMAND...
//                                         executes COMMAND in this process; a child process writes
//                                         to the file RESULT how long the server took to be ready

#include "apiserver_objects.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <functional>
#include <memory>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <sys/wait.h>
#include <unistd.h>

#include <kopp/config.hpp>
#include <kopp/transport.hpp>

namespace {

using namespace std::chrono_literals;
using kopp::ApiRequest;
using SteadyClock = std::chrono::steady_clock;

constexpr std::size_t kWrites = 1000;  // creates and updates, each
constexpr std::size_t kWatchers = 100;
constexpr std::size_t kChanges = 1000;  // received by each watcher
constexpr std::size_t kPods = 20'000;
const std::string_view deployments_path = "/apis/apps/v1/namespaces/default/deployments";
const std::string_view pods_path = "/api/v1/namespaces/default/pods";

double SecondsSince(SteadyClock::time_point start) {
  return std::chrono::duration<double>(SteadyClock::now() - start).count();
}

void Print(std::string_view measure, double value) {
  std::printf("%.*s %.9g\n", static_cast<int>(measure.size()), measure.data(), value);
  std::fflush(stdout);
}

/// Reads memory and CPU usage of the server's processes from /proc.
class Processes {
 public:
  /// `ids` is a comma-separated list of process ids, such as "1,2".
  explicit Processes(const std::string& ids) {
    std::istringstream in(ids);
    for (std::string id; std::getline(in, id, ',');) folders_.push_back("/proc/" + id);
  }
  [[nodiscard]] double ResidentBytes() const {
    double pages = 0;
    for (const std::string& folder : folders_) pages += ReadFields(folder + "/statm", 2).back();
    return pages * static_cast<double>(sysconf(_SC_PAGESIZE));
  }
  [[nodiscard]] double CpuSeconds() const {
    double ticks = 0;
    for (const std::string& folder : folders_) {
      const std::vector<double> fields = ReadFields(folder + "/stat", 15);
      ticks += fields[13] + fields[14];  // user, system
    }
    return ticks / static_cast<double>(sysconf(_SC_CLK_TCK));
  }

 private:
  // Returns the first `count` fields of a file; fields that are not numbers are 0. The program
  // names in /proc/PID/stat must not contain a space, which is true for these servers.
  static std::vector<double> ReadFields(const std::string& file, std::size_t count) {
    std::ifstream in(file);
    std::vector<double> fields;
    for (std::string word; fields.size() < count && in >> word;) {
      fields.push_back(std::strtod(word.c_str(), nullptr));
    }
    if (fields.size() < count)
      throw std::runtime_error("cannot read " + file + ": is the server running?");
    return fields;
  }
  std::vector<std::string> folders_;
};

std::unique_ptr<kopp::Transport> Connect(const kopp::Config& config) {
  return kopp::MakeTransport(config, {.calls = kopp::TransportOptions::Calls::kBeast,
                                      .call_timeout = 300s,
                                      .max_body = std::size_t{1} << 30U});
}

kopp::ApiResponse Call(kopp::Transport& server, const ApiRequest& request) {
  kopp::ApiResponse response = server.Call(request);
  if (response.status / 100 == 2) return response;
  throw std::runtime_error(request.method + ' ' + request.target + ": " + response.body);
}

std::string NameOf(std::size_t number) { return "web-" + std::to_string(number); }

/// Sends `count` requests from `clients` threads, each with its own connection. Returns the
/// seconds.
double SendRequests(const kopp::Config& config, std::size_t clients, std::size_t count,
                    const std::function<ApiRequest(std::size_t number)>& request) {
  std::vector<std::unique_ptr<kopp::Transport>> connections;
  for (std::size_t i = 0; i < clients; ++i) {
    connections.push_back(Connect(config));
    Call(*connections.back(), {.target = "/version"});
  }
  std::atomic<std::size_t> next = 0;
  const auto start = SteadyClock::now();
  {
    std::vector<std::jthread> threads;
    for (const auto& connection : connections) {
      threads.emplace_back([&] {
        for (std::size_t i = next++; i < count; i = next++) Call(*connection, request(i));
      });
    }
  }
  return SecondsSince(start);
}

ApiRequest MakeCreateRequest(std::string_view path, const nlohmann::json& object) {
  return {.method = "POST", .target = std::string(path), .body = object.dump()};
}

ApiRequest MakeUpdateRequest(std::size_t number, std::size_t round) {
  const std::string name = NameOf(number);
  return {.method = "PUT",
          .target = std::string(deployments_path) + '/' + name,
          .body = MakeDeployment(name, round).dump()};
}

void MeasureWrites(const kopp::Config& config) {
  std::size_t first = 0;
  for (const std::size_t clients : {1U, 8U}) {
    const std::string suffix = "_" + std::to_string(clients);
    const double creates = SendRequests(config, clients, kWrites, [&](std::size_t i) {
      return MakeCreateRequest(deployments_path, MakeDeployment(NameOf(first + i), 0));
    });
    Print("create" + suffix, kWrites / creates);
    const double updates = SendRequests(
        config, clients, kWrites, [&](std::size_t i) { return MakeUpdateRequest(first + i, 1); });
    Print("update" + suffix, kWrites / updates);
    first += kWrites;
  }
}

/// Reads a watch stream until it has delivered `kChanges` events.
void ReadEvents(kopp::Stream& stream) {
  for (std::size_t events = 0; events < kChanges;) {
    const auto chunk = stream.Read(300s);
    if (chunk.state != kopp::Stream::State::kBytes) throw std::runtime_error("a watch ended");
    events += static_cast<std::size_t>(std::count(chunk.bytes.begin(), chunk.bytes.end(), '\n'));
  }
}

void MeasureFanOut(const kopp::Config& config, const Processes& server) {
  const auto transport = Connect(config);
  const std::string list =
      Call(*transport, {.target = std::string(deployments_path) + "?limit=1"}).body;
  const std::string version = nlohmann::json::parse(list)["metadata"]["resourceVersion"];
  std::vector<std::unique_ptr<kopp::Stream>> watches;
  for (std::size_t i = 0; i < kWatchers; ++i) {
    watches.push_back(transport->Open(
        {.target = std::string(deployments_path) + "?watch=true&resourceVersion=" + version}));
  }
  const double cpu_before = server.CpuSeconds();
  const auto start = SteadyClock::now();
  {
    std::vector<std::jthread> watchers;
    for (const auto& watch : watches) watchers.emplace_back([&] { ReadEvents(*watch); });
    SendRequests(config, 8, kChanges, [](std::size_t i) { return MakeUpdateRequest(i, 2); });
  }
  Print("fan_out", kChanges / SecondsSince(start));
  Print("fan_out_cpu", (server.CpuSeconds() - cpu_before) / kChanges);
}

void MeasureMemoryAndList(const kopp::Config& config, const Processes& server) {
  const auto transport = Connect(config);
  // A kube-apiserver rejects Pods without a default ServiceAccount.
  Call(*transport, MakeCreateRequest("/api/v1/namespaces/default/serviceaccounts",
                                     {{"metadata", {{"name", "default"}}}}));
  const double before = server.ResidentBytes();
  const double seconds = SendRequests(config, 8, kPods, [](std::size_t i) {
    return MakeCreateRequest(pods_path, MakePod(NameOf(i), i));
  });
  Print("create_pods", kPods / seconds);
  Print("memory", (server.ResidentBytes() - before) / kPods);

  const auto start = SteadyClock::now();
  const auto list = Call(*transport, {.target = std::string(pods_path) + "?resourceVersion=0"});
  Print("list", SecondsSince(start));
  Print("pod_size", static_cast<double>(list.body.size()) / kPods);
}

bool IsReady(const std::string& kubeconfig) {
  try {
    const auto transport = Connect(kopp::LoadConfig({.kubeconfig = kubeconfig}));
    return transport->Call({.target = "/readyz"}).status == 200;
  } catch (const std::exception&) {
    return false;  // there is no kubeconfig yet, or the server does not listen yet
  }
}

/// Makes a failing call, so that the client's own initialization is not measured as the server's
/// start.
void WarmUpClient() {
  try {
    static_cast<void>(Connect({.server = "https://127.0.0.1:1"})->Call({.target = "/readyz"}));
  } catch (const kopp::TransportError&) {  // expected: nothing listens on this port
  }
}

int MeasureStart(const std::string& kubeconfig, const char* result_file, char** command) {
  WarmUpClient();
  const auto start = SteadyClock::now();
  const pid_t child = fork();
  if (child == 0) {
    if (fork() != 0)
      _exit(0);  // double fork: COMMAND does not have to wait for the polling process
    while (!IsReady(kubeconfig) && SecondsSince(start) < 120) std::this_thread::sleep_for(200us);
    std::ofstream(result_file) << "start " << SecondsSince(start) << std::endl;
    _exit(0);
  }
  waitpid(child, nullptr, 0);
  execvp(command[0], command);
  std::perror(command[0]);
  return 1;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 4 && std::string_view(argv[1]) == "start")
    return MeasureStart(argv[2], argv[3], argv + 4);
  if (argc != 3) {
    std::fprintf(stderr,
                 "usage: apiserver_bench KUBECONFIG PIDS\n"
                 "       apiserver_bench start KUBECONFIG RESULT COMMAND...\n");
    return 2;
  }
  const kopp::Config config = kopp::LoadConfig({.kubeconfig = argv[1]});
  const Processes server(argv[2]);
  MeasureWrites(config);
  MeasureFanOut(config, server);
  MeasureMemoryAndList(config, server);
}
