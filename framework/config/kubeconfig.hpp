#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include <kopp/config.hpp>

namespace kopp::detail {

/// The content of a kubeconfig file.
struct KubeconfigFile {
  std::filesystem::path path;  ///< absolute; relative paths in `text` refer to its folder
  std::string text;
};

/// The value of a field of a cluster, user or context: a scalar, a list or a map.
struct KubeconfigField {
  using Fields = std::map<std::string, KubeconfigField, std::less<>>;
  enum class Type { kScalar, kList, kMap };

  Type type = Type::kScalar;
  std::string text{};                    ///< of a scalar
  std::vector<KubeconfigField> items{};  ///< of a list
  Fields fields{};                       ///< of a map; only those with a non-empty value
  int line = 0;
};

/// A named cluster, user or context.
struct KubeconfigEntry {
  std::string where;  ///< `kubeconfig /home/me/.kube/config: user "me"`, for messages
  std::filesystem::path path{};
  KubeconfigField::Fields fields{};  ///< fields with a non-empty value
  std::string error{};               ///< why the entry cannot be used; empty: it can
};

/// The merged content of one or more kubeconfig files.
struct Kubeconfig {
  using Entries = std::map<std::string, KubeconfigEntry, std::less<>>;

  std::string where;  ///< all files, for messages
  std::string current_context;
  Entries clusters;
  Entries users;
  Entries contexts;
};

/// Merges `files`. If several files define an entry, the first definition is used as a whole.
/// Throws ConfigError.
[[nodiscard]] Kubeconfig MergeKubeconfigs(const std::vector<KubeconfigFile>& files);

/// Returns the configuration for the context that `sources` or current-context selects. Reads the
/// files that the context refers to, so it may block. Throws ConfigError.
[[nodiscard]] Config ReadContext(const Kubeconfig& kubeconfig, const ConfigSources& sources);

}  // namespace kopp::detail
