#pragma once

#include "manager_view.hpp"

#include <optional>
#include <string>

namespace kopp {

/// Returns what is wrong and what to do if the program reads views that no cache of the manager
/// watches, else nothing; see Options::reject_unwatched_reads.
[[nodiscard]] std::optional<std::string> UnwatchedReads(const ManagerView& view);

}  // namespace kopp
