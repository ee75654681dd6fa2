#include "base/command_line.hpp"
#include "base/environment.hpp"
#include "config/flag_file.hpp"
#include "option_flags.hpp"

#include <cstdlib>
#include <iostream>

#include <kopp/config.hpp>
#include <kopp/options.hpp>

namespace kopp {
namespace {

using Getenv = std::function<std::optional<std::string>(const std::string&)>;

constexpr const char* kSourcesNote =
    "A flag that is not given is taken from the environment, --kube-api-qps from\n"
    "$KOPP_KUBE_API_QPS, or else from the YAML file of --config, as \"kube-api-qps: 20\".";

// Returns the settings of the command line, the environment and the file, in this order.
std::vector<detail::FlagSettings> ReadSettings(detail::CommandLine& line, const Flags& flags,
                                               const Getenv& getenv) {
  std::vector<detail::FlagSettings> sources{line.Parse(),
                                            detail::SettingsFromEnvironment(flags, getenv)};
  for (const detail::FlagSettings& settings : sources) {
    const auto config = settings.find("config");
    if (config == settings.end()) continue;
    const std::string file = config->second.values.back();
    if (!file.empty()) sources.push_back(detail::ReadConfigFile(file, flags));
    break;
  }
  return sources;
}

}  // namespace

std::variant<Options, EarlyExit> ParseCommandLine(int argc, const char* const* argv,
                                                  std::string_view about, const Getenv& getenv,
                                                  const Flags& flags) {
  detail::OptionValues values;
  Flags all;
  detail::AddOptionFlags(all, values);
  all.Append(flags);
  detail::CommandLine line(argc, argv, Options{}.name, all, {.about = about, .note = kSourcesNote});
  if (auto early = line.HelpOrVersion()) return *std::move(early);
  try {
    const auto sources =
        ReadSettings(line, all, getenv ? getenv : Getenv(detail::EnvironmentVariable));
    detail::ApplySettings(all, sources);
    values.options.debug.flag_values = detail::FlagValues(all, sources);
    return detail::ToOptions(std::move(values), line.name());
  } catch (const detail::UsageError& error) {
    return EarlyExit{2, line.name() + ": " + error.what() + '\n'};
  } catch (const ConfigError& error) {  // of the file
    return EarlyExit{2, line.name() + ": " + error.what() + '\n'};
  }
}

Options Options::FromCommandLine(int argc, const char* const* argv, std::string_view about,
                                 const Flags& flags) {
  auto parsed = ParseCommandLine(argc, argv, about, {}, flags);
  if (const auto* early = std::get_if<EarlyExit>(&parsed)) {
    (early->code == 0 ? std::cout : std::cerr) << early->text << std::flush;
    std::exit(early->code);  // NOLINT(concurrency-mt-unsafe): called at the start of main
  }
  return std::get<Options>(std::move(parsed));
}

}  // namespace kopp
