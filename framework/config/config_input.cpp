#include "config/config_input.hpp"

#include "base/base64.hpp"
#include "base/openssl.hpp"
#include "base/quoted.hpp"
#include "net/endpoint.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <unistd.h>

namespace kopp::detail {
namespace {

constexpr std::size_t kMaxFileBytes =
    1U << 20U;  // enough for a thousand clusters; stops reading device files

class File {
 public:
  explicit File(const std::filesystem::path& path)
      : fd_(::open(path.c_str(), O_RDONLY | O_CLOEXEC)) {}
  ~File() {
    if (fd_ >= 0) ::close(fd_);
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  [[nodiscard]] bool IsOpen() const { return fd_ >= 0; }

  // Reads until the end of the file or until at least `limit` bytes are read. Returns nullopt on
  // error, with errno set.
  [[nodiscard]] std::optional<std::string> Read(std::size_t limit) const {
    std::string bytes;
    std::array<char, 16384> buffer{};
    while (bytes.size() < limit) {
      const ssize_t received = ::read(fd_, buffer.data(), buffer.size());
      if (received == 0) break;
      if (received > 0) bytes.append(buffer.data(), static_cast<std::size_t>(received));
      if (received < 0 && errno != EINTR) return std::nullopt;
    }
    return bytes;
  }

 private:
  int fd_;
};

[[noreturn]] void ThrowReadError(const std::filesystem::path& file, const std::string& where) {
  throw ConfigError(where + ": cannot read " + file.string() + ": " +
                    std::generic_category().message(errno) +
                    "; check the path and its permissions");
}

constexpr const char* kExecV1 = "client.authentication.k8s.io/v1";
constexpr const char* kExecV1Beta1 = "client.authentication.k8s.io/v1beta1";

// A server would remove surrounding blanks from a header and so see another value.
void RequireHeaderValue(std::string_view value, const std::string& where) {
  const auto is_allowed = [](char c) {
    return static_cast<unsigned char>(c) >= ' ' && c != '\x7f';
  };
  const bool has_outer_blank = value.starts_with(' ') || value.ends_with(' ');
  if (!has_outer_blank && std::all_of(value.begin(), value.end(), is_allowed)) return;
  throw ConfigError(where + ": " + Quoted(value) +
                    " cannot be sent in an HTTP header; remove line breaks, other control " +
                    "characters and surrounding blanks");
}

bool IsSpace(char c) { return std::isspace(static_cast<unsigned char>(c)) != 0; }

}  // namespace

void RequirePath(std::string_view text, const std::string& where) {
  const bool is_content = text.find('\n') != std::string_view::npos || text.starts_with('{') ||
                          text.starts_with("-----BEGIN");
  if (!is_content) return;
  throw ConfigError(where +
                    " must be the path of a file, but is the content of one; write it to a file");
}

std::optional<std::string> ReadFileIfExists(const std::filesystem::path& file,
                                            const std::string& where) {
  const File opened(file);
  if (!opened.IsOpen()) {
    if (errno == ENOENT || errno == ENOTDIR) return std::nullopt;
    ThrowReadError(file, where);
  }
  auto bytes = opened.Read(kMaxFileBytes + 1);
  if (!bytes) ThrowReadError(file, where);
  if (bytes->size() > kMaxFileBytes) {
    throw ConfigError(where + ": " + file.string() +
                      " is larger than 1 MiB, the maximum; pass the correct file");
  }
  return bytes;
}

std::string ReadFile(const std::filesystem::path& file, const std::string& where) {
  auto bytes = ReadFileIfExists(file, where);
  if (!bytes)
    throw ConfigError(where + ": the file " + file.string() + " does not exist; check the path");
  return *std::move(bytes);
}

std::string DecodeBase64Data(std::string text, const std::string& where) {
  std::erase_if(text, IsSpace);
  if (auto bytes = DecodeBase64(text)) return *std::move(bytes);
  throw ConfigError(
      where + ": invalid Base64; create it with `base64 -w0 FILE`, or reference the file itself");
}

SecretString RequireToken(std::string_view text, const std::string& where) {
  while (!text.empty() && IsSpace(text.front())) text.remove_prefix(1);
  while (!text.empty() && IsSpace(text.back())) text.remove_suffix(1);
  if (text.empty()) throw ConfigError(where + ": the token is empty; a bearer token is required");
  const auto is_visible = [](char c) { return c > ' ' && c < '\x7f'; };
  if (std::all_of(text.begin(), text.end(), is_visible)) return text;
  throw ConfigError(where +
                    ": the token contains characters that are not allowed in a token (white space, "
                    "control characters or bytes beyond ASCII); replace it");
}

void ValidateCertificates(std::string_view pem, const std::string& where) {
  const Bio bio = MemoryBio(pem);
  int count = 0;
  ERR_clear_error();
  while (Certificate(PEM_read_bio_X509(bio.get(), nullptr, RejectPassphrase, nullptr))) ++count;
  const bool at_end = ERR_GET_REASON(ERR_peek_last_error()) == PEM_R_NO_START_LINE;
  ERR_clear_error();
  if (count > 0 && at_end) return;
  if (count > 0) {
    throw ConfigError(where + ": certificate " + std::to_string(count + 1) +
                      " is damaged; replace it, or remove it");
  }
  throw ConfigError(where + ": not a PEM certificate; it must contain valid " +
                    "-----BEGIN CERTIFICATE----- blocks");
}

void ValidateKey(std::string_view pem, const std::string& where) {
  const Bio bio = MemoryBio(pem);
  bool encrypted = false;
  const Key key(PEM_read_bio_PrivateKey(bio.get(), nullptr, RejectPassphrase, &encrypted));
  ERR_clear_error();
  if (encrypted) {
    throw ConfigError(where + ": the key has a passphrase, which is not supported; remove it " +
                      "with `openssl pkey -in KEY -out NEW`");
  }
  if (!key) {
    throw ConfigError(where + ": not a PEM private key; it must contain a " +
                      "-----BEGIN PRIVATE KEY----- block");
  }
}

void ValidateExec(const ExecConfig& exec, const std::string& where) {
  if (exec.command.empty()) {
    throw ConfigError(where + ": command is missing; add the name of the credential plugin");
  }
  if (exec.api_version != kExecV1 && exec.api_version != kExecV1Beta1) {
    throw ConfigError(where + ": apiVersion " + Quoted(exec.api_version) +
                      " is not supported; use " + kExecV1 + " or " + kExecV1Beta1 +
                      ", and a version of the plugin that supports it");
  }
  for (const auto& [name, value] : exec.env) {
    if (!name.empty() && name.find('=') == std::string::npos) continue;
    throw ConfigError(where + ": env: " + Quoted(name) +
                      " is not a name of an environment variable; correct it");
  }
}

void RequireOneCredential(const Config& config, const std::string& where) {
  const bool has_other = !config.token.empty() || !config.token_file.empty() ||
                         !config.client_certificate.empty() ||
                         !config.client_certificate_file.empty();
  if (config.exec.command.empty() || !has_other) return;
  throw ConfigError(where + ": exec excludes a token and a client certificate; remove exec, or " +
                    "the others");
}

void ValidateImpersonation(const ImpersonationConfig& impersonate, const std::string& where) {
  const auto& [user, uid, groups, extra] = impersonate;
  if (user.empty() && (!uid.empty() || !groups.empty() || !extra.empty())) {
    throw ConfigError(where + ": as-uid, as-groups and as-user-extra require as; add " +
                      "\"as: USER\", or remove them");
  }
  RequireHeaderValue(user, where + ": as");
  RequireHeaderValue(uid, where + ": as-uid");
  for (const std::string& group : groups) RequireHeaderValue(group, where + ": as-groups");
  for (const auto& [key, values] : extra) {
    if (key.empty()) throw ConfigError(where + ": as-user-extra: a key is empty; remove it");
    for (const std::string& value : values) {
      RequireHeaderValue(value, where + ": as-user-extra: " + Quoted(key));
    }
  }
}

void ValidateServer(const std::string& server, const std::string& where) {
  try {
    static_cast<void>(ParseEndpoint(server));
  } catch (const ConfigError& error) {
    throw ConfigError(where + ": " + error.what());
  }
}

bool IsTls(std::string_view server) { return ConsumeScheme(server, "https://"); }

}  // namespace kopp::detail
