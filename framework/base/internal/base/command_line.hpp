#pragma once

#include "base/flag_settings.hpp"

#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <kopp/flags.hpp>

namespace kopp::detail {

/// The texts of --help besides those of the flags.
struct HelpText {
  std::string_view about{};            ///< the first paragraph
  std::string_view usage = "[flags]";  ///< the arguments in the line "Usage:"
  std::string_view note{};             ///< the paragraph before the flags
};

/// Parses the command line of a program in the flag syntax of Go: one or two dashes, `--flag value`
/// or `--flag=value`; a switch is `--flag` or `--flag=false`. --help and --version are added to the
/// flags. Not thread-safe.
class CommandLine {
 public:
  /// The name of the program is the base name of argv[0], or `fallback_name` if argc is 0. Copies
  /// `argv`. `flags` and the texts of `help` must outlive this object.
  CommandLine(int argc, const char* const* argv, std::string fallback_name, const Flags& flags,
              const HelpText& help);

  [[nodiscard]] const std::string& name() const { return name_; }

  /// Returns the text of --help or --version if one of them is given.
  [[nodiscard]] std::optional<EarlyExit> HelpOrVersion() const;
  /// Returns the values of the flags that are given, without validating them. Throws UsageError for
  /// an unknown flag, a missing value and an argument that is not a flag.
  [[nodiscard]] FlagSettings Parse() const;

 private:
  [[nodiscard]] bool ContainsFlag(std::initializer_list<std::string_view> names) const;
  [[nodiscard]] std::string Help() const;

  std::string name_;
  std::vector<std::string> arguments_;
  const Flags& flags_;
  HelpText help_;
};

}  // namespace kopp::detail
