// Compares the number of instructions of the workqueue's operations with that of a reference
// implementation. Counts are the same on each machine, busy or not, so small losses show. Times are
// not: the ratio of two times depends on the caches and on the clock of a machine. Prints one line
// per operation, and fails if a ratio is below its budget: 0.95 of the ratio when it was set,
// because seeds of hash functions and variants of memcmp change counts by up to 2 percent.
//
//     workqueue_ratio

#include "reference_queue.hpp"

#include <chrono>
#include <csignal>
#include <cstdio>
#include <functional>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include <kopp/workqueue/rate_limiting_queue.hpp>

namespace {

using namespace std::chrono_literals;
using namespace kopp::bench;
using namespace kopp::workqueue;

constexpr std::size_t kKeys = 40;

const std::vector<std::string>& Keys() {
  static const std::vector<std::string> keys = [] {
    std::vector<std::string> made;
    for (std::size_t i = 0; i < kKeys; ++i) {
      made.push_back("namespace-" + std::to_string(100 + i % 100) + "/object-name-" +
                     std::to_string(1'000'000 + i));
    }
    return made;
  }();
  return keys;
}

/// Calls `operation(key)` for each key, between two signals for CountInstructions.
template <typename F>
void Measure(F operation) {
  const auto& keys = Keys();
  std::raise(SIGUSR1);
  for (const std::string& key : keys) operation(key);
  std::raise(SIGUSR1);
}

/// Runs `measure` in a child process, one instruction at a time between its two signals. Returns
/// the number of instructions per key.
double CountInstructions(const std::function<void()>& measure) {
  const pid_t child = fork();
  if (child == 0) {
    ptrace(PTRACE_TRACEME, 0, nullptr, nullptr);
    measure();
    _exit(0);
  }
  bool counting = false;
  double instructions = 0;
  int status = 0;
  while (waitpid(child, &status, 0) == child && WIFSTOPPED(status)) {
    const int signal = WSTOPSIG(status);
    if (signal == SIGUSR1) counting = !counting;
    if (signal == SIGTRAP) ++instructions;
    const bool is_ours = signal == SIGUSR1 || signal == SIGTRAP;
    ptrace(counting ? PTRACE_SINGLESTEP : PTRACE_CONT, child, nullptr, is_ours ? 0 : signal);
  }
  if (!WIFEXITED(status) || instructions == 0) {
    throw std::runtime_error("cannot count instructions: this test needs ptrace");
  }
  return instructions / static_cast<double>(kKeys);
}

template <typename Q>
void AddDistinct() {
  Q queue;
  Measure([&](const std::string& key) { queue.Add(key); });
}

template <typename Q>
void AddDuplicate() {
  Q queue;
  const auto& keys = Keys();
  std::size_t next = 0;
  Measure([&](const std::string&) { queue.Add(keys[next++ % 10]); });
}

template <typename Q>
void GetDone() {
  Q queue;
  for (const std::string& key : Keys()) queue.Add(key);
  Measure([&](const std::string&) {
    const auto item = queue.Get();
    if constexpr (std::is_same_v<Q, ReferenceQueue>) {
      queue.Done(item);
    } else {
      queue.Done(*item);
    }
  });
}

template <typename Q>
void AddAfter() {
  Q queue;
  std::size_t i = 0;
  Measure([&](const std::string& key) { queue.AddAfter(key, 1h + ++i % 1000 * 1ms); });
}

template <typename Limiter>
void When(Limiter& limiter) {
  Measure([&](const std::string& key) { static_cast<void>(limiter.When(key)); });
}

template <typename Limiter>
void Forget(Limiter& limiter) {
  for (const std::string& key : Keys()) static_cast<void>(limiter.When(key));
  Measure([&](const std::string& key) { limiter.Forget(key); });
}

struct Operation {
  const char* name;
  std::function<void()> kopp;
  std::function<void()> reference;
  double budget;  ///< the minimum of the reference's count divided by kopp's
};

std::vector<Operation> Operations() {
  using KoppQueue = Queue<std::string>;
  using KoppDelays = DelayingQueue<std::string>;
  const auto with_kopp_limiter = [](auto measure) {
    return [measure] {
      ItemExponentialFailureRateLimiter<std::string> limiter(5ms, 1000s);
      measure(limiter);
    };
  };
  const auto with_reference_limiter = [](auto measure) {
    return [measure] {
      ReferenceLimiter limiter;
      measure(limiter);
    };
  };
  const auto when = [](auto& limiter) { When(limiter); };
  const auto forget = [](auto& limiter) { Forget(limiter); };
  return {{"add_duplicate", AddDuplicate<KoppQueue>, AddDuplicate<ReferenceQueue>, 1.16},
          {"add_distinct", AddDistinct<KoppQueue>, AddDistinct<ReferenceQueue>, 1.65},
          {"get_done", GetDone<KoppQueue>, GetDone<ReferenceQueue>, 1.47},
          {"add_after", AddAfter<KoppDelays>, AddAfter<ReferenceDelays>, 1.3},
          {"limiter_when", with_kopp_limiter(when), with_reference_limiter(when), 1.02},
          {"limiter_forget", with_kopp_limiter(forget), with_reference_limiter(forget), 1.11}};
}

/// Prints the counts of an operation. Returns whether their ratio meets the budget.
bool MeetsBudget(const Operation& operation) {
  const double kopp = CountInstructions(operation.kopp);
  const double reference = CountInstructions(operation.reference);
  const double ratio = reference / kopp;
  const bool met = ratio >= operation.budget;
  std::printf("%-16s %9.1f %13.1f %7.2f %8.2f %s\n", operation.name, kopp, reference, ratio,
              operation.budget, met ? "ok" : "MISS");
  return met;
}

}  // namespace

int main() {
  bool ok = true;
  std::printf("%-16s %9s %13s %7s %8s\n", "instructions", "kopp", "reference", "ratio", "budget");
  for (const Operation& operation : Operations()) ok = MeetsBudget(operation) && ok;
  return ok ? 0 : 1;
}
