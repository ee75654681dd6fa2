#pragma once

#include "generated_files.hpp"

#include <string>
#include <vector>

namespace kopp::command {

/// What `kopp init` is told about the new project.
struct ProjectOptions {
  std::string name{};   ///< of the program, the chart and the image: a DNS label
  std::string group{};  ///< "example.com"
  std::string kind{};   ///< "Website"
  std::string version = "v1alpha1";
  std::string plural{};  ///< empty: made from the kind
  bool namespaced = true;
};

/// Returns the files of a new project. Throws std::invalid_argument, with what to write instead, if
/// an option is not valid.
[[nodiscard]] std::vector<GeneratedFile> ProjectFiles(const ProjectOptions& options);

}  // namespace kopp::command
