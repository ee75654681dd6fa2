#pragma once

#include "account.hpp"
#include "child.hpp"
#include "flags.hpp"
#include "signals.hpp"

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <manifests.hpp>

#include <kopp/testing/api_server.hpp>

namespace kopp::apiserver {

/// A program at work on a server, for somebody who looks on: it runs as a service account of its
/// name, gets its custom resources once it watches, and when it comes to rest three commands are
/// shown with which to go on. Leaves nothing behind. Used by one thread.
class Demo {
 public:
  /// Where a program's own objects are that it is shown with, if it comes with any: in
  /// share/kopp/PROGRAM/demo beside the folder that it is in.
  [[nodiscard]] static std::optional<std::filesystem::path> ManifestsOf(const std::string& program);
  /// The user that `program` is.
  [[nodiscard]] static std::string UserOf(const std::string& program);

  /// Starts the program. `server`, which listens, and `account` outlive it. Throws
  /// std::runtime_error where the program cannot be run.
  Demo(testing::ApiServer& server, Account& account, const Flags& flags,
       const Config& administrator, std::vector<Manifest> custom);
  ~Demo() = default;
  Demo(const Demo&) = delete;
  Demo& operator=(const Demo&) = delete;

  /// Does what it is time for: to be called now and then. False when nobody hears the account any
  /// more.
  bool Tick();
  /// The program's exit code, once it has ended; what it said last is told unless it is 0.
  [[nodiscard]] std::optional<int> code();
  /// Ends the program.
  void End(const Signals& signals);

 private:
  /// Goes with all that is in it.
  class Folder {
   public:
    Folder();
    ~Folder();
    Folder(const Folder&) = delete;
    Folder& operator=(const Folder&) = delete;

    [[nodiscard]] std::filesystem::path operator/(const char* name) const { return path_ / name; }

   private:
    std::filesystem::path path_;
  };

  void LoadCustom();
  void ShowCommands();

  testing::ApiServer& server_;
  Account& account_;
  std::vector<Manifest> custom_;  // loaded at `loaded_`
  Folder folder_;
  std::filesystem::path log_;
  std::unique_ptr<Child> child_;
  TimePoint begin_;
  TimePoint loaded_{};
  bool shown_ = false;
};

}  // namespace kopp::apiserver
