#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include <kopp/config.hpp>

namespace kopp::apiserver {

/// Returns a kubeconfig in YAML with one context for `user`, which is the current context.
/// Certificates and keys are embedded.
[[nodiscard]] std::string KubeconfigText(const Config& config, const std::string& user);

/// Writes `text` to a file with mode 0600. Replaces a regular file atomically: readers see either
/// the old or the new content. Follows symbolic links. If the file is a pipe or a terminal, writes
/// to it without blocking; a pipe must already have a reader. Throws std::runtime_error with the
/// file name.
void WritePrivateFile(const std::filesystem::path& file, const std::string& text);

/// Returns the groups of a service account, whose user name is
/// "system:serviceaccount:NAMESPACE:NAME". Returns an empty list for other users.
[[nodiscard]] std::vector<std::string> ServiceAccountGroups(const std::string& user);

}  // namespace kopp::apiserver
