#pragma once

#include "exchange.hpp"

#include <cstdint>
#include <deque>
#include <optional>
#include <random>
#include <string>

#include <kopp/testing/fault.hpp>
#include <kopp/workqueue/guarded.hpp>

namespace kopp::apiserver {

/// Something that a fault may befall.
struct Occasion {
  enum class Kind { kRequest, kWatch, kEvent, kBookmark };
  Kind kind{};
  const Ask& ask;  ///< of an event: the watch that tells it
  std::string ns{};
  std::string name{};
};

/// The name of the object that is asked for, or that is to be created; "" where there is none.
[[nodiscard]] std::string NameIn(const Ask& ask);

/// The faults that are to happen, and to whom. Safe to use from any thread.
class FaultPlan {
 public:
  explicit FaultPlan(std::uint64_t seed) : seed_(seed) {}

  void Add(testing::Fault fault);
  void Clear();
  [[nodiscard]] bool IsEmpty() const { return state_.Lock()->faults.empty(); }

  /// The first fault that befalls `occasion`, if any; it counts as having happened.
  std::optional<testing::Fault> Take(const Occasion& occasion);
  /// Likewise, of those that were added after the one with the number `considered`; this becomes
  /// the number of the last one that was looked at.
  std::optional<testing::Fault> TakeNew(const Occasion& occasion, std::uint64_t& considered);

 private:
  struct Planned {
    testing::Fault fault;
    std::uint64_t number = 0;
    std::mt19937_64 chance;
  };
  struct State {
    std::deque<Planned> faults;
    std::uint64_t added = 0;
  };
  static bool Draw(Planned& planned);

  const std::uint64_t seed_;
  mutable Guarded<State> state_;
};

}  // namespace kopp::apiserver
