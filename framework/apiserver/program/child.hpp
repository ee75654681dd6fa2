#pragma once

#include "signals.hpp"

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <sys/types.h>

namespace kopp::apiserver {

/// A program that this one runs. It is the head of a process group of its own, so that Ctrl-C in a
/// terminal reaches only who started it, who then ends all of the group. What it has left running
/// in its group is ended once it has.
class Child {
 public:
  /// Starts `command`, found in $PATH where it names no folder, with `variables` besides this
  /// process's own and no signal blocked or ignored; what it prints is appended to `output`. Throws
  /// std::system_error, with the program's name.
  Child(const std::vector<std::string>& command,
        const std::map<std::string, std::string>& variables, const std::filesystem::path& output);
  /// Ends it at once, if need be.
  ~Child();
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  /// Its exit code once it has ended, 128 and the signal if one ended it; does not block.
  [[nodiscard]] std::optional<int> code();
  /// Asks it to end, and waits until it has, `limit` passes or another signal to end comes. Then
  /// the destructor does the rest.
  void End(const Signals& signals, Duration limit);

 private:
  pid_t id_ = 0;
  std::optional<int> code_;
};

}  // namespace kopp::apiserver
