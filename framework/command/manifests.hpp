#pragma once

#include "generated_files.hpp"

#include <filesystem>
#include <iosfwd>
#include <string>
#include <string_view>
#include <vector>

namespace kopp::command {

/// Returns the standard output of `PROGRAM FLAG`, and writes the end of its standard error, which
/// has its warnings, to `errors`. Throws std::runtime_error, with the end of its standard error, if
/// it does not exit with code 0 within 30 seconds.
[[nodiscard]] std::string OutputOf(const std::filesystem::path& program, const std::string& flag,
                                   std::ostream& errors);

/// Returns the files of a project for CustomResourceDefinitions, the output of --print-crd:
/// config/crd/GROUP_PLURAL.yaml and its copy in the chart `name`. Throws std::runtime_error if
/// there is none, or a document is something else.
[[nodiscard]] std::vector<GeneratedFile> CrdFiles(const std::string& name, std::string_view crds);

/// Returns the files of a project for the output of --print-rbac: config/rbac/role.yaml and its
/// copy in the chart `name`.
[[nodiscard]] std::vector<GeneratedFile> RbacFiles(const std::string& name, std::string_view roles);

}  // namespace kopp::command
