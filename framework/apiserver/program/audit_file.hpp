#pragma once

#include <filesystem>
#include <mutex>
#include <string_view>

namespace kopp::apiserver {

/// An audit log on disk: a line is there as soon as Write returns, whole, whoever writes beside it.
/// Safe to use from any thread.
class AuditFile {
 public:
  /// Appends to what is there. Throws std::system_error.
  explicit AuditFile(const std::filesystem::path& file);
  ~AuditFile();
  AuditFile(const AuditFile&) = delete;
  AuditFile& operator=(const AuditFile&) = delete;

  /// Says once on standard error when it cannot: a full disk does not end the server.
  void Write(std::string_view line);

 private:
  int descriptor_;
  std::once_flag complaint_;
};

}  // namespace kopp::apiserver
