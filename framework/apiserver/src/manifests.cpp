#include "manifests.hpp"

#include "at.hpp"
#include "yaml.hpp"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <set>
#include <sstream>
#include <stdexcept>
#include <utility>

#include <resource_path.hpp>

#include <kopp/informer/object.hpp>

namespace kopp::apiserver {
namespace {

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
    for (json& object : ReadManifests(text.str())) {
      manifests.push_back({.object = std::move(object)});
      Manifest& last = manifests.back();
      last.origin = path.string() + ", object " + std::to_string(manifests.size());
      if (!last.object.is_object()) throw std::runtime_error(last.origin + ": it is no object");
    }
  } catch (const std::invalid_argument& error) {
    throw std::runtime_error(path.string() + ": " + error.what());
  }
  return manifests;
}

bool IsDefinition(const json& object) {
  return TextAt(object, "/kind") == "CustomResourceDefinition";
}

int Rank(const Manifest& manifest) {
  if (IsDefinition(manifest.object)) return 0;
  return TextAt(manifest.object, "/kind") == "Namespace" ? 1 : 2;
}

std::string Group(const std::string& api_version) {
  const auto slash = api_version.find('/');
  return slash == std::string::npos ? "" : api_version.substr(0, slash);
}

[[noreturn]] void Fail(const Manifest& manifest, const std::string& why) {
  const std::string kind = TextAt(manifest.object, "/kind");
  const std::string name = TextAt(manifest.object, "/metadata/name");
  throw std::runtime_error(manifest.origin + (kind.empty() ? "" : " (" + kind + ' ' + name + ')') +
                           ": " + why);
}

// What the server has to say, where it refuses.
std::string Refusal(const Response& response) {
  const json status = json::parse(response.body, nullptr, false);
  const std::string message = status.is_object() ? TextAt(status, "/message") : "";
  return message.empty() ? "HTTP status " + std::to_string(response.status) : message;
}

// How the server calls the objects of a kind.
struct Resource {
  std::string plural;
  bool namespaced = false;
  bool has_status = false;
};

Resource Find(Transport& server, const Manifest& manifest) {
  const std::string version = TextAt(manifest.object, "/apiVersion");
  const std::string kind = TextAt(manifest.object, "/kind");
  if (version.empty() || kind.empty()) Fail(manifest, "it has no apiVersion and kind");
  const Response response = server.Call(
      {.target = (version.find('/') == std::string::npos ? "/api/" : "/apis/") + version});
  if (response.status != 200) Fail(manifest, "the server has no " + version);
  const json list = json::parse(response.body);
  Resource found;
  for (const json& resource : list.at("resources")) {
    if (resource.at("kind") != kind) continue;
    const std::string name = resource.at("name");
    if (name.find('/') == std::string::npos) {
      found.plural = name;
      found.namespaced = resource.at("namespaced");
    } else if (name.ends_with("/status")) {
      found.has_status = true;
    }
  }
  if (found.plural.empty()) Fail(manifest, "the server has no " + kind + " in " + version);
  return found;
}

void Send(Transport& server, const Manifest& manifest, const Request& request) {
  const Response response = server.Call(request);
  if (response.status >= 300) Fail(manifest, Refusal(response));
}

// As it is sent: without what only a server gives, which stands in what `kubectl get` has written.
json Bare(json object) {
  if (object.contains("metadata") && object["metadata"].is_object()) {
    for (const char* field : {"managedFields", "resourceVersion", "uid"}) {
      object["metadata"].erase(field);
    }
  }
  return object;
}

void LoadOne(Transport& server, const Manifest& manifest) {
  const Resource resource = Find(server, manifest);
  const json object = Bare(manifest.object);
  const std::string version = TextAt(object, "/apiVersion");
  std::string ns = TextAt(object, "/metadata/namespace");
  if (!resource.namespaced) ns.clear();
  if (resource.namespaced && ns.empty()) ns = "default";
  const Kind kind{.api_version = version,
                  .plural = resource.plural,
                  .scope = resource.namespaced ? Scope::kNamespaced : Scope::kCluster};
  const std::string name = TextAt(object, "/metadata/name");
  if (name.empty()) {  // the server makes one of its generateName, or says what is missing
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
  if (resource.has_status && object.contains("status")) apply("status");
}

}  // namespace

Manifests ReadManifestFiles(const std::vector<fs::path>& paths) {
  Manifests all;
  for (const fs::path& path : paths) {
    for (const fs::path& file : FilesAt(path)) {
      std::ranges::move(ReadFile(file), std::back_inserter(all.first));
    }
  }
  std::ranges::stable_sort(all.first, {}, Rank);
  std::set<std::string> defined;
  for (const Manifest& manifest : all.first) {
    if (IsDefinition(manifest.object)) defined.insert(TextAt(manifest.object, "/spec/group"));
  }
  const auto custom = std::ranges::stable_partition(all.first, [&](const Manifest& manifest) {
    return !defined.contains(Group(TextAt(manifest.object, "/apiVersion")));
  });
  std::ranges::move(custom, std::back_inserter(all.custom));
  all.first.erase(custom.begin(), custom.end());
  return all;
}

void Load(Transport& server, const std::vector<Manifest>& manifests) {
  for (const Manifest& manifest : manifests) {
    try {
      LoadOne(server, manifest);
    } catch (const std::invalid_argument& error) {  // a name that cannot stand in a path
      Fail(manifest, error.what());
    }
  }
}

}  // namespace kopp::apiserver
