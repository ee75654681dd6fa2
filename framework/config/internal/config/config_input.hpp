#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include <kopp/config.hpp>

// Functions that read and validate the external input of LoadConfig. They throw ConfigError; the
// message starts with `where`, for example `kubeconfig /home/me/.kube/config: user "me": token`,
// and never contains a credential. The functions that read files may block. All are thread-safe.
namespace kopp::detail {

/// Throws if `text` is the content of a file instead of its path: errors show paths, and the
/// content may have credentials.
void RequirePath(std::string_view text, const std::string& where);

/// Returns the content of `file`, or nullopt if it does not exist. Throws if it is larger than 1
/// MiB or cannot be read.
[[nodiscard]] std::optional<std::string> ReadFileIfExists(const std::filesystem::path& file,
                                                          const std::string& where);

/// Like ReadFileIfExists, but throws if `file` does not exist.
[[nodiscard]] std::string ReadFile(const std::filesystem::path& file, const std::string& where);

/// Decodes standard Base64 with padding. White space in `text` is ignored.
[[nodiscard]] std::string DecodeBase64Data(std::string text, const std::string& where);

/// Returns the token in `text` without surrounding white space. Throws if it is empty or has a
/// character that is not allowed in an HTTP header: a line break would allow header injection.
[[nodiscard]] SecretString RequireToken(std::string_view text, const std::string& where);

/// Throws unless `pem` contains one or more PEM certificates and no damaged one.
void ValidateCertificates(std::string_view pem, const std::string& where);

/// Throws unless `pem` contains a PEM private key without a passphrase.
void ValidateKey(std::string_view pem, const std::string& where);

/// Throws if a setting of `exec` is missing or not supported.
void ValidateExec(const ExecConfig& exec, const std::string& where);

/// Throws if `config` has a plugin and also a token or a client certificate: the credential to use
/// would be ambiguous.
void RequireOneCredential(const Config& config, const std::string& where);

/// Throws if `impersonate` has other settings without a user, or a value that cannot be sent in an
/// HTTP header.
void ValidateImpersonation(const ImpersonationConfig& impersonate, const std::string& where);

/// Throws unless ParseEndpoint accepts `server`.
void ValidateServer(const std::string& server, const std::string& where);

/// Returns whether `server` is an https:// URL. Credentials are only sent over TLS.
[[nodiscard]] bool IsTls(std::string_view server);

}  // namespace kopp::detail
