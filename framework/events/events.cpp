#include "event_correlator.hpp"
#include "event_request.hpp"
#include "event_sender.hpp"
#include "event_series.hpp"
#include "pending_events.hpp"

#include <algorithm>
#include <condition_variable>
#include <cstddef>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

#include <nlohmann/json.hpp>
#include <unistd.h>

#include <kopp/events.hpp>
#include <kopp/workqueue/guarded.hpp>

namespace kopp {
namespace {

using nlohmann::json;

constexpr int kMaxTries = 12;  // of one Event

/// Returns a string of `metadata`, or "" if there is none.
std::string StringAt(const json& metadata, const char* field) {
  const auto found = metadata.find(field);
  return found != metadata.end() && found->is_string() ? found->get<std::string>() : "";
}

/// Returns the default of EventRecorderOptions::instance.
std::string InstanceOf(const std::string& component) {
  constexpr std::size_t kMaxLength = 128;
  char host[256] = {};
  if (::gethostname(host, sizeof host - 1) != 0) return component;
  return (component + '-' + host).substr(0, kMaxLength);
}

std::unique_ptr<EventAggregator> MakeAggregator(std::string component,
                                                const EventRecorderOptions& options, Clock& clock) {
  EventReporter reporter{std::move(component), options.instance};
  if (reporter.instance.empty()) reporter.instance = InstanceOf(reporter.controller);
  if (options.api == EventApi::kEvents) {
    return std::make_unique<EventSeries>(std::move(reporter), clock);
  }
  return std::make_unique<EventCorrelator>(std::move(reporter), clock);
}

}  // namespace

ObjectReference ReferenceTo(const Kind& kind, const ObjectMeta& metadata) {
  return {.apiVersion = std::string(kind.api_version),
          .kind = std::string(kind.kind),
          .ns = metadata.ns,
          .name = metadata.name,
          .uid = metadata.uid,
          .resourceVersion = metadata.resourceVersion};
}

ObjectReference ReferenceTo(const Kind& kind, const json& object) {
  const json metadata = object.is_object() ? object.value("metadata", json::object()) : json();
  ObjectMeta identity;
  identity.ns = StringAt(metadata, "namespace");
  identity.name = StringAt(metadata, "name");
  identity.uid = StringAt(metadata, "uid");
  identity.resourceVersion = StringAt(metadata, "resourceVersion");
  return ReferenceTo(kind, identity);
}

/// Owns the pending Events and the thread that writes them.
class EventRecorder::Writer {
 public:
  Writer(const Client& client, std::string component, Logger log, Clock& clock,
         EventRecorderOptions options)
      : log_(log),
        clock_(clock),
        metrics_(options.metrics),
        aggregator_(MakeAggregator(std::move(component), options, clock)),
        sender_(client.With(cancel_.get_token()), std::move(log), *aggregator_,
                std::move(options.random)),
        thread_([this] { Run(); }) {}

  void Enqueue(Occurrence occurrence) {
    occurrence.time = clock_.WallNow();
    const ObjectKey object{occurrence.object.ns, occurrence.object.name};
    log_.Info("Event occurred", {{"object", object},
                                 {"kind", occurrence.object.kind},
                                 {"type", occurrence.type},
                                 {"reason", occurrence.reason},
                                 {"message", occurrence.message}});
    const std::string ns = EventNamespace(occurrence.object);
    Add(ns, {.occurrence = std::move(occurrence)});
  }

  void Stop(Duration timeout) {
    {
      auto queue = queue_.Lock();
      if (!queue->stopped) queue->deadline = SaturatingAdd(clock_.Now(), timeout);
      queue->stopped = true;
      queue->events.EndWaits();
    }
    changed_.notify_one();
    {
      auto queue = queue_.Lock();
      while (!queue->finished && clock_.Now() < queue->deadline) {
        clock_.WaitUntil(queue.lock(), finished_, queue->deadline);
      }
    }
    cancel_.request_stop();
    if (thread_.joinable()) thread_.join();
  }

 private:
  struct Queue {
    PendingEvents events;
    bool is_dropping = false;  // the last Add has dropped an Event
    bool stopped = false;
    bool finished = false;                  // the thread does not write any more
    TimePoint deadline = TimePoint::max();  // no write is started after it
  };

  /// Adds an Event. After Stop, adds only the postponed writes of the aggregator.
  void Add(const std::string& ns, PendingEvent event) {
    const bool is_new = event.request.body.is_null();
    bool was_dropping = false;
    std::optional<std::string> dropped;
    {
      auto queue = queue_.Lock();
      if (queue->stopped && is_new) return CountDropped("stopped", 1);
      dropped = queue->events.Add(ns, std::move(event));
      was_dropping = std::exchange(queue->is_dropping, dropped.has_value());
    }
    changed_.notify_one();
    if (!dropped) return;
    CountDropped("queue_full", 1);
    if (was_dropping) return;
    log_.Error("Too many queued events, dropping events",
               {{"queued", PendingEvents::kCapacity}, {"namespace", *dropped}});
  }

  void CountDropped(std::string_view reason, std::size_t count) const {
    if (metrics_ != nullptr && count > 0) metrics_->AddDroppedEvents(reason, count);
  }

  void Run() {
    WriteAll();
    {
      auto queue = queue_.Lock();
      for (EventRequest& request : aggregator_->TakeAll()) {
        queue->events.PutBack({.request = std::move(request)}, TimePoint::min());
      }
    }
    WriteAll();
    {
      auto queue = queue_.Lock();
      not_written_ += queue->events.Clear();
      queue->finished = true;
    }
    finished_.notify_one();
    CountDropped("stopped", not_written_);
    if (not_written_ == 0) return;
    log_.Info("Stopped before all events were written", {{"notWritten", not_written_}});
  }

  /// Writes Events until a stop is requested and there is none left, or until the deadline.
  void WriteAll() {
    while (auto event = Next()) {
      try {
        Write(*std::move(event));
      } catch (const std::exception& error) {
        log_.Error("Unable to process an event", {{"err", error.what()}});
      }
    }
  }

  /// Blocks until an Event can be written. Returns nullopt when WriteAll is to end.
  std::optional<PendingEvent> Next() {
    while (true) {
      for (EventRequest& request : aggregator_->TakeDue()) {
        const std::string ns = request.key.ns;
        Add(ns, {.request = std::move(request)});
      }
      auto queue = queue_.Lock();
      const TimePoint now = clock_.Now();
      if (now >= queue->deadline) return std::nullopt;
      if (auto event = queue->events.Take(now)) return event;
      if (queue->stopped) return std::nullopt;
      const TimePoint due = std::min(aggregator_->NextDue(), queue->events.NextTime());
      if (due == TimePoint::max()) {
        changed_.wait(queue.lock());
      } else {
        clock_.WaitUntil(queue.lock(), changed_, due);
      }
    }
  }

  void Write(PendingEvent event) {
    if (event.request.body.is_null()) {
      auto request = aggregator_->Add(event.occurrence);
      if (!request) return;
      event.request = *std::move(request);
    }
    const SendResult result = sender_.Try(event.request, event.tries > 0);
    if (result.outcome == SendResult::Outcome::kRejected) CountDropped("rejected", 1);
    if (result.outcome != SendResult::Outcome::kRetry) return;
    if (++event.tries == kMaxTries) {
      log_.Error("Unable to write event (retry limit exceeded!)", {{"event", event.request.key}});
      return CountDropped("retry_limit", 1);
    }
    auto queue = queue_.Lock();
    if (queue->stopped) {
      not_written_ += 1 + queue->events.Remove(event.request.key.ns);
    } else {
      queue->events.PutBack(std::move(event), SaturatingAdd(clock_.Now(), result.delay));
    }
  }

  std::stop_source cancel_;  // of the current write
  Logger log_;
  Clock& clock_;
  EventMetrics* metrics_;                        // may be null
  std::unique_ptr<EventAggregator> aggregator_;  // used by the thread only
  EventSender sender_;                           // used by the thread only
  std::size_t not_written_ = 0;                  // when Stop ended; used by the thread only
  detail::Guarded<Queue> queue_;
  std::condition_variable changed_;
  std::condition_variable finished_;
  std::jthread thread_;  // last: it uses all members above
};

EventRecorder::EventRecorder(const Client& client, std::string component, Logger log, Clock& clock,
                             EventRecorderOptions options)
    : writer_(std::make_unique<Writer>(client, std::move(component), std::move(log), clock,
                                       std::move(options))) {}

EventRecorder::~EventRecorder() { Stop(); }

void EventRecorder::Stop(Duration timeout) { writer_->Stop(timeout); }

void EventRecorder::Normal(const ObjectReference& object, std::string_view reason,
                           std::string_view message, const EventDetails& details) {
  Record("Normal", object, reason, message, details);
}

void EventRecorder::Warning(const ObjectReference& object, std::string_view reason,
                            std::string_view message, const EventDetails& details) {
  Record("Warning", object, reason, message, details);
}

void EventRecorder::Record(std::string_view type, const ObjectReference& object,
                           std::string_view reason, std::string_view message,
                           const EventDetails& details) {
  writer_->Enqueue({.type = std::string(type),
                    .object = object,
                    .reason = std::string(reason),
                    .message = ValidMessage(message),
                    .details = details});
}

}  // namespace kopp
