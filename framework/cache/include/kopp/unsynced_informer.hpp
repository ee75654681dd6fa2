#pragma once

#include <string>
#include <vector>

#include <kopp/informer/owning_kind.hpp>

namespace kopp {

/// An informer that has not received its first list.
struct UnsyncedInformer {
  OwningKind kind = {};
  std::string ns = {};       ///< the namespace that it watches; empty: all
  std::string problem = {};  ///< the last failure; empty: none
  bool missing = false;      ///< the last failure is 404: the API server does not serve the kind
};

/// Returns the informers, each with its last failure, for one line of a log.
[[nodiscard]] std::string ToString(const std::vector<UnsyncedInformer>& unsynced);

}  // namespace kopp
