#include "environment/manifests.hpp"

#include "client/resource_path.hpp"
#include "json/schema_names.hpp"
#include "schema/accessors.hpp"
#include "schema/yaml.hpp"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <set>
#include <sstream>
#include <stdexcept>
#include <utility>

#include <kopp/discovery.hpp>
#include <kopp/informer/api_error.hpp>

namespace kopp::apiserver {
namespace {

using kopp::detail::CollectionPath;
using kopp::detail::ObjectPath;
using kopp::detail::WithQuery;
using nlohmann::json;
namespace fs = std::filesystem;

std::vector<fs::path> FilesAt(const fs::path& path) {
  if (!fs::is_directory(path)) return {path};
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(path)) {
    const auto extension = entry.path().extension();
    if (extension == ".yaml" || extension == ".yml" || extension == ".json") {
      files.push_back(entry.path());
    }
  }
  std::sort(files.begin(), files.end());
  return files;
}

std::vector<Manifest> ReadFile(const fs::path& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  if (!file) throw std::runtime_error("cannot read " + path.string());
  std::vector<Manifest> manifests;
  try {
    for (json& object : ParseManifests(text.str())) {
      manifests.push_back({.object = std::move(object)});
      Manifest& last = manifests.back();
      last.origin = path.string() + ", object " + std::to_string(manifests.size());
      if (!last.object.is_object()) {
        throw std::runtime_error(last.origin + ": not a Kubernetes object");
      }
    }
  } catch (const std::invalid_argument& error) {
    throw std::runtime_error(path.string() + ": " + error.what());
  }
  return manifests;
}

bool IsCrd(const json& object) { return StringAt(object, "/kind") == "CustomResourceDefinition"; }

int Rank(const Manifest& manifest) {
  if (IsCrd(manifest.object)) return 0;
  return StringAt(manifest.object, "/kind") == "Namespace" ? 1 : 2;
}

std::string Group(const std::string& api_version) {
  const auto slash = api_version.find('/');
  return slash == std::string::npos ? "" : api_version.substr(0, slash);
}

[[noreturn]] void ThrowError(const Manifest& manifest, const std::string& reason) {
  const std::string kind = StringAt(manifest.object, "/kind");
  const std::string name = StringAt(manifest.object, "/metadata/name");
  throw std::runtime_error(manifest.origin + (kind.empty() ? "" : " (" + kind + ' ' + name + ')') +
                           ": " + reason);
}

std::string ErrorMessage(const ApiResponse& response) {
  const json status = json::parse(response.body, nullptr, false);
  const std::string message = status.is_object() ? StringAt(status, "/message") : "";
  return message.empty() ? "HTTP status " + std::to_string(response.status) : message;
}

ApiResource FindResource(Transport& server, const Manifest& manifest) {
  const std::string version = StringAt(manifest.object, "/apiVersion");
  const std::string kind = StringAt(manifest.object, "/kind");
  if (version.empty() || kind.empty()) ThrowError(manifest, "apiVersion and kind are required");
  const std::vector<ApiResource> resources = DiscoveryClient(server).Resources(version);
  if (resources.empty()) {
    ThrowError(manifest, "the server does not serve " + version +
                             "; install its CustomResourceDefinition first");
  }
  const auto found = std::ranges::find_if(
      resources, [&](const ApiResource& resource) { return resource.kind.kind == kind; });
  if (found == resources.end()) {
    ThrowError(manifest, "the server does not serve kind " + kind + " in " + version);
  }
  return *found;
}

void Send(Transport& server, const Manifest& manifest, const ApiRequest& request) {
  const ApiResponse response = server.Call(request);
  if (response.status >= 300) ThrowError(manifest, ErrorMessage(response));
}

// Removes the fields that only a server sets. The output of `kubectl get` has them, and a server
// rejects them in an apply request.
json WithoutServerFields(json object) {
  if (object.contains("metadata") && object["metadata"].is_object()) {
    for (const char* field : {"managedFields", "resourceVersion", "uid"}) {
      object["metadata"].erase(field);
    }
  }
  return object;
}

// Returns whether `object` is the Service of the API server itself. A manifest from another cluster
// has another cluster IP, which cannot be changed.
bool IsServiceOfApiServer(const json& object) {
  return StringAt(object, "/apiVersion") == "v1" && StringAt(object, "/kind") == "Service" &&
         StringAt(object, "/metadata/namespace") == "default" &&
         StringAt(object, "/metadata/name") == "kubernetes";
}

void Apply(Transport& server, const Manifest& manifest) {
  if (IsServiceOfApiServer(manifest.object)) return;
  const ApiResource resource = FindResource(server, manifest);
  const OwningKind& kind = resource.kind;
  const json object = WithoutServerFields(manifest.object);
  std::string ns = StringAt(object, "/metadata/namespace");
  if (kind.scope == Scope::kCluster) ns.clear();
  if (kind.scope == Scope::kNamespaced && ns.empty()) ns = "default";
  const std::string name = StringAt(object, "/metadata/name");
  if (name.empty()) {  // the server generates a name from generateName, or returns an error
    return Send(server, manifest,
                {.method = "POST", .target = CollectionPath(kind, ns), .body = object.dump()});
  }
  const auto apply = [&](std::string_view subresource) {
    Send(server, manifest,
         {.method = "PATCH",
          .target = WithQuery(ObjectPath(kind, {ns, name}, subresource),
                              {{"fieldManager", "kopp-apiserver"}, {"force", "true"}}),
          .body = object.dump(),
          .content_type = "application/apply-patch+yaml"});
  };
  apply("");
  // Only this subresource adds the conditions Approved and Denied of a CertificateSigningRequest.
  if (resource.HasSubresource("approval") && object.contains("status")) apply("approval");
  if (resource.HasSubresource("status") && object.contains("status")) apply("status");
}

}  // namespace

Manifests ReadManifests(const std::vector<fs::path>& paths) {
  Manifests manifests;
  for (const fs::path& path : paths) {
    for (const fs::path& file : FilesAt(path)) {
      std::ranges::move(ReadFile(file), std::back_inserter(manifests.base));
    }
  }
  std::ranges::stable_sort(manifests.base, {}, Rank);
  std::set<std::string> crd_groups;
  for (const Manifest& manifest : manifests.base) {
    if (IsCrd(manifest.object)) crd_groups.insert(StringAt(manifest.object, "/spec/group"));
  }
  const auto custom = std::ranges::stable_partition(manifests.base, [&](const Manifest& manifest) {
    return !crd_groups.contains(Group(StringAt(manifest.object, "/apiVersion")));
  });
  std::ranges::move(custom, std::back_inserter(manifests.custom_resources));
  manifests.base.erase(custom.begin(), custom.end());
  return manifests;
}

void ApplyManifests(Transport& server, const std::vector<Manifest>& manifests) {
  for (const Manifest& manifest : manifests) {
    try {
      Apply(server, manifest);
    } catch (const std::invalid_argument& error) {  // the name is not valid in a URL path
      ThrowError(manifest, error.what());
    } catch (const ApiError& error) {  // the server does not tell its resources
      ThrowError(manifest, error.what());
    }
  }
}

}  // namespace kopp::apiserver
