#include "bind_address.hpp"
#include "duration.hpp"
#include "environment.hpp"
#include "quoted.hpp"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <iostream>
#include <numeric>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>

#include <kopp/options.hpp>

namespace kopp {
namespace {

using detail::Quoted;
using Getenv = std::function<std::optional<std::string>(const std::string&)>;

// A command line that cannot be used. what() is the line without the program's name.
class UsageError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// The flags' values as they were typed.
struct Typed {
  std::string kubeconfig;
  std::string context;
  std::string master;
  std::string watch_namespace;
  std::string http_transport = "cpprestsdk";
  std::string metrics_bind_address = "0";
  std::string graceful_shutdown_timeout = "30s";
  std::string verbosity = "0";
  std::string logging_format = "text";
};

class HelpFormat final : public CLI::Formatter {
 public:
  HelpFormat() { column_width(40); }

  std::string make_help(const CLI::App* app, std::string name,
                        CLI::AppFormatMode mode) const override {
    std::string text = CLI::Formatter::make_help(app, std::move(name), mode);
    text.pop_back();  // the line of a footer, which we have not
    return text;
  }

  std::string make_usage(const CLI::App* app, std::string name) const override {
    return (app->get_description().empty() ? "Usage: " : "\nUsage: ") + name + " [flags]\n\n";
  }

  std::string make_group(std::string group, bool is_positional,
                         std::vector<const CLI::Option*> options) const override {
    return CLI::Formatter::make_group(std::move(group), is_positional, std::move(options))
        .substr(1);
  }

  std::string make_option_opts(const CLI::Option* option) const override {
    return option->get_type_size() == 0 ? "" : ' ' + option->get_type_name();
  }
};

void Add(CLI::App& app, const char* names, std::string& value, const char* type, const char* group,
         std::string help) {
  if (!value.empty()) help += " Default: " + value + '.';
  app.add_option(names, value, help)->type_name(type)->group(group)->take_last();
}

void Declare(CLI::App& app, Typed& typed) {
  constexpr const char* kServer = "The API server";
  Add(app, "--kubeconfig", typed.kubeconfig, "FILE", kServer,
      "The kubeconfig to read. Without it: $KUBECONFIG (files\n"
      "separated by ':'), else the pod's service account,\n"
      "else ~/.kube/config.");
  Add(app, "--context", typed.context, "NAME", kServer,
      "The kubeconfig's context, instead of its current one.");
  Add(app, "--master", typed.master, "URL", kServer,
      "The server's address, instead of the configured one.");
  Add(app, "--http-transport", typed.http_transport, "NAME", kServer,
      "Carries the calls: cpprestsdk or beast.");

  constexpr const char* kWork = "The work";
  Add(app, "--namespace", typed.watch_namespace, "NAME", kWork,
      "The one namespace to watch; empty: all of them.\n"
      "Environment: $WATCH_NAMESPACE.");
  Add(app, "--graceful-shutdown-timeout", typed.graceful_shutdown_timeout, "DURATION", kWork,
      "How long work in hand may take to end after a stop,\n"
      "such as 500ms or 1m30s; 0: not at all.");

  constexpr const char* kPages = "What is served";
  Add(app, "--metrics-bind-address", typed.metrics_bind_address, "ADDRESS", kPages,
      "Serves /metrics there, over plain HTTP: :8080 on all\n"
      "addresses, 127.0.0.1:8080 on one; 0: nowhere.");

  constexpr const char* kLog = "The log, on standard error";
  Add(app, "-v,--v", typed.verbosity, "LEVEL", kLog, "How much is written: 0, 1, 2 and so on.");
  Add(app, "--logging-format", typed.logging_format, "FORMAT", kLog, "text or json.");

  constexpr const char* kProgram = "The program";
  app.set_help_flag("-h,--help", "Shows this text and ends.")->group(kProgram);
  app.add_flag("--version")->description("Shows the version and ends.")->group(kProgram);
}

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

// "unknown flag --kubeconfg; did you mean --kubeconfig?"
std::string Unknown(const CLI::App& app, const std::string& name) {
  std::string nearest;
  std::size_t least = std::min<std::size_t>(3, name.size() / 3);
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& known : option->get_lnames()) {
      const std::size_t distance = Distance(name, "--" + known);
      if (distance > least) continue;
      least = distance;
      nearest = "--" + known;
    }
  }
  return "unknown flag " + Quoted(name) +
         (nearest.empty() ? "; --help shows the flags" : "; did you mean " + nearest + "?");
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

// Go's forms as CLI11 takes them: one dash becomes two, and a value is joined to its flag, whatever
// it looks like.
std::vector<std::string> Normalised(const CLI::App& app,
                                    const std::vector<std::string>& arguments) {
  std::vector<std::string> result;
  for (auto argument = arguments.begin(); argument != arguments.end(); ++argument) {
    auto flag = Split(*argument);
    if (!flag) {
      throw UsageError("unexpected argument " + Quoted(*argument) + "; --help shows the flags");
    }
    const std::string name = "--" + flag->name;
    const CLI::Option* option = Find(app, *flag);
    if (option == nullptr) throw UsageError(Unknown(app, name));
    if (TakesNext(option, *flag)) {
      if (++argument == arguments.end()) throw UsageError(name + " needs a value");
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

// One of `known`'s names.
template <typename T>
T Choice(const std::string& flag, const std::string& typed,
         std::initializer_list<std::pair<std::string_view, T>> known) {
  std::string names;
  for (const auto& [name, value] : known) {
    if (typed == name) return value;
    names += (names.empty() ? "" : " or ") + std::string(name);
  }
  throw UsageError(flag + ' ' + Quoted(typed) + ": write " + names);
}

int Verbosity(const std::string& typed) {
  int level = 0;
  const char* const end = typed.data() + typed.size();
  const auto [stopped, error] = std::from_chars(typed.data(), end, level);
  if (error == std::errc() && stopped == end && level >= 0) return level;
  throw UsageError("-v " + Quoted(typed) + ": write a number, such as 4");
}

Duration Timeout(const std::string& flag, const std::string& typed) {
  const auto duration = detail::ParseDuration(typed);
  if (duration && *duration >= Duration::zero()) return *duration;
  throw UsageError(flag + ' ' + Quoted(typed) +
                   ": write a duration with its unit, such as 500ms, 30s or 1m30s");
}

std::string BindAddress(const std::string& flag, const std::string& typed) {
  if (typed == "0" || detail::ParseBindAddress(typed)) return typed;
  throw UsageError(flag + ' ' + Quoted(typed) + ": " + detail::kWriteBindAddress +
                   ", or 0 for nowhere");
}

// A namespace's name is a DNS label: anything else would end up in a URL.
std::string Namespace(const std::string& where, const std::string& typed) {
  const auto is_alnum = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); };
  const bool fits =
      typed.empty() ||
      (typed.size() <= 63 && is_alnum(typed.front()) && is_alnum(typed.back()) &&
       std::all_of(typed.begin(), typed.end(), [&](char c) { return is_alnum(c) || c == '-'; }));
  if (fits) return typed;
  throw UsageError(where + ' ' + Quoted(typed) +
                   ": write the name of one namespace, or nothing for all");
}

Options Converted(std::string name, const CLI::App& app, const Typed& typed) {
  const bool is_typed = app.count("--namespace") > 0;
  const auto format = Choice<LogFormat>("--logging-format", typed.logging_format,
                                        {{"text", LogFormat::kText}, {"json", LogFormat::kJson}});
  using Calls = TransportOptions::Calls;
  return {
      .name = std::move(name),
      .kubeconfig = typed.kubeconfig,
      .context = typed.context,
      .master = typed.master,
      .watch_namespace =
          Namespace(is_typed ? "--namespace" : "$WATCH_NAMESPACE", typed.watch_namespace),
      .http_transport = Choice<Calls>("--http-transport", typed.http_transport,
                                      {{"cpprestsdk", Calls::kCppRest}, {"beast", Calls::kBeast}}),
      .metrics_bind_address = BindAddress("--metrics-bind-address", typed.metrics_bind_address),
      .graceful_shutdown_timeout =
          Timeout("--graceful-shutdown-timeout", typed.graceful_shutdown_timeout),
      .log = Logger({.format = format, .verbosity = Verbosity(typed.verbosity)}),
  };
}

// Whether one of `flags` is there, and not as the value of another. Looked for before all else: who
// asks for help does not get a complaint about another flag.
bool Asks(const CLI::App& app, const std::vector<std::string>& arguments,
          std::initializer_list<std::string_view> flags) {
  for (std::size_t i = 0; i < arguments.size() && arguments[i] != "--"; ++i) {
    const auto name = std::string_view(arguments[i]).substr(0, arguments[i].find('='));
    if (std::find(flags.begin(), flags.end(), name) != flags.end()) return true;
    const auto flag = Split(arguments[i]);
    if (flag && TakesNext(Find(app, *flag), *flag)) ++i;
  }
  return false;
}

}  // namespace

std::variant<Options, EarlyExit> ParseCommandLine(int argc, const char* const* argv,
                                                  std::string_view about, const Getenv& getenv) {
  std::string name = Options{}.name;
  if (argc > 0) name = std::string_view(argv[0]).substr(std::string_view(argv[0]).rfind('/') + 1);
  Typed typed;
  typed.watch_namespace =
      (getenv ? getenv : detail::EnvironmentVariable)("WATCH_NAMESPACE").value_or("");
  CLI::App app(std::string(about), name);
  app.formatter(std::make_shared<HelpFormat>());
  Declare(app, typed);
  const std::vector<std::string> given(argv + std::min(argc, 1), argv + argc);
  if (Asks(app, given, {"-h", "--h", "-help", "--help"})) return EarlyExit{0, app.help()};
  if (Asks(app, given, {"-version", "--version"})) {
    return EarlyExit{0, name + ", with kopp " KOPP_VERSION "\n"};
  }
  try {
    auto arguments = Normalised(app, given);
    std::reverse(arguments.begin(), arguments.end());  // as CLI11 takes them
    app.parse(std::move(arguments));
    return Converted(name, app, typed);
  } catch (const std::runtime_error& error) {  // a UsageError, or CLI11's own
    return EarlyExit{2, name + ": " + error.what() + '\n'};
  }
}

Options Options::FromCommandLine(int argc, const char* const* argv, std::string_view about) {
  auto parsed = ParseCommandLine(argc, argv, about);
  if (const auto* early = std::get_if<EarlyExit>(&parsed)) {
    (early->code == 0 ? std::cout : std::cerr) << early->text << std::flush;
    std::exit(early->code);  // NOLINT(concurrency-mt-unsafe): first in main, before any thread
  }
  return std::get<Options>(std::move(parsed));
}

}  // namespace kopp
