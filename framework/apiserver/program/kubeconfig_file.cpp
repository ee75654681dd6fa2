#include "kubeconfig_file.hpp"

#include <cerrno>
#include <cstdlib>
#include <stdexcept>
#include <string_view>
#include <system_error>

#include <base/base64.hpp>
#include <fcntl.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

namespace kopp::apiserver {
namespace {

namespace fs = std::filesystem;

// Returns a line "    NAME: VALUE", or "" for an empty value. A JSON string is also a valid YAML
// string.
std::string YamlField(std::string_view name, const std::string& value) {
  if (value.empty()) return "";
  return "    " + std::string(name) + ": " + nlohmann::json(value).dump() + '\n';
}

// A new file beside `file` that replaces it when it is complete. The destructor removes the
// temporary file if Write was not called or has failed.
class TempFile {
 public:
  explicit TempFile(const fs::path& file) : name_(file.string() + ".XXXXXX") {
    descriptor_ = ::mkstemp(name_.data());  // mode 600
    if (descriptor_ < 0) ThrowError(file);
  }
  ~TempFile() {
    if (descriptor_ >= 0) ::close(descriptor_);
    if (!name_.empty()) ::unlink(name_.c_str());
  }
  TempFile(const TempFile&) = delete;
  TempFile& operator=(const TempFile&) = delete;

  void Write(std::string_view text, const fs::path& file) {
    while (!text.empty()) {
      const ssize_t written = ::write(descriptor_, text.data(), text.size());
      if (written < 0) ThrowError(file);
      text.remove_prefix(static_cast<std::size_t>(written));
    }
    fs::rename(name_, file);
    name_.clear();
  }

 private:
  [[noreturn]] static void ThrowError(const fs::path& file) {
    throw std::system_error(errno, std::generic_category(), "cannot write " + file.string());
  }

  std::string name_;
  int descriptor_ = -1;
};

/// Writes without blocking. Fails if a pipe has no reader.
void WriteToPipe(const fs::path& file, std::string_view text) {
  const int descriptor = ::open(file.c_str(), O_WRONLY | O_NONBLOCK | O_CLOEXEC);
  const ssize_t written = descriptor < 0 ? -1 : ::write(descriptor, text.data(), text.size());
  const int error = errno;
  if (descriptor >= 0) ::close(descriptor);
  if (written == static_cast<ssize_t>(text.size())) return;
  throw std::runtime_error("cannot write " + file.string() + ": " +
                           (written >= 0     ? "it accepted only a part of the text"
                            : error == ENXIO ? "the pipe has no reader; start the reader first"
                                             : std::generic_category().message(error)));
}

fs::path ResolveSymlinks(fs::path file) {
  constexpr int kMaxLinks = 40;
  for (int links = 0; links < kMaxLinks && fs::is_symlink(file); ++links) {
    file = file.parent_path() / fs::read_symlink(file);
  }
  return file;
}

}  // namespace

std::string KubeconfigText(const Config& config, const std::string& user) {
  const std::string name = nlohmann::json(user).dump();
  std::string credentials =
      YamlField("token", std::string(config.token.Reveal())) +
      YamlField("client-certificate-data", detail::EncodeBase64(config.client_certificate)) +
      YamlField("client-key-data", detail::EncodeBase64(config.client_key.Reveal()));
  if (credentials.empty()) credentials = "    {}\n";
  return "apiVersion: v1\nkind: Config\nclusters:\n- name: kopp\n  cluster:\n" +
         YamlField("server", config.server) +
         YamlField("certificate-authority-data",
                   detail::EncodeBase64(config.certificate_authority)) +
         "users:\n- name: " + name + "\n  user:\n" + credentials + "contexts:\n- name: " + name +
         "\n  context: {cluster: kopp, user: " + name + "}\ncurrent-context: " + name + '\n';
}

void WritePrivateFile(const fs::path& file, const std::string& text) {
  const fs::file_status status = fs::status(file);
  if (fs::is_directory(status)) {
    throw std::runtime_error("cannot write " + file.string() + ": it is a directory");
  }
  if (fs::exists(status) && !fs::is_regular_file(status)) {  // a pipe or a terminal
    return WriteToPipe(file, text);
  }
  const fs::path target = ResolveSymlinks(file);
  TempFile(target).Write(text, target);
}

std::vector<std::string> ServiceAccountGroups(const std::string& user) {
  constexpr std::string_view kPrefix = "system:serviceaccount:";
  if (!user.starts_with(kPrefix)) return {};
  const std::string account = user.substr(kPrefix.size());  // NAMESPACE:NAME
  const auto colon = account.find(':');
  if (colon == std::string::npos) return {};
  return {"system:serviceaccounts", "system:serviceaccounts:" + account.substr(0, colon)};
}

}  // namespace kopp::apiserver
