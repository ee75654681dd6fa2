#include "project.hpp"

#include "manifests.hpp"
#include "names.hpp"
#include "template_text.hpp"

#include <algorithm>
#include <iterator>
#include <span>
#include <stdexcept>
#include <string_view>

#include <base/quoted.hpp>

namespace kopp::command {
namespace {

void Require(bool valid, const std::string& what, const std::string& value, const char* advice) {
  if (!valid) {
    throw std::invalid_argument(what + " " + detail::Quoted(value) + " is not valid: " + advice);
  }
}

/// Names of CMake's targets and of global C++ functions.
constexpr std::string_view kReservedNames[] = {"all",  "clean",   "help", "install",
                                               "main", "package", "test", "time"};
/// Names that the generated program uses, and words that YAML reads as something else.
constexpr std::string_view kReservedKinds[] = {
    "ConfigMap", "Context", "FALSE", "False", "Map", "Metadata", "N",  "NO",
    "NULL",      "No",      "Null",  "OFF",   "ON",  "Off",      "On", "Spec",
    "Status",    "TRUE",    "True",  "Y",     "YES", "Yes"};

bool Contains(std::span<const std::string_view> names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

void CheckOptions(const ProjectOptions& options) {
  Require(!Contains(kReservedNames, options.name), "the name", options.name,
          "it is reserved; write another one, such as website-operator");
  Require(!Contains(kReservedKinds, options.kind), "--kind", options.kind,
          "it is reserved; write another one, such as Website");
  const bool starts_with_letter =
      !options.name.empty() && (options.name[0] < '0' || options.name[0] > '9');
  Require(starts_with_letter && IsDnsLabel(options.name), "the name", options.name,
          "write lower-case letters, digits and dashes, such as website-operator");
  Require(IsGroup(options.group), "--group", options.group,
          "write a domain of yours, such as example.com");
  Require(IsKind(options.kind), "--kind", options.kind,
          "write a word that starts with an upper-case letter, such as Website");
  Require(IsVersion(options.version), "--version", options.version,
          "write a version such as v1alpha1, v1beta1 or v1");
  Require(options.plural.empty() || IsDnsLabel(options.plural), "--plural", options.plural,
          "write lower-case letters, digits and dashes, such as websites");
}

TemplateValues ValuesOf(const ProjectOptions& options) {
  const std::string snake = SnakeCase(options.kind);
  std::string singular;
  for (const char c : snake) {
    if (c != '_') singular += c;
  }
  return {{"name", options.name},
          {"group", options.group},
          {"version", options.version},
          {"Kind", options.kind},
          {"Type", StructName(options.kind)},
          {"kind", singular},
          {"plural", options.plural.empty() ? PluralOf(options.kind) : options.plural},
          {"scope", options.namespaced ? "Namespaced" : "Cluster"},
          {"file", snake},
          {"variable", Identifier(snake)},
          {"namespace", Identifier(options.name)}};
}

/// Sets webhook.enabled in the values of the chart.
void EnableWebhooks(std::string& values) {
  constexpr std::string_view kOff = "enabled: false";
  values.replace(values.find(kOff, values.find("\nwebhook:\n")), kOff.size(), "enabled: true");
}

bool RemovePrefix(std::string_view& text, std::string_view prefix) {
  if (!text.starts_with(prefix)) return false;
  text.remove_prefix(prefix.size());
  return true;
}

GeneratedFile FromTemplate(const EmbeddedFile& file, std::string_view folder,
                           const ProjectOptions& options, const TemplateValues& values) {
  constexpr std::string_view kTemplateEnd = ".in";
  std::string_view path = file.path;
  path.remove_prefix(folder.size());
  if (path.ends_with(kTemplateEnd)) path.remove_suffix(kTemplateEnd.size());
  const std::string text = SelectLines(file.text, {options.namespaced ? "namespaced" : "cluster",
                                                   options.webhook ? "webhook" : "no webhook"});
  return {Substitute(path, values), Substitute(text, values)};
}

void Append(std::vector<GeneratedFile>& files, std::vector<GeneratedFile> more) {
  files.insert(files.end(), std::make_move_iterator(more.begin()),
               std::make_move_iterator(more.end()));
}

}  // namespace

std::vector<GeneratedFile> ProjectFiles(const ProjectOptions& options) {
  CheckOptions(options);
  const TemplateValues values = ValuesOf(options);
  std::vector<GeneratedFile> files;
  for (const EmbeddedFile& file : EmbeddedFiles()) {
    std::string_view path = file.path;
    if (RemovePrefix(path, "chart/")) {  // Helm has its own templates
      std::string text(file.text);
      if (path == "values.yaml" && options.webhook) EnableWebhooks(text);
      files.push_back({"charts/" + options.name + '/' + std::string(path), std::move(text)});
    } else if (path.starts_with("project/")) {
      files.push_back(FromTemplate(file, "project/", options, values));
    } else if (path == "crd.yaml") {
      Append(files, CrdFiles(options.name, Substitute(file.text, values)));
    } else if (path == "role.yaml") {
      Append(files, RbacFiles(options.name, Substitute(file.text, values)));
    }
  }
  if (options.webhook) Append(files, WebhookFiles(options));
  return files;
}

std::vector<GeneratedFile> WebhookFiles(const ProjectOptions& options) {
  CheckOptions(options);
  const TemplateValues values = ValuesOf(options);
  std::vector<GeneratedFile> files;
  for (const EmbeddedFile& file : EmbeddedFiles()) {
    if (file.path.starts_with("webhook/")) {
      files.push_back(FromTemplate(file, "webhook/", options, values));
    }
  }
  return files;
}

}  // namespace kopp::command
