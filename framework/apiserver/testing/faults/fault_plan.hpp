#pragma once

#include "api/request.hpp"

#include <cstdint>
#include <deque>
#include <optional>
#include <random>
#include <string>

#include <kopp/testing/fault.hpp>
#include <kopp/workqueue/guarded.hpp>

namespace kopp::apiserver {

/// A point at which a fault can be injected: a request, a watch, an event of a watch, or a call of
/// a webhook.
struct FaultContext {
  enum class Kind { kRequest, kWatch, kEvent, kBookmark, kWebhook };
  Kind kind{};
  const ServerRequest& request;  ///< for events, the request of the watch; for calls, the write
  std::string ns{};              ///< the namespace of the object
  std::string name{};            ///< the name of the object
};

/// Returns the name of the object of a request, including the object to create, or "" if there is
/// none.
[[nodiscard]] std::string ObjectNameOf(const ServerRequest& request);

/// The injected faults, in the order of injection. Thread-safe.
class FaultPlan {
 public:
  /// `seed` determines which matches a fault with a `share` applies to.
  explicit FaultPlan(std::uint64_t seed) : seed_(seed) {}

  void Add(testing::Fault fault);
  void Clear();
  [[nodiscard]] bool IsEmpty() const { return state_.Lock()->faults.empty(); }

  /// Returns the first fault that applies to `context`, and counts the match: after `times` matches
  /// the fault is removed.
  std::optional<testing::Fault> Match(const FaultContext& context);
  /// Same as Match, but checks only faults with a number greater than `last_number`. Sets
  /// `last_number` to the number of the last fault that it checked.
  std::optional<testing::Fault> MatchNewer(const FaultContext& context, std::uint64_t& last_number);

 private:
  struct Entry {
    testing::Fault fault;
    std::uint64_t number = 0;
    std::mt19937_64 random;
  };
  struct State {
    std::deque<Entry> faults;
    std::uint64_t last_number = 0;
  };
  static bool DrawShare(Entry& entry);

  const std::uint64_t seed_;
  mutable detail::Guarded<State> state_;
};

}  // namespace kopp::apiserver
