// Measures the CPU time of kopp's transports. transport.sh runs it and the Go program in
// peers/transport, which does the same work with net/http, against one server.
//
//     transport_bench prepare KUBECONFIG FOLDER   creates the objects that both programs read, and
//                                                 writes the address and the credentials to FOLDER
//     transport_bench measure KUBECONFIG beast|cpprestsdk|default
//                                                 prints lines with a measure and its value

#include "apiserver_objects.hpp"

#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <sys/resource.h>

#include <kopp/config.hpp>
#include <kopp/transport.hpp>

namespace {

using namespace std::chrono_literals;
using Calls = kopp::TransportOptions::Calls;

// The same numbers are in peers/transport/main.go.
constexpr int kObjects = 5000;
constexpr int kWarmUpCalls = 100;  // per thread
constexpr int kCalls = 8000;       // of all threads
constexpr int kStreams = 4;
const std::string deployments_path = "/apis/apps/v1/namespaces/default/deployments";

double CpuMicroseconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto microseconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) * 1e6 + static_cast<double>(time.tv_usec);
  };
  return microseconds(usage.ru_utime) + microseconds(usage.ru_stime);
}

void Print(std::string_view measure, double value) {
  std::printf("%.*s %.9g\n", static_cast<int>(measure.size()), measure.data(), value);
}

void Call(kopp::Transport& server, const kopp::ApiRequest& request) {
  const kopp::ApiResponse response = server.Call(request);
  if (response.status / 100 == 2) return;
  throw std::runtime_error(request.method + ' ' + request.target + ": " + response.body);
}

// A controller reads an object, then writes a field of it.
void SendCalls(kopp::Transport& server, int thread, int count) {
  const std::string target = deployments_path + "/web-" + std::to_string(thread);
  for (int i = 0; i < count; i += 2) {
    Call(server, {.target = target});
    Call(server,
         {.method = "PATCH",
          .target = target,
          .body = R"({"metadata":{"annotations":{"round":")" + std::to_string(i) + R"("}}})",
          .content_type = "application/merge-patch+json"});
  }
}

void RunThreads(int threads, const std::function<void(int thread)>& run) {
  std::vector<std::jthread> running;
  for (int thread = 0; thread < threads; ++thread) running.emplace_back(run, thread);
}

double CpuPerCall(kopp::Transport& server, int threads) {
  RunThreads(threads, [&](int thread) { SendCalls(server, thread, kWarmUpCalls); });
  const double start = CpuMicroseconds();
  RunThreads(threads, [&](int thread) { SendCalls(server, thread, kCalls / threads); });
  return (CpuMicroseconds() - start) / kCalls;
}

// A new watch begins with an event for each object. Each event is a line.
void ReadStream(kopp::Transport& server) {
  const auto stream = server.Open({.target = deployments_path + "?watch=true"});
  for (int events = 0; events < kObjects;) {
    const auto chunk = stream->Read(30s);
    if (chunk.state != kopp::Stream::State::kBytes) throw std::runtime_error("the watch ended");
    for (const char c : chunk.bytes) events += c == '\n' ? 1 : 0;
  }
}

double CpuPerEvent(kopp::Transport& server) {
  ReadStream(server);
  const double start = CpuMicroseconds();
  for (int i = 0; i < kStreams; ++i) ReadStream(server);
  return (CpuMicroseconds() - start) / (kStreams * kObjects);
}

void Prepare(const kopp::Config& config, const std::filesystem::path& folder) {
  const auto server = kopp::MakeTransport(config);
  for (int i = 0; i < kObjects; ++i) {
    Call(*server, {.method = "POST",
                   .target = deployments_path,
                   .body = MakeDeployment("web-" + std::to_string(i), 0).dump()});
  }
  std::ofstream(folder / "url") << config.server;
  std::ofstream(folder / "ca.crt") << config.certificate_authority;
  std::ofstream(folder / "token") << config.token.Reveal();
}

void Measure(const kopp::Config& config, const std::string& calls) {
  kopp::TransportOptions options;
  if (calls != "default") options.calls = calls == "beast" ? Calls::kBeast : Calls::kCppRest;
  const auto server = kopp::MakeTransport(config, options);
  Print("call_1", CpuPerCall(*server, 1));
  Print("call_4", CpuPerCall(*server, 4));
  Print("event", CpuPerEvent(*server));
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  if (arguments.size() != 3) {
    std::fputs("usage: transport_bench prepare KUBECONFIG FOLDER | measure KUBECONFIG TRANSPORT\n",
               stderr);
    return 2;
  }
  try {
    const kopp::Config config = kopp::LoadConfig({.kubeconfig = arguments[1]});
    arguments[0] == "prepare" ? Prepare(config, arguments[2]) : Measure(config, arguments[2]);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "transport_bench: %s\n", error.what());
    return 1;
  }
}
