#include "config_input.hpp"

#include "endpoint.hpp"
#include "openssl.hpp"
#include "token_source.hpp"

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

constexpr std::size_t kMaxFile = 1U << 20U;  // a kubeconfig of a thousand clusters; no device file

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

  // At most `limit` bytes; nullopt: errno says why.
  [[nodiscard]] std::optional<std::string> Read(std::size_t limit) const {
    std::string bytes;
    std::array<char, 16384> part{};
    while (bytes.size() < limit) {
      const ssize_t got = ::read(fd_, part.data(), part.size());
      if (got == 0) break;
      if (got > 0) bytes.append(part.data(), static_cast<std::size_t>(got));
      if (got < 0 && errno != EINTR) return std::nullopt;
    }
    return bytes;
  }

 private:
  int fd_;
};

[[noreturn]] void CannotRead(const std::filesystem::path& file, const std::string& where) {
  throw ConfigError(where + ": cannot read " + file.string() + ": " +
                    std::generic_category().message(errno) +
                    "; check the path and its permissions");
}

bool IsSpace(char c) { return std::isspace(static_cast<unsigned char>(c)) != 0; }

}  // namespace

std::optional<std::string> ReadIfThere(const std::filesystem::path& file,
                                       const std::string& where) {
  const File opened(file);
  if (!opened.IsOpen()) {
    if (errno == ENOENT || errno == ENOTDIR) return std::nullopt;
    CannotRead(file, where);
  }
  auto bytes = opened.Read(kMaxFile + 1);
  if (!bytes) CannotRead(file, where);
  if (bytes->size() > kMaxFile) {
    throw ConfigError(where + ": " + file.string() +
                      " is larger than 1 MiB; is it the right file?");
  }
  return bytes;
}

std::string ReadFile(const std::filesystem::path& file, const std::string& where) {
  auto bytes = ReadIfThere(file, where);
  if (!bytes) throw ConfigError(where + ": there is no file " + file.string() + "; check the path");
  return *std::move(bytes);
}

std::string DecodeBase64(const std::string& text, const std::string& where) {
  std::string packed;
  std::copy_if(text.begin(), text.end(), std::back_inserter(packed),
               [](char c) { return !IsSpace(c); });
  const std::size_t digits = std::min(packed.find('='), packed.size());
  const std::size_t padding = packed.size() - digits;
  std::string bytes(packed.size() / 4 * 3, '\0');
  // EVP_DecodeBlock takes '=' anywhere as a zero, and a '-' as the end of what counts.
  const bool well_formed = packed.size() % 4 == 0 && padding <= 2 &&
                           packed.find_first_not_of('=', digits) == std::string::npos &&
                           packed.find('-') == std::string::npos;
  if (!well_formed ||
      EVP_DecodeBlock(reinterpret_cast<unsigned char*>(bytes.data()),
                      reinterpret_cast<const unsigned char*>(packed.data()),
                      static_cast<int>(packed.size())) != static_cast<int>(bytes.size())) {
    throw ConfigError(where +
                      ": not base64; write it with `base64 -w0 FILE`, or name the file itself");
  }
  bytes.resize(bytes.size() - padding);
  return bytes;
}

std::string CheckedToken(std::string_view text, const std::string& where) {
  if (std::all_of(text.begin(), text.end(), IsSpace)) {
    throw ConfigError(where + ": the token is empty; put a bearer token there");
  }
  if (auto token = AsToken(text)) return *std::move(token);
  throw ConfigError(where +
                    ": the token has characters that no token has (a space, a line end or "
                    "a byte beyond ASCII); write it anew");
}

void CheckCertificates(const std::string& pem, const std::string& where) {
  const Bio bio = OverBytes(pem);
  int count = 0;
  ERR_clear_error();
  while (Certificate(PEM_read_bio_X509(bio.get(), nullptr, NoPassphrase, nullptr))) ++count;
  const bool at_end = ERR_GET_REASON(ERR_peek_last_error()) == PEM_R_NO_START_LINE;
  ERR_clear_error();
  if (count > 0 && at_end) return;
  throw ConfigError(where + ": not a PEM certificate; it has to hold " +
                    "-----BEGIN CERTIFICATE----- blocks" +
                    (count > 0 ? ", and one after the first is damaged" : ""));
}

void CheckKey(const std::string& pem, const std::string& where) {
  const Bio bio = OverBytes(pem);
  bool encrypted = false;
  const Key key(PEM_read_bio_PrivateKey(bio.get(), nullptr, NoPassphrase, &encrypted));
  ERR_clear_error();
  if (encrypted) {
    throw ConfigError(where + ": the key has a passphrase, which nobody can type here; remove it " +
                      "with `openssl pkey -in KEY -out NEW`");
  }
  if (!key) {
    throw ConfigError(where + ": not a PEM private key; it has to hold a " +
                      "-----BEGIN PRIVATE KEY----- block");
  }
}

void CheckServer(const std::string& server, const std::string& where) {
  try {
    static_cast<void>(ParseEndpoint(server));
  } catch (const ConfigError& error) {
    throw ConfigError(where + ": " + error.what());
  }
}

bool IsTls(std::string_view server) { return server.starts_with("https://"); }

}  // namespace kopp::detail
