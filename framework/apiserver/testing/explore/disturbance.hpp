#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace kopp::apiserver::explore {

/// A disturbance of a run of Explore, and the number of the call, event or step that it applies to.
struct Disturbance {
  /// See the table at testing::Explore.
  enum class Type {
    kCrashBefore,
    kCrashAfter,
    kDownBefore,
    kDownAfter,
    kCrashStale,
    kConflict,
    kThrottle,
    kError,
    kTimeout,
    kReset,
    kLostResponse,
    kStepBefore,
    kLeader,
    kLeaderStep,
    kRestart,
    // Disturbances of events.
    kDelay,
    kHold,
    kHoldStep,
    kGap,
    // Disturbances of calls of webhooks.
    kWebhookTimeout,
    kWebhookRefused,
    kWebhookDenied,
    kWebhookSlow,
  };
  Type type = Type::kCrashBefore;
  std::size_t at = 0;  ///< counted from 1

  friend bool operator==(const Disturbance&, const Disturbance&) = default;
};

using Schedule = std::vector<Disturbance>;

/// Returns "crash-after:3+hold:5".
[[nodiscard]] std::string ToString(const Schedule& schedule);
/// Throws std::invalid_argument, with the valid names, if `text` is not a schedule.
[[nodiscard]] Schedule ParseSchedule(std::string_view text);

}  // namespace kopp::apiserver::explore
