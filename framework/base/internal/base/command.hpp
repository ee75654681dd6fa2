#pragma once

#include <cstddef>
#include <map>
#include <stop_token>
#include <string>
#include <vector>

#include <kopp/secret_string.hpp>
#include <kopp/workqueue/clock.hpp>

namespace kopp::detail {

/// A program to run as a child process.
struct Command {
  /// The program and its arguments. The program is a path, or a name that is looked up in $PATH.
  std::vector<std::string> arguments{};
  /// Added to the environment of this process, or replacing its variables.
  std::map<std::string, std::string> variables{};
  std::size_t max_output = 1 << 20;  ///< bytes of standard output
};

/// The result of a command.
struct CommandResult {
  enum class End {
    kExited,         ///< `code` is the exit code
    kSignaled,       ///< `code` is the number of the signal
    kTimeout,        ///< killed at the deadline
    kTooMuchOutput,  ///< killed because it wrote more than Command::max_output
    kStopped,        ///< killed because a stop was requested
  };
  End end = End::kExited;
  /// 0 if it is not known, because this process ignores SIGCHLD or reaps the child elsewhere.
  int code = 0;
  SecretString output{};  ///< standard output; it may contain credentials
  std::string errors{};   ///< the last kilobyte of standard error
};

/// Runs `command` without a shell and blocks until it has ended. At `deadline`, after too much
/// output and on stop, kills it together with its children.
///
/// The command has a session of its own and so no terminal. Its standard input is empty. It
/// inherits no other descriptor, no signal mask and no signal handler. If a child of the command
/// keeps standard output open, the result does not wait for it. Throws std::system_error if the
/// command cannot be started. Thread-safe.
[[nodiscard]] CommandResult RunCommand(const Command& command, TimePoint deadline,
                                       const std::stop_token& stop);

}  // namespace kopp::detail
