#include "flags.hpp"

#include <algorithm>
#include <charconv>
#include <optional>
#include <string_view>
#include <utility>

#include <net/bind_address.hpp>
#include <system/command_line.hpp>
#include <system/quoted.hpp>

#include <kopp/config.hpp>

namespace kopp::apiserver {
namespace {

using detail::FlagText;
using detail::Quoted;
using detail::UsageError;

constexpr std::string_view kAbout =
    "Runs a Kubernetes API server in memory, for demos and tests. Its objects are lost when it\n"
    "stops. SIGUSR1 takes it off the network, as if its process were killed. SIGUSR2 brings it\n"
    "back with the same objects.";

// The values of the flags before conversion.
struct RawFlags {
  std::string bind_address = "127.0.0.1:0";
  bool plain = false;
  std::string seed = "1";
  std::vector<std::string> load;
  std::string kubeconfig;
  std::vector<std::string> users;
  std::vector<std::string> certificate_users;
  std::string audit_log;
  std::vector<std::string> faults;
  bool demo = false;
  std::string program_log;
};

void DeclareServer(detail::CommandLine& line, RawFlags& raw) {
  constexpr const char* kServer = "The server";
  line.Add({"--bind-address", "ADDRESS", kServer,
            "Address and port to listen on: :8080 is port 8080 of all\n"
            "addresses, port 0 is a free port. All clients have full\n"
            "access."},
           raw.bind_address);
  line.Add({"--plain", "", kServer, "Serve HTTP instead of HTTPS."}, raw.plain);
  line.Add({"--seed", "NUMBER", kServer,
            "Seed for uids, generated names and faults; the same\n"
            "seed gives the same values."},
           raw.seed);
  line.Add({"--fault", "FAULT", kServer,
            "Inject a fault: a type, then fields, such as\n"
            "conflict,verb=update,resource=foos,times=3. Repeatable."},
           raw.faults);

  constexpr const char* kContents = "Objects";
  line.Add({"--load", "FILE", kContents,
            "Create the objects in a YAML or JSON file, or in the\n"
            "files of a directory; CustomResourceDefinitions first.\n"
            "Repeatable."},
           raw.load);
}

void DeclareUse(detail::CommandLine& line, RawFlags& raw) {
  constexpr const char* kUsers = "Users and audit log";
  line.Add({"--write-kubeconfig", "FILE", kUsers,
            "Write a kubeconfig for an administrator, when all\n"
            "objects are loaded."},
           raw.kubeconfig);
  line.Add({"--user", "NAME=FILE", kUsers,
            "Write a kubeconfig for user NAME, with a bearer token.\n"
            "Repeatable."},
           raw.users);
  line.Add({"--user-certificate", "NAME=FILE", kUsers,
            "Same as --user, with a client certificate. Repeatable."},
           raw.certificate_users);
  line.Add({"--audit-log", "FILE", kUsers,
            "Append all requests to FILE, in the format of a\n"
            "Kubernetes audit log."},
           raw.audit_log);

  constexpr const char* kDemo = "Demo";
  line.Add({"--demo", "", kDemo,
            "Run PROGRAM with its own KUBECONFIG and print its\n"
            "writes and watches, until PROGRAM or the server stops.\n"
            "Custom resources are created when PROGRAM starts to\n"
            "watch. Faults affect PROGRAM only. Without --load, loads\n"
            "share/kopp/PROGRAM/demo of PROGRAM's install prefix."},
           raw.demo);
  line.Add({"--program-log", "FILE", kDemo,
            "Append the output of PROGRAM to FILE. Without it, only\n"
            "the last lines are shown if PROGRAM fails."},
           raw.program_log);
  line.AddProgramFlags();
}

std::uint64_t ParseSeed(const std::string& text) {
  std::uint64_t seed = 0;
  const char* const end = text.data() + text.size();
  const auto [stopped, error] = std::from_chars(text.data(), end, seed);
  if (error == std::errc() && stopped == end) return seed;
  throw UsageError("--seed " + Quoted(text) + ": write a number, such as 7");
}

std::string CheckAddress(const std::string& text) {
  if (detail::ParseBindAddress(text)) return text;
  throw UsageError("--bind-address " + Quoted(text) + ": " + detail::kBindAddressHelp);
}

testing::Fault ParseFaultFlag(const std::string& text) {
  try {
    return testing::ParseFault(text);
  } catch (const ConfigError& error) {
    throw UsageError(std::string("--fault: ") + error.what());
  }
}

UserKubeconfig ParseUser(const std::string& flag, const std::string& text) {
  const auto equals = text.find('=');
  if (equals != std::string::npos && equals > 0 && equals + 1 < text.size()) {
    return {.user = text.substr(0, equals),
            .file = text.substr(equals + 1),
            .by_certificate = flag == "--user-certificate"};
  }
  throw UsageError(flag + ' ' + Quoted(text) +
                   ": write a user and a file, such as alice=alice.kubeconfig");
}

// Rejects combinations of flags that are not allowed.
void CheckCombinations(const RawFlags& raw, const std::vector<std::string>& program) {
  if (raw.demo && program.empty()) {
    throw UsageError("--demo needs a program after \"--\", such as --demo -- sample-controller");
  }
  if (!raw.demo && !program.empty()) {
    throw UsageError("program " + Quoted(program.front()) + " needs --demo before \"--\"");
  }
  if (!raw.demo && !raw.program_log.empty()) {
    throw UsageError("--program-log needs --demo");
  }
  const auto forbid_plain = [&](const std::string& flag, bool given) {
    if (!raw.plain || !given) return;
    throw UsageError(flag + " cannot be used with --plain, because all HTTP clients are " +
                     "anonymous; remove --plain");
  };
  forbid_plain("--demo", raw.demo);
  forbid_plain("--user", !raw.users.empty());
  forbid_plain("--user-certificate", !raw.certificate_users.empty());
}

// Rejects two kubeconfigs with the same file: the second would overwrite the first.
void CheckFiles(const Flags& flags) {
  std::vector<std::string> files{flags.kubeconfig};
  for (const UserKubeconfig& each : flags.user_kubeconfigs) files.push_back(each.file);
  for (auto file = files.begin(); file != files.end(); ++file) {
    if (file->empty() || std::find(files.begin(), file, *file) == file) continue;
    throw UsageError("two kubeconfigs have the same file " + Quoted(*file) +
                     ": use a different file for each");
  }
}

Flags Convert(const RawFlags& raw, std::vector<std::string> program) {
  CheckCombinations(raw, program);
  Flags flags{.listen = {.address = CheckAddress(raw.bind_address), .tls = !raw.plain},
              .seed = ParseSeed(raw.seed),
              .load = {raw.load.begin(), raw.load.end()},
              .kubeconfig = raw.kubeconfig,
              .audit_log = raw.audit_log,
              .program = std::move(program),
              .program_log = raw.program_log};
  for (const auto& user : raw.users) flags.user_kubeconfigs.push_back(ParseUser("--user", user));
  for (const auto& user : raw.certificate_users) {
    flags.user_kubeconfigs.push_back(ParseUser("--user-certificate", user));
  }
  CheckFiles(flags);
  for (const auto& fault : raw.faults) flags.faults.push_back(ParseFaultFlag(fault));
  return flags;
}

}  // namespace

std::variant<Flags, EarlyExit> ParseFlags(int argc, const char* const* argv) {
  const char* const* const end = argv + argc;
  const char* const* const dashes =
      std::find_if(argv, end, [](std::string_view argument) { return argument == "--"; });
  RawFlags raw;
  detail::CommandLine line(static_cast<int>(dashes - argv), argv, kAbout, "kopp-apiserver",
                           "[flags] [--demo -- PROGRAM [ARGUMENT...]]");
  DeclareServer(line, raw);
  DeclareUse(line, raw);
  try {
    if (auto early = line.Parse()) return *std::move(early);
    return Convert(raw, {dashes == end ? end : dashes + 1, end});
  } catch (const UsageError& error) {
    return EarlyExit{2, line.name() + ": " + error.what() + '\n'};
  }
}

}  // namespace kopp::apiserver
