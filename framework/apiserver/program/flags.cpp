#include "flags.hpp"

#include <algorithm>
#include <charconv>
#include <optional>
#include <string_view>
#include <utility>

#include <bind_address.hpp>
#include <command_line.hpp>
#include <quoted.hpp>

#include <kopp/config.hpp>

namespace kopp::apiserver {
namespace {

using detail::FlagText;
using detail::Quoted;
using detail::UsageError;

constexpr std::string_view kAbout =
    "A Kubernetes API server in memory, for demos and tests. What it holds is gone when it ends.\n"
    "SIGUSR1 takes it off the network, as if its process were killed; SIGUSR2 brings it back, "
    "with\n"
    "the objects that it had.";

// The flags' values as they were typed.
struct Typed {
  std::string bind_address = "127.0.0.1:0";
  bool plain = false;
  std::string seed = "1";
  std::vector<std::string> load;
  std::string kubeconfig;
  std::vector<std::string> users;
  std::vector<std::string> certified;
  std::string audit_log;
  std::vector<std::string> faults;
  bool demo = false;
  std::string program_log;
};

void DeclareServer(detail::CommandLine& line, Typed& typed) {
  constexpr const char* kServer = "The server";
  line.Add({"--bind-address", "ADDRESS", kServer,
            "Where it listens: :8080 on all addresses, port 0: any\n"
            "that is free. Whoever reaches it may do anything there."},
           typed.bind_address);
  line.Add({"--plain", "", kServer, "Serves HTTP instead of HTTPS."}, typed.plain);
  line.Add({"--seed", "NUMBER", kServer, "Of uids, generated names and faults."}, typed.seed);
  line.Add({"--fault", "FAULT", kServer,
            "Does something wrong: its name, then fields, such as\n"
            "conflict,verb=update,resource=foos,times=3. Repeatable."},
           typed.faults);

  constexpr const char* kContents = "What it holds";
  line.Add({"--load", "FILE", kContents,
            "Objects in YAML or JSON, or a folder of such files:\n"
            "CustomResourceDefinitions first. Repeatable."},
           typed.load);
}

void DeclareUse(detail::CommandLine& line, Typed& typed) {
  constexpr const char* kUsers = "Who uses it";
  line.Add(
      {"--write-kubeconfig", "FILE", kUsers, "For an administrator; there once all is loaded."},
      typed.kubeconfig);
  line.Add({"--user", "NAME=FILE", kUsers, "A kubeconfig for NAME, by a token. Repeatable."},
           typed.users);
  line.Add(
      {"--user-certificate", "NAME=FILE", kUsers, "The same, by a client certificate. Repeatable."},
      typed.certified);
  line.Add({"--audit-log", "FILE", kUsers, "Appends what was asked, as a Kubernetes audit log."},
           typed.audit_log);

  constexpr const char* kDemo = "A demo";
  line.Add({"--demo", "", kDemo,
            "Runs PROGRAM with a KUBECONFIG of its own, until either\n"
            "ends, and tells what happens. What was loaded of custom\n"
            "resources comes once PROGRAM watches; faults are its\n"
            "alone. Without --load: ../share/kopp/PROGRAM/demo."},
           typed.demo);
  line.Add({"--program-log", "FILE", kDemo,
            "Keeps what PROGRAM prints; else only its last words\n"
            "are shown, if it fails."},
           typed.program_log);
  line.AddProgramFlags();
}

std::uint64_t Seed(const std::string& typed) {
  std::uint64_t seed = 0;
  const char* const end = typed.data() + typed.size();
  const auto [stopped, error] = std::from_chars(typed.data(), end, seed);
  if (error == std::errc() && stopped == end) return seed;
  throw UsageError("--seed " + Quoted(typed) + ": write a number, such as 7");
}

std::string Address(const std::string& typed) {
  if (detail::ParseBindAddress(typed)) return typed;
  throw UsageError("--bind-address " + Quoted(typed) + ": " + detail::kWriteBindAddress);
}

testing::Fault FaultOf(const std::string& typed) {
  try {
    return testing::ParseFault(typed);
  } catch (const ConfigError& error) {
    throw UsageError(std::string("--fault: ") + error.what());
  }
}

Guest GuestOf(const std::string& flag, const std::string& typed) {
  const auto equals = typed.find('=');
  if (equals != std::string::npos && equals > 0 && equals + 1 < typed.size()) {
    return {.user = typed.substr(0, equals),
            .file = typed.substr(equals + 1),
            .by_certificate = flag == "--user-certificate"};
  }
  throw UsageError(flag + ' ' + Quoted(typed) +
                   ": write a user and a file, such as alice=alice.kubeconfig");
}

// That which goes together.
void Check(const Typed& typed, const std::vector<std::string>& program) {
  if (typed.demo && program.empty()) {
    throw UsageError("--demo needs a program behind \"--\", such as --demo -- sample-controller");
  }
  if (!typed.demo && !program.empty()) {
    throw UsageError("a program, " + Quoted(program.front()) + ", is run with --demo only");
  }
  if (!typed.demo && !typed.program_log.empty()) {
    throw UsageError("--program-log goes with --demo");
  }
  const auto forbid_plain = [&](const std::string& flag, bool given) {
    if (!typed.plain || !given) return;
    throw UsageError(flag + " does not go with --plain: over HTTP everyone is anonymous; leave " +
                     "--plain out");
  };
  forbid_plain("--demo", typed.demo);
  forbid_plain("--user", !typed.users.empty());
  forbid_plain("--user-certificate", !typed.certified.empty());
}

// Of two kubeconfigs in one file only the last would be left.
void CheckFiles(const Flags& flags) {
  std::vector<std::string> files{flags.kubeconfig};
  for (const Guest& guest : flags.guests) files.push_back(guest.file);
  for (auto file = files.begin(); file != files.end(); ++file) {
    if (file->empty() || std::find(files.begin(), file, *file) == file) continue;
    throw UsageError("two kubeconfigs are to be written to " + Quoted(*file) +
                     ": give each a file of its own");
  }
}

Flags Converted(const Typed& typed, std::vector<std::string> program) {
  Check(typed, program);
  Flags flags{.listen = {.address = Address(typed.bind_address), .tls = !typed.plain},
              .seed = Seed(typed.seed),
              .load = {typed.load.begin(), typed.load.end()},
              .kubeconfig = typed.kubeconfig,
              .audit_log = typed.audit_log,
              .program = std::move(program),
              .program_log = typed.program_log};
  for (const auto& user : typed.users) flags.guests.push_back(GuestOf("--user", user));
  for (const auto& user : typed.certified) {
    flags.guests.push_back(GuestOf("--user-certificate", user));
  }
  CheckFiles(flags);
  for (const auto& fault : typed.faults) flags.faults.push_back(FaultOf(fault));
  return flags;
}

}  // namespace

std::variant<Flags, EarlyExit> ParseFlags(int argc, const char* const* argv) {
  const char* const* const end = argv + argc;
  const char* const* const dashes =
      std::find_if(argv, end, [](std::string_view argument) { return argument == "--"; });
  Typed typed;
  detail::CommandLine line(static_cast<int>(dashes - argv), argv, kAbout, "kopp-apiserver",
                           "[flags] [--demo -- PROGRAM [ARGUMENT...]]");
  DeclareServer(line, typed);
  DeclareUse(line, typed);
  try {
    if (auto early = line.Parse()) return *std::move(early);
    return Converted(typed, {dashes == end ? end : dashes + 1, end});
  } catch (const UsageError& error) {
    return EarlyExit{2, line.name() + ": " + error.what() + '\n'};
  }
}

}  // namespace kopp::apiserver
