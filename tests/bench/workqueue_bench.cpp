// Runs one benchmark scenario of the workqueue; peers/workqueue runs the same scenario with
// client-go. Prints one line per measure, with its value. run.sh runs and compares both.
//
//     workqueue_bench SCENARIO [KEYS]

#include <algorithm>
#include <array>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <functional>
#include <map>
#include <mutex>
#include <numeric>
#include <random>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <sys/resource.h>
#include <unistd.h>

#include <kopp/workqueue/rate_limiting_queue.hpp>

namespace {

using namespace std::chrono_literals;
using namespace kopp::workqueue;
using Keys = std::vector<std::string>;
using SteadyClock = std::chrono::steady_clock;

Keys MakeKeys(std::size_t count) {
  Keys keys(count);
  std::array<char, 64> text{};
  for (std::size_t i = 0; i < count; ++i) {
    std::snprintf(text.data(), text.size(), "namespace-%03zu/object-name-%07zu", i % 100, i);
    keys[i] = text.data();
  }
  return keys;
}

double SecondsSince(SteadyClock::time_point start) {
  return std::chrono::duration<double>(SteadyClock::now() - start).count();
}

double CpuSeconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

double ResidentBytes() {
  std::ifstream file("/proc/self/statm");
  double all = 0;
  double resident = 0;
  file >> all >> resident;
  return resident * static_cast<double>(sysconf(_SC_PAGESIZE));
}

void Print(std::string_view measure, double value) {
  std::printf("%.*s %.9g\n", static_cast<int>(measure.size()), measure.data(), value);
}

/// Starts a second thread, because the C library is faster in single-threaded processes, which a
/// process with a queue is not.
class ParkedThread {
 public:
  ParkedThread()
      : thread_([this](const std::stop_token& stop) {
          std::unique_lock lock{mutex_};
          cv_.wait(lock, stop, [] { return false; });
        }) {}

 private:
  std::mutex mutex_;
  std::condition_variable_any cv_;
  std::jthread thread_;
};

void AddDistinctThenGetAndDone(const Keys& keys) {
  const auto count = static_cast<double>(keys.size());
  Queue<std::string> queue;
  auto start = SteadyClock::now();
  for (const std::string& key : keys) queue.Add(key);
  Print("add_distinct", count / SecondsSince(start));
  start = SteadyClock::now();
  for (std::size_t i = 0; i < keys.size(); ++i) {
    const auto key = queue.Get();
    queue.Done(*key);
  }
  Print("get_done", count / SecondsSince(start));
}

void AddDuplicate(const Keys& keys) {
  Queue<std::string> queue;
  const auto start = SteadyClock::now();
  for (std::size_t i = 0; i < keys.size(); ++i) queue.Add(keys[i % 1000]);
  Print("add_duplicate", static_cast<double>(keys.size()) / SecondsSince(start));
}

void Cycle(std::string_view measure, const Keys& keys, std::size_t producers, std::size_t workers) {
  RateLimitingQueue<std::string> queue({}, DefaultControllerRateLimiter<std::string>());
  const auto start = SteadyClock::now();
  {
    std::vector<std::jthread> consuming;
    for (std::size_t i = 0; i < workers; ++i) {
      consuming.emplace_back([&] {
        while (const auto key = queue.Get()) {
          queue.Forget(*key);
          queue.Done(*key);
        }
      });
    }
    {
      std::vector<std::jthread> producing;
      const std::size_t share = keys.size() / producers;
      for (std::size_t i = 0; i < producers; ++i) {
        producing.emplace_back([&, i] {
          for (std::size_t k = i * share; k < (i + 1) * share; ++k) queue.Add(keys[k]);
        });
      }
    }
    queue.ShutDown();
  }
  Print(measure, static_cast<double>(keys.size()) / SecondsSince(start));
}

void AddAfter(const Keys& keys) {
  const auto count = static_cast<double>(keys.size());
  DelayingQueue<std::string> queue;
  const auto start = SteadyClock::now();
  const double cpu_before = CpuSeconds();
  for (std::size_t i = 0; i < keys.size(); ++i) queue.AddAfter(keys[i], 500ms + i % 1000 * 1ms);
  Print("add_after_insert", count / SecondsSince(start));
  const double cpu_inserted = CpuSeconds();
  for (std::size_t i = 0; i < keys.size(); ++i) {
    const auto key = queue.Get();
    queue.Done(*key);
  }
  Print("add_after_all_out", CpuSeconds() - cpu_inserted);
  Print("add_after_cpu", count / (CpuSeconds() - cpu_before));
}

void Limiter(const Keys& keys) {
  const auto count = static_cast<double>(keys.size());
  ItemExponentialFailureRateLimiter<std::string> limiter(5ms, 1000s);
  auto start = SteadyClock::now();
  for (const std::string& key : keys) static_cast<void>(limiter.When(key));
  Print("limiter_when", count / SecondsSince(start));
  start = SteadyClock::now();
  for (const std::string& key : keys) limiter.Forget(key);
  Print("limiter_forget", count / SecondsSince(start));

  for (const std::string& key : keys) static_cast<void>(limiter.When(key));
  std::vector<std::size_t> order(keys.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::shuffle(order.begin(), order.end(), std::minstd_rand{1});
  start = SteadyClock::now();
  for (const std::size_t i : order) limiter.Forget(keys[i]);
  Print("limiter_forget_shuffled", count / SecondsSince(start));
}

void PrintLatencies(const std::string& measure, std::vector<double>& latencies) {
  std::sort(latencies.begin(), latencies.end());
  Print(measure + "_p50", latencies[latencies.size() / 2]);
  Print(measure + "_p99", latencies[latencies.size() * 99 / 100]);
}

double Nanoseconds() { return static_cast<double>(SteadyClock::now().time_since_epoch().count()); }

/// Adds bursts of items to a queue with idle workers. Each item is the time of its Add, so that the
/// workers can measure the latency.
void Latency(const std::string& measure, std::size_t workers, int burst) {
  constexpr int kSamples = 2000;
  Queue<std::int64_t> queue;
  std::vector<std::vector<double>> latencies(workers);
  {
    std::vector<std::jthread> working;
    for (auto& samples : latencies) {
      working.emplace_back([&] {
        while (const auto added = queue.Get()) {
          samples.push_back(Nanoseconds() - static_cast<double>(*added));
          queue.Done(*added);
        }
      });
    }
    for (int i = 0; i < kSamples; ++i) {
      std::this_thread::sleep_for(200us);
      for (int n = 0; n < burst; ++n) queue.Add(static_cast<std::int64_t>(Nanoseconds()));
    }
    queue.ShutDown();
  }
  std::vector<double> all;
  for (const auto& samples : latencies) all.insert(all.end(), samples.begin(), samples.end());
  PrintLatencies(measure, all);
}

/// The latency of a mutex and a condition variable, for comparison.
void BareWakeUp(const Keys&) {
  constexpr int kSamples = 2000;
  std::mutex mutex;
  std::condition_variable cv;
  double added = 0;
  bool end = false;
  std::vector<double> latencies;
  std::jthread worker([&] {
    std::unique_lock lock{mutex};
    for (;;) {
      cv.wait(lock, [&] { return added > 0 || end; });
      if (added == 0) return;
      latencies.push_back(Nanoseconds() - added);
      added = 0;
    }
  });
  for (int i = 0; i < kSamples; ++i) {
    std::this_thread::sleep_for(200us);
    {
      const std::lock_guard lock{mutex};
      added = Nanoseconds();
    }
    cv.notify_one();
  }
  {
    const std::lock_guard lock{mutex};
    end = true;
  }
  cv.notify_one();
  worker.join();
  PrintLatencies("bare_wakeup", latencies);
}

// A queue of std::string copies its keys; a queue of std::string_view shares their bytes with the
// caller, as queues of Go strings do.

template <typename T>
void ReadyMemory(std::string_view measure, const Keys& keys) {
  Queue<T> queue;
  const double before = ResidentBytes();
  for (const std::string& key : keys) queue.Add(T(key));
  Print(measure, (ResidentBytes() - before) / static_cast<double>(keys.size()));
}

template <typename T>
void DelayedMemory(std::string_view measure, const Keys& keys) {
  DelayingQueue<T> queue;
  const double before = ResidentBytes();
  for (const std::string& key : keys) queue.AddAfter(T(key), 1h);
  Print(measure, (ResidentBytes() - before) / static_cast<double>(keys.size()));
}

const std::map<std::string_view, std::function<void(const Keys&)>>& Scenarios() {
  static const std::map<std::string_view, std::function<void(const Keys&)>> scenarios{
      {"plain", AddDistinctThenGetAndDone},
      {"duplicate", AddDuplicate},
      {"cycle_1p_1w", [](const Keys& keys) { Cycle("cycle_1p_1w", keys, 1, 1); }},
      {"cycle_1p_4w", [](const Keys& keys) { Cycle("cycle_1p_4w", keys, 1, 4); }},
      {"cycle_4p_4w", [](const Keys& keys) { Cycle("cycle_4p_4w", keys, 4, 4); }},
      {"cycle_4p_16w", [](const Keys& keys) { Cycle("cycle_4p_16w", keys, 4, 16); }},
      {"add_after", AddAfter},
      {"limiter", Limiter},
      {"wakeup", [](const Keys&) { Latency("wakeup_latency", 1, 1); }},
      {"burst", [](const Keys&) { Latency("burst_latency", 8, 4); }},
      {"bare_wakeup", BareWakeUp},
      {"memory_ready", [](const Keys& keys) { ReadyMemory<std::string>("memory_ready", keys); }},
      {"memory_delayed",
       [](const Keys& keys) { DelayedMemory<std::string>("memory_delayed", keys); }},
      {"memory_ready_shared",
       [](const Keys& keys) { ReadyMemory<std::string_view>("memory_ready_shared", keys); }},
      {"memory_delayed_shared",
       [](const Keys& keys) { DelayedMemory<std::string_view>("memory_delayed_shared", keys); }},
  };
  return scenarios;
}

}  // namespace

int main(int argc, char** argv) {
  const auto scenario = Scenarios().find(argc > 1 ? argv[1] : "");
  if (scenario == Scenarios().end()) {
    std::fprintf(stderr, "usage: workqueue_bench SCENARIO [KEYS]; the scenarios are:\n");
    for (const auto& [name, run] : Scenarios()) std::fprintf(stderr, "  %s\n", name.data());
    return 2;
  }
  const ParkedThread parked;
  scenario->second(MakeKeys(argc > 2 ? std::stoul(argv[2]) : 1'000'000));
}
