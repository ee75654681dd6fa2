#pragma once

#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include <gtest/gtest.h>

#include <kopp/options.hpp>

namespace kopp {

/// Environment variables.
using FlagVariables = std::map<std::string, std::string>;

/// Parses the command line of a program "web-operator".
inline std::variant<Options, EarlyExit> Parse(std::vector<const char*> arguments,
                                              const FlagVariables& variables = {}) {
  arguments.insert(arguments.begin(), "/usr/bin/web-operator");
  return ParseCommandLine(static_cast<int>(arguments.size()), arguments.data(), "Manages websites.",
                          [&](const std::string& name) -> std::optional<std::string> {
                            const auto found = variables.find(name);
                            return found == variables.end() ? std::nullopt
                                                            : std::optional(found->second);
                          });
}

inline Options Parsed(const std::vector<const char*>& arguments,
                      const FlagVariables& variables = {}) {
  const auto result = Parse(arguments, variables);
  if (const auto* early = std::get_if<EarlyExit>(&result)) ADD_FAILURE() << early->text;
  return std::get<Options>(result);
}

/// Returns the line that is printed to standard error.
inline std::string ErrorOf(const std::vector<const char*>& arguments,
                           const FlagVariables& variables = {}) {
  const auto result = Parse(arguments, variables);
  if (std::holds_alternative<Options>(result)) return "no error";
  EXPECT_EQ(std::get<EarlyExit>(result).code, 2);
  return std::get<EarlyExit>(result).text;
}

/// Returns the text that is printed to standard output.
inline std::string OutputOf(const std::vector<const char*>& arguments) {
  const auto result = Parse(arguments);
  if (std::holds_alternative<Options>(result)) return "no output";
  EXPECT_EQ(std::get<EarlyExit>(result).code, 0);
  return std::get<EarlyExit>(result).text;
}

}  // namespace kopp
