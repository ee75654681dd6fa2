#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

// What LoadConfig takes in from outside, each checked where it enters. `where` begins the message
// of the ConfigError that each of these throws: `kubeconfig /home/me/.kube/config: user "me":
// token`. No message holds a credential.
namespace kopp::detail {

/// The bytes of `file`, at most 1 MiB; nullopt where there is no such file.
[[nodiscard]] std::optional<std::string> ReadIfThere(const std::filesystem::path& file,
                                                     const std::string& where);

/// The bytes of `file`, which has to be there.
[[nodiscard]] std::string ReadFile(const std::filesystem::path& file, const std::string& where);

/// What `text` encodes; spaces and line ends in it do not matter.
[[nodiscard]] std::string DecodeBase64(const std::string& text, const std::string& where);

/// `text` without the white space around it: a token that can stand in an HTTP header.
[[nodiscard]] std::string CheckedToken(std::string_view text, const std::string& where);

/// Checks that `pem` holds certificates, and nothing that only looks like one.
void CheckCertificates(const std::string& pem, const std::string& where);

/// Checks that `pem` holds a private key without a passphrase.
void CheckKey(const std::string& pem, const std::string& where);

/// Checks that `server` is an address as ParseEndpoint has it.
void CheckServer(const std::string& server, const std::string& where);

/// Whether what is said to `server` is encrypted: credentials travel no other way.
[[nodiscard]] bool IsTls(std::string_view server);

}  // namespace kopp::detail
