#pragma once

#include "base/flag_settings.hpp"

#include <filesystem>

#include <kopp/flags.hpp>

namespace kopp::detail {

/// Reads the file of --config: a YAML map whose keys are the names of flags.
///
///     metrics-bind-address: :8443
///     leader-elect: true
///     namespace: [web, shop]          # a flag that may be repeated
///     vmodule: {foo: 4, bar: 2}       # a flag with elements NAME=VALUE
///
/// A key without a value has no effect. Throws UsageError for an unknown key or one that is used
/// twice, and ConfigError if the file cannot be read. The flags validate the values.
[[nodiscard]] FlagSettings ReadConfigFile(const std::filesystem::path& path, const Flags& flags);

}  // namespace kopp::detail
