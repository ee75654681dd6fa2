#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

// What names may look like. Each Not… and …Problems returns why `text` is none, in the words of the
// real server, or nothing where it is one.

namespace kopp::apiserver {

using Why = std::optional<std::string>;

/// Of most objects: "example.com".
[[nodiscard]] Why NotADnsSubdomain(std::string_view text);
/// Of namespaces and parts of names: "my-name".
[[nodiscard]] Why NotADnsLabel(std::string_view text);
/// Of Services: a DNS label that begins with a letter.
[[nodiscard]] Why NotADns1035Label(std::string_view text);
/// Of labels, annotations and finalizers: "example.com/MyName". All that is wrong with it.
[[nodiscard]] std::vector<std::string> QualifiedNameProblems(std::string_view text);
[[nodiscard]] Why NotALabelValue(std::string_view text);
/// Of roles, whose names may hold ':'.
[[nodiscard]] Why NotAPathSegment(std::string_view text);
/// Of keys of ConfigMaps and Secrets: "my.file".
[[nodiscard]] Why NotAConfigKey(std::string_view text);

/// `text` with its ASCII letters small: kinds and annotations are checked so.
[[nodiscard]] std::string Lower(std::string_view text);

}  // namespace kopp::apiserver
