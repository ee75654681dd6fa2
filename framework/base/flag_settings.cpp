#include "base/flag_settings.hpp"

#include "base/quoted.hpp"

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <numeric>

namespace kopp::detail {
namespace {

// Returns the Levenshtein distance: the minimum number of insertions, deletions and replacements of
// characters that turns `from` into `to`.
std::size_t EditDistance(std::string_view from, std::string_view to) {
  std::vector<std::size_t> row(to.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < from.size(); ++i) {
    std::size_t diagonal = std::exchange(row[0], i + 1);
    for (std::size_t j = 0; j < to.size(); ++j) {
      const std::size_t replaced = diagonal + (from[i] == to[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replaced, row[j] + 1, diagonal + 1});
    }
  }
  return row.back();
}

// Returns the setting of the first source that has the flag, or null.
const FlagSetting* FindSetting(const Flags::Entry& entry,
                               const std::vector<FlagSettings>& sources) {
  for (const FlagSettings& settings : sources) {
    const auto found = settings.find(entry.flag.name);
    if (found != settings.end()) return &found->second;
  }
  return nullptr;
}

std::string ValueText(const Flags::Entry& entry, const FlagSetting& setting) {
  return entry.is_list ? JoinList(setting.values) : setting.values.back();
}

}  // namespace

std::string FlagSpelling(const std::string& name) { return (name.size() == 1 ? "-" : "--") + name; }

std::string FlagVariable(const std::string& name) {
  std::string variable = "KOPP_";
  for (const char c : name) {
    variable += c == '-' ? '_' : static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  }
  return variable;
}

FlagSettings SettingsFromEnvironment(
    const Flags& flags,
    const std::function<std::optional<std::string>(const std::string&)>& getenv) {
  FlagSettings settings;
  for (const Flags::Entry& entry : flags.entries()) {
    std::vector<std::string> variables{FlagVariable(entry.flag.name)};
    variables.insert(variables.end(), entry.flag.variables.begin(), entry.flag.variables.end());
    for (const std::string& variable : variables) {
      const auto value = getenv(variable);
      if (value) settings.try_emplace(entry.flag.name, FlagSetting{'$' + variable, {*value}});
    }
  }
  return settings;
}

void ApplySettings(const Flags& flags, const std::vector<FlagSettings>& sources) {
  for (const Flags::Entry& entry : flags.entries()) {
    const FlagSetting* const setting = FindSetting(entry, sources);
    if (setting == nullptr) continue;
    try {
      entry.set(setting->values);
    } catch (const std::invalid_argument& error) {
      const std::string value = entry.flag.secret ? "" : Quoted(ValueText(entry, *setting)) + ' ';
      throw UsageError("invalid value " + value + "for " + setting->source + ": " + error.what());
    }
  }
}

std::vector<std::pair<std::string, std::string>> FlagValues(
    const Flags& flags, const std::vector<FlagSettings>& sources) {
  std::vector<std::pair<std::string, std::string>> values;
  for (const Flags::Entry& entry : flags.entries()) {
    if (entry.flag.group.empty()) continue;
    const FlagSetting* const setting = FindSetting(entry, sources);
    std::string value = setting == nullptr ? entry.default_text : ValueText(entry, *setting);
    if (entry.flag.secret && !value.empty()) value = "hidden";
    values.emplace_back(FlagSpelling(entry.flag.name), std::move(value));
  }
  return values;
}

// Suggests a name only if it differs in at most 3 characters and in at most a third of them.
std::string SimilarFlag(const Flags& flags, std::string_view name, const std::string& prefix,
                        const std::string& otherwise) {
  const std::string written = prefix + std::string(name);
  std::vector<std::string> candidates{"help", "version"};
  for (const Flags::Entry& entry : flags.entries()) candidates.push_back(entry.flag.name);
  std::string nearest;
  std::size_t max_distance = std::min<std::size_t>(3, written.size() / 3);
  for (const std::string& candidate : candidates) {
    const std::size_t distance = EditDistance(name, candidate);
    if (distance > max_distance) continue;
    max_distance = distance;
    nearest = prefix + candidate;
  }
  return nearest.empty() ? otherwise : "did you mean " + nearest + "?";
}

}  // namespace kopp::detail
