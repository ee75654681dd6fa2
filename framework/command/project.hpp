#pragma once

#include "generated_files.hpp"

#include <string>
#include <vector>

namespace kopp::command {

/// Options of `kopp init`: the properties of the new project.
struct ProjectOptions {
  std::string name{};   ///< of the program, the chart and the image: a DNS label
  std::string group{};  ///< "example.com"
  std::string kind{};   ///< "Website"
  std::string version = "v1alpha1";
  std::string plural{};  ///< empty: derived from `kind`
  bool namespaced = true;
  bool webhook = false;  ///< whether the project has webhooks
};

/// Returns the files of a new project. Throws std::invalid_argument if an option is not valid; the
/// message names a valid value.
[[nodiscard]] std::vector<GeneratedFile> ProjectFiles(const ProjectOptions& options);

/// Returns the files of the webhooks of a project. Throws as ProjectFiles does.
[[nodiscard]] std::vector<GeneratedFile> WebhookFiles(const ProjectOptions& options);

}  // namespace kopp::command
