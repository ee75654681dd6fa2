#pragma once

#include "child.hpp"
#include "demo_log.hpp"
#include "environment/manifests.hpp"
#include "flags.hpp"
#include "signals.hpp"

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <kopp/testing/api_server.hpp>

namespace kopp::apiserver {

/// Runs an operator against the server and shows its requests. The operator's user is the service
/// account of ServiceAccountUser(). The custom resources are created when the operator starts its
/// first watch, or after 5 seconds. When the operator is idle, kubectl commands to try are printed.
/// The destructor kills the operator and removes the temporary files. Not thread-safe.
class Demo {
 public:
  /// Returns the directory PREFIX/share/kopp/NAME/demo for a program PREFIX/bin/NAME. `program` is
  /// a path, or a name that is searched in $PATH. Returns std::nullopt if the program or the
  /// directory does not exist.
  [[nodiscard]] static std::optional<std::filesystem::path> FindDemoManifests(
      const std::string& program);
  /// Returns the user name for a program: "system:serviceaccount:default:NAME", with the file name
  /// of `program`.
  [[nodiscard]] static std::string ServiceAccountUser(const std::string& program);

  /// Starts `flags.program`, which must not be empty. `server` must be listening. `server` and
  /// `demo_log` must outlive the Demo. Throws std::runtime_error if the program cannot start or a
  /// file cannot be written.
  Demo(testing::ApiServer& server, DemoLog& demo_log, const Flags& flags,
       const Config& admin_config, std::vector<Manifest> custom_resources);
  ~Demo() = default;
  Demo(const Demo&) = delete;
  Demo& operator=(const Demo&) = delete;

  /// Creates the custom resources and prints the kubectl commands when their time has come. Call it
  /// periodically, for example every 50 ms. Returns false after the output was closed.
  bool Tick();
  /// Returns the program's exit code, or std::nullopt while it runs. If the code is not 0, each
  /// call prints the last 10 lines of the program's output to standard error.
  std::optional<int> ReportExit();
  /// Sends SIGTERM to the program. Blocks until it has stopped, for at most 10 seconds or until
  /// this process receives SIGINT, SIGTERM or SIGQUIT. The destructor kills the program if it still
  /// runs.
  void Stop(const Signals& signals);

 private:
  /// A temporary directory. The destructor removes it with its contents.
  class TempDirectory {
   public:
    TempDirectory();
    ~TempDirectory();
    TempDirectory(const TempDirectory&) = delete;
    TempDirectory& operator=(const TempDirectory&) = delete;

    [[nodiscard]] std::filesystem::path operator/(const char* name) const { return path_ / name; }

   private:
    std::filesystem::path path_;
  };

  void CreateCustomResources();
  void PrintCommands();

  testing::ApiServer& server_;
  DemoLog& demo_log_;
  std::vector<Manifest> custom_resources_;
  TempDirectory directory_;
  std::filesystem::path program_log_path_;
  std::unique_ptr<Child> child_;
  TimePoint start_time_;
  std::optional<TimePoint> custom_resources_created_at_;
  bool commands_printed_ = false;
};

}  // namespace kopp::apiserver
