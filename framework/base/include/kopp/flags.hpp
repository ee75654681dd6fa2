#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include <kopp/workqueue/clock.hpp>

namespace kopp {

/// The description of a flag of a program.
struct Flag {
  std::string name{};  ///< without dashes, in lower case: "max-sites"
  std::string help{};  ///< sentences for --help, which adds the default value
  std::string type{};  ///< in --help, such as "FILE"; empty: chosen by the type of the variable
  std::string group = "Flags of this program";  ///< heading in --help; empty: --help omits the flag
  /// How to write a valid value, for the error: "write a number from 1 to 100". Empty: chosen by
  /// the type of the variable.
  std::string advice{};
  std::vector<std::string> aliases{};    ///< further names; --help omits them
  std::vector<std::string> variables{};  ///< environment variables besides $KOPP_MAX_SITES
  bool secret = false;                   ///< whether debug pages, errors and --help hide the value
};

/// The flags of a program, for Options::FromCommandLine. Each flag belongs to a variable, whose
/// value is the default.
///
///     int max_sites = 100;
///     bool dry_run = false;
///     kopp::Flags flags;
///     flags
///         .Add({.name = "max-sites",
///               .help = "The maximum number of websites.",
///               .advice = "write a number of 1 or more, such as 100"},
///              max_sites, [](int sites) { return sites >= 1; })
///         .Add({.name = "dry-run", .help = "Only log what would be changed."}, dry_run);
///     auto options = kopp::Options::FromCommandLine(argc, argv, "Manages websites.", flags);
///
/// A value is taken from the command line (`--max-sites=5`), else from the environment
/// (KOPP_MAX_SITES), else from the file of --config (`max-sites: 5`). All three are parsed and
/// validated in the same way. Not thread-safe.
class Flags {
 public:
  /// A flag with its variable. For the parsers of command lines.
  struct Entry {
    Flag flag{};
    bool is_switch = false;  ///< the value may be omitted: true
    bool is_list = false;    ///< the flag may be repeated
    std::string default_text{};
    /// Sets the variable. Throws std::invalid_argument with the advice.
    std::function<void(const std::vector<std::string>& values)> set{};
  };

  /// Adds a flag whose value is stored in `value`, which must outlive the parsing. A value for
  /// which `is_valid` returns false is an error. If the flag is given more than once, the last
  /// value counts. Throws std::logic_error if the name is invalid or not unique.
  Flags& Add(Flag flag, std::string& value, std::function<bool(const std::string&)> is_valid = {});
  Flags& Add(Flag flag, int& value, std::function<bool(int)> is_valid = {});
  Flags& Add(Flag flag, double& value, std::function<bool(double)> is_valid = {});
  /// A duration as in Go: "500ms", "1m30s".
  Flags& Add(Flag flag, Duration& value, std::function<bool(Duration)> is_valid = {});
  /// A switch: `--name`, `--name=true` or `--name=false`, but not `--name false`.
  Flags& Add(Flag flag, bool& value);
  /// A list: the flag may be repeated, and each value may have several elements separated by
  /// commas. In the file of --config it may be a YAML list.
  Flags& Add(Flag flag, std::vector<std::string>& values,
             std::function<bool(const std::string& element)> is_valid = {});

  /// Adds a flag whose value is passed to `parse`, which throws std::invalid_argument with the
  /// advice if it is not valid. `default_text` is for --help.
  Flags& AddParsed(Flag flag, std::string default_text,
                   std::function<void(const std::string& value)> parse);
  /// The same for a flag that may be repeated. The values are not split at commas.
  Flags& AddParsedList(Flag flag, std::string default_text,
                       std::function<void(const std::vector<std::string>& values)> parse);

  /// Adds the flags of `other` after those of this object. Throws std::logic_error if both have a
  /// flag of the same name.
  Flags& Append(const Flags& other);

  [[nodiscard]] const std::vector<Entry>& entries() const { return entries_; }
  /// Returns the flag with this name or alias, or null.
  [[nodiscard]] const Entry* Find(std::string_view name) const;

 private:
  Flags& AddEntry(Entry entry);

  std::vector<Entry> entries_;
};

/// The result of a command line after which the program exits immediately: --help, --version, or an
/// error.
struct EarlyExit {
  int code = 0;      ///< exit code; 0: print `text` to standard output, else to standard error
  std::string text;  ///< complete lines
};

}  // namespace kopp
