// Serves OBJECTS ConfigMaps of 300 bytes to one informer, and changes 10,000 of them per second as
// long as it is watched. It stores no objects: it generates the response of each request. A real
// API server with a million objects would need more memory and time than the informers that
// informer.sh measures with it.
//
//     synthetic_apiserver OBJECTS KUBECONFIG    writes a kubeconfig for it, then serves until it is
//                                               killed

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <sstream>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <unistd.h>

#include <kopp/http_server.hpp>

namespace {

using namespace std::chrono_literals;
using SteadyClock = std::chrono::steady_clock;
using Parameters = std::map<std::string, std::string>;

constexpr long kEventsPerSecond = 10'000;
constexpr auto kTick = 5ms;        // the events of a tick are sent together
constexpr auto kMaxDelay = 100ms;  // events that a slow client delays by more are not sent later
constexpr long kEventsPerTick = kEventsPerSecond / (1s / kTick);
constexpr std::size_t kChunk = 64 << 10;
constexpr long kStride = 7919;  // a prime: consecutive events change distant objects

Parameters ParseQuery(const std::string& query) {
  Parameters parameters;
  std::istringstream in(query);
  for (std::string part; std::getline(in, part, '&');) {
    const auto equals = part.find('=');
    if (equals != std::string::npos) parameters[part.substr(0, equals)] = part.substr(equals + 1);
  }
  return parameters;
}

long NumberIn(const Parameters& parameters, const std::string& name) {
  const auto found = parameters.find(name);
  return found == parameters.end() || found->second.empty() ? 0 : std::stol(found->second);
}

/// The ConfigMap `number` as of `version`, without its apiVersion and kind.
std::string ConfigMapText(long number, long version) {
  char uid[37];
  std::snprintf(uid, sizeof uid, "5d3a1c9e-0000-4000-8000-%012ld", number);
  const std::string index = std::to_string(number);
  return R"("metadata":{"name":"settings-)" + index + R"(","namespace":"team-)" +
         std::to_string(number % 100) + R"(","uid":")" + uid + R"(","resourceVersion":")" +
         std::to_string(version) +
         R"(","creationTimestamp":"2026-01-01T00:00:00Z","labels":{"app":"web"}},)"
         R"("data":{"endpoint":"backend-)" +
         index + R"(.internal:8080","log-level":"info"}})";
}

std::string EventText(const std::string& type, long number, long version) {
  return R"({"type":")" + type + R"(","object":{"apiVersion":"v1","kind":"ConfigMap",)" +
         ConfigMapText(number, version) + "}\n";
}

/// The objects have the versions 1 to `objects`; each event has the next version.
std::string InitialEventsEnd(long objects) {
  return R"({"type":"BOOKMARK","object":{"apiVersion":"v1","kind":"ConfigMap","metadata":{)"
         R"("annotations":{"k8s.io/initial-events-end":"true"},"resourceVersion":")" +
         std::to_string(objects) + "\"}}}\n";
}

kopp::HttpResponse ServeList(long objects, const Parameters& parameters) {
  const long first = NumberIn(parameters, "continue");
  const long limit = NumberIn(parameters, "limit");
  const long end = limit > 0 ? std::min(objects, first + limit) : objects;
  const std::string next = end < objects ? std::to_string(end) : "";
  return {.body = R"({"apiVersion":"v1","kind":"ConfigMapList","metadata":{"resourceVersion":")" +
                  std::to_string(objects) + R"(","continue":")" + next + R"("},"items":[)",
          .content_type = "application/json",
          .stream = [first, i = first, end]() mutable {
            std::string chunk;
            for (; i < end && chunk.size() < kChunk; ++i) {
              chunk += (i == first ? "{" : ",{") + ConfigMapText(i, i + 1);
            }
            if (i == end) chunk += "]}", ++i;
            return chunk;
          }};
}

/// Sends the objects first, if the client asks for them (WatchList).
kopp::HttpResponse ServeWatch(long objects, const Parameters& parameters) {
  const bool initial_events = parameters.contains("sendInitialEvents");
  return {.content_type = "application/json",
          .stream = [objects, initial = initial_events ? 0 : objects + 1,
                     version = std::max(objects, NumberIn(parameters, "resourceVersion")),
                     tick = SteadyClock::now()]() mutable {
            std::string chunk;
            for (; initial < objects && chunk.size() < kChunk; ++initial) {
              chunk += EventText("ADDED", initial, initial + 1);
            }
            if (initial == objects) chunk += InitialEventsEnd(objects), ++initial;
            if (!chunk.empty()) return chunk;
            tick = std::max(tick + kTick, SteadyClock::now() - kMaxDelay);
            std::this_thread::sleep_until(tick);
            for (long i = 0; i < kEventsPerTick; ++i, ++version) {
              chunk += EventText("MODIFIED", version * kStride % objects, version + 1);
            }
            return chunk;
          }};
}

void WriteKubeconfig(const std::string& path, const std::string& address) {
  std::ofstream(path + ".new") << "apiVersion: v1\nkind: Config\n"
                               << "clusters: [{name: test, cluster: {server: \"http://" << address
                               << "\"}}]\n"
                               << "contexts: [{name: test, context: {cluster: test}}]\n"
                               << "current-context: test\n";
  std::filesystem::rename(path + ".new", path);
}

void Serve(long objects, const std::string& kubeconfig) {
  const auto serve = [objects](const kopp::HttpRequest& request) {
    const Parameters parameters = ParseQuery(request.query);
    return parameters.contains("watch") ? ServeWatch(objects, parameters)
                                        : ServeList(objects, parameters);
  };
  const kopp::HttpServer server{{.address = "127.0.0.1:0", .write_timeout = 300s},
                                {{"/api/v1/configmaps", {serve, {"GET"}, 4}}}};
  WriteKubeconfig(kubeconfig, server.address());
  for (;;) pause();
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  if (arguments.size() != 2) {
    std::fputs("usage: synthetic_apiserver OBJECTS KUBECONFIG\n", stderr);
    return 2;
  }
  try {
    Serve(std::stol(arguments[0]), arguments[1]);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "synthetic_apiserver: %s\n", error.what());
    return 1;
  }
}
