#pragma once

#include "run_log.hpp"

#include <cstddef>
#include <istream>
#include <string>
#include <vector>

namespace kopp::soak {

/// A violated invariant of a cache.
struct Violation {
  std::string invariant = {};  ///< "C1" to "C6", or "recorder" if the truth itself is incomplete
  std::string informer = {};
  std::size_t line = 0;  ///< of the cache log; 0: of the whole log
  std::string text = {};

  [[nodiscard]] std::string ToString() const;
};

/// Checks the log of informers against what the API server stored. Returns all violations, in the
/// order of the log. The invariants:
///
/// - C1: each list is the state at its version. Each watch reports exactly the changes after its
///   version: in order, once, without a gap, and none of before a bookmark after the bookmark.
/// - C2: each read of the store is the state at some version, which never goes back; nor does the
///   version of an object.
/// - C3: after the churn and the faults, the store is the final state.
/// - C4: for each uid, handlers get an add, then updates, then at most one delete. Applied to an
///   empty map, their calls give the store.
/// - C5: a list replaces the store atomically. It is a part of C2: half a list is no state of any
///   version.
/// - C6: when the informer has synced, handlers have got all objects of the first list.
///
/// The truth must be complete: each write must be the next change of the objects that are written.
/// Throws std::runtime_error with the number of a malformed line.
[[nodiscard]] std::vector<Violation> FindViolations(const Truth& truth, std::istream& cache_log);

}  // namespace kopp::soak
