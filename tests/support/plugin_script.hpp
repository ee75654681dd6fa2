#pragma once

#include "support/scratch_folder.hpp"

#include <algorithm>
#include <filesystem>
#include <string>

#include <nlohmann/json.hpp>

namespace kopp::testing {

/// A credential plugin: a shell script in a temporary folder that records its runs.
class PluginScript {
 public:
  /// `body` is shell code, for example the result of Print.
  explicit PluginScript(const std::string& body) { Replace(body); }

  void Replace(const std::string& body) const {
    // A new file, because a running script must not change.
    const auto file = folder_.Write(
        "new", "#!/bin/sh\necho run >> '" + (folder_ / "runs").string() + "'\n" + body);
    std::filesystem::permissions(file, std::filesystem::perms::owner_all);
    std::filesystem::rename(file, path());
  }

  [[nodiscard]] std::filesystem::path path() const { return folder_ / "plugin"; }
  [[nodiscard]] const ScratchFolder& folder() const { return folder_; }
  [[nodiscard]] int Runs() const {
    const std::string runs = folder_.Read("runs");
    return static_cast<int>(std::count(runs.begin(), runs.end(), '\n'));
  }

 private:
  ScratchFolder folder_;
};

/// Returns an ExecCredential of client.authentication.k8s.io/v1 with `status`.
inline std::string ExecCredentialJson(const nlohmann::json& status) {
  return nlohmann::json{{"apiVersion", "client.authentication.k8s.io/v1"},
                        {"kind", "ExecCredential"},
                        {"status", status}}
      .dump();
}

/// Returns shell code that prints `text`.
inline std::string Print(const std::string& text) { return "cat <<'END'\n" + text + "\nEND\n"; }

/// Returns shell code that prints a token as a plugin does.
inline std::string PrintToken(const std::string& token, const std::string& expiration = "") {
  nlohmann::json status{{"token", token}};
  if (!expiration.empty()) status["expirationTimestamp"] = expiration;
  return Print(ExecCredentialJson(status));
}

}  // namespace kopp::testing
