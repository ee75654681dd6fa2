#pragma once

#include "command_line.hpp"
#include "project.hpp"

#include <filesystem>
#include <string>
#include <vector>

namespace kopp::command {

/// What all commands that write files have in common.
struct OverwriteOptions {
  bool force = false;  ///< overwrite files that were changed
  bool check = false;  ///< write nothing; fail if a file would be changed
};

/// The functions below do what the command line asks for and return the exit code. They throw
/// std::exception for errors.

/// `kopp init FOLDER`
int InitProject(const std::filesystem::path& folder, ProjectOptions project,
                const OverwriteOptions& options, const Terminal& terminal);

/// `kopp create webhook`
struct CreateWebhookOptions {
  std::string kind{};  ///< empty: the only kind of the project
  std::filesystem::path project = ".";
};
int CreateWebhook(const CreateWebhookOptions& arguments, const OverwriteOptions& options,
                  const Terminal& terminal);

/// `kopp gen types FILE...`
struct GenerateTypes {
  std::vector<std::filesystem::path> files{};
  std::filesystem::path output = ".";
  std::string name_space{};
};
int WriteTypes(const GenerateTypes& arguments, const OverwriteOptions& options,
               const Terminal& terminal);

/// `kopp gen crd PROGRAM` and `kopp gen rbac PROGRAM`
struct GenerateManifests {
  std::filesystem::path program{};
  std::filesystem::path project = ".";
};
int WriteCrds(const GenerateManifests& arguments, const OverwriteOptions& options,
              const Terminal& terminal);
int WriteRbac(const GenerateManifests& arguments, const OverwriteOptions& options,
              const Terminal& terminal);

}  // namespace kopp::command
