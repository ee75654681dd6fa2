#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace kopp::command {

/// A command with what may follow it on the command line.
struct CompletedCommand {
  std::string path{};  ///< "" for kopp itself, " gen types"
  std::vector<std::string> commands{};
  std::vector<std::string> flags{};
};

/// The shells that CompletionScript supports.
inline constexpr std::string_view kShells = "bash, zsh or fish";

/// Returns a script that completes commands and flags; files are completed where no command fits.
/// Throws std::invalid_argument for an unknown shell.
[[nodiscard]] std::string CompletionScript(std::string_view shell,
                                           const std::vector<CompletedCommand>& commands);

}  // namespace kopp::command
