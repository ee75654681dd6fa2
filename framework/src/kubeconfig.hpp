#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <kopp/config.hpp>

namespace kopp::detail {

/// A kubeconfig as it was read.
struct KubeconfigFile {
  std::filesystem::path path;  ///< absolute; relative paths in `text` start at its folder
  std::string text;
};

/// The value of a cluster's, user's or context's field.
struct KubeconfigField {
  std::string text;     ///< where it is one
  bool is_text = true;  ///< else a list or a map
  int line = 0;
};

/// A named cluster, user or context.
struct KubeconfigEntry {
  std::string where;  ///< `kubeconfig /home/me/.kube/config: user "me"`, for messages
  std::filesystem::path path;
  std::map<std::string, KubeconfigField, std::less<>> fields;  ///< those with a value
};

/// What one or more kubeconfigs say together.
struct Kubeconfig {
  using Entries = std::map<std::string, KubeconfigEntry, std::less<>>;

  std::string where;  ///< every file, for messages
  std::string current_context;
  Entries clusters;
  Entries users;
  Entries contexts;
};

/// Merges `files`: the first that names an entry wins it whole. Throws ConfigError.
[[nodiscard]] Kubeconfig MergeKubeconfigs(const std::vector<KubeconfigFile>& files);

/// The context that `sources` or current-context names, with the files that it names in turn.
/// Throws ConfigError.
[[nodiscard]] Config ReadContext(const Kubeconfig& kubeconfig, const ConfigSources& sources);

}  // namespace kopp::detail
