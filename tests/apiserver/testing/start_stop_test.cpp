// Repeated starts and stops of a manager must not lose threads, descriptors or memory.
#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <ostream>
#include <sstream>
#include <stop_token>
#include <string>
#include <string_view>
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

/// Counts the threads of this process. The kernel removes a joined thread from /proc a little
/// later: a thread that is exiting does not count.
std::size_t CountThreads() {
  constexpr unsigned kExiting = 0x4;  // PF_EXITING of the kernel
  std::size_t count = 0;
  for (const auto& thread : fs::directory_iterator("/proc/self/task")) {
    std::string stat;
    std::getline(std::ifstream(thread.path() / "stat"), stat);
    if (stat.empty()) continue;  // it has ended
    std::istringstream fields(stat.substr(stat.rfind(')') + 1));
    std::string skipped;
    unsigned flags = 0;
    for (int i = 0; i < 6; ++i) fields >> skipped;  // from the state to the terminal's group
    fields >> flags;
    if ((flags & kExiting) == 0) ++count;
  }
  return count;
}

struct ProcessResources {
  std::size_t threads = CountThreads();
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

/// Returns the number of rounds: $KOPP_START_STOP_ROUNDS or 50.
int Rounds() {
  const char* rounds = std::getenv("KOPP_START_STOP_ROUNDS");
  return rounds == nullptr ? 50 : std::stoi(rounds);
}

TEST(StartStopTest, RoundsOfStartsAndStopsLeaveThreadsDescriptorsAndMemoryAsTheyWere) {
  constexpr int kWarmUp = 50;  // until thread caches and lazily created objects exist
  for (int i = 0; i < kWarmUp; ++i) StartAndStop();
  const ProcessResources before;

  const int rounds = Rounds();
  for (int i = 0; i < rounds; ++i) StartAndStop();

  const ProcessResources after;
  // There may be fewer if earlier tests of this process have left threads that have ended now.
  EXPECT_LE(after.threads, before.threads);
  EXPECT_LE(after.descriptors, before.descriptors);
  // The caches of the allocator. In 1,000 rounds, no leaked object is so small.
  const std::size_t tolerance =
      std::max<std::size_t>(64 * static_cast<std::size_t>(rounds), 16 << 10);
  EXPECT_LE(after.heap_bytes, before.heap_bytes + tolerance);
}

}  // namespace
}  // namespace kopp::testing
