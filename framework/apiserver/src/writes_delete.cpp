// Deletions.
#include "event_faces.hpp"
#include "objects.hpp"
#include "reads.hpp"
#include "status.hpp"
#include "writes.hpp"

#include <algorithm>
#include <iterator>
#include <string_view>
#include <utility>

namespace kopp::apiserver {
namespace {

using nlohmann::json;

/// These are answered with the object even when it is gone.
bool ShowsWhatItDeletes(const Resource& resource) {
  constexpr std::string_view kKinds[] = {"pods",
                                         "services",
                                         "serviceaccounts",
                                         "persistentvolumeclaims",
                                         "persistentvolumes",
                                         "podtemplates",
                                         "resourcequotas"};
  return std::find(std::begin(kKinds), std::end(kKinds), resource.kept_as) != std::end(kKinds);
}

}  // namespace

Reply Writes::Delete(const Ask& ask, const Resource& resource) {
  const DeleteOptions options = ReadDeleteOptions(ask);
  const std::string& name = ask.target.name;
  if (resource.kept_as == "namespaces" &&
      (name == "default" || name == "kube-system" || name == "kube-public")) {
    throw Forbidden(resource, name, "this namespace may not be deleted");
  }
  bool gone = false;
  const json object = collector_.Delete(resource, {ask.target.ns, name}, options, gone);
  if (!gone || ShowsWhatItDeletes(resource)) {
    return {.body = Shown(FromKept(resource, object), resource).dump()};
  }
  return {.body = Success(resource, name, object["metadata"].value("uid", "")).dump()};
}

Reply Writes::DeleteCollection(const Ask& ask, const Resource& resource) {
  const DeleteOptions options = ReadDeleteOptions(ask);
  Ask list = ask;
  list.method = "GET";
  list.accept.clear();
  Reads::Listing listed = Reads(world_).ListNow(list, resource);
  for (const ObjectKey& key : listed.keys) {
    bool gone = false;
    try {
      collector_.Delete(resource, key, options, gone);
    } catch (const Refusal& refusal) {
      if (refusal.code() != 404) throw;  // somebody else was faster
    }
  }
  return {.body = std::move(listed.body)};
}

}  // namespace kopp::apiserver
