#include "config_input.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <cstdio>
#include <memory>
#include <system_error>

#include <fcntl.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <unistd.h>

#include <kopp/config.hpp>

namespace kopp::detail {
namespace {

constexpr std::size_t kMaxFile = 1U << 20U;  // a kubeconfig of a thousand clusters; no device file
constexpr std::size_t kMaxQuoted = 120;

template <auto kFree>
struct Deleter {
  template <typename T>
  void operator()(T* object) const {
    kFree(object);
  }
};
using Bio = std::unique_ptr<BIO, Deleter<BIO_free>>;
using Certificate = std::unique_ptr<X509, Deleter<X509_free>>;
using Key = std::unique_ptr<EVP_PKEY, Deleter<EVP_PKEY_free>>;

Bio Open(const std::string& pem) {
  return Bio(BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())));
}

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

// Asked for a passphrase, says that there is none: OpenSSL would ask on the terminal.
int NoPassphrase(char* /*buffer*/, int /*size*/, int /*writing*/, void* asked) {
  *static_cast<bool*>(asked) = true;
  return -1;
}

}  // namespace

std::string Quoted(std::string_view text) {
  std::string quoted = "\"";
  for (const char c : text.substr(0, kMaxQuoted)) {
    if (static_cast<unsigned char>(c) < ' ' || c == '\x7f') {
      std::array<char, 5> escape{};
      std::snprintf(escape.data(), escape.size(), "\\x%02x", static_cast<unsigned char>(c));
      quoted += escape.data();
    } else {
      quoted += c;
    }
  }
  return quoted + (text.size() > kMaxQuoted ? "…\"" : "\"");
}

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
  while (!text.empty() && IsSpace(text.front())) text.remove_prefix(1);
  while (!text.empty() && IsSpace(text.back())) text.remove_suffix(1);
  if (text.empty()) throw ConfigError(where + ": the token is empty; put a bearer token there");
  const bool fits =
      std::all_of(text.begin(), text.end(), [](char c) { return c > ' ' && c <= '~'; });
  if (!fits) {
    throw ConfigError(where +
                      ": the token has characters that no token has (a space, a line end or "
                      "a byte beyond ASCII); write it anew");
  }
  return std::string(text);
}

void CheckCertificates(const std::string& pem, const std::string& where) {
  const Bio bio = Open(pem);
  int count = 0;
  ERR_clear_error();
  while (Certificate(PEM_read_bio_X509(bio.get(), nullptr, nullptr, nullptr))) ++count;
  const bool at_end = ERR_GET_REASON(ERR_peek_last_error()) == PEM_R_NO_START_LINE;
  ERR_clear_error();
  if (count > 0 && at_end) return;
  throw ConfigError(where + ": not a PEM certificate; it has to hold " +
                    "-----BEGIN CERTIFICATE----- blocks" +
                    (count > 0 ? ", and one after the first is damaged" : ""));
}

void CheckKey(const std::string& pem, const std::string& where) {
  const Bio bio = Open(pem);
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
  const auto scheme = server.find("://");
  const bool known = IsTls(server) || server.starts_with("http://");
  const bool clean =
      std::all_of(server.begin(), server.end(), [](char c) { return c > ' ' && c <= '~'; });
  if (known && clean && server.find_first_of("/?#:", scheme + 3) != scheme + 3 &&
      server.size() > scheme + 3) {
    return;
  }
  throw ConfigError(where + ": " + Quoted(server) +
                    " is not a server's address; write it as https://HOST:PORT");
}

bool IsTls(std::string_view server) { return server.starts_with("https://"); }

}  // namespace kopp::detail
