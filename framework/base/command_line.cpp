#include "base/command_line.hpp"

#include "base/quoted.hpp"
#include "base/version.hpp"

#include <algorithm>
#include <cstddef>
#include <sstream>
#include <utility>

#include <CLI/CLI.hpp>

namespace kopp::detail {
namespace {

constexpr std::size_t kFlagColumns = 40;  // of the names in the help text
constexpr std::size_t kHelpColumns = 60;  // of the descriptions beside them

class HelpFormatter final : public CLI::Formatter {
 public:
  explicit HelpFormatter(const HelpText& help) : usage_(help.usage), note_(help.note) {
    column_width(kFlagColumns);
  }

  std::string make_help(const CLI::App* app, std::string name,
                        CLI::AppFormatMode mode) const override {
    std::string text = CLI::Formatter::make_help(app, std::move(name), mode);
    text.pop_back();  // removes the empty line that CLI11 writes for the unused footer
    return text;
  }

  std::string make_usage(const CLI::App* app, std::string name) const override {
    return (app->get_description().empty() ? "Usage: " : "\nUsage: ") + name + ' ' + usage_ +
           "\n\n" + (note_.empty() ? "" : note_ + "\n\n");
  }

  std::string make_group(std::string group, bool is_positional,
                         std::vector<const CLI::Option*> options) const override {
    // CLI11 starts a group with an empty line, which substr removes.
    return CLI::Formatter::make_group(std::move(group), is_positional, std::move(options))
        .substr(1);
  }

  std::string make_option_opts(const CLI::Option* option) const override {
    const std::string type = option->get_type_name();
    return option->get_type_size() == 0 || type.empty() ? "" : ' ' + type;
  }

 private:
  std::string usage_;
  std::string note_;
};

// Breaks `text` at spaces into lines of at most kHelpColumns bytes.
std::string Wrapped(const std::string& text) {
  std::istringstream words(text);
  std::string wrapped;
  std::size_t column = 0;
  for (std::string word; words >> word;) {
    const bool fits = column + 1 + word.size() <= kHelpColumns;
    if (column > 0) wrapped += fits ? ' ' : '\n';
    wrapped += word;
    column = column > 0 && fits ? column + 1 + word.size() : word.size();
  }
  return wrapped;
}

std::string HelpOf(const Flags::Entry& entry) {
  std::string help = entry.flag.help;
  if (!entry.default_text.empty()) help += " Default: " + entry.default_text + '.';
  for (const std::string& variable : entry.flag.variables) {
    help += (&variable == &entry.flag.variables.front() ? " Environment: $" : " or $") + variable;
  }
  if (!entry.flag.variables.empty()) help += '.';
  return Wrapped(help);
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

void AddOption(CLI::App& app, const Flags::Entry& entry) {
  const std::string& name = entry.flag.name;
  const std::string names = (name.size() == 1 ? "-" + name + ',' : "") + "--" + name;
  const auto accept_all = [](const CLI::results_t&) { return true; };
  app.add_option(names, accept_all, HelpOf(entry))
      ->type_name(entry.flag.type)
      ->group(entry.flag.group)
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
}

}  // namespace

CommandLine::CommandLine(int argc, const char* const* argv, std::string fallback_name,
                         const Flags& flags, const HelpText& help)
    : name_(std::move(fallback_name)),
      arguments_(argv + std::min(argc, 1), argv + argc),
      flags_(flags) {
  if (argc > 0) name_ = std::string_view(argv[0]).substr(std::string_view(argv[0]).rfind('/') + 1);
  app_ = std::make_unique<CLI::App>(std::string(help.about), name_);
  app_->formatter(std::make_shared<HelpFormatter>(help));
  for (const Flags::Entry& entry : flags.entries()) AddOption(*app_, entry);
  constexpr const char* kActions = "Actions";
  app_->set_help_flag("-h,--help", "Show this help text and exit.")->group(kActions);
  app_->add_flag("--version")->description("Show the version and exit.")->group(kActions);
}

CommandLine::~CommandLine() = default;

std::optional<EarlyExit> CommandLine::HelpOrVersion() const {
  if (ContainsFlag({"h", "help"})) return EarlyExit{0, app_->help()};
  if (ContainsFlag({"version"}))
    return EarlyExit{0, name_ + ", with kopp " + std::string(Version()) + "\n"};
  return std::nullopt;
}

FlagSettings CommandLine::Parse() {
  auto arguments = NormalizedArguments();
  std::reverse(arguments.begin(), arguments.end());  // CLI11 expects the last argument first
  try {
    app_->parse(std::move(arguments));
  } catch (const CLI::Error& error) {
    throw UsageError(error.what());
  }
  FlagSettings settings;
  for (const Flags::Entry& entry : flags_.entries()) {
    const std::string& name = entry.flag.name;
    const CLI::Option* option = app_->get_option_no_throw("--" + name);
    if (option->count() > 0) settings[name] = {FlagSpelling(name), option->results()};
  }
  return settings;
}

// Converts the flag syntax of Go to the syntax of CLI11: one dash becomes two, an alias becomes the
// name, a switch gets its value, and each value is joined to its flag, because CLI11 would take a
// value that starts with a dash for a flag.
std::vector<std::string> CommandLine::NormalizedArguments() const {
  std::vector<std::string> result;
  for (auto next = arguments_.begin(); next != arguments_.end(); ++next) {
    auto argument = SplitArgument(*next);
    const std::string see_help = "run with --help for the list of flags";
    if (!argument) throw UsageError("unexpected argument " + Quoted(*next) + "; " + see_help);
    const Flags::Entry* entry = flags_.Find(argument->name);
    if (entry == nullptr) {
      throw UsageError("unknown flag " + Quoted("--" + argument->name) + "; " +
                       SimilarFlag(flags_, argument->name, "--", see_help));
    }
    const std::string name = "--" + entry->flag.name;
    if (NextArgumentIsValue(entry, *argument)) {
      if (++next == arguments_.end()) {
        throw UsageError(name + " needs a value: write " + name + '=' + entry->flag.type);
      }
      argument->value = *next;
    }
    const std::string value = argument->value.value_or("true");
    if (value.empty()) {
      result.insert(result.end(), {name, ""});  // CLI11 reads "--name=" as --name without a value
    } else {
      result.push_back(name + '=' + value);
    }
  }
  return result;
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
