#include "worker_pool.hpp"

#include <algorithm>
#include <chrono>
#include <exception>
#include <utility>
#include <vector>

namespace kopp {
namespace {

constexpr Duration kPauseAfterError = std::chrono::seconds(1);

}  // namespace

WorkerPool::WorkerPool(Queue& queue, Clock& clock, int workers, Process process)
    : queue_(queue), clock_(clock), process_(std::move(process)) {
  state_.Lock()->target = workers;
}

WorkerPool::~WorkerPool() {
  RequestStop();
  static_cast<void>(WaitUntilEnded(TimePoint::max()));
}

void WorkerPool::Start(const Logger& log) {
  log_ = log;
  auto state = state_.Lock();
  state->workers.clear();
  state->leaving.clear();
  state->stop = std::stop_source();
  state->running = true;
  StartMissing(*state);
}

void WorkerPool::SetWorkers(int workers) {
  std::list<Worker> ended;  // joined after the lock is released
  std::vector<std::stop_source> leaving;
  {
    auto state = state_.Lock();
    state->target = workers;
    if (!state->running) return;
    for (auto worker = state->leaving.begin(); worker != state->leaving.end();) {
      const auto current = worker++;
      if (current->ended) ended.splice(ended.end(), state->leaving, current);
    }
    while (state->workers.size() > static_cast<std::size_t>(workers)) {
      leaving.push_back(state->workers.front().thread.get_stop_source());
      state->leaving.splice(state->leaving.end(), state->workers, state->workers.begin());
    }
    StartMissing(*state);
  }
  for (std::stop_source& each : leaving) each.request_stop();
}

/// Requires: the lock of `state` is held.
void WorkerPool::StartMissing(State& state) {
  const auto stop = state.stop.get_token();
  while (state.workers.size() < static_cast<std::size_t>(state.target)) {
    Worker& worker = state.workers.emplace_back();
    try {
      worker.thread = std::jthread(
          [this, &worker, stop](const std::stop_token& leave) { Work(worker, leave, stop); });
    } catch (...) {
      state.workers.pop_back();
      throw;
    }
  }
}

void WorkerPool::Work(Worker& self, const std::stop_token& leave, const std::stop_token& stop) {
  while (!leave.stop_requested()) {
    try {
      if (!ProcessNext(leave, stop)) break;
    } catch (const std::exception& error) {
      PauseAfterError(error.what(), leave);
    } catch (...) {
      PauseAfterError("an object that is not a std::exception", leave);
    }
  }
  auto state = state_.Lock();
  self.ended = true;
  thread_ended_.notify_all();
}

/// Does not throw: there may be no memory.
void WorkerPool::PauseAfterError(const char* error, const std::stop_token& leave) {
  try {
    log_.Error("Worker error, continuing in 1 s", {{"err", error}});
  } catch (...) {  // NOLINT(bugprone-empty-catch): there is no memory for the field
  }
  SleepUntil(clock_, SaturatingAdd(clock_.Now(), kPauseAfterError), leave);
}

/// Returns false if the thread is to end.
bool WorkerPool::ProcessNext(const std::stop_token& leave, const std::stop_token& stop) {
  const auto next = queue_.GetWithPriority(leave);
  if (!next) return false;
  const workqueue::DoneGuard done{queue_, next->item};
  process_(*next, stop);
  return true;
}

void WorkerPool::RequestStop() {
  std::vector<std::stop_source> sources;  // stopped without the lock: that calls user code
  {
    auto state = state_.Lock();
    state->running = false;
    for (auto* workers : {&state->workers, &state->leaving}) {
      for (Worker& worker : *workers) sources.push_back(worker.thread.get_stop_source());
    }
    sources.push_back(state->stop);
  }
  for (std::stop_source& source : sources) source.request_stop();
}

bool WorkerPool::WaitUntilEnded(TimePoint deadline) {
  auto state = state_.Lock();
  const auto all_ended = [&] {
    const auto ended = [](const Worker& worker) { return worker.ended; };
    return std::ranges::all_of(state->workers, ended) && std::ranges::all_of(state->leaving, ended);
  };
  while (!all_ended() && clock_.Now() < deadline) {
    clock_.WaitUntil(state.lock(), thread_ended_, deadline);
  }
  return all_ended();
}

}  // namespace kopp
