#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <kopp/controller/event_queue.hpp>
#include <kopp/log.hpp>
#include <kopp/workqueue/clock.hpp>

namespace kopp {

/// The objects that a source may use while it runs.
struct SourceContext {
  EventQueue queue;  ///< of the controller; the source of its reasons is EventSource::name()
  Clock& clock;      ///< wait with this clock only, so that tests can simulate the time
  Logger log;        ///< adds the controller and the source to each line
};

/// A source of events that are not changes of watched objects. ControllerBuilder::Watches adds it
/// to a controller, which runs it on a thread of its own. controller-runtime: source.Source.
class EventSource {
 public:
  virtual ~EventSource() = default;
  EventSource(const EventSource&) = delete;
  EventSource& operator=(const EventSource&) = delete;

  /// Returns a name for logs and reasons.
  [[nodiscard]] virtual std::string name() const = 0;

  /// Adds keys to `context.queue` until `stop` is requested, and then returns. Called when the
  /// workers start, after the first lists. If it throws, the exception is logged and Run is called
  /// again, after 1 s, doubled with each failure up to a minute. If it returns earlier, the source
  /// has ended. Manager::Run documents what happens if it does not return after a stop.
  virtual void Run(const SourceContext& context, const std::stop_token& stop) = 0;

 protected:
  EventSource() = default;
};

/// A source that is a function, with the contract of EventSource::Run. controller-runtime:
/// source.Func.
class FunctionSource final : public EventSource {
 public:
  using Function = std::function<void(const SourceContext& context, const std::stop_token& stop)>;

  FunctionSource(std::string name, Function run) : name_(std::move(name)), run_(std::move(run)) {}

  [[nodiscard]] std::string name() const override { return name_; }
  void Run(const SourceContext& context, const std::stop_token& stop) override {
    run_(context, stop);
  }

 private:
  const std::string name_;
  const Function run_;
};

/// Deprecated: set ControllerOptions::sync_period, or send to a Channel. Adds keys at a constant
/// interval; the first time one interval after the start.
class [[deprecated("set ControllerOptions::sync_period, or send to a Channel")]] TimerSource final
    : public EventSource {
 public:
  using Keys = std::function<std::vector<ObjectKey>()>;

  /// `keys` returns the keys to add. If it throws, the exception is logged, and the next interval
  /// begins. Throws std::invalid_argument unless `interval` is positive. If a call takes longer
  /// than the interval, the missed ones are skipped.
  TimerSource(Duration interval, Keys keys);

  [[nodiscard]] std::string name() const override { return "timer"; }
  void Run(const SourceContext& context, const std::stop_token& stop) override;

 private:
  const Duration interval_;
  const Keys keys_;
};

/// Options of a PollingSource.
struct PollingOptions {
  std::string name = "polling";                  ///< for logs and reasons
  Duration interval = std::chrono::seconds(30);  ///< from the end of a poll to the next; positive
};

namespace detail {

/// Returns `interval`. Throws std::invalid_argument unless it is positive.
Duration CheckedInterval(Duration interval);

/// Calls `function`, and logs its exceptions unless `stop` is requested: that may be their cause.
/// Does not throw.
void LogExceptions(const Logger& log, std::string_view message, const std::stop_token& stop,
                   const std::function<void()>& function);

}  // namespace detail

/// Polls resources outside the cluster, and reconciles the objects whose resource appeared, changed
/// or disappeared since the previous poll. After the first poll, these are all that it returned.
///
///     auto buckets = std::make_shared<kopp::PollingSource<Bucket>>(
///         {.name = "buckets", .interval = 1min}, [](const std::stop_token& stop) { return … });
///     manager.AddController<Store>().Watches(buckets).Reconcile(
///         [buckets](const Store& store, kopp::Context& context) {
///           const auto bucket = buckets->Get(context.key);  // of the latest poll
///           …
///         });
///
/// `V` is copyable and has ==. A source belongs to one controller. JOSDK: PollingEventSource.
template <typename V>
class PollingSource final : public EventSource {
 public:
  /// The resources, each with the key of the object to reconcile.
  using Resources = std::map<ObjectKey, V>;
  /// Returns all resources. May block, and should return soon after `stop` is requested. If it
  /// throws, the exception is logged, nothing changes, and it is called again after the interval.
  using Poll = std::function<Resources(const std::stop_token& stop)>;

  /// Throws std::invalid_argument unless the interval is positive.
  PollingSource(PollingOptions options, Poll poll)
      : name_(std::move(options.name)),
        interval_(detail::CheckedInterval(options.interval)),
        poll_(std::move(poll)) {}

  [[nodiscard]] std::string name() const override { return name_; }

  /// Returns the resource of the latest successful poll; nullopt if there is none. Thread-safe.
  [[nodiscard]] std::optional<V> Get(const ObjectKey& key) const {
    const std::lock_guard guard{mutex_};
    const auto found = resources_.find(key);
    return found == resources_.end() ? std::nullopt : std::optional<V>(found->second);
  }

  void Run(const SourceContext& context, const std::stop_token& stop) override {
    do {
      detail::LogExceptions(context.log, "Polling failed", stop, [&] {
        for (const auto& [key, type] : Replace(poll_(stop))) context.queue.Add(key, type);
      });
    } while (SleepUntil(context.clock, SaturatingAdd(context.clock.Now(), interval_), stop));
  }

 private:
  using Changes = std::vector<std::pair<ObjectKey, Reason::Type>>;

  /// Stores `resources` and returns how they differ from the previous ones.
  Changes Replace(Resources resources) {
    const std::lock_guard guard{mutex_};
    Changes changes;
    for (const auto& [key, value] : resources) {
      const auto before = resources_.find(key);
      if (before == resources_.end()) {
        changes.emplace_back(key, Reason::Type::kAdded);
      } else if (!(before->second == value)) {
        changes.emplace_back(key, Reason::Type::kUpdated);
      }
    }
    for (const auto& [key, value] : resources_) {
      if (!resources.contains(key)) changes.emplace_back(key, Reason::Type::kDeleted);
    }
    resources_ = std::move(resources);
    return changes;
  }

  const std::string name_;
  const Duration interval_;
  const Poll poll_;
  mutable std::mutex mutex_;
  Resources resources_;  // of the latest poll
};

}  // namespace kopp
