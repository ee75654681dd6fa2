#include "source_runner.hpp"

#include <algorithm>

namespace kopp {

void SourceRunner::Start(const Logger& log) {
  threads_.clear();
  for (const auto& source : sources_) {
    const std::string name = source->name();
    log.Info("Starting EventSource", {{"source", name}});
    SourceContext context{queue_.ForSource(name), clock_, log.With({{"source", name}})};
    auto running = running_.Lock();  // until the thread exists, which removes the name
    running->push_back(name);
    try {
      threads_.emplace_back(
          [this, source, context = std::move(context), name](const std::stop_token& stop) {
            Run(*source, context, stop);
            OnEnded(name);
          });
    } catch (...) {
      running->pop_back();
      throw;
    }
  }
}

void SourceRunner::OnEnded(const std::string& name) {
  auto running = running_.Lock();
  running->erase(std::ranges::find(*running, name));
  ended_.notify_all();
}

/// Calls EventSource::Run until it returns without an exception. The delay starts again after a run
/// that was longer than the longest delay.
void SourceRunner::Run(EventSource& source, const SourceContext& context,
                       const std::stop_token& stop) {
  using std::chrono_literals::operator""s;
  using std::chrono_literals::operator""min;
  constexpr Duration kMaxDelay = 1min;
  for (Duration delay = 1s;; delay = std::min(2 * delay, kMaxDelay)) {
    const TimePoint started = clock_.Now();
    bool failed = true;
    detail::LogExceptions(context.log, "Event source failed, starting it again", stop, [&] {
      source.Run(context, stop);
      failed = false;
    });
    if (clock_.Now() - started > kMaxDelay) delay = 1s;
    if (!failed || !SleepUntil(clock_, SaturatingAdd(clock_.Now(), delay), stop)) return;
  }
}

std::vector<std::string> SourceRunner::WaitUntilEnded(TimePoint deadline) {
  auto running = running_.Lock();
  while (!running->empty() && clock_.Now() < deadline) {
    clock_.WaitUntil(running.lock(), ended_, deadline);
  }
  return *running;
}

}  // namespace kopp
