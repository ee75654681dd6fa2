#include "flags.hpp"

#include <algorithm>
#include <charconv>
#include <regex>
#include <stdexcept>
#include <string_view>
#include <utility>

#include <base/command_line.hpp>
#include <base/flag_settings.hpp>
#include <base/quoted.hpp>
#include <net/bind_address.hpp>

#include <kopp/flags.hpp>

namespace kopp::apiserver {
namespace {

using detail::Quoted;
using detail::UsageError;

constexpr std::string_view kAbout =
    "Runs a Kubernetes API server in memory, for demos and tests. Its objects are lost when it\n"
    "stops. SIGUSR1 takes it off the network, as if its process were killed. SIGUSR2 brings it\n"
    "back with the same objects.";

// The values of the flags before their combination is checked.
struct RawFlags {
  Flags flags{};
  std::string bind_address = "127.0.0.1:0";
  bool plain = false;
  bool demo = false;
};

using Texts = std::vector<std::string>;

UserKubeconfig ParseUser(const std::string& text, bool by_certificate) {
  const auto equals = text.find('=');
  if (equals != std::string::npos && equals > 0 && equals + 1 < text.size()) {
    return {.user = text.substr(0, equals),
            .file = text.substr(equals + 1),
            .by_certificate = by_certificate};
  }
  throw std::invalid_argument("write a user and a file, such as alice=alice.kubeconfig");
}

std::uint64_t ParseSeed(const std::string& text) {
  std::uint64_t seed = 0;
  const char* const end = text.data() + text.size();
  const auto [stopped, error] = std::from_chars(text.data(), end, seed);
  if (error == std::errc() && stopped == end) return seed;
  throw std::invalid_argument("write a number, such as 7");
}

testing::AuthorizationMode ParseMode(const std::string& text) {
  if (text == "AlwaysAllow") return testing::AuthorizationMode::kAlwaysAllow;
  if (text == "RBAC") return testing::AuthorizationMode::kRbac;
  throw std::invalid_argument("write AlwaysAllow or RBAC");
}

testing::Fault ParseFaultFlag(const std::string& text) {
  try {
    return testing::ParseFault(text);
  } catch (const ConfigError& error) {
    throw std::invalid_argument(error.what());
  }
}

testing::ServiceAddress ParseServiceAddress(const std::string& text) {
  static const std::regex form("([^/:=]+)/([^/:=]+):([0-9]{1,5})=(.+:[0-9]{1,5})");
  if (std::smatch parts; std::regex_match(text, parts, form)) {
    return {.service = {parts[1], parts[2]}, .port = std::stoi(parts[3]), .address = parts[4]};
  }
  throw std::invalid_argument(
      "write a port of a Service and an address, such as shop/webhooks:443=127.0.0.1:9443");
}

void AddFile(kopp::Flags& flags, Flag flag, std::filesystem::path& file) {
  flag.type = "FILE";
  flags.AddParsed(std::move(flag), "", [&](const std::string& text) { file = text; });
}

void DeclareServer(kopp::Flags& flags, RawFlags& raw) {
  constexpr const char* kServer = "The server";
  flags.Add(
      {.name = "bind-address",
       .help = "Address and port to listen on: :8080 is port 8080 of all addresses, port 0 is "
               "a free port. By default, all clients have full access.",
       .type = "ADDRESS",
       .group = kServer,
       .advice = detail::kBindAddressHelp},
      raw.bind_address,
      [](const std::string& text) { return detail::ParseBindAddress(text).has_value(); });
  flags.AddParsed({.name = "authorization-mode",
                   .help = "How requests are authorized: AlwaysAllow, or RBAC by the Roles and "
                           "bindings that the server stores. The administrator of "
                           "--write-kubeconfig may do everything.",
                   .type = "MODE",
                   .group = kServer},
                  "AlwaysAllow",
                  [&](const std::string& text) { raw.flags.authorization = ParseMode(text); });
  flags.Add({.name = "plain", .help = "Serve HTTP instead of HTTPS.", .group = kServer}, raw.plain);
  flags.AddParsed(
      {.name = "seed",
       .help = "Seed for uids, generated names and faults; the same seed gives the same "
               "values.",
       .type = "NUMBER",
       .group = kServer},
      "1", [&](const std::string& text) { raw.flags.seed = ParseSeed(text); });
  flags.AddParsedList({.name = "fault",
                       .help = "Inject a fault: a type, then fields, such as "
                               "conflict,verb=update,resource=foos,times=3. Repeatable.",
                       .type = "FAULT",
                       .group = kServer},
                      "", [&](const Texts& texts) {
                        for (const auto& text : texts)
                          raw.flags.faults.push_back(ParseFaultFlag(text));
                      });
  flags.AddParsedList({.name = "load",
                       .help = "Create the objects in a YAML or JSON file, or in the files of a "
                               "directory; CustomResourceDefinitions first. Repeatable.",
                       .type = "FILE",
                       .group = "Objects"},
                      "", [&](const Texts& texts) {
                        raw.flags.load = {texts.begin(), texts.end()};
                      });
}

void DeclareServices(kopp::Flags& flags, RawFlags& raw) {
  flags.AddParsedList(
      {.name = "resolve",
       .help =
           "Call the webhooks at a port of a Service at this address, such as "
           "shop/webhooks:443=127.0.0.1:9443. Other Services need a ready endpoint. Repeatable.",
       .type = "NAMESPACE/NAME:PORT=ADDRESS",
       .group = "The server"},
      "", [&](const Texts& texts) {
        for (const auto& text : texts) raw.flags.resolve.push_back(ParseServiceAddress(text));
      });
}

void DeclareUsers(kopp::Flags& flags, RawFlags& raw) {
  constexpr const char* kUsers = "Users and audit log";
  AddFile(flags,
          {.name = "write-kubeconfig",
           .help = "Write a kubeconfig for an administrator, when all objects are loaded.",
           .group = kUsers},
          raw.flags.kubeconfig);
  const auto add_user = [&](const char* name, const char* help, bool by_certificate) {
    flags.AddParsedList({.name = name, .help = help, .type = "NAME=FILE", .group = kUsers}, "",
                        [&raw, by_certificate](const Texts& texts) {
                          for (const auto& text : texts) {
                            raw.flags.user_kubeconfigs.push_back(ParseUser(text, by_certificate));
                          }
                        });
  };
  add_user("user", "Write a kubeconfig for user NAME, with a bearer token. Repeatable.", false);
  add_user("user-certificate", "Same as --user, with a client certificate. Repeatable.", true);
  AddFile(flags,
          {.name = "audit-log",
           .help = "Append all requests to FILE, in the format of a Kubernetes audit log.",
           .group = kUsers},
          raw.flags.audit_log);
}

void DeclareDemo(kopp::Flags& flags, RawFlags& raw) {
  constexpr const char* kDemo = "Demo";
  flags.Add({.name = "demo",
             .help = "Run PROGRAM with its own KUBECONFIG and print its writes and watches, until "
                     "PROGRAM or the server stops. Custom resources are created when PROGRAM "
                     "starts to watch. Faults affect PROGRAM only. Without --load, loads "
                     "share/kopp/PROGRAM/demo of PROGRAM's install prefix.",
             .group = kDemo},
            raw.demo);
  AddFile(
      flags,
      {.name = "program-log",
       .help = "Append the output of PROGRAM to FILE. Without it, only the last lines are shown "
               "if PROGRAM fails.",
       .group = kDemo},
      raw.flags.program_log);
}

// Rejects combinations of flags that are not allowed.
void CheckCombinations(const RawFlags& raw) {
  const std::vector<std::string>& program = raw.flags.program;
  if (raw.demo && program.empty()) {
    throw UsageError("--demo needs a program after \"--\", such as --demo -- sample-controller");
  }
  if (!raw.demo && !program.empty()) {
    throw UsageError("program " + Quoted(program.front()) + " needs --demo before \"--\"");
  }
  if (!raw.demo && !raw.flags.program_log.empty()) {
    throw UsageError("--program-log needs --demo");
  }
  const auto forbid_plain = [&](const std::string& flag, bool given) {
    if (!raw.plain || !given) return;
    throw UsageError(flag + " cannot be used with --plain, because all HTTP clients are " +
                     "anonymous; remove --plain");
  };
  forbid_plain("--demo", raw.demo);
  forbid_plain("--authorization-mode=RBAC",
               raw.flags.authorization == testing::AuthorizationMode::kRbac);
  for (const UserKubeconfig& each : raw.flags.user_kubeconfigs) {
    forbid_plain(each.by_certificate ? "--user-certificate" : "--user", true);
  }
}

// Rejects two kubeconfigs with the same file: the second would overwrite the first.
void CheckFiles(const Flags& flags) {
  std::vector<std::filesystem::path> files{flags.kubeconfig};
  for (const UserKubeconfig& each : flags.user_kubeconfigs) files.push_back(each.file);
  for (auto file = files.begin(); file != files.end(); ++file) {
    if (file->empty() || std::find(files.begin(), file, *file) == file) continue;
    throw UsageError("two kubeconfigs have the same file " + Quoted(file->string()) +
                     ": use a different file for each");
  }
}

}  // namespace

std::variant<Flags, EarlyExit> ParseFlags(int argc, const char* const* argv) {
  const char* const* const end = argv + argc;
  const char* const* const dashes =
      std::find_if(argv, end, [](std::string_view argument) { return argument == "--"; });
  RawFlags raw;
  kopp::Flags declared;
  DeclareServer(declared, raw);
  DeclareServices(declared, raw);
  DeclareUsers(declared, raw);
  DeclareDemo(declared, raw);
  detail::CommandLine line(static_cast<int>(dashes - argv), argv, "kopp-apiserver", declared,
                           {.about = kAbout, .usage = "[flags] [--demo -- PROGRAM [ARGUMENT...]]"});
  if (auto early = line.HelpOrVersion()) return *std::move(early);
  try {
    detail::ApplySettings(declared, {line.Parse()});
    raw.flags.program = {dashes == end ? end : dashes + 1, end};
    raw.flags.listen = {.address = raw.bind_address, .tls = !raw.plain};
    CheckCombinations(raw);
    CheckFiles(raw.flags);
    return std::move(raw.flags);
  } catch (const UsageError& error) {
    return EarlyExit{2, line.name() + ": " + error.what() + '\n'};
  }
}

}  // namespace kopp::apiserver
