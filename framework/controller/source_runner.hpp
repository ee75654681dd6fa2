#pragma once

#include <condition_variable>
#include <memory>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <kopp/controller/source.hpp>
#include <kopp/workqueue/guarded.hpp>

namespace kopp {

/// Runs the sources of a controller, each on a thread of its own. Not thread-safe. The destructor
/// stops the threads and waits for them.
class SourceRunner {
 public:
  /// The queue of `queue` and `clock` must outlive the runner.
  SourceRunner(EventQueue queue, Clock& clock) : queue_(std::move(queue)), clock_(clock) {}

  /// Adds a source. Call it before Start.
  void Add(std::shared_ptr<EventSource> source) { sources_.push_back(std::move(source)); }

  /// Starts the threads. May be called again after WaitUntilEnded has returned no names. Throws
  /// std::system_error if a thread cannot be started; the threads before it run.
  void Start(const Logger& log);

  /// Makes each source end. Does not block.
  void RequestStop() {
    for (std::jthread& thread : threads_) thread.request_stop();
  }

  /// Blocks until all sources have ended, or until `deadline`. Returns the names of the sources
  /// that have not ended.
  [[nodiscard]] std::vector<std::string> WaitUntilEnded(TimePoint deadline);

 private:
  void Run(EventSource& source, const SourceContext& context, const std::stop_token& stop);
  void OnEnded(const std::string& name);

  EventQueue queue_;
  Clock& clock_;
  std::vector<std::shared_ptr<EventSource>> sources_;
  detail::Guarded<std::vector<std::string>>
      running_;  // the names of the sources that have not ended
  std::condition_variable ended_;
  std::vector<std::jthread> threads_;  // last: the threads use all members above
};

}  // namespace kopp
