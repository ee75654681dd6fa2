#pragma once

#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>

namespace kopp::command {

/// A file of templates/ or of the starter chart, which the build embeds in the program.
struct EmbeddedFile {
  std::string_view path;  ///< "project/src/main.cpp.in", "webhook/…", "chart/values.yaml"
  std::string_view text;
};

/// Returns all embedded files. The build generates this function.
[[nodiscard]] std::span<const EmbeddedFile> EmbeddedFiles();

/// The values of a template, by name.
using TemplateValues = std::map<std::string, std::string, std::less<>>;

/// Replaces each @name@ whose name is in `values`. Other text between two @ remains.
[[nodiscard]] std::string Substitute(std::string_view text, const TemplateValues& values);

/// Keeps the lines that start with "@if CONDITION@ ", without these words, if CONDITION is one of
/// `conditions`, and removes the other lines that start with "@if ".
[[nodiscard]] std::string SelectLines(std::string_view text,
                                      const std::set<std::string_view>& conditions);

}  // namespace kopp::command
