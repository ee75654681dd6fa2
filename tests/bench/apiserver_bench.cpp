// One client of an API server, whichever: it prints lines of a measure and its value.
// apiserver.sh runs it on kopp-apiserver and on a kube-apiserver in turn, and compares.
//
//     apiserver_bench KUBECONFIG PIDS     what the server of these processes (1,2) can do
//     apiserver_bench start KUBECONFIG RESULT COMMAND...
//                                         becomes COMMAND; RESULT gets when the server was ready

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
using kopp::Request;
using SteadyClock = std::chrono::steady_clock;

constexpr std::size_t kWrites = 1000;  // of each kind
constexpr std::size_t kWatchers = 100;
constexpr std::size_t kChanges = 1000;  // that each watcher sees
constexpr std::size_t kPods = 20'000;
const std::string_view deployments = "/apis/apps/v1/namespaces/default/deployments";
const std::string_view pods = "/api/v1/namespaces/default/pods";

double SecondsSince(SteadyClock::time_point start) {
  return std::chrono::duration<double>(SteadyClock::now() - start).count();
}

void Print(std::string_view measure, double value) {
  std::printf("%.*s %.9g\n", static_cast<int>(measure.size()), measure.data(), value);
  std::fflush(stdout);
}

/// The processes of the server.
class Processes {
 public:
  /// "1,2"
  explicit Processes(const std::string& ids) {
    std::istringstream in(ids);
    for (std::string id; std::getline(in, id, ',');) folders_.push_back("/proc/" + id);
  }
  [[nodiscard]] double ResidentBytes() const {
    double pages = 0;
    for (const std::string& folder : folders_) pages += Fields(folder + "/statm", 2).back();
    return pages * static_cast<double>(sysconf(_SC_PAGESIZE));
  }
  [[nodiscard]] double CpuSeconds() const {
    double ticks = 0;
    for (const std::string& folder : folders_) {
      const std::vector<double> fields = Fields(folder + "/stat", 15);
      ticks += fields[13] + fields[14];  // user, system
    }
    return ticks / static_cast<double>(sysconf(_SC_CLK_TCK));
  }

 private:
  // Words count as 0; no name of ours has a space.
  static std::vector<double> Fields(const std::string& file, std::size_t count) {
    std::ifstream in(file);
    std::vector<double> fields;
    for (std::string word; fields.size() < count && in >> word;) {
      fields.push_back(std::strtod(word.c_str(), nullptr));
    }
    if (fields.size() < count) throw std::runtime_error("no process: " + file);
    return fields;
  }
  std::vector<std::string> folders_;
};

std::unique_ptr<kopp::Transport> Connect(const kopp::Config& config) {
  return kopp::MakeTransport(config, {.calls = kopp::TransportOptions::Calls::kBeast,
                                      .call_timeout = 300s,
                                      .max_body = std::size_t{1} << 30U});
}

kopp::Response Call(kopp::Transport& server, const Request& request) {
  kopp::Response response = server.Call(request);
  if (response.status / 100 == 2) return response;
  throw std::runtime_error(request.method + ' ' + request.target + ": " + response.body);
}

std::string NameOf(std::size_t number) { return "web-" + std::to_string(number); }

/// `count` requests by `clients` at once, each with a connection of its own; returns the seconds.
double Do(const kopp::Config& config, std::size_t clients, std::size_t count,
          const std::function<Request(std::size_t number)>& request) {
  std::vector<std::unique_ptr<kopp::Transport>> connections;
  for (std::size_t i = 0; i < clients; ++i) {
    connections.push_back(Connect(config));
    Call(*connections.back(), {.target = "/version"});
  }
  std::atomic<std::size_t> next = 0;
  const auto start = SteadyClock::now();
  {
    std::vector<std::jthread> asking;
    for (const auto& connection : connections) {
      asking.emplace_back([&] {
        for (std::size_t i = next++; i < count; i = next++) Call(*connection, request(i));
      });
    }
  }
  return SecondsSince(start);
}

Request Creation(std::string_view path, const nlohmann::json& object) {
  return {.method = "POST", .target = std::string(path), .body = object.dump()};
}

Request Update(std::size_t number, std::size_t round) {
  const std::string name = NameOf(number);
  return {.method = "PUT",
          .target = std::string(deployments) + '/' + name,
          .body = ADeployment(name, round).dump()};
}

void Writes(const kopp::Config& config) {
  std::size_t first = 0;
  for (const std::size_t clients : {1U, 8U}) {
    const std::string by = "_" + std::to_string(clients);
    const double creates = Do(config, clients, kWrites, [&](std::size_t i) {
      return Creation(deployments, ADeployment(NameOf(first + i), 0));
    });
    Print("create" + by, kWrites / creates);
    const double updates =
        Do(config, clients, kWrites, [&](std::size_t i) { return Update(first + i, 1); });
    Print("update" + by, kWrites / updates);
    first += kWrites;
  }
}

/// Reads a watch until it has told of `kChanges` changes.
void Watch(kopp::Stream& stream) {
  for (std::size_t seen = 0; seen < kChanges;) {
    const auto chunk = stream.Read(300s);
    if (chunk.state != kopp::Stream::State::kBytes) throw std::runtime_error("a watch ended");
    seen += static_cast<std::size_t>(std::count(chunk.bytes.begin(), chunk.bytes.end(), '\n'));
  }
}

void FanOut(const kopp::Config& config, const Processes& server) {
  const auto transport = Connect(config);
  const std::string list = Call(*transport, {.target = std::string(deployments) + "?limit=1"}).body;
  const std::string version = nlohmann::json::parse(list)["metadata"]["resourceVersion"];
  std::vector<std::unique_ptr<kopp::Stream>> watches;
  for (std::size_t i = 0; i < kWatchers; ++i) {
    watches.push_back(transport->Open(
        {.target = std::string(deployments) + "?watch=true&resourceVersion=" + version}));
  }
  const double cpu_before = server.CpuSeconds();
  const auto start = SteadyClock::now();
  {
    std::vector<std::jthread> watching;
    for (const auto& watch : watches) watching.emplace_back([&] { Watch(*watch); });
    Do(config, 8, kChanges, [](std::size_t i) { return Update(i, 2); });
  }
  Print("fan_out", kChanges / SecondsSince(start));
  Print("fan_out_cpu", (server.CpuSeconds() - cpu_before) / kChanges);
}

void Memory(const kopp::Config& config, const Processes& server) {
  const auto transport = Connect(config);
  // Without it a kube-apiserver takes no Pods.
  Call(*transport, Creation("/api/v1/namespaces/default/serviceaccounts",
                            {{"metadata", {{"name", "default"}}}}));
  const double before = server.ResidentBytes();
  const double seconds =
      Do(config, 8, kPods, [](std::size_t i) { return Creation(pods, APod(NameOf(i), i)); });
  Print("create_pods", kPods / seconds);
  Print("memory", (server.ResidentBytes() - before) / kPods);

  const auto start = SteadyClock::now();
  const auto list = Call(*transport, {.target = std::string(pods) + "?resourceVersion=0"});
  Print("list", SecondsSince(start));
  Print("pod_size", static_cast<double>(list.body.size()) / kPods);
}

bool IsReady(const std::string& kubeconfig) {
  try {
    const auto transport = Connect(kopp::LoadConfig({.kubeconfig = kubeconfig}));
    return transport->Call({.target = "/readyz"}).status == 200;
  } catch (const std::exception&) {
    return false;  // no file, or nobody listens yet
  }
}

/// What a first call costs the client itself is no part of the server's start.
void WarmUp() {
  try {
    static_cast<void>(Connect({.server = "https://127.0.0.1:1"})->Call({.target = "/readyz"}));
  } catch (const kopp::TransportError&) {  // nobody listens there
  }
}

int Start(const std::string& kubeconfig, const char* result, char** command) {
  WarmUp();
  const auto start = SteadyClock::now();
  const pid_t child = fork();
  if (child == 0) {
    if (fork() != 0) _exit(0);  // so that nobody has to wait for who looks
    while (!IsReady(kubeconfig) && SecondsSince(start) < 120) std::this_thread::sleep_for(200us);
    std::ofstream(result) << "start " << SecondsSince(start) << std::endl;
    _exit(0);
  }
  waitpid(child, nullptr, 0);
  execvp(command[0], command);
  std::perror(command[0]);
  return 1;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 4 && std::string_view(argv[1]) == "start") return Start(argv[2], argv[3], argv + 4);
  if (argc != 3) {
    std::fprintf(stderr, "usage: apiserver_bench KUBECONFIG PIDS\n");
    return 2;
  }
  const kopp::Config config = kopp::LoadConfig({.kubeconfig = argv[1]});
  const Processes server(argv[2]);
  Writes(config);
  FanOut(config, server);
  Memory(config, server);
}
