// Repeated starts and stops of a manager must not lose threads, descriptors or memory.
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <ostream>
#include <stop_token>
#include <string_view>
#include <thread>
#include <utility>

#include <gtest/gtest.h>
#include <malloc.h>
#include <nlohmann/json.hpp>

#include <kopp/kinds.hpp>
#include <kopp/manager.hpp>
#include <kopp/testing/api_server.hpp>

namespace kopp::testing {
namespace {

namespace fs = std::filesystem;

std::size_t CountFiles(const char* folder) {
  return static_cast<std::size_t>(std::distance(fs::directory_iterator(folder), {}));
}

struct ProcessResources {
  std::size_t threads = CountFiles("/proc/self/task");
  std::size_t descriptors = CountFiles("/proc/self/fd");
  std::size_t heap_bytes = ::mallinfo2().uordblks + ::mallinfo2().hblkhd;
};

/// Runs an operator with all of its servers and leader election until it has reconciled an object.
void StartAndStop() {
  ApiServer server;
  Client(server.transport())
      .Create<ConfigMap>({{"metadata", {{"name", "settings"}, {"namespace", "default"}}}});
  Options options{.name = "operator",
                  .metrics = {.bind_address = "127.0.0.1:0", .secure = false},
                  .health = {.bind_address = "127.0.0.1:0"},
                  .log = Logger({.write = [](std::string_view) {}}),
                  .transport = server.TransportAs("operator")};
  options.leader_election = {.enabled = true, .ns = "default"};
  Manager manager(std::move(options));
  std::stop_source stop;
  bool reconciled = false;
  manager.AddController<ConfigMap>().Owns<Pod>().Reconcile(
      [&](const ConfigMap& map, Context& context) {
        context.events.Normal(map, "Seen", "The ConfigMap was seen");
        reconciled = true;
        stop.request_stop();
        return Result{};
      });

  EXPECT_EQ(manager.Run(stop.get_token()), 0);
  EXPECT_TRUE(reconciled);
}

TEST(StartStopTest, AThousandRoundsLeaveThreadsDescriptorsAndMemoryAsTheyWere) {
  constexpr int kWarmUp = 50;  // until thread caches and lazily created objects exist
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  constexpr int kRounds = 100;  // sanitizers are slow
#else
  constexpr int kRounds = 1000;
#endif
  for (int i = 0; i < kWarmUp; ++i) StartAndStop();
  const ProcessResources before;

  for (int i = 0; i < kRounds; ++i) StartAndStop();

  ProcessResources after;
  // The kernel removes a joined thread from /proc a little later.
  for (int i = 0; i < 10'000 && after.threads != before.threads; ++i) {
    std::this_thread::yield();
    after = ProcessResources();
  }
  EXPECT_EQ(after.threads, before.threads);
  EXPECT_EQ(after.descriptors, before.descriptors);
  constexpr std::size_t kTolerance =
      std::size_t{64} * kRounds;  // caches of the allocator; no object is so small
  EXPECT_LE(after.heap_bytes, before.heap_bytes + kTolerance);
}

}  // namespace
}  // namespace kopp::testing
