#pragma once

#include <functional>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <kopp/flags.hpp>

namespace kopp::detail {

/// An invalid command line, environment or configuration file. what() is one line of text without
/// the program's name.
class UsageError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The values of one flag from one source.
struct FlagSetting {
  std::string source{};               ///< for errors: "--v", "$KOPP_V", "/etc/web.yaml, line 2: v"
  std::vector<std::string> values{};  ///< at least one
};

/// The settings of one source, by the names of flags.
using FlagSettings = std::map<std::string, FlagSetting>;

/// Returns how a user writes the flag: "--name", or "-n" for a name of one letter.
[[nodiscard]] std::string FlagSpelling(const std::string& name);

/// Returns the name of the environment variable of the flag `name`: "KOPP_MAX_SITES" for
/// "max-sites".
[[nodiscard]] std::string FlagVariable(const std::string& name);

/// Returns the settings in the environment. Of the variables of a flag, $KOPP_… counts first.
[[nodiscard]] FlagSettings SettingsFromEnvironment(
    const Flags& flags,
    const std::function<std::optional<std::string>(const std::string& name)>& getenv);

/// Sets the variable of each flag to its value in the first of `sources` that has one. Throws
/// UsageError for an invalid value.
void ApplySettings(const Flags& flags, const std::vector<FlagSettings>& sources);

/// Returns the flags that --help shows, as users write them, each with the value that ApplySettings
/// sets, or else its default. Values of secret flags are hidden.
[[nodiscard]] std::vector<std::pair<std::string, std::string>> FlagValues(
    const Flags& flags, const std::vector<FlagSettings>& sources);

/// Returns the end of the error for an unknown flag or key: the most similar name of a flag after
/// `prefix`, or else `otherwise`.
[[nodiscard]] std::string SimilarFlag(const Flags& flags, std::string_view name,
                                      const std::string& prefix, const std::string& otherwise);

}  // namespace kopp::detail
