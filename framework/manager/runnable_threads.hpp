#pragma once

#include <algorithm>
#include <condition_variable>
#include <exception>
#include <functional>
#include <list>
#include <memory>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <kopp/informer/detail/exception_text.hpp>
#include <kopp/runnable.hpp>
#include <kopp/workqueue/clock.hpp>
#include <kopp/workqueue/guarded.hpp>

namespace kopp {

/// The runnables of one RunnableGroup, each on its own thread. May be started again after a stop.
/// Thread-safe. The destructor stops the runnables and waits for them.
class RunnableThreads {
 public:
  /// Called on the thread of a runnable that threw before a stop was requested.
  using FailureHandler = std::function<void(const std::string& name, const std::string& error)>;

  explicit RunnableThreads(FailureHandler on_failure) : on_failure_(std::move(on_failure)) {}
  ~RunnableThreads() {
    RequestStop();
    const auto workers = std::exchange(state_.Lock()->workers, {});  // joined without the lock
  }
  RunnableThreads(const RunnableThreads&) = delete;
  RunnableThreads& operator=(const RunnableThreads&) = delete;

  /// Adds a runnable. Starts it if the group runs. Throws std::system_error if there are too many
  /// threads.
  void Add(std::string name, Runnable runnable) {
    const auto added = std::make_shared<const Named>(Named{std::move(name), std::move(runnable)});
    const auto ended = TakeEnded();  // joined without the lock
    Worker* worker = nullptr;
    {
      auto state = state_.Lock();
      state->runnables.push_back(added);
      if (!state->is_running) return;
      worker = &state->workers.emplace_back(Worker{.name = added->name});
    }
    StartThread(*worker, added);
  }

  /// Starts all runnables. Throws std::system_error if there are too many threads. Call it again
  /// only after WaitUntilEnded has returned nothing.
  void Start() {
    const auto ended = TakeEnded();  // of an earlier start; joined without the lock
    std::vector<std::shared_ptr<const Named>> runnables;
    {
      auto state = state_.Lock();
      state->is_running = true;  // from now on, Add starts threads
      runnables = state->runnables;
    }
    for (const auto& runnable : runnables) {
      Worker& worker = state_.Lock()->workers.emplace_back(Worker{.name = runnable->name});
      StartThread(worker, runnable);
    }
  }

  /// Requests a stop of all runnables. Does not block.
  void RequestStop() {
    std::vector<std::stop_source> sources;  // stopped without the lock: that calls user code
    {
      auto state = state_.Lock();
      state->is_running = false;
      for (const Worker& worker : state->workers) sources.push_back(worker.stop);
    }
    for (std::stop_source& source : sources) source.request_stop();
  }

  /// Blocks until all runnables have returned, or until `deadline`. Returns the names of those that
  /// have not. Call it after RequestStop.
  std::vector<std::string> WaitUntilEnded(Clock& clock, TimePoint deadline) {
    auto state = state_.Lock();
    const auto has_ended = [](const Worker& worker) { return worker.ended; };
    while (!std::ranges::all_of(state->workers, has_ended) && clock.Now() < deadline) {
      clock.WaitUntil(state.lock(), ended_, deadline);
    }
    std::vector<std::string> running;
    for (const Worker& worker : state->workers) {
      if (!worker.ended) running.push_back(worker.name);
    }
    return running;
  }

 private:
  struct Named {
    std::string name;
    Runnable run;
  };
  struct Worker {
    std::string name{};
    bool ended = false;
    std::stop_source stop{};
    std::jthread thread{};  // set by StartThread, perhaps when it has already ended
  };
  struct State {
    bool is_running = false;
    std::vector<std::shared_ptr<const Named>> runnables;
    std::list<Worker> workers;
  };

  /// Removes the workers whose threads have ended.
  std::list<Worker> TakeEnded() {
    std::list<Worker> ended;
    auto state = state_.Lock();
    for (auto next = state->workers.begin(); next != state->workers.end();) {
      const auto worker = next++;
      if (!worker->ended || !worker->thread.joinable()) continue;
      ended.splice(ended.end(), state->workers, worker);
    }
    return ended;
  }

  /// Starts the thread of `worker`, which is in state_, without the lock.
  void StartThread(Worker& worker, const std::shared_ptr<const Named>& runnable) {
    try {
      std::jthread thread([this, runnable, &worker, stop = worker.stop.get_token()] {
        Run(*runnable, stop);
        auto state = state_.Lock();
        worker.ended = true;
        ended_.notify_all();
      });
      auto state = state_.Lock();
      worker.thread = std::move(thread);
    } catch (...) {
      auto state = state_.Lock();
      state->workers.remove_if([&](const Worker& other) { return &other == &worker; });
      ended_.notify_all();
      throw;
    }
  }

  /// After a stop request, exceptions are expected: calls are cancelled.
  void Run(const Named& runnable, const std::stop_token& stop) {
    try {
      runnable.run(stop);
    } catch (const std::exception& error) {
      if (!stop.stop_requested()) on_failure_(runnable.name, detail::ExceptionText(error));
    } catch (...) {
      if (!stop.stop_requested()) {
        on_failure_(runnable.name, "it threw an object that is not a std::exception");
      }
    }
  }

  const FailureHandler on_failure_;
  std::condition_variable ended_;
  detail::Guarded<State> state_;
};

}  // namespace kopp
