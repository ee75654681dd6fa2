// Measures what a webhook in the process adds to a write to the API server in memory.
//
//     admission_bench ROUNDS    prints lines with a measure and its value in µs: the time of a
//     write
//                               without webhooks, and what a webhook adds to it
//
// Each round makes one write to each of the servers, so that all are measured under the same load.

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include <kopp/kinds.hpp>
#include <kopp/testing/environment.hpp>

namespace {

using kopp::ConfigMap;
using Microseconds = std::chrono::duration<double, std::micro>;
using SteadyClock = std::chrono::steady_clock;

/// A server, and the times of its writes.
struct Server {
  explicit Server(const char* measure) : name(measure) {
    env.client().Create(ConfigMap{.metadata = {.name = "m", .ns = "default"},
                                  .data = {{"endpoint", "backend.internal:8080"}}});
  }

  void Write(std::size_t round) {
    const ConfigMap change{.data = {{"round", std::to_string(round)}}};
    const auto start = SteadyClock::now();
    env.client().Patch<ConfigMap>({"default", "m"}, kopp::Patch::Merge(change));
    times.push_back(Microseconds(SteadyClock::now() - start).count());
  }
  double Median() {
    const auto middle = times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2);
    std::nth_element(times.begin(), middle, times.end());
    return *middle;
  }

  const char* name;
  kopp::testing::Environment env{{.verbosity = -1}};
  std::vector<double> times;
};

}  // namespace

int main(int argc, char** argv) {
  const std::size_t rounds = argc > 1 ? std::strtoul(argv[1], nullptr, 10) : 5'000;
  Server plain("in_memory_write");
  Server other("in_memory_other_kind");
  Server validated("in_memory_validate");
  Server defaulted("in_memory_default");  // changes a field
  other.env.manager().AddWebhook<kopp::Secret>().Validate(
      [](const kopp::Secret&) { return kopp::FieldErrors{}; });
  validated.env.manager().AddWebhook<ConfigMap>().Validate(
      [](const ConfigMap&) { return kopp::FieldErrors{}; });
  defaulted.env.manager().AddWebhook<ConfigMap>().Default(
      [](ConfigMap& map) { map.data["size"] = map.data["round"]; });
  const std::array servers{&plain, &other, &validated, &defaulted};
  for (Server* server : servers) server->env.ServeWebhooks();
  for (std::size_t round = 0; round < rounds; ++round) {
    for (Server* server : servers) server->Write(round);
  }
  const double base = plain.Median();
  std::printf("%s %.1f\n", plain.name, base);
  for (Server* server : {&other, &validated, &defaulted}) {
    std::printf("%s %.1f\n", server->name, server->Median() - base);
  }
  return 0;
}
