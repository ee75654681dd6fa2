#pragma once

#include "signals.hpp"

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <sys/types.h>

namespace kopp::apiserver {

/// A child process. It leads its own process group: Ctrl-C in a terminal reaches only the parent,
/// which then stops the whole group. exit_code(), Terminate() and the destructor kill the rest of
/// the group once the child has exited. Not thread-safe.
class Child {
 public:
  /// Starts `command`, searched in $PATH if it has no slash. Its environment is the environment of
  /// this process plus `variables`. No signal is blocked or ignored. Its standard output and error
  /// are appended to the file `output`. Throws std::system_error, which names both,
  /// if the program cannot run or `output` cannot be opened.
  Child(const std::vector<std::string>& command,
        const std::map<std::string, std::string>& variables, const std::filesystem::path& output);
  /// Kills the process group if the child still runs.
  ~Child();
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  /// Returns the exit code, or 128 plus the number of the signal that killed the child, or
  /// std::nullopt while it runs. If the child has exited, also kills the rest of its process group.
  /// Does not block.
  [[nodiscard]] std::optional<int> exit_code();
  /// Sends SIGTERM to the process group. Blocks until the child has exited, `timeout` has passed,
  /// or this process receives another signal to stop. The destructor kills what still runs.
  void Terminate(const Signals& signals, Duration timeout);

 private:
  pid_t pid_ = 0;
  std::optional<int> exit_code_;
};

}  // namespace kopp::apiserver
