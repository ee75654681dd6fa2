#pragma once

#include <initializer_list>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <kopp/options.hpp>

namespace CLI {  // NOLINT(readability-identifier-naming): the namespace of CLI11
class App;
}  // namespace CLI

namespace kopp::detail {

/// An invalid command line. what() is one line of text without the program's name.
class UsageError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The description of a flag in the help text: "  --name TYPE   help". The help text lists the
/// flags of a group together.
struct FlagText {
  const char* names = "";  ///< example: "-v,--v"
  const char* type = "";   ///< example: "FILE"
  const char* group = "";  ///< heading in the help text
  std::string help{};      ///< may have several lines; Add appends the default value
};

/// Parses the command line of a program in the flag syntax of Go: one or two dashes, `--flag value`
/// or `--flag=value`. Parse writes the values into the variables passed to Add, which must outlive
/// this object. Not thread-safe.
class CommandLine {
 public:
  /// `about` is the first paragraph of the help text; `usage` describes the arguments in its
  /// "Usage:" line. The name of the program is the base name of argv[0], or `fallback_name` if argc
  /// is 0. Copies `argv`.
  CommandLine(int argc, const char* const* argv, std::string_view about, std::string fallback_name,
              std::string_view usage = "[flags]");
  ~CommandLine();
  CommandLine(const CommandLine&) = delete;
  CommandLine& operator=(const CommandLine&) = delete;

  [[nodiscard]] const std::string& name() const { return name_; }

  /// Adds a flag with one value. The current content of `value` is the default. If the flag is
  /// given more than once, the last value is used.
  void Add(const FlagText& text, std::string& value);
  /// Adds a repeatable flag. Each occurrence appends a value to `values`.
  void Add(const FlagText& text, std::vector<std::string>& values);
  /// Adds a flag without a value.
  void Add(const FlagText& text, bool& is_set);
  /// Adds --help and --version as the last group.
  void AddProgramFlags();

  /// Parses the arguments and sets the variables. Returns a value if the program must exit at once,
  /// because of --help or --version. Throws UsageError.
  [[nodiscard]] std::optional<EarlyExit> Parse();
  /// Returns whether `flag` ("--name") was given. Call it after Parse. `flag` must have been added.
  [[nodiscard]] bool IsGiven(const std::string& flag) const;

 private:
  [[nodiscard]] bool ContainsFlag(std::initializer_list<std::string_view> flags) const;
  [[nodiscard]] std::vector<std::string> NormalizedArguments() const;
  [[nodiscard]] std::string UnknownFlagMessage(const std::string& flag) const;

  std::string name_;
  std::vector<std::string> arguments_;
  std::unique_ptr<CLI::App> app_;
};

}  // namespace kopp::detail
