#include "config/flag_file.hpp"

#include "base/quoted.hpp"
#include "config/config_input.hpp"
#include "yaml_document.hpp"

#include <string>
#include <utility>
#include <vector>

namespace kopp::detail {
namespace {

constexpr const char* kOneValue = "write one value";
constexpr const char* kManyValues =
    "write one value, a list of values, or a map of names to values";

// Returns the text of a value that is neither a list nor a map.
std::string ScalarText(const YAML::Node& value, const std::string& source, const char* advice) {
  if (value.IsScalar()) return value.Scalar();
  throw UsageError("invalid value for " + source + ": " + advice);
}

// Returns the values of a flag that may be repeated.
std::vector<std::string> ValuesOf(const YAML::Node& value, const std::string& source) {
  std::vector<std::string> values;
  if (value.IsSequence()) {
    for (const YAML::Node& item : value) {
      values.push_back(ScalarText(item, source, kManyValues));
    }
  } else if (value.IsMap()) {
    for (const auto& item : value) {
      values.push_back(ScalarText(item.first, source, kManyValues) + '=' +
                       ScalarText(item.second, source, kManyValues));
    }
  } else {
    values.push_back(ScalarText(value, source, kManyValues));
  }
  if (values.empty()) values.emplace_back();  // an empty list is a setting, too
  return values;
}

}  // namespace

FlagSettings ReadConfigFile(const std::filesystem::path& path, const Flags& flags) {
  const std::string where = path.string();
  RequirePath(where, "--config");
  const YAML::Node root = ParseYamlDocument(ReadFile(path, "--config"), where, "correct the file");
  if (!root.IsMap() && !root.IsNull()) {
    throw UsageError(where +
                     ": write a map of the names of flags to their values, such as \"v: 4\"");
  }
  FlagSettings settings;
  for (const auto& field : root) {
    const std::string name = field.first.IsScalar() ? field.first.Scalar() : "";
    const std::string location = YamlLocation(where, field.first.Mark());
    const Flags::Entry* entry = flags.Find(name);
    if (entry == nullptr || name == "config") {
      throw UsageError(
          location + ": unknown key " + Quoted(name) + "; " +
          SimilarFlag(flags, name, "", "the keys are the names of the flags in --help"));
    }
    if (field.second.IsNull()) continue;
    const std::string source = location + ": " + name;
    FlagSetting setting{.source = source};
    if (entry->is_list) {
      setting.values = ValuesOf(field.second, source);
    } else {
      setting.values.push_back(ScalarText(field.second, source, kOneValue));
    }
    if (!settings.try_emplace(entry->flag.name, std::move(setting)).second) {
      throw UsageError(location + ": " + Quoted(name) + " is set twice; remove one");
    }
  }
  return settings;
}

}  // namespace kopp::detail
