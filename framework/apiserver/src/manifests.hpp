#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include <kopp/transport.hpp>

namespace kopp::apiserver {

/// An object to be made, and where it was written.
struct Manifest {
  nlohmann::json object{};
  std::string origin{};  ///< "foo.yaml, object 2", for messages
};

/// What is read from files, in the order in which it can be made.
struct Manifests {
  std::vector<Manifest> first{};   ///< definitions, then namespaces, then all else but those:
  std::vector<Manifest> custom{};  ///< of the kinds that are defined here
};

/// Reads YAML or JSON files, each with any number of objects and Lists of them, and those of
/// folders. Throws std::runtime_error, which names the file.
[[nodiscard]] Manifests ReadManifestFiles(const std::vector<std::filesystem::path>& paths);

/// Makes each object, or what is there already as it says, its status too. Throws
/// std::runtime_error with the object's origin and the server's words.
void Load(Transport& server, const std::vector<Manifest>& manifests);

}  // namespace kopp::apiserver
