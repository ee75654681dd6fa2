#pragma once

#include "child.hpp"
#include "demo_log.hpp"
#include "flags.hpp"
#include "signals.hpp"

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <testing/manifests.hpp>

#include <kopp/testing/api_server.hpp>

namespace kopp::apiserver {

/// Demonstrates an operator: runs a program against the server as a service account with the
/// program's name, creates the custom resources when the program starts to watch, and prints
/// kubectl commands to try when the program is idle. The destructor kills the program and removes
/// the temporary files. Not thread-safe.
class Demo {
 public:
  /// The directory of the manifests that are installed with `program`: share/kopp/PROGRAM/demo in
  /// the parent of the directory of the program. Empty if it does not exist.
  [[nodiscard]] static std::optional<std::filesystem::path> FindDemoManifests(
      const std::string& program);
  /// The user name of `program`: "system:serviceaccount:default:PROGRAM".
  [[nodiscard]] static std::string ServiceAccountUser(const std::string& program);

  /// Starts the program. `server` must listen. `server` and `demo_log` must outlive the Demo.
  /// Throws std::runtime_error if the program cannot start.
  Demo(testing::ApiServer& server, DemoLog& demo_log, const Flags& flags,
       const Config& administrator, std::vector<Manifest> custom_resources);
  ~Demo() = default;
  Demo(const Demo&) = delete;
  Demo& operator=(const Demo&) = delete;

  /// Runs the steps that are due. Call it periodically. Returns false when the output is closed.
  bool Tick();
  /// The program's exit code; empty while it runs. If the code is not 0, prints the last lines of
  /// the program's output to standard error.
  [[nodiscard]] std::optional<int> exit_code();
  /// Stops the program. Blocks until it has stopped, or for at most 10 seconds.
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
  std::filesystem::path log_;
  std::unique_ptr<Child> child_;
  TimePoint start_time_;
  std::optional<TimePoint> load_time_;  // when the custom resources were created
  bool commands_printed_ = false;
};

}  // namespace kopp::apiserver
