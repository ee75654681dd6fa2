#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include <kopp/transport.hpp>

namespace kopp::apiserver {

/// An object from a manifest file.
struct Manifest {
  nlohmann::json object{};
  std::string origin{};  ///< "foo.yaml, object 2", for error messages
};

/// Objects in an order in which the server accepts them: first `base`, then `custom_resources`.
struct Manifests {
  /// CustomResourceDefinitions, then Namespaces, then all other objects.
  std::vector<Manifest> base{};
  /// The objects in API groups that the CustomResourceDefinitions of `base` define.
  std::vector<Manifest> custom_resources{};
};

/// Reads YAML or JSON files, each with any number of objects or Lists of objects. For a folder,
/// reads its .yaml, .yml and .json files in the order of their names. Throws std::runtime_error
/// with the file name.
[[nodiscard]] Manifests ReadManifests(const std::vector<std::filesystem::path>& paths);

/// Creates or updates each object and its status by server-side apply, with force. Blocks until
/// the server has responded to each. Throws std::runtime_error with the object's origin and the
/// error of the server.
void ApplyManifests(Transport& server, const std::vector<Manifest>& manifests);

}  // namespace kopp::apiserver
