// Measures kopp's informers with the API server of $KUBECONFIG. peers/informer (client-go) and
// peers/kube-rs/src/bin/informer.rs do the same work and print the same lines: a measure and its
// value. informer.sh runs and compares them.
//
//     informer_bench pods|configmaps FORM events COUNT
//         prints the cost of the first sync and, after COUNT updates, the cost of an update
//     informer_bench pods|configmaps FORM reads SECONDS
//         prints the cost of the first sync and, for that time, the latency of reads during updates
//
// FORM is view, or for pods also whole or metadata.

#include "process_usage.hpp"
#include "views.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <memory>
#include <random>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <malloc.h>

#include <kopp/config.hpp>
#include <kopp/informer/metadata_only.hpp>
#include <kopp/informer/unstructured.hpp>
#include <kopp/informer_set.hpp>
#include <kopp/standalone_cache.hpp>
#include <kopp/transport.hpp>

namespace {

using namespace std::chrono_literals;
using SteadyClock = std::chrono::steady_clock;

// The same number is in the other programs. More keys than fit into the processor's caches.
constexpr std::size_t kReadKeys = 100'000;

double SecondsSince(SteadyClock::time_point start) {
  return std::chrono::duration<double>(SteadyClock::now() - start).count();
}

void Print(std::string_view measure, double value) {
  std::printf("%.*s %.9g\n", static_cast<int>(measure.size()), measure.data(), value);
  std::fflush(stdout);
}

double HeapBytes() {
  const auto heap = mallinfo2();
  return static_cast<double>(heap.uordblks + heap.hblkhd);
}

template <kopp::ApiObject T>
void MeasureSync(kopp::StandaloneCache& cache) {
  const ProcessUsage usage;
  const double heap = HeapBytes();
  const double cpu = usage.CpuSeconds();
  const auto start = SteadyClock::now();
  cache.Start();
  cache.WaitForSync(std::stop_token());
  const double sync_cpu = usage.CpuSeconds() - cpu;
  Print("sync_wall", SecondsSince(start));
  Print("sync_cpu", sync_cpu);
  Print("peak_rss", usage.PeakResidentMiB());
  const double objects_heap = HeapBytes() - heap;
  malloc_trim(0);
  const double settled_rss = usage.ResidentMiB();
  const auto objects = static_cast<double>(cache.List<T>().size());
  Print("object_cpu", 1e6 * sync_cpu / objects);
  Print("object_bytes", objects_heap / objects);
  Print("settled_rss", settled_rss);  // the last line of the sync: informer.sh waits for it
}

/// Blocks without using the processor until there are `count` updates.
void MeasureEvents(const std::atomic<std::int64_t>& updates, std::int64_t count) {
  const ProcessUsage usage;
  const double cpu = usage.CpuSeconds();
  while (updates < count) std::this_thread::sleep_for(500ms);
  Print("event_cpu", 1e6 * (usage.CpuSeconds() - cpu) / static_cast<double>(count));
}

/// Counts durations by nanoseconds.
class Histogram {
 public:
  void Add(SteadyClock::duration duration) {
    const auto last = static_cast<SteadyClock::rep>(counts_.size() - 1);
    const SteadyClock::rep nanoseconds = std::chrono::nanoseconds(duration).count();
    ++counts_[static_cast<std::size_t>(std::min(nanoseconds, last))];
    ++total_;
  }
  [[nodiscard]] double Quantile(double quantile) const {
    double sum = 0;
    std::size_t nanoseconds = 0;
    for (; nanoseconds + 1 < counts_.size(); ++nanoseconds) {
      sum += static_cast<double>(counts_[nanoseconds]);
      if (sum >= quantile * static_cast<double>(total_)) break;
    }
    return static_cast<double>(nanoseconds);
  }

 private:
  std::vector<std::uint64_t> counts_ = std::vector<std::uint64_t>(1'000'000);
  std::uint64_t total_ = 0;
};

template <kopp::ApiObject T>
std::vector<kopp::ObjectKey> RandomKeys(const kopp::Cache& cache) {
  std::vector<kopp::ObjectKey> keys;
  for (const auto& object : cache.List<T>()) keys.push_back(kopp::KeyOf(*object));
  std::shuffle(keys.begin(), keys.end(), std::minstd_rand(1));
  keys.resize(std::min(keys.size(), kReadKeys));
  return keys;
}

/// Gets random objects while the server sends events.
template <kopp::ApiObject T>
void MeasureReads(const kopp::Cache& cache, const std::atomic<std::int64_t>& updates,
                  std::chrono::seconds duration) {
  const std::vector<kopp::ObjectKey> keys = RandomKeys<T>(cache);
  Histogram latencies;
  const std::int64_t first = updates;
  const auto start = SteadyClock::now();
  for (std::size_t i = 0; SteadyClock::now() - start < duration; ++i) {
    const kopp::ObjectKey& key = keys[i % keys.size()];
    const auto before = SteadyClock::now();
    const auto object = cache.Get<T>(key);
    latencies.Add(SteadyClock::now() - before);
    if (object == nullptr) throw std::runtime_error("the cache has lost " + key.ToString());
  }
  Print("events_per_second", static_cast<double>(updates - first) / SecondsSince(start));
  Print("get_p50", latencies.Quantile(0.5));
  Print("get_p99", latencies.Quantile(0.99));
}

template <kopp::ApiObject T>
void Measure(const std::string& phase, std::int64_t number) {
  const auto server = kopp::MakeTransport(kopp::LoadConfig());
  kopp::StandaloneCache cache(*server, {}, kopp::Logger(), kopp::Clock::Real());
  std::atomic<std::int64_t> updates = 0;
  cache.InformerFor<T>().AddHandler({.on_update = [&](const auto&, const auto&) { ++updates; }},
                                    {.delivery = kopp::informer::Delivery::kInformerThread});
  MeasureSync<T>(cache);
  if (phase == "events") {
    MeasureEvents(updates, number);
  } else {
    MeasureReads<T>(cache, updates, std::chrono::seconds(number));
  }
  cache.Stop();  // the handler refers to `updates`
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  if (arguments.size() != 4) {
    std::fputs("usage: informer_bench RESOURCE FORM events|reads NUMBER\n", stderr);
    return 2;
  }
  try {
    const std::string form = arguments[0] + ' ' + arguments[1];
    const std::int64_t number = std::stol(arguments[3]);
    if (form == "pods view") {
      Measure<PodView>(arguments[2], number);
    } else if (form == "pods whole") {
      Measure<kopp::Whole<PodView>>(arguments[2], number);
    } else if (form == "pods metadata") {
      Measure<kopp::MetadataOnly<PodView>>(arguments[2], number);
    } else if (form == "configmaps view") {
      Measure<ConfigMapView>(arguments[2], number);
    } else {
      throw std::runtime_error("unknown form: " + form);
    }
  } catch (const std::exception& error) {
    std::fprintf(stderr, "informer_bench: %s\n", error.what());
    return 1;
  }
}
