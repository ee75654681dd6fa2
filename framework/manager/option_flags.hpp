#pragma once

#include "log_flags.hpp"

#include <string>

#include <kopp/flags.hpp>
#include <kopp/options.hpp>

namespace kopp::detail {

/// The values of the flags of a Manager. `options.log` is built from `log`.
struct OptionValues {
  Options options{};
  LogFlags log{};
  std::string config_file{};        ///< --config
  bool check = false;               ///< --check
  bool print_rbac = false;          ///< --print-rbac
  bool print_crd = false;           ///< --print-crd
  bool print_webhooks = false;      ///< --print-webhooks
  bool uninstall_webhooks = false;  ///< --uninstall-webhooks
  bool enable_http2 = false;
};

/// Adds the flags, which set `values`. `values` must outlive the parsing.
void AddOptionFlags(Flags& flags, OptionValues& values);

/// Returns the options of the program `name`. Throws UsageError if flags contradict each other.
[[nodiscard]] Options ToOptions(OptionValues values, std::string name);

}  // namespace kopp::detail
