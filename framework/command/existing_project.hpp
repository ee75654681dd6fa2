#pragma once

#include "project.hpp"

#include <filesystem>
#include <string>

namespace kopp::command {

/// Returns the options of the project in `folder`, for the kind of one of its
/// CustomResourceDefinitions; "": of the only one. Throws std::runtime_error, which says what is
/// missing, if the folder is not a project of `kopp init`.
[[nodiscard]] ProjectOptions ReadProject(const std::filesystem::path& folder,
                                         const std::string& kind);

}  // namespace kopp::command
