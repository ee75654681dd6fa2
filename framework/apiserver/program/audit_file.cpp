#include "audit_file.hpp"

#include <cerrno>
#include <iostream>
#include <string>
#include <system_error>

#include <fcntl.h>
#include <unistd.h>

namespace kopp::apiserver {

AuditFile::AuditFile(const std::filesystem::path& file)
    // Mode 0600, because the log contains Secrets.
    : descriptor_(::open(file.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600)) {
  if (descriptor_ < 0) {
    throw std::system_error(errno, std::generic_category(),
                            "cannot open the audit log " + file.string());
  }
}

AuditFile::~AuditFile() { ::close(descriptor_); }

void AuditFile::Write(std::string_view line) {
  const std::string whole = std::string(line) + '\n';
  if (::write(descriptor_, whole.data(), whole.size()) == static_cast<ssize_t>(whole.size()))
    return;
  std::call_once(warn_once_, [] {
    std::cerr << "kopp-apiserver: cannot write to the audit log: entries are missing; check the "
                 "disk space\n";
  });
}

}  // namespace kopp::apiserver
