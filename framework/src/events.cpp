#include "event_correlator.hpp"

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
#include <kopp/workqueue/guarded.hpp>
#include <kopp/workqueue/sleep.hpp>

namespace kopp {
namespace {

using namespace std::chrono_literals;
using nlohmann::json;

constexpr Kind kEvent{"v1", "Event", "events"};
constexpr std::size_t kMostWaiting = 1000;
constexpr std::size_t kLongestMessage = 1024;
constexpr int kTries = 12;
constexpr Duration kBetweenTries = 10s;
constexpr Duration kToTheEnd = 5s;  // from Stop on

/// "2024-01-31T12:00:00Z"
std::string Timestamp(WallTime time) {
  const std::time_t seconds =
      std::chrono::duration_cast<std::chrono::seconds>(time.time_since_epoch()).count();
  std::tm utc{};
  gmtime_r(&seconds, &utc);
  char text[sizeof "2024-01-31T12:00:00Z"];
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &utc);
  return text;
}

/// At most kLongestMessage bytes, all of them UTF-8.
std::string Presentable(std::string_view message) {
  const auto replace = json::error_handler_t::replace;
  return json::parse(json(message.substr(0, kLongestMessage)).dump(-1, ' ', false, replace));
}

}  // namespace

/// The thread that writes, and what waits for it.
class EventRecorder::Writer {
 public:
  Writer(Client client, std::string component, Logger log, Clock& clock)
      : client_(std::move(client)),
        component_(std::move(component)),
        log_(std::move(log)),
        clock_(clock),
        correlator_(clock),
        thread_([this](const std::stop_token& stop) { Run(stop); }) {}

  void Put(Occurrence occurrence) {
    occurrence.at = clock_.WallNow();
    const ObjectKey object{occurrence.about.ns, occurrence.about.name};
    log_.Info("Event occurred", {{"object", object},
                                 {"kind", occurrence.about.kind},
                                 {"type", occurrence.type},
                                 {"reason", occurrence.reason},
                                 {"message", occurrence.message}});
    {
      auto waiting = waiting_.Lock();
      if (waiting->stopped || waiting->occurrences.size() == kMostWaiting) return;
      waiting->occurrences.push_back(std::move(occurrence));
    }
    more_.notify_one();
  }

  void Stop() {
    {
      auto waiting = waiting_.Lock();
      if (!waiting->stopped) waiting->end = After(clock_.Now(), kToTheEnd);
      waiting->stopped = true;
    }
    thread_.request_stop();
    more_.notify_one();
    if (thread_.joinable()) thread_.join();
  }

 private:
  struct Waiting {
    std::deque<Occurrence> occurrences;
    bool stopped = false;
    TimePoint end = TimePoint::max();  // when nothing more is begun
  };

  void Run(const std::stop_token& stop) {
    while (const auto occurrence = Take()) {
      const auto entry = correlator_.Count(*occurrence);
      if (!entry) continue;
      const bool answered = WriteWithTries(*occurrence, *entry, stop);
      if (!answered && stop.stop_requested()) return;
    }
  }

  std::optional<Occurrence> Take() {
    auto waiting = waiting_.Lock();
    waiting.Wait(more_, [&] { return waiting->stopped || !waiting->occurrences.empty(); });
    if (waiting->occurrences.empty() || clock_.Now() >= waiting->end) return std::nullopt;
    Occurrence first = std::move(waiting->occurrences.front());
    waiting->occurrences.pop_front();
    return first;
  }

  /// Returns whether the matter is settled: written, or refused for good.
  bool WriteWithTries(const Occurrence& occurrence, const EventCorrelator::Entry& entry,
                      const std::stop_token& stop) {
    for (int tried = 1;; ++tried) {
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
      if (tried == kTries || !SleepUntil(clock_, After(clock_.Now(), kBetweenTries), stop)) {
        return false;
      }
    }
  }

  void Write(const Occurrence& occurrence, const EventCorrelator::Entry& entry) {
    const std::string ns = occurrence.about.ns.empty() ? "default" : occurrence.about.ns;
    if (entry.count > 1) {
      try {
        (void)client_.Patch(
            kEvent, {ns, entry.name},
            Patch::Merge({{"count", entry.count}, {"lastTimestamp", Timestamp(occurrence.at)}}));
        return;
      } catch (const ApiError& error) {
        if (!error.IsNotFound()) throw;  // expired meanwhile: made anew
      }
    }
    (void)client_.Create(kEvent, Body(occurrence, entry, ns));
  }

  [[nodiscard]] json Body(const Occurrence& occurrence, const EventCorrelator::Entry& entry,
                          const std::string& ns) const {
    return {{"metadata", {{"name", entry.name}, {"namespace", ns}}},
            {"involvedObject", occurrence.about},
            {"type", occurrence.type},
            {"reason", occurrence.reason},
            {"message", occurrence.message},
            {"source", {{"component", component_}}},
            {"reportingComponent", component_},
            {"reportingInstance", ""},
            {"firstTimestamp", Timestamp(entry.first)},
            {"lastTimestamp", Timestamp(occurrence.at)},
            {"count", entry.count}};
  }

  Client client_;
  std::string component_;
  Logger log_;
  Clock& clock_;
  EventCorrelator correlator_;
  Guarded<Waiting> waiting_;
  std::condition_variable more_;
  std::jthread thread_;  // last: it uses everything above
};

EventRecorder::EventRecorder(Client client, std::string component, Logger log, Clock& clock)
    : writer_(std::make_unique<Writer>(std::move(client), std::move(component), std::move(log),
                                       clock)) {}

EventRecorder::~EventRecorder() { Stop(); }

void EventRecorder::Stop() { writer_->Stop(); }

ObjectReference EventRecorder::Refer(const Kind& kind, const ObjectMeta& metadata) {
  return {std::string(kind.api_version),
          std::string(kind.kind),
          metadata.ns,
          metadata.name,
          metadata.uid,
          metadata.resourceVersion};
}

void EventRecorder::Record(std::string_view type, ObjectReference about, std::string_view reason,
                           std::string_view message) {
  writer_->Put({.type = std::string(type),
                .about = std::move(about),
                .reason = std::string(reason),
                .message = Presentable(message)});
}

}  // namespace kopp
