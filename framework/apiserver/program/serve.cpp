#include "serve.hpp"

#include "account.hpp"
#include "audit_file.hpp"
#include "demo.hpp"
#include "groups.hpp"
#include "kubeconfig_file.hpp"

#include <chrono>
#include <csignal>
#include <iostream>
#include <optional>
#include <string_view>
#include <utility>

#include <environment.hpp>
#include <manifests.hpp>
#include <unistd.h>

#include <kopp/testing/api_server.hpp>

namespace kopp::apiserver {
namespace {

constexpr Duration kTick = std::chrono::milliseconds(50);
constexpr Duration kForGood = std::chrono::hours(24 * 365);  // or until the next signal

void WriteKubeconfigs(testing::ApiServer& server, const Flags& flags, const Config& administrator) {
  for (const Guest& guest : flags.guests) {
    const auto groups = GroupsOf(guest.user);
    const Config config = guest.by_certificate ? server.ConfigWithCertificate(guest.user, groups)
                                               : server.ConfigFor(guest.user, groups);
    WritePrivately(guest.file, KubeconfigText(config, guest.user));
  }
  if (!flags.kubeconfig.empty()) {
    WritePrivately(flags.kubeconfig, KubeconfigText(administrator, "kopp-admin"));
  }
}

void Inject(testing::ApiServer& server, const Flags& flags) {
  for (testing::Fault fault : flags.faults) {
    if (!flags.program.empty() && fault.user.empty()) {
      fault.user = Demo::UserOf(flags.program.front());
    }
    server.Inject(std::move(fault));
  }
}

void Announce(const Config& administrator, const Flags& flags) {
  const bool is_local = flags.listen.address.starts_with("127.") ||
                        flags.listen.address.starts_with("[::1]") ||
                        flags.listen.address.starts_with("localhost:");
  std::cout << "A Kubernetes API server in memory, at " << administrator.server << '\n';
  if (!is_local) {
    std::cout << "NOT ON LOOPBACK ONLY: whoever reaches this machine may do anything there.\n";
  }
  std::cout << std::flush;
}

// Until a signal ends it, or the demo's program ends. Returns the exit code.
int Wait(const Signals& signals, testing::ApiServer& server, Demo* demo) {
  for (;;) {
    const bool is_over = demo != nullptr && !demo->Tick();
    const auto signal =
        is_over ? std::optional(SIGPIPE) : signals.Wait(demo == nullptr ? kForGood : kTick);
    if (!signal) continue;
    if (*signal == SIGUSR1) {
      server.Restart(kForGood);
    } else if (*signal == SIGUSR2) {
      server.Restart();
    } else if (*signal == SIGCHLD) {
      if (const auto code = demo == nullptr ? std::nullopt : demo->code()) return *code;
    } else {
      if (demo != nullptr) demo->End(signals);
      return 0;
    }
  }
}

Flags WithItsManifests(Flags flags) {
  if (!flags.program.empty() && flags.load.empty()) {
    if (auto folder = Demo::ManifestsOf(flags.program.front())) {
      flags.load.push_back(std::move(*folder));
    }
  }
  return flags;
}

}  // namespace

int Serve(Flags given, const Signals& signals) {
  const Flags flags = WithItsManifests(std::move(given));
  const Manifests manifests = ReadManifestFiles(flags.load);
  std::optional<AuditFile> audit;
  if (!flags.audit_log.empty()) audit.emplace(flags.audit_log);
  std::optional<Account> account;
  if (!flags.program.empty()) {
    account.emplace(std::cout,
                    Account::Options{.program = Demo::UserOf(flags.program.front()),
                                     .colours = ::isatty(STDOUT_FILENO) == 1 &&
                                                !detail::EnvironmentVariable("NO_COLOR")});
  }
  testing::ApiServer server({.seed = flags.seed, .on_request = [&](std::string_view entry) {
                               if (audit) audit->Write(entry);
                               if (account) account->Tell(entry);
                             }});
  const Config administrator = server.Listen(flags.listen);
  Announce(administrator, flags);
  Load(server.transport(), manifests.first);
  if (!account) Load(server.transport(), manifests.custom);
  Inject(server, flags);
  WriteKubeconfigs(server, flags, administrator);
  std::optional<Demo> demo;
  if (account) demo.emplace(server, *account, flags, administrator, manifests.custom);
  return Wait(signals, server, demo ? &*demo : nullptr);
}

}  // namespace kopp::apiserver
