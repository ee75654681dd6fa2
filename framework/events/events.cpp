#include "event_correlator.hpp"
#include "event_request.hpp"
#include "event_series.hpp"

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <stop_token>
#include <thread>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>
#include <unistd.h>

#include <kopp/events.hpp>
#include <kopp/informer/retry_after.hpp>
#include <kopp/workqueue/guarded.hpp>

namespace kopp {
namespace {

using namespace std::chrono_literals;
using nlohmann::json;

constexpr std::size_t kMaxQueuedEvents = 1000;
constexpr int kMaxAttempts = 12;
constexpr int kMaxNames = 5;  // of one Event
constexpr Duration kRetryInterval = 10s;

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

std::unique_ptr<EventAggregator> MakeAggregator(std::string component, EventRecorderOptions options,
                                                Clock& clock) {
  EventReporter reporter{std::move(component), std::move(options.instance)};
  if (reporter.instance.empty()) reporter.instance = InstanceOf(reporter.controller);
  if (options.api == EventApi::kEvents) {
    return std::make_unique<EventSeries>(std::move(reporter), clock);
  }
  return std::make_unique<EventCorrelator>(std::move(reporter), clock);
}

/// Returns whether the server asks for a later try. client-go: gives such an Event up.
bool IsTemporary(const ApiError& error) {
  return error.IsTooManyRequests() || error.IsServiceUnavailable() || error.IsServerTimeout() ||
         error.IsTimeout() || error.code() == 502;  // 502: a proxy does not reach the server
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

/// Owns the queue of occurrences and the thread that writes them as Events.
class EventRecorder::Writer {
 public:
  Writer(const Client& client, std::string component, Logger log, Clock& clock,
         EventRecorderOptions options)
      : client_(client.With(cancel_.get_token())),
        log_(std::move(log)),
        clock_(clock),
        aggregator_(MakeAggregator(std::move(component), std::move(options), clock)),
        thread_([this](const std::stop_token& stop) { Run(stop); }) {}

  void Enqueue(Occurrence occurrence) {
    occurrence.time = clock_.WallNow();
    const ObjectKey object{occurrence.object.ns, occurrence.object.name};
    log_.Info("Event occurred", {{"object", object},
                                 {"kind", occurrence.object.kind},
                                 {"type", occurrence.type},
                                 {"reason", occurrence.reason},
                                 {"message", occurrence.message}});
    bool is_full = false;
    bool was_full = false;
    {
      auto queue = queue_.Lock();
      if (queue->stopped) return;
      is_full = queue->occurrences.size() >= kMaxQueuedEvents;
      was_full = std::exchange(queue->is_dropping, is_full);
      if (!is_full) queue->occurrences.push_back(std::move(occurrence));
    }
    if (!is_full) {
      changed_.notify_one();
    } else if (!was_full) {
      log_.Error("Too many queued events, dropping events", {{"queued", kMaxQueuedEvents}});
    }
  }

  void Stop(Duration timeout) {
    {
      auto queue = queue_.Lock();
      if (!queue->stopped) queue->deadline = SaturatingAdd(clock_.Now(), timeout);
      queue->stopped = true;
    }
    thread_.request_stop();
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
  using Requests = std::vector<EventRequest>;
  struct Queue {
    std::deque<Occurrence> occurrences;
    bool is_dropping = false;  // the last occurrence was dropped
    bool stopped = false;
    bool finished = false;                  // the thread does not write any more
    TimePoint deadline = TimePoint::max();  // no write is started or continued after it
  };

  void Run(const std::stop_token& stop) {
    bool is_writing = true;
    while (is_writing) {
      try {
        const std::optional<Requests> requests = NextRequests();
        is_writing = requests && Write(*requests, stop);
        if (!requests) Write(aggregator_->TakeAll(), stop);
      } catch (const std::exception& error) {
        log_.Error("Unable to process an event", {{"err", error.what()}});
      }
    }
    queue_.Lock()->finished = true;
    finished_.notify_one();
  }

  /// Blocks until there is an occurrence or a postponed write. Returns the writes, or nullopt after
  /// the last occurrence if a stop was requested.
  std::optional<Requests> NextRequests() {
    const std::optional<Occurrence> occurrence = Pop(aggregator_->NextDue());
    if (!occurrence && queue_.Lock()->stopped) return std::nullopt;
    Requests requests = aggregator_->TakeDue();
    if (occurrence) {
      if (auto request = aggregator_->Add(*occurrence)) requests.push_back(*std::move(request));
    }
    return requests;
  }

  /// Blocks until there is an occurrence. Returns nullopt at `due`, or if the thread is to end.
  std::optional<Occurrence> Pop(TimePoint due) {
    auto queue = queue_.Lock();
    const auto is_ready = [&] { return queue->stopped || !queue->occurrences.empty(); };
    if (due == TimePoint::max()) queue.Wait(changed_, is_ready);
    while (!is_ready() && clock_.Now() < due) clock_.WaitUntil(queue.lock(), changed_, due);
    if (queue->occurrences.empty() || clock_.Now() >= queue->deadline) return std::nullopt;
    Occurrence first = std::move(queue->occurrences.front());
    queue->occurrences.pop_front();
    return first;
  }

  /// Returns false if a stop was requested and a write would have to be tried again.
  bool Write(Requests requests, const std::stop_token& stop) {
    return std::ranges::all_of(requests, [&](EventRequest& request) {
      return WriteWithRetries(request, stop) || !stop.stop_requested();
    });
  }

  /// Returns whether the server has accepted or rejected the Event.
  bool WriteWithRetries(EventRequest& request, const std::stop_token& stop) {
    for (int attempt = 1;; ++attempt) {
      const std::optional<Duration> delay = TryWrite(request, attempt > 1);
      if (!delay) return true;
      if (attempt == kMaxAttempts) {
        log_.Error("Unable to write event (retry limit exceeded!)", {{"event", request.key}});
        return false;
      }
      if (!SleepUntil(clock_, SaturatingAdd(clock_.Now(), *delay), stop)) return false;
    }
  }

  /// Returns the time to wait before the next try, or nullopt if no other try is useful.
  /// `may_exist` is whether a previous try may have written the Event.
  std::optional<Duration> TryWrite(EventRequest& request, bool may_exist) {
    Duration delay = kRetryInterval;
    try {
      Send(request, may_exist);
      return std::nullopt;
    } catch (const ApiError& error) {
      if (!IsTemporary(error)) {
        LogRejected(request, error);
        return std::nullopt;
      }
      delay = std::max(delay, RetryAfterDelay(error.retry_after(), 0));
      LogFailed(request, error);
    } catch (const TransportError& error) {
      LogFailed(request, error);
    } catch (const std::exception& error) {
      log_.Error("Unable to write event", {{"err", error.what()}, {"event", request.key}});
      return std::nullopt;
    }
    return delay;
  }

  void LogFailed(const EventRequest& request, const std::exception& error) const {
    log_.Error("Unable to write event (may retry after sleeping)",
               {{"err", error.what()}, {"event", request.key}});
  }
  /// An Event that exists was written by a try without a response.
  void LogRejected(const EventRequest& request, const ApiError& error) const {
    constexpr const char* kMessage = "Server rejected event (will not retry!)";
    const bool is_expected = error.IsAlreadyExists() || error.IsNamespaceTerminating();
    if (is_expected) {
      log_.V(5).Info(kMessage, {{"err", error.what()}, {"event", request.key}});
    } else {
      log_.Error(kMessage, {{"err", error.what()}, {"event", request.key}});
    }
  }

  void Send(EventRequest& request, bool may_exist) {
    if (!request.change.is_null()) {
      try {
        (void)client_.Patch(aggregator_->kind(), request.key, Patch::Merge(request.change));
        return;
      } catch (const ApiError& error) {
        if (!error.IsNotFound()) throw;  // it has expired: create it again
      }
    }
    Create(request, may_exist);
  }

  /// Creates the Event, with another name if another recorder has used its name: a program that has
  /// just ended, or one with the same fake time.
  void Create(EventRequest& request, bool may_exist) {
    for (int names = 1;; ++names) {
      try {
        (void)client_.Create(aggregator_->kind(), request.body);
        return;
      } catch (const ApiError& error) {
        if (!error.IsAlreadyExists() || may_exist || names == kMaxNames) throw;
      }
      aggregator_->Rename(request);
    }
  }

  std::stop_source cancel_;  // of the current write
  Client client_;
  Logger log_;
  Clock& clock_;
  std::unique_ptr<EventAggregator> aggregator_;  // used by the thread only
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
