#include "command_line.hpp"

#include "quoted.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include <CLI/CLI.hpp>

namespace kopp::detail {
namespace {

class HelpFormat final : public CLI::Formatter {
 public:
  explicit HelpFormat(std::string_view usage) : usage_(usage) { column_width(40); }

  std::string make_help(const CLI::App* app, std::string name,
                        CLI::AppFormatMode mode) const override {
    std::string text = CLI::Formatter::make_help(app, std::move(name), mode);
    text.pop_back();  // the line of a footer, which we have not
    return text;
  }

  std::string make_usage(const CLI::App* app, std::string name) const override {
    return (app->get_description().empty() ? "Usage: " : "\nUsage: ") + name + ' ' + usage_ +
           "\n\n";
  }

  std::string make_group(std::string group, bool is_positional,
                         std::vector<const CLI::Option*> options) const override {
    return CLI::Formatter::make_group(std::move(group), is_positional, std::move(options))
        .substr(1);
  }

  std::string make_option_opts(const CLI::Option* option) const override {
    return option->get_type_size() == 0 ? "" : ' ' + option->get_type_name();
  }

 private:
  std::string usage_;
};

// Edits that turn one into the other: letters put in, taken out or changed.
std::size_t Distance(std::string_view from, std::string_view to) {
  std::vector<std::size_t> row(to.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < from.size(); ++i) {
    std::size_t diagonal = std::exchange(row[0], i + 1);
    for (std::size_t j = 0; j < to.size(); ++j) {
      const std::size_t change = diagonal + (from[i] == to[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({change, row[j] + 1, diagonal + 1});
    }
  }
  return row.back();
}

struct Flag {
  std::string name;  // without dashes
  std::optional<std::string> value{};
};

// "-name=value", "--name" and "-v4"; nullopt for anything else.
std::optional<Flag> Split(const std::string& argument) {
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

const CLI::Option* Find(const CLI::App& app, const Flag& flag) {
  return app.get_option_no_throw("--" + flag.name);
}

// Whether the next argument is the value of `flag`.
bool TakesNext(const CLI::Option* option, const Flag& flag) {
  return option != nullptr && !flag.value && option->get_items_expected_min() > 0;
}

}  // namespace

CommandLine::CommandLine(int argc, const char* const* argv, std::string_view about,
                         std::string otherwise, std::string_view usage)
    : name_(std::move(otherwise)), given_(argv + std::min(argc, 1), argv + argc) {
  if (argc > 0) name_ = std::string_view(argv[0]).substr(std::string_view(argv[0]).rfind('/') + 1);
  app_ = std::make_unique<CLI::App>(std::string(about), name_);
  app_->formatter(std::make_shared<HelpFormat>(usage));
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

void CommandLine::Add(const FlagText& text, bool& is_there) {
  app_->add_flag(text.names, is_there, text.help)->group(text.group);
}

void CommandLine::AddProgramFlags() {
  constexpr const char* kProgram = "The program";
  app_->set_help_flag("-h,--help", "Shows this text and ends.")->group(kProgram);
  app_->add_flag("--version")->description("Shows the version and ends.")->group(kProgram);
}

std::optional<EarlyExit> CommandLine::Parse() {
  if (Asks({"-h", "--h", "-help", "--help"})) return EarlyExit{0, app_->help()};
  if (Asks({"-version", "--version"})) {
    return EarlyExit{0, name_ + ", with kopp " KOPP_VERSION "\n"};
  }
  auto arguments = Normalised();
  std::reverse(arguments.begin(), arguments.end());  // as CLI11 takes them
  try {
    app_->parse(std::move(arguments));
  } catch (const CLI::Error& error) {
    throw UsageError(error.what());
  }
  return std::nullopt;
}

bool CommandLine::IsGiven(const std::string& flag) const { return app_->count(flag) > 0; }

// "unknown flag --kubeconfg; did you mean --kubeconfig?"
std::string CommandLine::Unknown(const std::string& flag) const {
  std::string nearest;
  std::size_t least = std::min<std::size_t>(3, flag.size() / 3);
  for (const CLI::Option* option : std::as_const(*app_).get_options()) {
    for (const std::string& known : option->get_lnames()) {
      const std::size_t distance = Distance(flag, "--" + known);
      if (distance > least) continue;
      least = distance;
      nearest = "--" + known;
    }
  }
  return "unknown flag " + Quoted(flag) +
         (nearest.empty() ? "; --help shows the flags" : "; did you mean " + nearest + "?");
}

// Go's forms as CLI11 takes them: one dash becomes two, and a value is joined to its flag, whatever
// it looks like.
std::vector<std::string> CommandLine::Normalised() const {
  std::vector<std::string> result;
  for (auto argument = given_.begin(); argument != given_.end(); ++argument) {
    auto flag = Split(*argument);
    if (!flag) {
      throw UsageError("unexpected argument " + Quoted(*argument) + "; --help shows the flags");
    }
    const std::string name = "--" + flag->name;
    const CLI::Option* option = Find(*app_, *flag);
    if (option == nullptr) throw UsageError(Unknown(name));
    if (TakesNext(option, *flag)) {
      if (++argument == given_.end()) throw UsageError(name + " needs a value");
      flag->value = *argument;
    }
    if (flag->value && flag->value->empty()) {
      result.insert(result.end(), {name, ""});  // CLI11 takes "--name=" for a bare --name
    } else {
      result.push_back(flag->value ? name + '=' + *flag->value : name);
    }
  }
  return result;
}

// Whether one of `flags` is there, and not as the value of another. Looked for before all else: who
// asks for help does not get a complaint about another flag.
bool CommandLine::Asks(std::initializer_list<std::string_view> flags) const {
  for (std::size_t i = 0; i < given_.size() && given_[i] != "--"; ++i) {
    const auto name = std::string_view(given_[i]).substr(0, given_[i].find('='));
    if (std::find(flags.begin(), flags.end(), name) != flags.end()) return true;
    const auto flag = Split(given_[i]);
    if (flag && TakesNext(Find(*app_, *flag), *flag)) ++i;
  }
  return false;
}

}  // namespace kopp::detail
