#pragma once

#include "manager_view.hpp"

namespace kopp {

/// Throws ConfigError if the program reads views that no cache watches; see
/// Options::reject_unwatched_reads.
void RejectUnwatchedReads(const ManagerView& view);

}  // namespace kopp
