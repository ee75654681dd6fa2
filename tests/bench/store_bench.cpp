// Measures reads of a store by key while a writer changes 10,000 objects per second: no network, no
// decoding.
//
//     store_bench OBJECTS SECONDS    prints lines with a measure and its value in ns

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <random>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include <kopp/informer/store.hpp>

namespace {

using namespace std::chrono_literals;
using SteadyClock = std::chrono::steady_clock;

constexpr std::size_t kReadKeys = 100'000;  // more than fit into the processor's caches
constexpr auto kTick = 5ms;
constexpr std::size_t kChangesPerTick = 50;
constexpr std::size_t kStride = 7919;  // a prime: consecutive changes are of distant objects

struct Settings {
  static constexpr kopp::Kind kKind{"v1", "ConfigMap", "configmaps"};
  kopp::ObjectMeta metadata;
  kopp::StringMap data;
};
KOPP_FIELDS(Settings, metadata, data)

std::shared_ptr<const Settings> MakeSettings(std::size_t number, std::size_t version) {
  const std::string index = std::to_string(number);
  auto settings = std::make_shared<Settings>();
  settings->metadata.name = "settings-" + index;
  settings->metadata.ns = "team-" + std::to_string(number % 100);
  settings->metadata.uid = "5d3a1c9e-0000-4000-8000-" + std::to_string(100'000'000'000 + number);
  settings->metadata.resourceVersion = std::to_string(version);
  settings->metadata.creationTimestamp = "2026-01-01T00:00:00Z";
  settings->data = {{"endpoint", "backend-" + index + ".internal:8080"}, {"log-level", "info"}};
  return settings;
}

void WriteUntil(const std::stop_token& stop, kopp::informer::AnyStore& store, std::size_t objects) {
  auto next_tick = SteadyClock::now();
  for (std::size_t version = objects; !stop.stop_requested(); next_tick += kTick) {
    std::this_thread::sleep_until(next_tick);
    for (std::size_t i = 0; i < kChangesPerTick; ++i) {
      ++version;
      store.Set(MakeSettings(version * kStride % objects, version));
    }
  }
}

std::uint64_t Quantile(std::vector<std::uint32_t>& latencies, double quantile) {
  const auto position = static_cast<std::ptrdiff_t>(quantile * double(latencies.size() - 1));
  std::nth_element(latencies.begin(), latencies.begin() + position, latencies.end());
  return latencies[static_cast<std::size_t>(position)];
}

void MeasureReads(const kopp::informer::AnyStore& store, std::vector<kopp::ObjectKey> keys,
                  std::chrono::seconds duration) {
  const kopp::informer::Store<Settings> reader(store);
  std::vector<std::uint32_t> latencies;
  latencies.reserve(10'000'000 * static_cast<std::size_t>(duration.count()));
  const auto end = SteadyClock::now() + duration;
  for (std::size_t i = 0; latencies.size() < latencies.capacity(); ++i) {
    const auto before = SteadyClock::now();
    if (before >= end) break;
    const auto object = reader.Get(keys[i % keys.size()]);
    const auto latency = std::chrono::nanoseconds(SteadyClock::now() - before).count();
    latencies.push_back(static_cast<std::uint32_t>(std::min<std::int64_t>(latency, UINT32_MAX)));
    if (object == nullptr) std::abort();
  }
  for (const auto& [name, quantile] : {std::pair{"get_p50", 0.5}, {"get_p99", 0.99}}) {
    std::printf("%s %llu\n", name, static_cast<unsigned long long>(Quantile(latencies, quantile)));
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fputs("usage: store_bench OBJECTS SECONDS\n", stderr);
    return 2;
  }
  const auto objects = static_cast<std::size_t>(std::atol(argv[1]));
  kopp::informer::AnyStore store;
  std::vector<kopp::ObjectKey> keys;
  {
    std::vector<kopp::informer::AnyObject> list;
    for (std::size_t i = 0; i < objects; ++i) {
      list.emplace_back(MakeSettings(i, i + 1));
      keys.push_back(list.back().key());
    }
    store.Replace(list);
  }
  std::shuffle(keys.begin(), keys.end(), std::minstd_rand(1));
  keys.resize(std::min(keys.size(), kReadKeys));
  const std::jthread writer([&](const std::stop_token& stop) { WriteUntil(stop, store, objects); });
  MeasureReads(store, std::move(keys), std::chrono::seconds(std::atol(argv[2])));
}
