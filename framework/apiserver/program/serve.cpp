#include "serve.hpp"

#include "all_extensions.hpp"
#include "base/environment.hpp"
#include "demo.hpp"
#include "demo_log.hpp"
#include "environment/extended_api_server.hpp"
#include "environment/manifests.hpp"
#include "kubeconfig_file.hpp"

#include <cerrno>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <iostream>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <unistd.h>

namespace kopp::apiserver {
namespace {

constexpr Duration kTick = std::chrono::milliseconds(50);
constexpr Duration kForever = std::chrono::hours(24 * 365);

/// Appends lines to an audit log file. Each line is written with one system call, so that other
/// writers of the file cannot split it. Thread-safe.
class AuditFile {
 public:
  /// Opens or creates the file. Throws std::system_error with the file name.
  explicit AuditFile(const std::filesystem::path& file)
      // Mode 0600, because the log contains Secrets.
      : descriptor_(::open(file.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600)) {
    if (descriptor_ >= 0) return;
    throw std::system_error(errno, std::generic_category(),
                            "cannot open the audit log " + file.string());
  }
  ~AuditFile() { ::close(descriptor_); }
  AuditFile(const AuditFile&) = delete;
  AuditFile& operator=(const AuditFile&) = delete;

  /// Returns when the line is in the file. Does not throw: the first failure prints a warning to
  /// standard error, so that a full disk does not stop the server.
  void Write(std::string_view line) {
    const std::string whole = std::string(line) + '\n';
    if (::write(descriptor_, whole.data(), whole.size()) == static_cast<ssize_t>(whole.size()))
      return;
    std::call_once(warn_once_, [] {
      std::cerr << "kopp-apiserver: cannot write to the audit log: entries are missing; check the "
                   "disk space\n";
    });
  }

 private:
  int descriptor_;
  std::once_flag warn_once_;
};

void WriteKubeconfigs(testing::ApiServer& server, const Flags& flags, const Config& admin_config) {
  for (const UserKubeconfig& entry : flags.user_kubeconfigs) {
    const auto groups = ServiceAccountGroups(entry.user);
    const Config config = entry.by_certificate ? server.ConfigWithCertificate(entry.user, groups)
                                               : server.ConfigFor(entry.user, groups);
    WritePrivateFile(entry.file, KubeconfigText(config, entry.user));
  }
  if (!flags.kubeconfig.empty()) {
    WritePrivateFile(flags.kubeconfig, KubeconfigText(admin_config, "kopp-admin"));
  }
}

void Inject(testing::ApiServer& server, const Flags& flags) {
  for (testing::Fault fault : flags.faults) {
    if (!flags.program.empty() && fault.user.empty()) {
      fault.user = Demo::ServiceAccountUser(flags.program.front());
    }
    server.Inject(std::move(fault));
  }
}

void PrintAddress(const Config& admin_config, const Flags& flags) {
  const bool is_local = flags.listen.address.starts_with("127.") ||
                        flags.listen.address.starts_with("[::1]") ||
                        flags.listen.address.starts_with("localhost:");
  std::cout << "In-memory Kubernetes API server listening at " << admin_config.server << '\n';
  if (!is_local) {
    std::cout << "WARNING: not limited to loopback: anyone who can reach this address has full "
                 "access.\n";
  }
  std::cout << std::flush;
}

// Handles signals until one stops the server, or until the program of the demo exits. Returns the
// exit code.
int WaitForEnd(const Signals& signals, testing::ApiServer& server, Demo* demo) {
  for (;;) {
    const bool is_output_closed = demo != nullptr && !demo->Tick();
    const auto signal = is_output_closed ? std::optional(SIGPIPE)
                                         : signals.Wait(demo == nullptr ? kForever : kTick);
    if (!signal) continue;
    if (*signal == SIGUSR1) {
      server.Restart(kForever);
    } else if (*signal == SIGUSR2) {
      server.Restart();
    } else if (*signal == SIGCHLD) {
      if (const auto code = demo == nullptr ? std::nullopt : demo->ReportExit()) return *code;
    } else {
      if (demo != nullptr) demo->Stop(signals);
      return 0;
    }
  }
}

// Adds the manifests that are installed with the program of the demo, unless --load is given.
Flags WithDemoManifests(Flags flags) {
  if (!flags.program.empty() && flags.load.empty()) {
    if (auto folder = Demo::FindDemoManifests(flags.program.front())) {
      flags.load.push_back(std::move(*folder));
    }
  }
  return flags;
}

}  // namespace

int Serve(Flags given, const Signals& signals) {
  const Flags flags = WithDemoManifests(std::move(given));
  const Manifests manifests = ReadManifests(flags.load);
  std::optional<AuditFile> audit;
  if (!flags.audit_log.empty()) audit.emplace(flags.audit_log);
  std::optional<DemoLog> demo_log;
  if (!flags.program.empty()) {
    demo_log.emplace(
        std::cout, DemoLog::Options{.program_user = Demo::ServiceAccountUser(flags.program.front()),
                                    .use_colors = ::isatty(STDOUT_FILENO) == 1 &&
                                                  !detail::EnvironmentVariable("NO_COLOR")});
  }
  testing::ExtendedApiServer server(AllExtensions(), {.seed = flags.seed,
                                                      .authorization = flags.authorization,
                                                      .on_request =
                                                          [&](std::string_view entry) {
                                                            if (audit) audit->Write(entry);
                                                            if (demo_log)
                                                              demo_log->LogRequest(entry);
                                                          },
                                                      .resolve = flags.resolve});
  const Config admin_config = server.Listen(flags.listen);
  PrintAddress(admin_config, flags);
  ApplyManifests(server.transport(), manifests.base);
  if (!demo_log) ApplyManifests(server.transport(), manifests.custom_resources);
  Inject(server, flags);
  WriteKubeconfigs(server, flags, admin_config);
  std::optional<Demo> demo;
  if (demo_log) demo.emplace(server, *demo_log, flags, admin_config, manifests.custom_resources);
  return WaitForEnd(signals, server, demo ? &*demo : nullptr);
}

}  // namespace kopp::apiserver
