#include "type_writer.hpp"

#include "names.hpp"
#include "schema_markers.hpp"
#include "type_model.hpp"

#include <cstddef>
#include <sstream>
#include <stdexcept>
#include <string_view>

#include <base/quoted.hpp>

namespace kopp::command {
namespace {

using nlohmann::json;

constexpr std::size_t kColumns = 100;

/// Ends a line of a comment. A backslash at its end would continue the comment in the next line.
std::string EndedLine(const std::string& line) {
  return line + (line.ends_with('\\') ? " .\n" : "\n");
}

// Writes `text` as a documentation comment.
void WriteComment(std::string& out, const std::string& indent, const std::string& text) {
  const std::string start = indent + "///";
  std::istringstream lines(text);
  bool blank = false;
  bool first = true;
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string current = start;
    for (std::string word; words >> word;) {
      if (blank && !first) out += start + '\n';
      blank = false;
      if (current.size() + 1 + word.size() > kColumns && current != start) {
        out += EndedLine(current);
        current = start;
      }
      current += ' ' + word;
      first = false;
    }
    if (current == start) {
      blank = true;
      continue;
    }
    out += EndedLine(current);
  }
}

std::string InitializerOf(const std::string& type) {
  if (type == "bool") return "false";
  const bool number = type == "std::int32_t" || type == "std::int64_t" || type == "double";
  return number ? "0" : "{}";
}

// `name_space` is that of the structs of fields, `first_line` the first line in the struct or
// empty.
void WriteStruct(std::string& out, const StructType& type, const std::string& name_space,
                 const std::string& first_line) {
  const std::string indent = "  ";
  WriteComment(out, "", type.doc);
  out += "struct " + type.name + " {\n" + first_line;
  for (const Alias& alias : type.aliases) {
    out += indent + "using " + alias.name + " = " + name_space + "::" + alias.target + ";\n";
  }
  for (const Member& member : type.members) {
    WriteComment(out, indent, member.doc);
    out += indent + member.type + ' ' + member.name + " = " + InitializerOf(member.type) + ";\n";
  }
  out += "};\n";
}

std::string FieldEntry(const Member& member) {
  const bool renamed = member.name != member.json_name;
  if (!renamed && member.markers.empty()) return member.name;
  std::string entry = "KOPP_FIELD(" + member.name;
  if (renamed) entry += ", " + StringLiteral(member.json_name);
  for (const std::string& marker : member.markers) entry += ", " + marker;
  return entry + ')';
}

void WriteFieldList(std::string& out, const StructType& type) {
  std::string line = "KOPP_FIELDS(" + type.name;
  for (const Member& member : type.members) {
    const std::string entry = FieldEntry(member);
    line += ',';
    if (line.size() + 1 + entry.size() >= kColumns) {
      out += line + '\n';
      line = "            " + entry;
    } else {
      line += ' ' + entry;
    }
  }
  out += line + ")\n";
}

std::string GetText(const json& object, const json::json_pointer& path) {
  const json& value = object.contains(path) ? object.at(path) : json();
  if (!value.is_string()) throw SchemaError("the text " + path.to_string() + " is missing");
  return value.get<std::string>();
}

struct Names {
  std::string group;
  std::string version;
  std::string kind;
  std::string plural;
  bool cluster;
  std::string name_space;
};

std::string KindLine(const Names& names) {
  return "  static constexpr kopp::Kind kKind{" + StringLiteral(names.group + '/' + names.version) +
         ", " + StringLiteral(names.kind) + ", " + StringLiteral(names.plural) +
         (names.cluster ? ", kopp::Scope::kCluster" : "") + "};\n";
}

// Writes a namespace with `body` in it.
void WriteNamespace(std::string& out, const std::string& name, const std::string& body) {
  out += "namespace " + name + " {\n\n" + body + "\n}  // namespace " + name + '\n';
}

// Returns the structs of the kind, in their namespaces.
std::string StructsText(const Names& names, const json& schema) {
  const std::string name_space = SnakeCase(names.kind) + "_types";
  KindTypes types = TypeModel(names.kind, name_space).Build(schema);
  types.kind.members.insert(
      types.kind.members.begin(),
      {.json_name = "metadata", .name = "metadata", .type = "kopp::ObjectMeta"});
  std::string text;
  std::string body;
  for (const StructType& type : types.fields) {
    if (!body.empty()) body += '\n';
    WriteStruct(body, type, name_space, "");
    WriteFieldList(body, type);
  }
  if (!body.empty()) {
    text += "// The structs of the fields. Use their names in " + names.kind + ".\n";
    WriteNamespace(text, names.name_space + "::" + name_space, body);
    text += '\n';
  }
  body.clear();
  WriteStruct(body, types.kind, name_space, KindLine(names));
  WriteFieldList(body, types.kind);
  WriteNamespace(text, names.name_space, body);
  return text;
}

std::string HeaderText(const Names& names, const json& schema) {
  const std::string structs = StructsText(names, schema);
  std::string text = "// Generated by `kopp gen types` from the CustomResourceDefinition " +
                     names.plural + '.' + names.group +
                     ".\n// clang-format off\n#pragma once\n\n#include <cstdint>\n#include <map>\n"
                     "#include <optional>\n#include <string>\n#include <vector>\n\n"
                     "#include <kopp/informer/object.hpp>\n";
  const auto include_if_used = [&](std::string_view type, const char* header) {
    if (structs.find(type) != std::string::npos) text += "#include <" + std::string(header) + ">\n";
  };
  include_if_used(kIntOrString, "kopp/k8s/int_or_string.hpp");
  include_if_used(kQuantity, "kopp/k8s/quantity.hpp");
  return text + "#include <kopp/markers.hpp>\n\n" + structs;
}

bool IsServed(const json& version) {
  const auto served = version.find("served");
  return served != version.end() && served->is_boolean() && served->get<bool>();
}

/// Throws std::invalid_argument unless `name` is a namespace, such as "api" or "my::api".
void CheckNamespace(std::string_view name) {
  while (true) {
    const std::size_t end = name.find("::");
    const std::string_view part = name.substr(0, end);
    if (part.empty() || Identifier(part) != part) {
      throw std::invalid_argument("--namespace: " + detail::Quoted(part) + " is not an identifier");
    }
    if (end == std::string_view::npos) return;
    name.remove_prefix(end + 2);
  }
}

}  // namespace

std::vector<GeneratedFile> TypeFiles(const json& crd, const TypeOptions& options) {
  const std::string api_version = crd.value("apiVersion", "");
  if (crd.value("kind", "") != "CustomResourceDefinition" ||
      api_version != "apiextensions.k8s.io/v1") {
    throw SchemaError(
        "expected a CustomResourceDefinition of apiextensions.k8s.io/v1, found kind " +
        detail::Quoted(crd.value("kind", "")) + " of " + detail::Quoted(api_version));
  }
  Names names{.group = GetText(crd, json::json_pointer("/spec/group")),
              .version = {},
              .kind = GetText(crd, json::json_pointer("/spec/names/kind")),
              .plural = GetText(crd, json::json_pointer("/spec/names/plural")),
              .cluster = GetText(crd, json::json_pointer("/spec/scope")) == "Cluster",
              .name_space = {}};
  if (!IsKind(names.kind) || !IsDnsLabel(names.plural) || !IsGroup(names.group)) {
    throw SchemaError(
        "the group, the kind or the plural name is not valid: " + detail::Quoted(names.group) +
        ", " + detail::Quoted(names.kind) + ", " + detail::Quoted(names.plural));
  }
  const std::string outer =
      options.name_space.empty() ? Identifier(names.group) : options.name_space;
  CheckNamespace(outer);
  std::vector<GeneratedFile> files;
  const json::json_pointer versions("/spec/versions");
  if (!crd.contains(versions)) throw SchemaError("spec.versions is missing");
  for (const json& version : crd.at(versions)) {
    if (!IsServed(version)) continue;
    names.version = version.value("name", "");
    if (!IsDnsLabel(names.version)) {
      throw SchemaError("the version " + detail::Quoted(names.version) + " is not valid");
    }
    names.name_space = outer + "::" + Identifier(names.version);
    const json::json_pointer path("/schema/openAPIV3Schema");
    const json schema = version.contains(path) ? version.at(path) : json::object();
    std::string folder = outer;
    for (std::size_t at; (at = folder.find("::")) != std::string::npos;) folder.replace(at, 2, "/");
    files.push_back({folder + '/' + names.version + '/' + SnakeCase(names.kind) + ".hpp",
                     HeaderText(names, schema)});
  }
  return files;
}

}  // namespace kopp::command
