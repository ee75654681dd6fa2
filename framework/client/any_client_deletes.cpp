// The calls of Client that delete.
#include "client/resource_path.hpp"
#include "client/response_check.hpp"
#include "client/write_listener.hpp"
#include "written_object.hpp"

#include <stdexcept>
#include <string>

#include <nlohmann/json.hpp>

#include <kopp/detail/any_client.hpp>

namespace kopp {
namespace {

using detail::CollectionPath;
using detail::ObjectPath;
using detail::WithQuery;
using nlohmann::json;

const char* PolicyName(DeletionPropagation propagation) {
  switch (propagation) {
    case DeletionPropagation::kBackground:
      return "Background";
    case DeletionPropagation::kForeground:
      return "Foreground";
    case DeletionPropagation::kOrphan:
      break;
  }
  return "Orphan";
}

}  // namespace

std::string AnyClient::DeleteBody(const DeleteOptions& options) const {
  json body{{"apiVersion", "v1"}, {"kind", "DeleteOptions"}};
  if (!options.uid.empty()) body["preconditions"]["uid"] = options.uid;
  if (!options.resource_version.empty()) {
    body["preconditions"]["resourceVersion"] = options.resource_version;
  }
  if (options.propagation) body["propagationPolicy"] = PolicyName(*options.propagation);
  if (options.grace_period) body["gracePeriodSeconds"] = options.grace_period->count();
  if (dry_run_ || options.dry_run) body["dryRun"] = {"All"};
  return body.dump();
}

bool AnyClient::Delete(const Kind& kind, const ObjectKey& key, const DeleteOptions& options) const {
  try {
    const ObjectKey target = KeyFor(kind, key);
    const bool dry_run = dry_run_ || options.dry_run;
    const std::string body = CallWrite(
        {.method = "DELETE", .target = ObjectPath(kind, target), .body = DeleteBody(options)},
        dry_run, {.verb = ClientWrite::Verb::kDelete, .kind = kind, .key = target});
    if (!dry_run) {
      ReportWrites(kind, [&] { return DeletedObjects(kind, target, body); });
    }
    return true;
  } catch (const ApiError& error) {
    if (detail::IsNotFoundByServer(error)) return false;
    throw;
  }
}

void AnyClient::DeleteAllOf(const Kind& kind, const Selector& selector,
                            const DeleteOptions& options) const {
  if (kind.scope == Scope::kCluster && !selector.ns.empty()) {
    throw std::invalid_argument(std::string(kind.kind) +
                                " is cluster-scoped: DeleteAllOf in namespace \"" + selector.ns +
                                "\" would delete the objects of the whole cluster");
  }
  const std::string ns = NamespaceFor(kind, selector.ns);
  if (kind.scope == Scope::kNamespaced && ns.empty()) {
    throw std::invalid_argument("DeleteAllOf for " + std::string(kind.kind) +
                                " needs a namespace: set Selector::ns");
  }
  const bool dry_run = dry_run_ || options.dry_run;
  const std::string body = CallWrite(
      {.method = "DELETE",
       .target =
           WithQuery(CollectionPath(kind, ns), {{"labelSelector", selector.labels.ToString()},
                                                {"fieldSelector", selector.fields.ToString()}}),
       .body = DeleteBody(options)},
      dry_run, {.verb = ClientWrite::Verb::kDeleteCollection, .kind = kind, .key = {ns, ""}});
  if (!dry_run) {
    ReportWrites(kind, [&] { return DeletedCollection(body); });
  }
}

}  // namespace kopp
