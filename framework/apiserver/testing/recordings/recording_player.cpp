#include "recordings/recording_player.hpp"

#include "cache/cache_impl.hpp"
#include "recordings/recorded_calls.hpp"

#include <cstddef>
#include <exception>
#include <stdexcept>
#include <string_view>
#include <utility>

#include <kopp/client.hpp>
#include <kopp/events.hpp>
#include <kopp/standalone_cache.hpp>
#include <kopp/testing/fake_clock.hpp>
#include <kopp/testing/scripted_transport.hpp>

namespace kopp::apiserver {
namespace {

using nlohmann::json;

constexpr std::size_t kOtherMoments = 32;  // before and after the start of a reconcile

/// Thrown if the operator had not read a list that the cache needs.
class MissingList : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Returns whether a reconcile that throws `error`, or "" for none, ends like the recorded one.
bool EndsEqually(const RecordedReconcile& recorded, const std::string& error) {
  constexpr int kCancelled = static_cast<int>(TransportError::Kind::kCancelled);
  // The end of a reconcile that was cancelled says nothing: it may be superseded.
  for (const json* call : recorded.calls) {
    if (call->contains("error") && call->at("error").at("kind") == kCancelled) return true;
  }
  // The manager adds the time limit to the message.
  return error.empty() ? recorded.error().empty() : recorded.error().starts_with(error);
}

/// Returns how a reconcile with these calls differs from the recorded one. `error`: the message of
/// what it threw, or "".
std::string DifferenceOf(const RecordedReconcile& recorded, const RecordedCalls& calls,
                         const std::string& error) {
  const bool has_ended = recorded.end != nullptr;
  // After an error, further recorded calls are those of ControllerOptions::on_error.
  std::string difference = calls.Difference(has_ended && recorded.error().empty());
  if (!difference.empty() || !has_ended || EndsEqually(recorded, error)) return difference;
  const auto text = [](const std::string& message) {
    return message.empty() ? "success" : message;
  };
  return "\n    recorded " + text(recorded.error()) + "\n    now      " + text(error);
}

std::string Join(const std::vector<std::string>& texts) {
  std::string list;
  for (const std::string& text : texts) list += (list.empty() ? "" : ", ") + text;
  return list.empty() ? "none" : list;
}

/// The replay has no threads: it fills the cache itself, and nothing may wait.
CacheOptions CacheOptionsOfReplay(const testing::ReplayOptions& replay) {
  CacheOptions options = replay.cache;
  options.manual = true;
  options.own_writes_timeout = {};
  return options;
}

/// Lists all objects, which are `objects`.
void Fill(Cache& cache, RecordedListTransport& lists, const RecordedObjects& objects) {
  for (const auto& informer : Cache::Impl::Of(cache).ManualInformers()) {
    informer.List();
  }
  const auto missing = lists.Missing();
  if (missing.empty()) return;
  throw MissingList("the operator had not read " + *missing.begin() +
                    "; check the kinds of Replay and ReplayOptions::cache; it had read: " +
                    Join(objects.Paths()));
}

/// Returns the entry that `count` entries of streams, or all, separate from `entry`.
const json* EntriesOfStreamsBefore(const json* entry, std::size_t count, const json* first) {
  for (std::size_t streams = 0; streams < count && entry > first;) {
    if ((--entry)->contains("stream")) ++streams;
  }
  return entry;
}

/// Returns the entry that follows the first reads of a reconcile.
const json* EntryAfterFirstReads(const RecordedReconcile& reconcile) {
  if (!reconcile.calls.empty()) return reconcile.calls.front();
  return reconcile.end == nullptr ? reconcile.start : reconcile.end;
}

}  // namespace

bool RecordedMoment::AdvanceTo(const json* entry) {
  bool has_streams = false;
  for (; next() < entry; following_ = following_.subspan(1)) {
    if (!following_.front().contains("stream")) continue;
    objects_.Apply(following_.front());
    has_streams = true;
  }
  return has_streams;
}

bool RecordedMoment::Await(const RecordedWrite& write) {
  if (objects_.Has(write)) return false;
  objects_.Await(write, following_);
  return true;
}

RecordingPlayer::RecordingPlayer(std::span<const json> entries, std::string program,
                                 const std::function<void(Cache&)>& add_informers,
                                 const Reconciler& reconcile, const testing::ReplayOptions& options)
    : program_(std::move(program)),
      add_informers_(add_informers),
      reconcile_(reconcile),
      options_(options),
      earlier_(entries),
      now_(entries) {}

std::string RecordingPlayer::Reconcile(const RecordedReconcile& reconcile) {
  AdvanceTo(reconcile.start);
  const RecordedMoment start = AwaitWrites(now_);
  // A collection that has not received a write by then never does.
  std::erase_if(writes_, [&](const auto& write) { return !start.objects().Has(write); });
  std::string difference = Run(reconcile, start);
  if (difference.empty()) return {};
  const bool has_equal = IsEqualBetween(reconcile, earlier_, reconcile.start) ||
                         IsEqualBetween(reconcile, now_, EntryAfterFirstReads(reconcile));
  return has_equal ? std::string() : difference;
}

void RecordingPlayer::AdvanceTo(const json* start) {
  for (const json* entry = now_.next(); entry != start; ++entry) {
    if (!entry->contains("call")) continue;
    if (auto write = WriteOf(*entry)) writes_.push_back(*std::move(write));
  }
  now_.AdvanceTo(start);
  earlier_.AdvanceTo(EntriesOfStreamsBefore(start, kOtherMoments, earlier_.next()));
  std::erase_if(writes_, [&](const auto& write) {
    return earlier_.objects().Has(write) && now_.objects().Has(write);
  });
}

/// Returns what a reconcile could read at a moment.
RecordedMoment RecordingPlayer::AwaitWrites(RecordedMoment moment) const {
  for (const RecordedWrite& write : writes_) moment.Await(write);
  return moment;
}

/// Returns whether a reconcile is the recorded one at one of the next moments until `last`.
bool RecordingPlayer::IsEqualBetween(const RecordedReconcile& reconcile, RecordedMoment moment,
                                     const json* last) const {
  for (std::size_t moments = 0; moments < kOtherMoments && moment.next() < last;) {
    if (!moment.AdvanceTo(moment.next() + 1)) continue;
    ++moments;
    try {
      // A write of another reconcile is recorded a moment before reads wait for it.
      if (Run(reconcile, AwaitWrites(moment)).empty() || Run(reconcile, moment).empty())
        return true;
    } catch (const MissingList&) {
      continue;  // No reconcile has run before.
    }
  }
  return false;
}

/// Runs a reconcile whose first reads are at a moment. Returns how it differs.
std::string RecordingPlayer::Run(const RecordedReconcile& recorded, RecordedMoment moment) const {
  testing::FakeClock clock(recorded.time);
  const Logger log({.write = [](std::string_view) {}, .clock = clock});
  RecordedListTransport lists(moment.objects(), clock);
  StandaloneCache cache(lists, CacheOptionsOfReplay(options_), log, clock);
  add_informers_(cache);
  Fill(cache, lists, moment.objects());

  RecordedCalls calls(recorded.calls, [&](const json& entry) {
    const bool has_streams = moment.AdvanceTo(&entry);
    const auto write = WriteOf(entry);
    const bool has_awaited = write && moment.Await(*write);
    if (has_streams || has_awaited) Fill(cache, lists, moment.objects());
  });
  const json& start = *recorded.start;
  const Client client =
      Client(calls)
          .WithFieldManager(start.value("fieldManager", program_),  // kopp 0.1: the program
                            options_.former_field_managers.value_or(std::vector{program_}))
          .WithFieldValidation(options_.field_validation);
  testing::ScriptedTransport events_transport(clock);
  EventRecorder events(Client(events_transport, program_), program_, log, clock);
  const ObjectKey key{start.value("namespace", ""), start.value("name", "")};
  Context context{key, client, cache, events, log, {}, clock};
  context.retries = start.value("retries", 0);
  std::string error;
  try {
    static_cast<void>(reconcile_(key, context));
  } catch (const std::exception& thrown) {
    error = thrown.what();
  } catch (...) {
    error = "the reconciler threw an object that is not a std::exception";
  }
  return DifferenceOf(recorded, calls, error);
}

}  // namespace kopp::apiserver
