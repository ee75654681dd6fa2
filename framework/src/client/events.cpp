#include "client/event_correlator.hpp"

#include <chrono>
#include <condition_variable>
#include <ctime>
#include <deque>
#include <optional>
#include <stop_token>
#include <thread>
#include <utility>

#include <nlohmann/json.hpp>

#include <kopp/events.hpp>
#include <kopp/workqueue/clock.hpp>
#include <kopp/workqueue/guarded.hpp>

namespace kopp {
namespace {

using namespace std::chrono_literals;
using nlohmann::json;

constexpr Kind kEvent{"v1", "Event", "events"};
constexpr std::size_t kMaxQueuedEvents = 1000;
constexpr std::size_t kMaxMessageBytes = 1024;
constexpr int kMaxAttempts = 12;
constexpr Duration kRetryInterval = 10s;
constexpr Duration kStopTimeout = 5s;  // after Stop, to write the queued Events

/// Returns `time` as metav1.Time is written: "2024-01-31T12:00:00Z".
std::string Timestamp(WallTime time) {
  const std::time_t seconds =
      std::chrono::duration_cast<std::chrono::seconds>(time.time_since_epoch()).count();
  std::tm utc{};
  gmtime_r(&seconds, &utc);
  char text[sizeof "2024-01-31T12:00:00Z"];
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &utc);
  return text;
}

/// Cuts `text` to kMaxMessageBytes or up to three bytes less, to keep each UTF-8 character
/// complete.
std::string_view Cut(std::string_view text) {
  if (text.size() <= kMaxMessageBytes) return text;
  constexpr std::size_t kMaxCharacterBytes = 4;
  const auto continues_character = [](char c) {
    return (static_cast<unsigned char>(c) & 0xC0U) == 0x80U;
  };
  std::size_t end = kMaxMessageBytes;
  while (end > kMaxMessageBytes - kMaxCharacterBytes + 1 && continues_character(text[end])) --end;
  return text.substr(0, end);
}

/// Replaces bytes that are not UTF-8 by U+FFFD, and cuts the result to kMaxMessageBytes.
std::string ValidMessage(std::string_view message) {
  const auto replace = json::error_handler_t::replace;
  // Cuts twice: a replacement is longer than the bytes that it replaces.
  const std::string valid = json::parse(json(Cut(message)).dump(-1, ' ', false, replace));
  return std::string(Cut(valid));
}

/// Returns a string of `metadata`, or "" if there is none.
std::string StringAt(const json& metadata, const char* field) {
  const auto found = metadata.find(field);
  return found != metadata.end() && found->is_string() ? found->get<std::string>() : "";
}

}  // namespace

ObjectReference ReferenceTo(const Kind& kind, const ObjectMeta& metadata) {
  return {std::string(kind.api_version),
          std::string(kind.kind),
          metadata.ns,
          metadata.name,
          metadata.uid,
          metadata.resourceVersion};
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
  Writer(const Client& client, std::string component, Logger log, Clock& clock)
      : client_(client.With(cancel_.get_token())),
        component_(std::move(component)),
        log_(std::move(log)),
        clock_(clock),
        correlator_(clock),
        thread_([this](const std::stop_token& stop) { Run(stop); }) {}

  void Enqueue(Occurrence occurrence) {
    occurrence.time = clock_.WallNow();
    const ObjectKey object{occurrence.object.ns, occurrence.object.name};
    log_.Info("Event occurred", {{"object", object},
                                 {"kind", occurrence.object.kind},
                                 {"type", occurrence.type},
                                 {"reason", occurrence.reason},
                                 {"message", occurrence.message}});
    {
      auto queue = queue_.Lock();
      if (queue->stopped || queue->occurrences.size() == kMaxQueuedEvents) return;
      queue->occurrences.push_back(std::move(occurrence));
    }
    changed_.notify_one();
  }

  void Stop() {
    {
      auto queue = queue_.Lock();
      if (!queue->stopped) queue->deadline = After(clock_.Now(), kStopTimeout);
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
  struct Queue {
    std::deque<Occurrence> occurrences;
    bool stopped = false;
    bool finished = false;                  // the thread does not write any more
    TimePoint deadline = TimePoint::max();  // no write is started or continued after it
  };

  void Run(const std::stop_token& stop) {
    while (const auto occurrence = Pop()) {
      const auto entry = correlator_.Count(*occurrence);
      if (!entry) continue;
      const bool responded = WriteWithRetries(*occurrence, *entry, stop);
      if (!responded && stop.stop_requested()) break;
    }
    queue_.Lock()->finished = true;
    finished_.notify_one();
  }

  /// Blocks until there is an occurrence. Returns nullopt if the thread is to end.
  std::optional<Occurrence> Pop() {
    auto queue = queue_.Lock();
    queue.Wait(changed_, [&] { return queue->stopped || !queue->occurrences.empty(); });
    if (queue->occurrences.empty() || clock_.Now() >= queue->deadline) return std::nullopt;
    Occurrence first = std::move(queue->occurrences.front());
    queue->occurrences.pop_front();
    return first;
  }

  /// Returns whether the server responded: the Event was written, or rejected, which is not
  /// retried.
  bool WriteWithRetries(const Occurrence& occurrence, const EventCorrelator::Entry& entry,
                        const std::stop_token& stop) {
    for (int attempt = 1;; ++attempt) {
      try {
        Write(occurrence, entry);
        return true;
      } catch (const TransportError& error) {
        log_.Error("Unable to write event (may retry after sleeping)",
                   {{"err", error.what()}, {"event", entry.name}});
      } catch (const std::exception& error) {
        log_.Error("Server rejected event (will not retry!)",
                   {{"err", error.what()}, {"event", entry.name}});
        return true;
      }
      if (attempt == kMaxAttempts ||
          !SleepUntil(clock_, After(clock_.Now(), kRetryInterval), stop)) {
        return false;
      }
    }
  }

  void Write(const Occurrence& occurrence, const EventCorrelator::Entry& entry) {
    const std::string ns = occurrence.object.ns.empty() ? "default" : occurrence.object.ns;
    if (entry.count > 1) {
      try {
        (void)client_.Patch(
            kEvent, {ns, entry.name},
            Patch::Merge({{"count", entry.count}, {"lastTimestamp", Timestamp(occurrence.time)}}));
        return;
      } catch (const ApiError& error) {
        if (!error.IsNotFound()) throw;  // it has expired: create it again
      }
    }
    (void)client_.Create(kEvent, Body(occurrence, entry, ns));
  }

  [[nodiscard]] json Body(const Occurrence& occurrence, const EventCorrelator::Entry& entry,
                          const std::string& ns) const {
    return {{"metadata", {{"name", entry.name}, {"namespace", ns}}},
            {"involvedObject", occurrence.object},
            {"type", occurrence.type},
            {"reason", occurrence.reason},
            {"message", occurrence.message},
            {"source", {{"component", component_}}},
            {"reportingComponent", component_},
            {"reportingInstance", ""},
            {"firstTimestamp", Timestamp(entry.first_time)},
            {"lastTimestamp", Timestamp(occurrence.time)},
            {"count", entry.count}};
  }

  std::stop_source cancel_;  // of the current write
  Client client_;
  std::string component_;
  Logger log_;
  Clock& clock_;
  EventCorrelator correlator_;
  Guarded<Queue> queue_;
  std::condition_variable changed_;
  std::condition_variable finished_;
  std::jthread thread_;  // last: it uses all members above
};

EventRecorder::EventRecorder(const Client& client, std::string component, Logger log, Clock& clock)
    : writer_(std::make_unique<Writer>(client, std::move(component), std::move(log), clock)) {}

EventRecorder::~EventRecorder() { Stop(); }

void EventRecorder::Stop() { writer_->Stop(); }

void EventRecorder::Normal(const ObjectReference& object, std::string_view reason,
                           std::string_view message) {
  Record("Normal", object, reason, message);
}

void EventRecorder::Warning(const ObjectReference& object, std::string_view reason,
                            std::string_view message) {
  Record("Warning", object, reason, message);
}

void EventRecorder::Record(std::string_view type, const ObjectReference& object,
                           std::string_view reason, std::string_view message) {
  writer_->Enqueue({.type = std::string(type),
                    .object = object,
                    .reason = std::string(reason),
                    .message = ValidMessage(message)});
}

}  // namespace kopp
