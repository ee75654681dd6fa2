#include "base/command_line.hpp"

#include "base/quoted.hpp"
#include "base/version.hpp"

#include <algorithm>
#include <cstddef>
#include <sstream>
#include <utility>

namespace kopp::detail {
namespace {

constexpr std::size_t kFlagColumns = 40;  // of the names in the help text
constexpr std::size_t kHelpColumns = 60;  // of the descriptions beside them

std::string DescriptionOf(const Flags::Entry& entry) {
  std::string text = entry.flag.help;
  if (!entry.default_text.empty() && !entry.flag.secret) {
    text += " Default: " + entry.default_text + '.';
  }
  for (const std::string& variable : entry.flag.variables) {
    text += (&variable == &entry.flag.variables.front() ? " Environment: $" : " or $") + variable;
  }
  if (!entry.flag.variables.empty()) text += '.';
  return text;
}

std::string NamesOf(const Flag& flag) {
  return (flag.name.size() == 1 ? '-' + flag.name + ',' : "") + "--" + flag.name +
         (flag.type.empty() ? "" : ' ' + flag.type);
}

// Returns the lines of a flag in the help text: its names, and beside them its description, broken
// at spaces into lines of at most kHelpColumns bytes.
std::string HelpLines(const std::string& names, const std::string& description) {
  const std::string next_line = '\n' + std::string(kFlagColumns, ' ');
  std::string lines = "  " + names;
  lines += lines.size() < kFlagColumns ? std::string(kFlagColumns - lines.size(), ' ') : next_line;
  std::istringstream words(description);
  std::size_t column = 0;
  for (std::string word; words >> word;) {
    const bool fits = column + 1 + word.size() <= kHelpColumns;
    if (column > 0) lines += fits ? " " : next_line;
    lines += word;
    column = column > 0 && fits ? column + 1 + word.size() : word.size();
  }
  return lines + '\n';
}

// A group of flags in the help text.
struct HelpGroup {
  std::string name;
  std::string lines{};
};

// Adds lines to the group `name`, which is created if it does not exist.
void AddLines(const std::string& name, const std::string& lines, std::vector<HelpGroup>& groups) {
  auto group = std::ranges::find(groups, name, &HelpGroup::name);
  if (group == groups.end()) group = groups.insert(group, {.name = name});
  group->lines += lines;
}

struct Argument {
  std::string name;  // without dashes
  std::optional<std::string> value{};
};

// Parses "-name=value", "--name" and "-v4". Returns nullopt if `argument` is not a flag.
std::optional<Argument> SplitArgument(const std::string& argument) {
  const auto begin = argument.find_first_not_of('-');
  if (begin == 0 || begin == std::string::npos || begin > 2) return std::nullopt;
  const std::string flag = argument.substr(begin);
  if (const auto equals = flag.find('='); equals != std::string::npos) {
    return Argument{flag.substr(0, equals), flag.substr(equals + 1)};
  }
  const bool is_level = begin == 1 && flag.size() > 1 && flag.front() == 'v' &&
                        flag.find_first_not_of("0123456789", 1) == std::string::npos;
  return is_level ? Argument{"v", flag.substr(1)} : Argument{flag};
}

// Returns whether the next argument is the value of `argument`.
bool NextArgumentIsValue(const Flags::Entry* entry, const Argument& argument) {
  return entry != nullptr && !argument.value && !entry->is_switch;
}

}  // namespace

CommandLine::CommandLine(int argc, const char* const* argv, std::string fallback_name,
                         const Flags& flags, const HelpText& help)
    : name_(std::move(fallback_name)),
      arguments_(argv + std::min(argc, 1), argv + argc),
      flags_(flags),
      help_(help) {
  if (argc > 0) name_ = std::string_view(argv[0]).substr(std::string_view(argv[0]).rfind('/') + 1);
}

std::optional<EarlyExit> CommandLine::HelpOrVersion() const {
  if (ContainsFlag({"h", "help"})) return EarlyExit{0, Help()};
  if (ContainsFlag({"version"}))
    return EarlyExit{0, name_ + ", with kopp " + std::string(Version()) + "\n"};
  return std::nullopt;
}

std::string CommandLine::Help() const {
  std::vector<HelpGroup> groups;
  for (const Flags::Entry& entry : flags_.entries()) {
    const std::string& group = entry.flag.group;
    if (!group.empty())
      AddLines(group, HelpLines(NamesOf(entry.flag), DescriptionOf(entry)), groups);
  }
  constexpr const char* kActions = "Actions";
  AddLines(kActions, HelpLines("-h,--help", "Show this help text and exit."), groups);
  AddLines(kActions, HelpLines("--version", "Show the version and exit."), groups);

  std::string text(help_.about);
  if (!text.empty()) text += "\n\n";
  text += "Usage: " + name_ + ' ' + std::string(help_.usage) + '\n';
  if (!help_.note.empty()) text += '\n' + std::string(help_.note) + '\n';
  for (const HelpGroup& group : groups) text += '\n' + group.name + ":\n" + group.lines;
  return text;
}

FlagSettings CommandLine::Parse() const {
  FlagSettings settings;
  for (auto next = arguments_.begin(); next != arguments_.end(); ++next) {
    auto argument = SplitArgument(*next);
    const std::string see_help = "run with --help for the list of flags";
    if (!argument) throw UsageError("unexpected argument " + Quoted(*next) + "; " + see_help);
    const Flags::Entry* entry = flags_.Find(argument->name);
    if (entry == nullptr) {
      throw UsageError("unknown flag " + Quoted("--" + argument->name) + "; " +
                       SimilarFlag(flags_, argument->name, "--", see_help));
    }
    const std::string& name = entry->flag.name;
    if (NextArgumentIsValue(entry, *argument)) {
      if (++next == arguments_.end()) {
        throw UsageError("--" + name + " needs a value: write --" + name + '=' + entry->flag.type);
      }
      argument->value = *next;
    }
    FlagSetting& setting = settings[name];
    setting.source = FlagSpelling(name);
    setting.values.push_back(argument->value.value_or("true"));
  }
  return settings;
}

// Returns whether one of the flags is given, and not as the value of another flag. This is checked
// before anything is validated, so that --help works even if another flag is invalid.
bool CommandLine::ContainsFlag(std::initializer_list<std::string_view> names) const {
  for (std::size_t i = 0; i < arguments_.size() && arguments_[i] != "--"; ++i) {
    const auto argument = SplitArgument(arguments_[i]);
    if (!argument) continue;
    if (std::find(names.begin(), names.end(), argument->name) != names.end()) return true;
    if (NextArgumentIsValue(flags_.Find(argument->name), *argument)) ++i;
  }
  return false;
}

}  // namespace kopp::detail
