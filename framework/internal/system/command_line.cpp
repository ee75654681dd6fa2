#include "system/command_line.hpp"

#include "system/quoted.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include <CLI/CLI.hpp>

namespace kopp::detail {
namespace {

class HelpFormatter final : public CLI::Formatter {
 public:
  explicit HelpFormatter(std::string_view usage) : usage_(usage) { column_width(40); }

  std::string make_help(const CLI::App* app, std::string name,
                        CLI::AppFormatMode mode) const override {
    std::string text = CLI::Formatter::make_help(app, std::move(name), mode);
    text.pop_back();  // removes the empty line that CLI11 writes for the unused footer
    return text;
  }

  std::string make_usage(const CLI::App* app, std::string name) const override {
    return (app->get_description().empty() ? "Usage: " : "\nUsage: ") + name + ' ' + usage_ +
           "\n\n";
  }

  std::string make_group(std::string group, bool is_positional,
                         std::vector<const CLI::Option*> options) const override {
    // CLI11 starts a group with an empty line, which substr removes.
    return CLI::Formatter::make_group(std::move(group), is_positional, std::move(options))
        .substr(1);
  }

  std::string make_option_opts(const CLI::Option* option) const override {
    return option->get_type_size() == 0 ? "" : ' ' + option->get_type_name();
  }

 private:
  std::string usage_;
};

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

struct Flag {
  std::string name;  // without dashes
  std::optional<std::string> value{};
};

// Parses "-name=value", "--name" and "-v4". Returns nullopt if `argument` is not a flag.
std::optional<Flag> SplitFlag(const std::string& argument) {
  const auto begin = argument.find_first_not_of('-');
  if (begin == 0 || begin == std::string::npos || begin > 2) return std::nullopt;
  const std::string flag = argument.substr(begin);
  if (const auto equals = flag.find('='); equals != std::string::npos) {
    return Flag{flag.substr(0, equals), flag.substr(equals + 1)};
  }
  const bool is_level = begin == 1 && flag.size() > 1 && flag.front() == 'v' &&
                        flag.find_first_not_of("0123456789", 1) == std::string::npos;
  return is_level ? Flag{"v", flag.substr(1)} : Flag{flag};
}

const CLI::Option* FindOption(const CLI::App& app, const Flag& flag) {
  return app.get_option_no_throw("--" + flag.name);
}

// Returns whether the next argument is the value of `flag`.
bool NextArgumentIsValue(const CLI::Option* option, const Flag& flag) {
  return option != nullptr && !flag.value && option->get_items_expected_min() > 0;
}

}  // namespace

CommandLine::CommandLine(int argc, const char* const* argv, std::string_view about,
                         std::string fallback_name, std::string_view usage)
    : name_(std::move(fallback_name)), arguments_(argv + std::min(argc, 1), argv + argc) {
  if (argc > 0) name_ = std::string_view(argv[0]).substr(std::string_view(argv[0]).rfind('/') + 1);
  app_ = std::make_unique<CLI::App>(std::string(about), name_);
  app_->formatter(std::make_shared<HelpFormatter>(usage));
}

CommandLine::~CommandLine() = default;

void CommandLine::Add(const FlagText& text, std::string& value) {
  const std::string help = value.empty() ? text.help : text.help + " Default: " + value + '.';
  app_->add_option(text.names, value, help)->type_name(text.type)->group(text.group)->take_last();
}

void CommandLine::Add(const FlagText& text, std::vector<std::string>& values) {
  app_->add_option(text.names, values, text.help)
      ->type_name(text.type)
      ->group(text.group)
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
}

void CommandLine::Add(const FlagText& text, bool& is_set) {
  app_->add_flag(text.names, is_set, text.help)->group(text.group);
}

void CommandLine::AddProgramFlags() {
  constexpr const char* kProgram = "The program";
  app_->set_help_flag("-h,--help", "Show this help text and exit.")->group(kProgram);
  app_->add_flag("--version")->description("Show the version and exit.")->group(kProgram);
}

std::optional<EarlyExit> CommandLine::Parse() {
  if (ContainsFlag({"-h", "--h", "-help", "--help"})) return EarlyExit{0, app_->help()};
  if (ContainsFlag({"-version", "--version"})) {
    return EarlyExit{0, name_ + ", with kopp " KOPP_VERSION "\n"};
  }
  auto arguments = NormalizedArguments();
  std::reverse(arguments.begin(), arguments.end());  // CLI11 expects the last argument first
  try {
    app_->parse(std::move(arguments));
  } catch (const CLI::Error& error) {
    throw UsageError(error.what());
  }
  return std::nullopt;
}

bool CommandLine::IsGiven(const std::string& flag) const { return app_->count(flag) > 0; }

// Returns the error for an unknown flag, with the most similar flag if there is one. Example:
// `unknown flag "--kubeconfg"; did you mean --kubeconfig?`
std::string CommandLine::UnknownFlagMessage(const std::string& flag) const {
  std::string nearest;
  // Suggests a flag only if it differs in at most 3 characters and in at most a third of them.
  std::size_t max_distance = std::min<std::size_t>(3, flag.size() / 3);
  for (const CLI::Option* option : std::as_const(*app_).get_options()) {
    for (const std::string& name : option->get_lnames()) {
      const std::size_t distance = EditDistance(flag, "--" + name);
      if (distance > max_distance) continue;
      max_distance = distance;
      nearest = "--" + name;
    }
  }
  return "unknown flag " + Quoted(flag) +
         (nearest.empty() ? "; run with --help for the list of flags"
                          : "; did you mean " + nearest + "?");
}

// Converts the flag syntax of Go to the syntax of CLI11: one dash becomes two, and each value is
// joined to its flag, because CLI11 would take a value that starts with a dash for a flag.
std::vector<std::string> CommandLine::NormalizedArguments() const {
  std::vector<std::string> result;
  for (auto argument = arguments_.begin(); argument != arguments_.end(); ++argument) {
    auto flag = SplitFlag(*argument);
    if (!flag) {
      throw UsageError("unexpected argument " + Quoted(*argument) +
                       "; run with --help for the list of flags");
    }
    const std::string name = "--" + flag->name;
    const CLI::Option* option = FindOption(*app_, *flag);
    if (option == nullptr) throw UsageError(UnknownFlagMessage(name));
    if (NextArgumentIsValue(option, *flag)) {
      if (++argument == arguments_.end()) {
        throw UsageError(name + " needs a value: write " + name + '=' + option->get_type_name());
      }
      flag->value = *argument;
    }
    if (flag->value && flag->value->empty()) {
      result.insert(result.end(), {name, ""});  // CLI11 reads "--name=" as --name without a value
    } else {
      result.push_back(flag->value ? name + '=' + *flag->value : name);
    }
  }
  return result;
}

// Returns whether one of `flags` is given, and not as the value of another flag. Parse calls this
// before it validates anything, so that --help works even if another flag is invalid.
bool CommandLine::ContainsFlag(std::initializer_list<std::string_view> flags) const {
  for (std::size_t i = 0; i < arguments_.size() && arguments_[i] != "--"; ++i) {
    const auto name = std::string_view(arguments_[i]).substr(0, arguments_[i].find('='));
    if (std::find(flags.begin(), flags.end(), name) != flags.end()) return true;
    const auto flag = SplitFlag(arguments_[i]);
    if (flag && NextArgumentIsValue(FindOption(*app_, *flag), *flag)) ++i;
  }
  return false;
}

}  // namespace kopp::detail
