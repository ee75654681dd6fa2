#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <variant>
#include <vector>

#include <kopp/options.hpp>
#include <kopp/testing/api_server.hpp>
#include <kopp/testing/fault.hpp>

namespace kopp::apiserver {

/// A user who is given a kubeconfig.
struct Guest {
  std::string user{};
  std::filesystem::path file{};
  bool by_certificate = false;  ///< else by a token
};

/// What kopp-apiserver is to do, as its --help says.
struct Flags {
  testing::ListenOptions listen{.tls = true};
  std::uint64_t seed = 1;
  std::vector<std::filesystem::path> load{};
  std::filesystem::path kubeconfig{};
  std::vector<Guest> guests{};
  std::filesystem::path audit_log{};
  std::vector<testing::Fault> faults{};
  std::vector<std::string> program{};  ///< of a demo, with its arguments; empty: none
  std::filesystem::path program_log{};
};

/// Throws nothing of its own.
[[nodiscard]] std::variant<Flags, EarlyExit> ParseFlags(int argc, const char* const* argv);

}  // namespace kopp::apiserver
