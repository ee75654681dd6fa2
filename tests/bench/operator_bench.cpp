// Measures an operator that creates a Deployment for each Foo and writes the Foo's status, such as
// operator.cpp and peers/operator. Uses the namespace `default` of $KUBECONFIG and deletes all Foos
// and Deployments in it. Prints lines with a measure and its value.
//
//     operator_bench COMMAND...    runs COMMAND, the operator

#include "deployment_view.hpp"
#include "foo.hpp"
#include "parallel_calls.hpp"
#include "process_usage.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <condition_variable>
#include <csignal>
#include <cstddef>
#include <cstdio>
#include <exception>
#include <functional>
#include <mutex>
#include <set>
#include <sstream>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <nlohmann/json.hpp>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <kopp/client.hpp>
#include <kopp/config.hpp>
#include <kopp/transport.hpp>

namespace {

using namespace std::chrono_literals;
using sample::DeploymentView;
using sample::Foo;
using SteadyClock = std::chrono::steady_clock;

constexpr std::size_t kFoos = 2000;
constexpr int kLatencies = 100;
constexpr int kStarts = 5;
constexpr auto kSettleTime = 5s;  // after convergence, for reconciles that come late
const std::string foos_path = "/apis/samplecontroller.k8s.io/v1alpha1/namespaces/default/foos";
const std::string deployments_path = "/apis/apps/v1/namespaces/default/deployments";
const kopp::Selector in_default{.ns = "default"};

double MillisecondsSince(SteadyClock::time_point start) {
  return std::chrono::duration<double, std::milli>(SteadyClock::now() - start).count();
}

void Print(std::string_view measure, double value) {
  std::printf("%.*s %.9g\n", static_cast<int>(measure.size()), measure.data(), value);
  std::fflush(stdout);
}

/// Returns the value at `quantile` of `values`, which must not be empty.
double Quantile(std::vector<double> values, double quantile) {
  std::sort(values.begin(), values.end());
  const auto last = static_cast<double>(values.size() - 1);
  return values[static_cast<std::size_t>(quantile * last)];
}

kopp::ApiRequest CreateFoo(const std::string& name) {
  const nlohmann::json foo{{"apiVersion", Foo::kKind.api_version},
                           {"kind", Foo::kKind.kind},
                           {"metadata", {{"name", name}}},
                           {"spec", {{"deploymentName", name}, {"replicas", 1}}}};
  return {.method = "POST", .target = foos_path, .body = foo.dump()};
}

std::string NameOf(std::size_t number) { return "foo-" + std::to_string(number); }

/// A running program. The destructor kills it.
class Program {
 public:
  explicit Program(const std::vector<std::string>& command) {
    std::array<int, 2> ends{};
    if (pipe(ends.data()) != 0) throw std::runtime_error("cannot create a pipe");
    id_ = fork();
    if (id_ == 0) Execute(command, ends);
    close(ends[1]);
    output_ = ends[0];
  }
  ~Program() {
    if (id_ > 0) kill(id_, SIGKILL), waitpid(id_, nullptr, 0);
    close(output_);
  }
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  [[nodiscard]] ProcessUsage usage() const { return ProcessUsage(id_); }

  /// Sends SIGTERM, blocks until the program has ended, and returns its standard output.
  std::string Stop() {
    kill(id_, SIGTERM);
    std::string text;
    std::array<char, 4096> buffer{};
    for (ssize_t size = 0; (size = read(output_, buffer.data(), buffer.size())) > 0;) {
      text.append(buffer.data(), static_cast<std::size_t>(size));
    }
    waitpid(id_, nullptr, 0);
    id_ = 0;
    return text;
  }

 private:
  [[noreturn]] static void Execute(const std::vector<std::string>& command,
                                   const std::array<int, 2>& ends) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);  // an operator must not outlive an interrupted benchmark
    dup2(ends[1], STDOUT_FILENO);
    close(ends[0]);
    close(ends[1]);
    std::vector<char*> arguments;
    for (const std::string& argument : command) {
      arguments.push_back(const_cast<char*>(argument.c_str()));
    }
    arguments.push_back(nullptr);
    execv(arguments[0], arguments.data());
    std::perror(arguments[0]);
    _exit(127);
  }

  pid_t id_ = 0;
  int output_ = -1;
};

/// Watches which Deployments have a controller, and which Foos have a status. Thread-safe.
class Progress {
 public:
  explicit Progress(kopp::Transport& server) {
    Follow<DeploymentView>(server, deployments_, [](const DeploymentView& deployment) {
      return kopp::ControllerOf(deployment.metadata) != nullptr;
    });
    Follow<Foo>(server, foos_,
                [](const Foo& foo) { return foo.status.availableReplicas.has_value(); });
  }

  void AwaitDeployment(const std::string& name) {
    Await("the Deployment " + name, [&] { return deployments_.contains(name); });
  }
  void AwaitConvergence(std::size_t foos) {
    Await("convergence", [&] { return deployments_.size() == foos && foos_.size() == foos; });
  }

 private:
  using Names = std::set<std::string>;

  template <kopp::ApiObject T>
  void Follow(kopp::Transport& server, Names& names, std::function<bool(const T&)> is_done) {
    const std::string version =
        kopp::Client(server).ListPage<T>(in_default, {.limit = 1}).resource_version;
    threads_.emplace_back([=, this, &server, &names](const std::stop_token& stop) {
      auto watch =
          kopp::Client(server, "kopp", stop).Watch<T>(in_default, {.resource_version = version});
      try {
        for (;;) {
          const auto event = watch.Next();
          if (event && is_done(event->object)) Insert(names, event->object.metadata.name);
        }
      } catch (const kopp::TransportError&) {
        // The destructor has requested a stop.
      }
    });
  }
  void Insert(Names& names, const std::string& name) {
    const std::scoped_lock lock(mutex_);
    names.insert(name);
    changed_.notify_all();
  }
  void Await(const std::string& what, const std::function<bool()>& condition) {
    std::unique_lock lock(mutex_);
    if (!changed_.wait_for(lock, 2min, condition)) {
      throw std::runtime_error("the operator did not reach " + what + " within two minutes");
    }
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  Names deployments_;
  Names foos_;
  std::vector<std::jthread> threads_;  // last: the threads use all members above
};

void DeleteAll(kopp::Transport& server) {
  for (const std::string& path : {foos_path, deployments_path}) {
    SendInParallel(server, 1, [&](std::size_t) -> kopp::ApiRequest {
      return {.method = "DELETE", .target = path + "?propagationPolicy=Background"};
    });
  }
}

void MeasureConvergence(Progress& progress, const Program& program, SteadyClock::time_point start) {
  progress.AwaitConvergence(kFoos);
  Print("converge_wall", MillisecondsSince(start) / 1000);
  Print("converge_cpu", program.usage().CpuSeconds());
  std::this_thread::sleep_for(kSettleTime);
  Print("settled_rss", program.usage().ResidentMiB());
  Print("settled_anon", program.usage().AnonymousMiB());
  Print("peak_rss", program.usage().PeakResidentMiB());
}

/// From the response to the create of a Foo until the watch reports its Deployment.
void MeasureLatencies(kopp::Transport& server, Progress& progress) {
  std::vector<double> latencies;
  for (int i = 0; i < kLatencies; ++i) {
    const std::string name = "latency-" + std::to_string(i);
    const kopp::ApiResponse response = server.Call(CreateFoo(name));
    if (response.status != 201) throw std::runtime_error(response.body);
    const auto created = SteadyClock::now();
    progress.AwaitDeployment(name);
    latencies.push_back(MillisecondsSince(created));
    std::this_thread::sleep_for(30ms);
  }
  Print("latency_p50", Quantile(latencies, 0.5));
  Print("latency_p99", Quantile(latencies, 0.99));
}

void MeasureOperation(kopp::Transport& server, const std::vector<std::string>& command) {
  DeleteAll(server);
  SendInParallel(server, kFoos, [](std::size_t number) { return CreateFoo(NameOf(number)); });
  Progress progress(server);
  const auto start = SteadyClock::now();
  Program program(command);
  MeasureConvergence(progress, program, start);
  MeasureLatencies(server, progress);
  const double cpu = program.usage().CpuSeconds();
  std::istringstream counters(program.Stop());
  for (auto [name, value] = std::pair<std::string, double>(); counters >> name >> value;) {
    Print(name, value);
    if (name == "reconciles") Print("reconcile_cpu", 1e6 * cpu / value);
  }
}

/// From the start of the program until the watch reports the first Deployment.
void MeasureStarts(kopp::Transport& server, const std::vector<std::string>& command) {
  std::vector<double> times;
  for (int i = 0; i < kStarts; ++i) {
    DeleteAll(server);
    SendInParallel(server, 1, [](std::size_t) { return CreateFoo("first"); });
    Progress progress(server);
    const auto start = SteadyClock::now();
    Program program(command);
    progress.AwaitDeployment("first");
    times.push_back(MillisecondsSince(start));
    program.Stop();
  }
  Print("start", Quantile(times, 0.5));
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> command(argv + 1, argv + argc);
  if (command.empty()) {
    std::fputs("usage: operator_bench COMMAND...\n", stderr);
    return 2;
  }
  try {
    const auto server = kopp::MakeTransport(kopp::LoadConfig());
    MeasureStarts(*server, command);
    MeasureOperation(*server, command);
    DeleteAll(*server);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "operator_bench: %s\n", error.what());
    return 1;
  }
}
