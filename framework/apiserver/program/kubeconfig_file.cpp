#include "kubeconfig_file.hpp"

#include <cerrno>
#include <cstdlib>
#include <stdexcept>
#include <string_view>
#include <system_error>

#include <base64.hpp>
#include <fcntl.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

namespace kopp::apiserver {
namespace {

namespace fs = std::filesystem;

// JSON's texts are YAML's too.
std::string Line(std::string_view name, const std::string& value) {
  if (value.empty()) return "";
  return "    " + std::string(name) + ": " + nlohmann::json(value).dump() + '\n';
}

// Removes what it names, unless it has got another name.
class Unfinished {
 public:
  explicit Unfinished(const fs::path& file) : name_(file.string() + ".XXXXXX") {
    descriptor_ = ::mkstemp(name_.data());  // mode 600
    if (descriptor_ < 0) Fail(file);
  }
  ~Unfinished() {
    if (descriptor_ >= 0) ::close(descriptor_);
    if (!name_.empty()) ::unlink(name_.c_str());
  }
  Unfinished(const Unfinished&) = delete;
  Unfinished& operator=(const Unfinished&) = delete;

  void Write(std::string_view text, const fs::path& file) {
    while (!text.empty()) {
      const ssize_t written = ::write(descriptor_, text.data(), text.size());
      if (written < 0) Fail(file);
      text.remove_prefix(static_cast<std::size_t>(written));
    }
    fs::rename(name_, file);
    name_.clear();
  }

 private:
  [[noreturn]] static void Fail(const fs::path& file) {
    throw std::system_error(errno, std::generic_category(), "cannot write " + file.string());
  }

  std::string name_;
  int descriptor_ = -1;
};

/// Does not wait for somebody who reads.
void WriteInto(const fs::path& file, std::string_view text) {
  const int descriptor = ::open(file.c_str(), O_WRONLY | O_NONBLOCK | O_CLOEXEC);
  const ssize_t written = descriptor < 0 ? -1 : ::write(descriptor, text.data(), text.size());
  const int error = errno;
  if (descriptor >= 0) ::close(descriptor);
  if (written == static_cast<ssize_t>(text.size())) return;
  throw std::runtime_error("cannot write " + file.string() + ": " +
                           (written >= 0     ? "it takes only a part"
                            : error == ENXIO ? "nobody reads it yet; begin with who reads"
                                             : std::generic_category().message(error)));
}

fs::path WhereLinksLead(fs::path file) {
  constexpr int kMostLinks = 40;
  for (int links = 0; links < kMostLinks && fs::is_symlink(file); ++links) {
    file = file.parent_path() / fs::read_symlink(file);
  }
  return file;
}

}  // namespace

std::string KubeconfigText(const Config& config, const std::string& user) {
  const std::string name = nlohmann::json(user).dump();
  std::string credentials = Line("token", config.token) +
                            Line("client-certificate-data", Encoded(config.client_certificate)) +
                            Line("client-key-data", Encoded(config.client_key));
  if (credentials.empty()) credentials = "    {}\n";
  return "apiVersion: v1\nkind: Config\nclusters:\n- name: kopp\n  cluster:\n" +
         Line("server", config.server) +
         Line("certificate-authority-data", Encoded(config.certificate_authority)) +
         "users:\n- name: " + name + "\n  user:\n" + credentials + "contexts:\n- name: " + name +
         "\n  context: {cluster: kopp, user: " + name + "}\ncurrent-context: " + name + '\n';
}

void WritePrivately(const fs::path& file, const std::string& text) {
  const fs::file_status there = fs::status(file);
  if (fs::is_directory(there)) {
    throw std::runtime_error("cannot write " + file.string() + ": it is a folder");
  }
  if (fs::exists(there) && !fs::is_regular_file(there)) {  // a pipe, or the terminal
    return WriteInto(file, text);
  }
  const fs::path target = WhereLinksLead(file);
  Unfinished(target).Write(text, target);
}

}  // namespace kopp::apiserver
