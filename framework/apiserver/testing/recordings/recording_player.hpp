#pragma once

#include "recordings/recorded_objects.hpp"

#include <functional>
#include <span>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include <kopp/cache.hpp>
#include <kopp/controller/detail/reconciler_of.hpp>
#include <kopp/testing/recording.hpp>
#include <kopp/workqueue/clock.hpp>

namespace kopp::apiserver {

/// What was recorded about a reconcile: entries of the recording.
struct RecordedReconcile {
  const nlohmann::json* start = nullptr;
  std::vector<const nlohmann::json*> calls{};
  const nlohmann::json* end = nullptr;  ///< null if the recording ends before
  WallTime time{};                      ///< of the start

  [[nodiscard]] std::string error() const { return end == nullptr ? "" : end->value("error", ""); }
};

/// What the operator had read at a moment of the recording.
class RecordedMoment {
 public:
  /// The moment before the first of the entries.
  explicit RecordedMoment(std::span<const nlohmann::json> entries) : following_(entries) {}

  [[nodiscard]] const RecordedObjects& objects() const { return objects_; }
  [[nodiscard]] const nlohmann::json* next() const { return following_.data(); }

  /// Moves to the moment before `entry`. Returns whether that applies an entry of a stream.
  bool AdvanceTo(const nlohmann::json* entry);
  /// Reads wait for the own writes of the operator, whose events may arrive later. Returns whether
  /// that applies an entry.
  bool Await(const RecordedWrite& write);

 private:
  std::span<const nlohmann::json> following_;
  RecordedObjects objects_;
};

/// Replays the reconciles of one controller, one after the other. Not thread-safe.
///
/// A recording has the time at which an event was read. The cache gets the event a moment later,
/// which may be after the start of a reconcile, and a reconcile reads the cache some time after its
/// start. So a reconcile whose calls are not the recorded ones is repeated with what had been read
/// some entries before and after its start.
class RecordingPlayer {
 public:
  /// `program` is the name of the operator. The other arguments must outlive the player.
  RecordingPlayer(std::span<const nlohmann::json> entries, std::string program,
                  const std::function<void(Cache&)>& add_informers, const Reconciler& reconcile,
                  const testing::ReplayOptions& options);

  /// Returns how a reconcile differs from the recorded one if its first reads were at its start;
  /// empty if it does not, or not at each moment. Reconciles must be passed in the order of their
  /// start. Throws std::runtime_error if the operator had not read what the cache needs.
  std::string Reconcile(const RecordedReconcile& reconcile);

 private:
  void AdvanceTo(const nlohmann::json* start);
  [[nodiscard]] RecordedMoment AwaitWrites(RecordedMoment moment) const;
  [[nodiscard]] bool IsEqualBetween(const RecordedReconcile& reconcile, RecordedMoment moment,
                                    const nlohmann::json* last) const;
  [[nodiscard]] std::string Run(const RecordedReconcile& recorded, RecordedMoment moment) const;

  const std::string program_;
  const std::function<void(Cache&)>& add_informers_;
  const Reconciler& reconcile_;
  const testing::ReplayOptions& options_;
  RecordedMoment earlier_;
  RecordedMoment now_;
  std::vector<RecordedWrite> writes_;  // that earlier_ or now_ lack
};

}  // namespace kopp::apiserver
