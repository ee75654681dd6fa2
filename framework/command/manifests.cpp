#include "manifests.hpp"

#include <chrono>
#include <cstddef>
#include <ostream>
#include <stdexcept>
#include <stop_token>

#include <base/command.hpp>
#include <base/quoted.hpp>
#include <nlohmann/json.hpp>
#include <schema/yaml.hpp>

#include <kopp/workqueue/clock.hpp>

namespace kopp::command {
namespace {

using detail::Quoted;

// Splits YAML at its lines "---", without the empty documents.
std::vector<std::string> Documents(std::string_view yaml) {
  std::vector<std::string> documents(1);
  while (!yaml.empty()) {
    const std::size_t end = yaml.find('\n');
    const std::string_view line = yaml.substr(0, end == std::string_view::npos ? end : end + 1);
    yaml.remove_prefix(line.size());
    if (line.starts_with("---")) {
      documents.emplace_back();
    } else {
      documents.back() += line;
    }
  }
  std::erase(documents, std::string());
  return documents;
}

std::string HowItEnded(const detail::CommandResult& result) {
  using End = detail::CommandResult::End;
  switch (result.end) {
    case End::kExited:
      return "ended with exit code " + std::to_string(result.code);
    case End::kSignaled:
      return "was ended by signal " + std::to_string(result.code);
    case End::kTimeout:
      return "did not end within 30 seconds";
    case End::kTooMuchOutput:
      return "printed too much";
    case End::kStopped:
      break;
  }
  return "was stopped";
}

}  // namespace

std::string OutputOf(const std::filesystem::path& program, const std::string& flag,
                     std::ostream& errors) {
  if (!std::filesystem::exists(program)) {
    throw std::runtime_error("there is no program " + Quoted(program.string()) +
                             ": build your operator first, or name its program");
  }
  constexpr std::size_t kMaxOutput = std::size_t{64} << 20;
  const detail::Command command{.arguments = {std::filesystem::absolute(program).string(), flag},
                                .max_output = kMaxOutput};
  const auto result = detail::RunCommand(command, Clock::Real().Now() + std::chrono::seconds(30),
                                         std::stop_token());
  if (result.end != detail::CommandResult::End::kExited || result.code != 0) {
    throw std::runtime_error(program.string() + ' ' + flag + ' ' + HowItEnded(result) + ":\n" +
                             result.errors);
  }
  errors << result.errors;
  return std::string(result.output.Reveal());
}

std::vector<GeneratedFile> CrdFiles(const std::string& name, std::string_view crds) {
  std::vector<GeneratedFile> files;
  for (const std::string& document : Documents(crds)) {
    const nlohmann::json crd = schema::ParseYaml(document);
    if (crd.is_null()) continue;  // only comments
    if (!crd.is_object() || crd.value("kind", "") != "CustomResourceDefinition") {
      throw std::runtime_error("expected only CustomResourceDefinitions from --print-crd");
    }
    const auto& spec = crd.at("spec");
    const std::string file = spec.at("group").get<std::string>() + '_' +
                             spec.at("names").at("plural").get<std::string>() + ".yaml";
    files.push_back({"config/crd/" + file, document});
    files.push_back({"charts/" + name + "/files/crds/" + file, document});
  }
  if (files.empty()) {
    throw std::runtime_error(
        "the program declares no CustomResourceDefinition: write KOPP_CRD(Type) after KOPP_FIELDS");
  }
  return files;
}

std::vector<GeneratedFile> RbacFiles(const std::string& name, std::string_view roles) {
  return {{"config/rbac/role.yaml", std::string(roles)},
          {"charts/" + name + "/files/rbac.yaml", std::string(roles)}};
}

}  // namespace kopp::command
