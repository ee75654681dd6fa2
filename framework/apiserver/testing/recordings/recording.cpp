#include "base/ascii.hpp"
#include "base/timestamp.hpp"
#include "recordings/recording_player.hpp"

#include <algorithm>
#include <chrono>
#include <fstream>
#include <map>
#include <stdexcept>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include <kopp/testing/recording.hpp>

namespace kopp::testing {
namespace {

using apiserver::RecordedReconcile;
using apiserver::RecordingPlayer;
using nlohmann::json;

constexpr int kFormat = 1;                     // of the file
constexpr std::size_t kShownDifferences = 10;  // in the message of a failure

/// Returns the trace id of a traceparent, "00-TRACE-SPAN-01", or "".
std::string TraceOf(const std::string& traceparent) {
  constexpr std::size_t kStart = 3;
  constexpr std::size_t kLength = 32;
  return traceparent.size() < kStart + kLength ? "" : traceparent.substr(kStart, kLength);
}

}  // namespace

class Recording::Impl {
 public:
  explicit Impl(const std::filesystem::path& file) : file_(file.string()) {
    std::ifstream in(file, std::ios::binary);
    if (!in) throw std::runtime_error("cannot read the recording " + file_);
    std::string line;
    int lines = 0;
    while (std::getline(in, line)) {
      const bool is_incomplete = in.eof();
      if (!is_incomplete) AddLine(line, ++lines);
    }
    if (entries_.empty()) Throw("is empty");
    started_ = StartOf(entries_.front());
  }

  [[nodiscard]] const std::vector<json>& entries() const { return entries_; }
  [[nodiscard]] const std::string& file() const { return file_; }
  [[nodiscard]] std::string program() const { return entries_.front().at("program"); }

  /// Returns the reconcile that starts with an entry.
  [[nodiscard]] RecordedReconcile ReconcileOf(const json& start) const {
    RecordedReconcile reconcile{.start = &start, .time = TimeOf(start)};
    const auto work = work_.find(start.at("reconcile").get<std::string>());
    if (work == work_.end()) return reconcile;
    for (const std::size_t call : work->second.calls) reconcile.calls.push_back(&entries_[call]);
    if (work->second.end != 0) reconcile.end = &entries_[work->second.end];
    return reconcile;
  }

 private:
  /// The entries of a reconcile by their index.
  struct Work {
    std::vector<std::size_t> calls{};
    std::size_t end = 0;  // 0 if there is none
  };

  /// Returns the calendar time of an entry.
  [[nodiscard]] WallTime TimeOf(const json& entry) const {
    return started_ + std::chrono::milliseconds(entry.at("at").get<std::int64_t>());
  }

  [[noreturn]] void Throw(const std::string& problem) const {
    throw std::runtime_error("the recording " + file_ + " " + problem);
  }

  void AddLine(const std::string& line, int number) {
    const std::string invalid = "is not valid in line " + std::to_string(number);
    try {
      json entry = json::parse(line, nullptr, false);
      if (!entry.is_object()) Throw(invalid);
      Add(std::move(entry));
    } catch (const json::exception& error) {
      Throw(invalid + ": " + error.what());
    }
  }

  void Add(json entry) {
    if (entries_.empty() && entry.value("recording", 0) != kFormat) {
      Throw("was not written by --record of this version of kopp");
    }
    if (entry.contains("bytes")) return AddLinesOfStream(entry);
    if (entry.contains("call")) AddCall(entry.at("call").value("traceparent", ""));
    if (entry.contains("reconciled")) work_[entry.at("reconciled")].end = entries_.size();
    entries_.push_back(std::move(entry));
  }

  void AddCall(const std::string& traceparent) {
    const std::string trace = TraceOf(traceparent);
    if (!trace.empty()) work_[trace].calls.push_back(entries_.size());
  }

  /// Adds an entry for each line of a stream: a cache applies the events of a watch one by one.
  void AddLinesOfStream(const json& entry) {
    std::string_view bytes = entry.at("bytes").get_ref<const std::string&>();
    while (!bytes.empty()) {
      const std::size_t size = std::min(bytes.find('\n'), bytes.size() - 1) + 1;
      entries_.push_back({{"stream", entry.at("stream")}, {"bytes", bytes.substr(0, size)}});
      bytes.remove_prefix(size);
    }
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
  std::map<std::string, Work> work_;  // by trace id
};

Recording::Recording(const std::filesystem::path& file) : impl_(std::make_unique<Impl>(file)) {}
Recording::~Recording() = default;

WaitResult Recording::ReplayAll(std::string_view kind,
                                const std::function<void(Cache&)>& add_informers,
                                const Reconciler& reconcile, const ReplayOptions& options) const {
  const std::string controller =
      options.controller.empty() ? kopp::detail::ToLowerAscii(kind) : options.controller;
  RecordingPlayer player(impl_->entries(), impl_->program(), add_informers, reconcile, options);
  std::size_t reconciles = 0;
  std::vector<std::string> differences;
  for (const json& entry : impl_->entries()) {
    if (!entry.contains("reconcile") || entry.at("controller") != controller) continue;
    ++reconciles;
    const std::string difference = player.Reconcile(impl_->ReconcileOf(entry));
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
