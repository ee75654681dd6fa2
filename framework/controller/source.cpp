#include <exception>
#include <stdexcept>

#include <kopp/controller/source.hpp>
#include <kopp/informer/detail/exception_text.hpp>

namespace kopp {

Duration detail::CheckedInterval(Duration interval) {
  if (interval > Duration::zero()) return interval;
  throw std::invalid_argument("the interval of a source of events must be positive");
}

namespace {

/// Does not throw: there may be no memory.
void LogSourceError(const Logger& log, std::string_view message,
                    const std::exception_ptr& error) noexcept {
  try {
    log.Error(message, {{"err", detail::ExceptionText(error)}});
  } catch (...) {  // NOLINT(bugprone-empty-catch): there is no memory for the line
  }
}

}  // namespace

void detail::LogExceptions(const Logger& log, std::string_view message, const std::stop_token& stop,
                           const std::function<void()>& function) {
  try {
    function();
  } catch (...) {
    if (!stop.stop_requested()) LogSourceError(log, message, std::current_exception());
  }
}

TimerSource::TimerSource(Duration interval, Keys keys)
    : interval_(detail::CheckedInterval(interval)), keys_(std::move(keys)) {}

void TimerSource::Run(const SourceContext& context, const std::stop_token& stop) {
  TimePoint next = SaturatingAdd(context.clock.Now(), interval_);
  while (SleepUntil(context.clock, next, stop)) {
    detail::LogExceptions(context.log, "The keys of a timer are not available", stop, [&] {
      for (const ObjectKey& key : keys_()) context.queue.Add(key, Reason::Type::kTimer);
    });
    next = SaturatingAdd(next, interval_);
    if (next < context.clock.Now()) next = SaturatingAdd(context.clock.Now(), interval_);
  }
}

}  // namespace kopp
