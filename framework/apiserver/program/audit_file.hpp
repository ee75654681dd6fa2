#pragma once

#include <filesystem>
#include <mutex>
#include <string_view>

namespace kopp::apiserver {

/// Appends lines to an audit log file. Each line is written with one system call, so that other
/// writers of the file cannot split it. Thread-safe.
class AuditFile {
 public:
  /// Opens or creates the file. Throws std::system_error with the file name.
  explicit AuditFile(const std::filesystem::path& file);
  ~AuditFile();
  AuditFile(const AuditFile&) = delete;
  AuditFile& operator=(const AuditFile&) = delete;

  /// Returns when the line is in the file. Does not throw: the first failure prints a warning to
  /// standard error, so that a full disk does not stop the server.
  void Write(std::string_view line);

 private:
  int descriptor_;
  std::once_flag warn_once_;
};

}  // namespace kopp::apiserver
