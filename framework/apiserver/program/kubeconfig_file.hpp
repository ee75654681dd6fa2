#pragma once

#include <filesystem>
#include <string>

#include <kopp/config.hpp>

namespace kopp::apiserver {

/// `config` as a kubeconfig whose current context is `user`'s: all that it needs is in it.
[[nodiscard]] std::string KubeconfigText(const Config& config, const std::string& user);

/// Writes `text` so that nobody but its owner can read it, and nobody ever finds half of it: the
/// file is another one then. A link stays, and the file that it leads to is written; a pipe, which
/// somebody reads already, or a terminal gets the text. Throws std::runtime_error.
void WritePrivately(const std::filesystem::path& file, const std::string& text);

}  // namespace kopp::apiserver
