#include "existing_project.hpp"

#include "names.hpp"

#include <algorithm>
#include <fstream>
#include <regex>
#include <sstream>
#include <stdexcept>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>
#include <schema/yaml.hpp>

namespace kopp::command {
namespace {

namespace fs = std::filesystem;

std::string ReadText(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  if (!in) {
    throw std::runtime_error("cannot read " + path.string() +
                             ": run the command in a project of `kopp init`, or set --project");
  }
  return std::move(text).str();
}

std::string ProgramName(const fs::path& folder) {
  const std::string text = ReadText(folder / "CMakeLists.txt");
  std::smatch match;
  if (!std::regex_search(text, match, std::regex(R"(project\s*\(\s*([^\s)]+))"))) {
    throw std::runtime_error((folder / "CMakeLists.txt").string() + " does not call project()");
  }
  return match[1];
}

ProjectOptions OptionsOf(const nlohmann::json& crd, const std::string& program) {
  const nlohmann::json& spec = crd.at("spec");
  const nlohmann::json& versions = spec.at("versions");
  const auto stored = std::ranges::find_if(
      versions, [](const nlohmann::json& version) { return version.value("storage", false); });
  return {.name = program,
          .group = spec.at("group"),
          .kind = spec.at("names").at("kind"),
          .version = (stored == versions.end() ? versions.at(0) : *stored).at("name"),
          .plural = spec.at("names").at("plural"),
          .namespaced = spec.at("scope") == "Namespaced",
          .webhook = true};
}

}  // namespace

ProjectOptions ReadProject(const fs::path& folder, const std::string& kind) {
  const std::string program = ProgramName(folder);
  const fs::path crds = folder / "config" / "crd";
  std::vector<ProjectOptions> found;
  std::string kinds;
  if (fs::is_directory(crds)) {
    for (const fs::directory_entry& file : fs::directory_iterator(crds)) {
      for (const nlohmann::json& crd : schema::ParseManifests(ReadText(file.path()))) {
        if (crd.value("kind", "") != "CustomResourceDefinition") continue;
        ProjectOptions options = OptionsOf(crd, program);
        kinds += (kinds.empty() ? "" : ", ") + options.kind;
        if (kind.empty() || options.kind == kind) found.push_back(std::move(options));
      }
    }
  }
  if (found.size() != 1) {
    throw std::runtime_error(
        kinds.empty() ? crds.string() + " has no CustomResourceDefinition: run `make manifests`"
                      : "set --kind to one of these kinds: " + kinds);
  }
  const fs::path header = folder / "src" / (SnakeCase(found.front().kind) + ".hpp");
  if (!fs::exists(header)) {
    throw std::runtime_error("there is no " + header.string() + " with the struct of the kind " +
                             found.front().kind);
  }
  return found.front();
}

}  // namespace kopp::command
