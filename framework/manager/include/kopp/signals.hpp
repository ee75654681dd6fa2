#pragma once

#include <stop_token>

namespace kopp {

/// Installs handlers for SIGINT and SIGTERM. Returns a token whose stop is requested by the first
/// of these signals; the second one exits the process immediately with code 1. Also makes the
/// process ignore SIGPIPE: a write to a closed connection fails with EPIPE instead.
///
/// Every call returns the same token. Stop callbacks run in a separate thread, not in the signal
/// handler, so they may lock and block. Call it early in main: before the call, a signal terminates
/// the process. Threads that are already running do not matter. Programs started with exec have the
/// default handlers. Thread-safe.
///
/// Throws std::system_error if the process has too many open files or threads.
[[nodiscard]] std::stop_token StopOnSignal();

}  // namespace kopp
