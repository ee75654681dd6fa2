#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

// Functions that read and validate the external input of LoadConfig. They throw ConfigError; the
// message starts with `where`, for example `kubeconfig /home/me/.kube/config: user "me": token`,
// and never contains a credential. The functions that read files may block. All are thread-safe.
namespace kopp::detail {

/// Returns the content of `file`, or nullopt if it does not exist. Throws if it is larger than 1
/// MiB or cannot be read.
[[nodiscard]] std::optional<std::string> ReadFileIfExists(const std::filesystem::path& file,
                                                          const std::string& where);

/// Like ReadFileIfExists, but throws if `file` does not exist.
[[nodiscard]] std::string ReadFile(const std::filesystem::path& file, const std::string& where);

/// Decodes standard Base64 with padding. White space in `text` is ignored.
[[nodiscard]] std::string DecodeBase64(const std::string& text, const std::string& where);

/// Returns the token in `text` without surrounding white space. Throws unless it is valid in an
/// HTTP header.
[[nodiscard]] std::string RequireToken(std::string_view text, const std::string& where);

/// Throws unless `pem` contains one or more PEM certificates and no damaged one.
void ValidateCertificates(const std::string& pem, const std::string& where);

/// Throws unless `pem` contains a PEM private key without a passphrase.
void ValidateKey(const std::string& pem, const std::string& where);

/// Throws unless ParseEndpoint accepts `server`.
void ValidateServer(const std::string& server, const std::string& where);

/// Returns whether `server` is an https:// URL. Credentials are only sent over TLS.
[[nodiscard]] bool IsTls(std::string_view server);

}  // namespace kopp::detail
