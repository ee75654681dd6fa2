#pragma once

#include <stop_token>

namespace kopp {

/// A token whose stop is requested by the first SIGINT or SIGTERM; the second ends the program at
/// once, with exit code 1, whatever it is doing. From here on SIGPIPE does nothing: a connection
/// that is gone is an error of its write, not the end of the program.
///
/// Every call returns the same token: signals belong to the process. Stop callbacks run in a thread
/// of this function's own, so they may take locks and block. Call it early, in `main`: until then a
/// signal ends the program the default way. Threads that run already are no obstacle, and programs
/// started later by exec find their signals as the system made them.
/// Throws std::system_error when the process may open no more files or start no more threads.
[[nodiscard]] std::stop_token StopOnSignal();

}  // namespace kopp
