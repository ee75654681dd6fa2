#pragma once

#include <algorithm>
#include <condition_variable>
#include <exception>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include <kopp/runnable.hpp>
#include <kopp/workqueue/clock.hpp>
#include <kopp/workqueue/guarded.hpp>

namespace kopp {

/// The runnables of one RunnableGroup, each on its own thread. May be started again after a stop.
/// Thread-safe. The destructor stops the runnables and waits for them.
class RunnableThreads {
 public:
  /// Called on the thread of a runnable that threw.
  using FailureHandler = std::function<void(const std::string& name, const std::string& error)>;

  explicit RunnableThreads(FailureHandler on_failure) : on_failure_(std::move(on_failure)) {}
  ~RunnableThreads() {
    RequestStop();
    const auto threads = std::exchange(state_.Lock()->threads, {});  // joins them without the lock
  }
  RunnableThreads(const RunnableThreads&) = delete;
  RunnableThreads& operator=(const RunnableThreads&) = delete;

  /// Adds a runnable. Starts it if the group runs. Throws std::system_error if there are too many
  /// threads.
  void Add(std::string name, Runnable runnable) {
    auto state = state_.Lock();
    state->runnables.push_back(
        std::make_shared<Named>(Named{std::move(name), std::move(runnable)}));
    if (state->is_running) StartThread(*state, state->runnables.back());
  }

  /// Starts all runnables. Throws std::system_error if there are too many threads.
  void Start() {
    // Joins the threads of an earlier start without the lock.
    std::exchange(state_.Lock()->threads, {});
    auto state = state_.Lock();
    state->is_running = true;
    for (const auto& runnable : state->runnables) StartThread(*state, runnable);
  }

  /// Requests a stop of all runnables. Does not block.
  void RequestStop() {
    auto state = state_.Lock();
    state->is_running = false;
    for (std::jthread& thread : state->threads) thread.request_stop();
  }

  /// Blocks until all runnables have returned, or until `deadline`. Returns the names of those that
  /// have not. Call it after RequestStop.
  std::vector<std::string> WaitUntilEnded(Clock& clock, TimePoint deadline) {
    auto state = state_.Lock();
    while (!state->active.empty() && clock.Now() < deadline) {
      clock.WaitUntil(state.lock(), ended_, deadline);
    }
    return state->active;
  }

 private:
  struct Named {
    std::string name;
    Runnable run;
  };
  struct State {
    bool is_running = false;
    std::vector<std::shared_ptr<const Named>> runnables;
    std::vector<std::string> active;  // the names of those that have not returned
    std::vector<std::jthread> threads;
  };

  void StartThread(State& state, const std::shared_ptr<const Named>& runnable) {
    state.active.push_back(runnable->name);
    try {
      state.threads.emplace_back([this, runnable](const std::stop_token& stop) {
        Run(*runnable, stop);
        OnReturn(runnable->name);
      });
    } catch (const std::system_error&) {
      state.active.pop_back();
      throw;
    }
  }

  void Run(const Named& runnable, const std::stop_token& stop) {
    try {
      runnable.run(stop);
    } catch (const std::exception& error) {
      on_failure_(runnable.name, error.what());
    } catch (...) {
      on_failure_(runnable.name, "it threw an object that is not a std::exception");
    }
  }

  void OnReturn(const std::string& name) {
    {
      auto state = state_.Lock();
      state->active.erase(std::ranges::find(state->active, name));
    }
    ended_.notify_all();
  }

  const FailureHandler on_failure_;
  std::condition_variable ended_;
  Guarded<State> state_;
};

}  // namespace kopp
