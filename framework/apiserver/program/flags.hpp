#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <variant>
#include <vector>

#include <kopp/flags.hpp>
#include <kopp/testing/api_server.hpp>
#include <kopp/testing/fault.hpp>

namespace kopp::apiserver {

/// A kubeconfig to write for a user.
struct UserKubeconfig {
  std::string user{};
  std::filesystem::path file{};
  bool by_certificate = false;  ///< authenticates by a client certificate instead of a token
};

/// The command line of kopp-apiserver. Its --help describes the flags.
struct Flags {
  testing::ListenOptions listen{.tls = true};
  testing::AuthorizationMode authorization = testing::AuthorizationMode::kAlwaysAllow;
  std::uint64_t seed = 1;
  std::vector<std::filesystem::path> load{};
  std::filesystem::path kubeconfig{};
  std::vector<UserKubeconfig> user_kubeconfigs{};
  std::filesystem::path audit_log{};
  std::vector<testing::Fault> faults{};
  std::vector<testing::ServiceAddress> resolve{};
  std::vector<std::string> program{};  ///< program and arguments of --demo; empty without --demo
  std::filesystem::path program_log{};
};

/// Parses the command line. Returns EarlyExit for --help, --version and errors; an error has exit
/// code 2 and one line of text.
[[nodiscard]] std::variant<Flags, EarlyExit> ParseFlags(int argc, const char* const* argv);

}  // namespace kopp::apiserver
