#pragma once

#include <initializer_list>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <kopp/options.hpp>

namespace CLI {  // NOLINT(readability-identifier-naming): CLI11's
class App;
}  // namespace CLI

namespace kopp::detail {

/// A command line that cannot be used. what() is the line without the program's name.
class UsageError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// How a flag stands in the help: "  --name TYPE   help". Flags of one group stand together.
struct FlagText {
  const char* names = "";  ///< "-v,--v"
  const char* type = "";   ///< "FILE"
  const char* group = "";
  std::string help{};  ///< its lines; a default is put behind it
};

/// The flags of a program, in Go's forms: one dash or two, `--flag value` or `--flag=value`. What
/// is asked of it is written into the variables that are declared, which outlive it.
class CommandLine {
 public:
  /// The program's name is the base name of argv[0], or `otherwise` where there is none.
  CommandLine(int argc, const char* const* argv, std::string_view about, std::string otherwise,
              std::string_view usage = "[flags]");
  ~CommandLine();
  CommandLine(const CommandLine&) = delete;
  CommandLine& operator=(const CommandLine&) = delete;

  [[nodiscard]] const std::string& name() const { return name_; }

  /// What `value` holds is the default. Given more than once, the last counts.
  void Add(const FlagText& text, std::string& value);
  /// May be given more than once: each time adds one.
  void Add(const FlagText& text, std::vector<std::string>& values);
  /// Takes no value.
  void Add(const FlagText& text, bool& is_there);
  /// --help and --version, in the last group.
  void AddProgramFlags();

  /// Nothing: go on. Else why the program ends before it starts. Throws UsageError.
  [[nodiscard]] std::optional<EarlyExit> Parse();
  /// Whether `flag`, "--name", was given.
  [[nodiscard]] bool IsGiven(const std::string& flag) const;

 private:
  [[nodiscard]] bool Asks(std::initializer_list<std::string_view> flags) const;
  [[nodiscard]] std::vector<std::string> Normalised() const;
  [[nodiscard]] std::string Unknown(const std::string& flag) const;

  std::string name_;
  std::vector<std::string> given_;
  std::unique_ptr<CLI::App> app_;
};

}  // namespace kopp::detail
