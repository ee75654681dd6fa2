#include "actions.hpp"

#include "existing_project.hpp"
#include "generated_files.hpp"
#include "manifests.hpp"
#include "names.hpp"
#include "type_writer.hpp"

#include <algorithm>
#include <cstddef>
#include <fstream>
#include <istream>
#include <sstream>
#include <stdexcept>
#include <string_view>
#include <utility>

#include <schema/yaml.hpp>

namespace kopp::command {
namespace {

namespace fs = std::filesystem;

std::string ReadFile(const fs::path& path, std::istream& standard_input) {
  std::ostringstream text;
  if (path == "-") {
    text << standard_input.rdbuf();
    return std::move(text).str();
  }
  std::ifstream in(path, std::ios::binary);
  text << in.rdbuf();
  if (!in) throw std::runtime_error("cannot read " + path.string());
  return std::move(text).str();
}

bool Ask(const fs::path& file, const Terminal& terminal) {
  terminal.out << file.string() << " was changed. Overwrite it? [y/N] " << std::flush;
  std::string answer;
  std::getline(terminal.in, answer);
  return answer == "y" || answer == "Y" || answer == "yes";
}

int Check(const fs::path& root, const std::vector<GeneratedFile>& files, const Terminal& terminal) {
  const auto outdated = OutdatedFiles(root, files);
  for (const fs::path& file : outdated) terminal.errors << file.string() << " is out of date\n";
  return outdated.empty() ? 0 : 1;
}

int Write(const fs::path& root, const std::vector<GeneratedFile>& files,
          const OverwriteOptions& options, const Terminal& terminal) {
  if (options.check) return Check(root, files, terminal);
  const OnChanged on_changed = options.force          ? OnChanged::kOverwrite
                               : terminal.interactive ? OnChanged::kAsk
                                                      : OnChanged::kRefuse;
  const auto summary = WriteFiles(root, files, on_changed,
                                  [&](const fs::path& file) { return Ask(file, terminal); });
  for (const fs::path& file : summary.written) terminal.out << "wrote " << file.string() << '\n';
  for (const fs::path& file : summary.kept) terminal.out << "kept  " << file.string() << '\n';
  if (!summary.unchanged.empty()) {
    terminal.out << summary.unchanged.size() << " files are up to date\n";
  }
  return 0;
}

}  // namespace

int InitProject(const fs::path& folder, ProjectOptions project, const OverwriteOptions& options,
                const Terminal& terminal) {
  const fs::path root = fs::absolute(folder).lexically_normal();
  if (project.name.empty()) {
    project.name = (root.has_filename() ? root : root.parent_path()).filename().string();
  }
  const int code = Write(root, ProjectFiles(project), options, terminal);
  if (code == 0 && !options.check) {
    terminal.out << "\nThe project " << project.name << " is in " << folder.string()
                 << ". Next:\n  cd " << folder.string()
                 << "\n  make test    # build it, and run its tests\n"
                 << "  make run     # run it on an API server in memory\n";
  }
  return code;
}

namespace {

/// Returns the lines of the target run in the Makefile of a new project.
std::string RunRecipe(const ProjectOptions& project) {
  const auto files = ProjectFiles(project);
  const auto makefile = std::ranges::find(files, fs::path("Makefile"), &GeneratedFile::path);
  constexpr std::string_view kRule = "\nrun: build\n";
  const std::size_t begin = makefile->text.find(kRule) + kRule.size();
  return makefile->text.substr(begin, makefile->text.find("\n\n", begin) + 1 - begin);
}

}  // namespace

int CreateWebhook(const CreateWebhookOptions& arguments, const OverwriteOptions& options,
                  const Terminal& terminal) {
  const fs::path root = ProjectRoot(arguments.project);
  const ProjectOptions project = ReadProject(root, arguments.kind);
  const int code = Write(root, WebhookFiles(project), options, terminal);
  if (code == 0 && !options.check) {
    const std::string file = SnakeCase(project.kind);
    const std::string& name = project.name;
    terminal.out << "\nNext:\n  src/main.cpp: include \"" << file << "_webhook.hpp\", and call "
                 << Identifier(name) << "::AddWebhook(manager) before Run\n"
                 << "  CMakeLists.txt: add src/" << file << "_webhook.cpp to " << name
                 << "_reconciler, and tests/" << file << "_webhook_test.cpp to " << name
                 << "_test\n"
                 << "  charts/" << name << "/values.yaml: set webhook.enabled to true\n"
                 << "  Makefile: replace the recipe of run with:\n"
                 << RunRecipe(project) << "Then run `make test`.\n";
  }
  return code;
}

namespace {

void ReportVersionsNotServed(const fs::path& file, const nlohmann::json& crd,
                             const Terminal& terminal) {
  for (const std::string& version : VersionsNotServed(crd)) {
    terminal.errors << "kopp: " << file.string() << ": no header for version " << version << " of "
                    << crd["spec"]["names"]["plural"].get<std::string>() << '.'
                    << crd["spec"]["group"].get<std::string>()
                    << ", which is not served: set `served: true` in the file to generate it\n";
  }
}

}  // namespace

int WriteTypes(const GenerateTypes& arguments, const OverwriteOptions& options,
               const Terminal& terminal) {
  std::vector<GeneratedFile> files;
  const fs::path root = ProjectRoot(arguments.output);
  const fs::path folder =
      fs::weakly_canonical(fs::absolute(arguments.output)).lexically_relative(root);
  for (const fs::path& file : arguments.files) {
    try {
      for (const auto& crd : schema::ParseManifests(ReadFile(file, terminal.in))) {
        for (auto& type : TypeFiles(crd, {.name_space = arguments.name_space})) {
          files.push_back({(folder / type.path).lexically_normal(), std::move(type.text)});
        }
        ReportVersionsNotServed(file, crd, terminal);
      }
    } catch (const std::exception& error) {
      throw std::runtime_error(file.string() + ": " + error.what());
    }
  }
  if (files.empty())
    throw std::runtime_error(
        "the files contain no CustomResourceDefinition with a version that is served");
  return Write(root, files, options, terminal);
}

int WriteCrds(const GenerateManifests& arguments, const OverwriteOptions& options,
              const Terminal& terminal) {
  const std::string name = arguments.program.filename().string();
  const auto files = CrdFiles(name, OutputOf(arguments.program, "--print-crd", terminal.errors));
  return Write(ProjectRoot(arguments.project), files, options, terminal);
}

int WriteRbac(const GenerateManifests& arguments, const OverwriteOptions& options,
              const Terminal& terminal) {
  const std::string name = arguments.program.filename().string();
  const auto files = RbacFiles(name, OutputOf(arguments.program, "--print-rbac", terminal.errors));
  return Write(ProjectRoot(arguments.project), files, options, terminal);
}

}  // namespace kopp::command
