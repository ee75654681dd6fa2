#include "config/config_input.hpp"

#include "config/token_source.hpp"
#include "net/endpoint.hpp"
#include "system/openssl.hpp"

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

#include <kopp/config.hpp>

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

bool IsSpace(char c) { return std::isspace(static_cast<unsigned char>(c)) != 0; }

}  // namespace

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

std::string DecodeBase64(const std::string& text, const std::string& where) {
  std::string compact;
  std::copy_if(text.begin(), text.end(), std::back_inserter(compact),
               [](char c) { return !IsSpace(c); });
  const std::size_t digit_count = std::min(compact.find('='), compact.size());
  const std::size_t padding = compact.size() - digit_count;
  std::string bytes(compact.size() / 4 * 3, '\0');
  // EVP_DecodeBlock decodes '=' as zero at any position, and takes '-' for the end of the data.
  // Reject both first.
  const bool well_formed = compact.size() % 4 == 0 && padding <= 2 &&
                           compact.find_first_not_of('=', digit_count) == std::string::npos &&
                           compact.find('-') == std::string::npos;
  if (!well_formed ||
      EVP_DecodeBlock(reinterpret_cast<unsigned char*>(bytes.data()),
                      reinterpret_cast<const unsigned char*>(compact.data()),
                      static_cast<int>(compact.size())) != static_cast<int>(bytes.size())) {
    throw ConfigError(
        where + ": invalid Base64; create it with `base64 -w0 FILE`, or reference the file itself");
  }
  bytes.resize(bytes.size() - padding);
  return bytes;
}

std::string RequireToken(std::string_view text, const std::string& where) {
  if (std::all_of(text.begin(), text.end(), IsSpace)) {
    throw ConfigError(where + ": the token is empty; a bearer token is required");
  }
  if (auto token = ParseToken(text)) return *std::move(token);
  throw ConfigError(where +
                    ": the token contains characters that are not allowed in a token (white space, "
                    "control characters or bytes beyond ASCII); replace it");
}

void ValidateCertificates(const std::string& pem, const std::string& where) {
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

void ValidateKey(const std::string& pem, const std::string& where) {
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

void ValidateServer(const std::string& server, const std::string& where) {
  try {
    static_cast<void>(ParseEndpoint(server));
  } catch (const ConfigError& error) {
    throw ConfigError(where + ": " + error.what());
  }
}

bool IsTls(std::string_view server) { return server.starts_with("https://"); }

}  // namespace kopp::detail
