#include "base/timestamp.hpp"
#include "cache/cache_impl.hpp"
#include "testing/recorded_calls.hpp"
#include "testing/recorded_objects.hpp"

#include <algorithm>
#include <cctype>
#include <chrono>
#include <fstream>
#include <map>
#include <stdexcept>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include <kopp/client.hpp>
#include <kopp/events.hpp>
#include <kopp/testing/fake_clock.hpp>
#include <kopp/testing/recording.hpp>
#include <kopp/testing/scripted_transport.hpp>

namespace kopp::testing {
namespace {

using apiserver::RecordedCalls;
using apiserver::RecordedListTransport;
using apiserver::RecordedObjects;
using apiserver::RecordedWrite;
using apiserver::WriteOf;
using nlohmann::json;

constexpr int kFormat = 1;                     // of the file
constexpr std::size_t kShownDifferences = 10;  // in the message of a failure

/// What was recorded about a reconcile, apart from its start.
struct RecordedWork {
  std::vector<json> calls{};
  std::string error{};
  bool has_ended = false;
};

/// Returns the trace id of a traceparent, "00-TRACE-SPAN-01", or "".
std::string TraceOf(const std::string& traceparent) {
  constexpr std::size_t kStart = 3;
  constexpr std::size_t kLength = 32;
  return traceparent.size() < kStart + kLength ? "" : traceparent.substr(kStart, kLength);
}

/// Returns whether a reconcile that throws `error`, or "" for none, ends like the recorded one.
bool EndsEqually(const RecordedWork& recorded, const std::string& error) {
  constexpr int kCancelled = static_cast<int>(TransportError::Kind::kCancelled);
  // The end of a reconcile that was cancelled says nothing: it may be superseded.
  for (const json& call : recorded.calls) {
    if (call.contains("error") && call.at("error").at("kind") == kCancelled) return true;
  }
  // The manager adds the time limit to the message.
  return error.empty() ? recorded.error.empty() : recorded.error.starts_with(error);
}

std::string ToLowerCase(std::string_view text) {
  std::string lower(text);
  std::ranges::transform(lower, lower.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return lower;
}

std::string Join(const std::vector<std::string>& texts) {
  std::string list;
  for (const std::string& text : texts) list += (list.empty() ? "" : ", ") + text;
  return list.empty() ? "none" : list;
}

}  // namespace

class Recording::Impl {
 public:
  explicit Impl(const std::filesystem::path& file) : file_(file.string()) {
    std::ifstream in(file, std::ios::binary);
    if (!in) throw std::runtime_error("cannot read the recording " + file_);
    std::string line;
    while (std::getline(in, line)) {
      const bool is_incomplete = in.eof();
      if (!is_incomplete) AddLine(line);
    }
    if (entries_.empty()) Throw("is empty");
    started_ = StartOf(entries_.front());
  }

  [[nodiscard]] const std::vector<json>& entries() const { return entries_; }
  [[nodiscard]] const std::string& file() const { return file_; }
  [[nodiscard]] std::string program() const { return entries_.front().at("program"); }

  [[nodiscard]] const RecordedWork& WorkOf(const std::string& trace) const {
    static const RecordedWork none;
    const auto found = work_.find(trace);
    return found == work_.end() ? none : found->second;
  }

  /// Returns the calendar time of an entry.
  [[nodiscard]] WallTime TimeOf(const json& entry) const {
    return started_ + std::chrono::milliseconds(entry.at("at").get<std::int64_t>());
  }

 private:
  [[noreturn]] void Throw(const std::string& problem) const {
    throw std::runtime_error("the recording " + file_ + " " + problem);
  }

  void AddLine(const std::string& line) {
    try {
      Add(line);
    } catch (const json::exception& error) {
      Throw("is not valid in line " + std::to_string(entries_.size() + 1) + ": " + error.what());
    }
  }

  void Add(const std::string& line) {
    json entry = json::parse(line, nullptr, false);
    if (!entry.is_object()) Throw("is not valid in line " + std::to_string(entries_.size() + 1));
    if (entries_.empty() && entry.value("recording", 0) != kFormat) {
      Throw("was not written by --record of this version of kopp");
    }
    if (entry.contains("call")) AddCall(entry);
    if (entry.contains("reconciled")) {
      RecordedWork& work = work_[entry.at("reconciled")];
      work.error = entry.value("error", "");
      work.has_ended = true;
    }
    entries_.push_back(std::move(entry));
  }

  void AddCall(const json& entry) {
    const json& call = entry.at("call");
    const std::string trace = TraceOf(call.value("traceparent", ""));
    if (trace.empty()) return;
    work_[trace].calls.push_back(entry);
  }

  /// Returns the time of the first line, which is written as metav1.MicroTime.
  [[nodiscard]] WallTime StartOf(const json& first) const {
    const std::string text = first.value("started", "");
    const auto seconds = kopp::detail::ParseTimestamp(text);
    constexpr std::size_t kFraction = std::string_view("2006-01-02T15:04:05.").size();
    if (!seconds || text.size() != kFraction + 7) Throw("has no valid field \"started\"");
    return WallTime(*seconds) + std::chrono::microseconds(std::stoi(text.substr(kFraction, 6)));
  }

  const std::string file_;
  WallTime started_;
  std::vector<json> entries_;
  std::map<std::string, RecordedWork> work_;  // by trace id
};

namespace {

/// Replays reconciles one after the other.
class Player {
 public:
  /// `program` is the field manager of the operator.
  Player(std::string program, const std::function<void(Cache&)>& add_informers,
         const Reconciler& reconcile, const ReplayOptions& options)
      : program_(std::move(program)),
        add_informers_(add_informers),
        reconcile_(reconcile),
        options_(options) {}

  /// Applies an entry that comes before the next reconcile.
  void Apply(const json& entry) {
    if (entry.contains("stream")) objects_.Apply(entry);
    if (!entry.contains("call")) return;
    if (auto write = WriteOf(entry)) writes_.push_back(*std::move(write));
  }

  /// Returns how this reconcile differs from the recorded one; empty if it does not. `start` is its
  /// entry, followed by the later ones up to `end`.
  std::string Reconcile(const json& start, const json* end, const RecordedWork& recorded,
                        WallTime time) {
    FakeClock clock(time);
    const Logger log({.write = [](std::string_view) {}, .clock = clock});
    RecordedObjects objects = AwaitWrites(&start + 1, end);
    RecordedListTransport lists(objects, clock);
    Cache cache(lists, CacheOptionsOfReplay(), log, clock);
    add_informers_(cache);
    Fill(cache, lists);

    RecordedCalls calls(recorded.calls, [&](const json& entry) {
      const auto write = WriteOf(entry);
      if (!write || objects.Has(*write)) return;
      objects.Await(*write, &start + 1, end);
      Fill(cache, lists);
    });
    const Client client = Client(calls, program_).WithFieldValidation(options_.field_validation);
    ScriptedTransport events_transport(clock);
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
    // After an error, further recorded calls are those of ControllerOptions::on_error.
    std::string difference = calls.Difference(recorded.has_ended && recorded.error.empty());
    if (difference.empty() && recorded.has_ended && !EndsEqually(recorded, error)) {
      const auto text = [](const std::string& message) {
        return message.empty() ? "success" : message;
      };
      difference = "\n    recorded " + text(recorded.error) + "\n    now      " + text(error);
    }
    return difference;
  }

 private:
  /// Returns what a reconcile could read at its start: reads wait for the own writes of the
  /// operator, whose events may have arrived after the start.
  RecordedObjects AwaitWrites(const json* from, const json* end) {
    std::erase_if(writes_, [&](const RecordedWrite& write) { return objects_.Has(write); });
    RecordedObjects objects = objects_;
    for (const RecordedWrite& write : writes_) {
      if (!objects.Has(write)) objects.Await(write, from, end);
    }
    // A collection that has not received a write by then never does.
    std::erase_if(writes_, [&](const RecordedWrite& write) { return !objects.Has(write); });
    return objects;
  }

  /// The replay has no threads: it fills the cache itself, and nothing may wait.
  [[nodiscard]] CacheOptions CacheOptionsOfReplay() const {
    CacheOptions options = options_.cache;
    options.manual = true;
    options.own_writes_timeout = {};
    return options;
  }

  /// Lists all objects.
  void Fill(Cache& cache, RecordedListTransport& lists) const {
    for (const auto& informer : Cache::Impl::Of(cache).ManualInformers()) {
      informer.List();
    }
    const auto missing = lists.Missing();
    if (missing.empty()) return;
    throw std::runtime_error("the operator had not read " + *missing.begin() +
                             "; check the kinds of Replay and ReplayOptions::cache; it had read: " +
                             Join(objects_.Paths()));
  }

  const std::string program_;
  const std::function<void(Cache&)>& add_informers_;
  const Reconciler& reconcile_;
  const ReplayOptions& options_;
  RecordedObjects objects_;
  std::vector<RecordedWrite> writes_;  // that objects_ may lack
};

}  // namespace

Recording::Recording(const std::filesystem::path& file) : impl_(std::make_unique<Impl>(file)) {}
Recording::~Recording() = default;

WaitResult Recording::ReplayAll(std::string_view kind,
                                const std::function<void(Cache&)>& add_informers,
                                const Reconciler& reconcile, const ReplayOptions& options) const {
  const std::string controller =
      options.controller.empty() ? ToLowerCase(kind) : options.controller;
  Player player(impl_->program(), add_informers, reconcile, options);
  std::size_t reconciles = 0;
  std::vector<std::string> differences;
  const json* const end = impl_->entries().data() + impl_->entries().size();
  for (const json& entry : impl_->entries()) {
    player.Apply(entry);
    if (!entry.contains("reconcile") || entry.at("controller") != controller) continue;
    ++reconciles;
    const std::string difference =
        player.Reconcile(entry, end, impl_->WorkOf(entry.at("reconcile")), impl_->TimeOf(entry));
    if (difference.empty()) continue;
    const ObjectKey key{entry.value("namespace", ""), entry.value("name", "")};
    differences.push_back("\n  reconcile " + std::to_string(reconciles) + " of " + key.ToString() +
                          ", after " + std::to_string(entry.at("at").get<std::int64_t>()) +
                          " ms:" + difference);
  }
  if (reconciles == 0) {
    return WaitResult("the recording " + impl_->file() + " has no reconcile of the controller \"" +
                      controller + '"');
  }
  if (differences.empty()) return {};
  std::string message = std::to_string(differences.size()) + " of " + std::to_string(reconciles) +
                        " reconciles differ from the recording " + impl_->file() + ':';
  differences.resize(std::min(differences.size(), kShownDifferences));
  for (const std::string& difference : differences) message += difference;
  return WaitResult(message);
}

}  // namespace kopp::testing
