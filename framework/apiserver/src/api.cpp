#include "api.hpp"

#include "discovery.hpp"
#include "objects.hpp"
#include "openapi.hpp"
#include "presentation.hpp"
#include "scale.hpp"
#include "status.hpp"

#include <exception>

namespace kopp::apiserver {
namespace {

using nlohmann::json;

Reply PlainText(int status, std::string text) {
  return {.status = status, .body = std::move(text), .content_type = "text/plain; charset=utf-8"};
}

/// What every cluster has from its first moment on.
void Found(World& world) {
  const Catalog::Entry namespaces = world.catalog()->Find("", "v1", "namespaces");
  for (const char* name : {"default", "kube-node-lease", "kube-public", "kube-system"}) {
    json object{{"metadata",
                 {{"name", name},
                  {"uid", world.NewUid()},
                  {"creationTimestamp", world.Now()},
                  {"labels", {{"kubernetes.io/metadata.name", name}}}}},
                {"spec", {{"finalizers", {"kubernetes"}}}},
                {"status", {{"phase", "Active"}}}};
    const Attributes attributes = AttributesOf(*namespaces, object);
    world.store().Put("namespaces", {"", name}, nullptr, std::move(object), attributes);
  }
}

}  // namespace

Api::Api(World& world) : world_(world), reads_(world), writes_(world), registrar_(world, writes_) {
  Found(world);
}

Reply Api::Answer(const Ask& ask) {
  Warnings warnings;
  Reply reply = AnswerOrRefuse(ask, warnings);
  reply.warnings = std::move(warnings);
  if (reply.feed == nullptr && reply.content_type.starts_with("application/json")) {
    reply.body += '\n';
  }
  return reply;
}

Reply Api::AnswerOrRefuse(const Ask& ask, Warnings& warnings) {
  try {
    return Route(ask, warnings);
  } catch (const Refusal& refusal) {
    return {.status = refusal.code(),
            .body = refusal.ToJson().dump(),
            .retry_after = refusal.retry_after()};
  } catch (const std::exception& error) {
    return {.status = 500,
            .body = Refusal(500, "InternalError",
                            std::string("Internal error occurred: ") + error.what())
                        .ToJson()
                        .dump()};
  }
}

Reply Api::Route(const Ask& ask, Warnings& warnings) {
  const Target& target = ask.target;
  const auto catalog = world_.catalog();
  if (target.has_empty_part) throw NoSuchPath();
  if (target.is_resource) {
    if (!catalog->HasGroup(target.group)) return PlainText(404, "404 page not found\n");
    return OfResource(ask, *catalog, warnings);
  }
  if (auto reply = Discover(ask, *catalog)) return std::move(*reply);
  if (auto reply = DescribeApi(ask, *catalog)) return std::move(*reply);
  if (!target.version.empty() && catalog->IsBuiltIn(target.group)) throw NoSuchPath();
  return PlainText(404, "404 page not found\n");
}

Reply Api::OfResource(const Ask& ask, const Catalog& catalog, Warnings& warnings) {
  const Target& target = ask.target;
  const Catalog::Entry resource = catalog.Find(target.group, target.version, target.plural);
  const bool in_its_place =
      resource != nullptr &&
      (resource->namespaced ? !target.ns.empty() || target.name.empty() : target.ns.empty());
  if (!in_its_place) {
    // Groups of custom resources know no other paths than those of their definitions.
    if (catalog.IsBuiltIn(target.group)) throw NoSuchPath();
    return PlainText(404, "404 page not found\n");
  }
  if (!target.subresource.empty() && !resource->Has(target.subresource)) {
    if (resource->built_in) throw NoSuchPath();
    throw NotFound(*resource, target.name);
  }
  if (!resource->warning.empty()) warnings.push_back(resource->warning);
  Reply reply = target.name.empty() || target.watch_prefix ? OfObjects(ask, resource, warnings)
                                                           : OfObject(ask, resource, warnings);
  if (ask.method != "GET") registrar_.Follow();
  return reply;
}

Reply Api::OfObjects(const Ask& ask, const Catalog::Entry& resource, Warnings& warnings) {
  const bool in_its_place = !resource->namespaced || !ask.target.ns.empty();
  if (ask.method == "GET" && resource->Allows("list")) return reads_.List(ask, resource);
  if (ask.method == "POST" && in_its_place && resource->Allows("create")) {
    return Write(ask, *resource, [&] { return writes_.Create(ask, *resource, warnings); });
  }
  if (ask.method == "DELETE" && in_its_place && resource->Allows("deletecollection")) {
    return Write(ask, *resource, [&] { return writes_.DeleteCollection(ask, *resource); });
  }
  throw MethodNotAllowed();
}

Reply Api::OfObject(const Ask& ask, const Catalog::Entry& resource, Warnings& warnings) {
  const bool whole = ask.target.subresource.empty();
  if (ask.target.subresource == "finalize" && ask.method != "PUT") throw MethodNotAllowed();
  if (ask.method == "GET") return reads_.Get(ask, *resource);
  if (ask.method == "PUT")
    return Write(ask, *resource, [&] { return writes_.Update(ask, *resource, warnings); });
  if (ask.method == "PATCH")
    return Write(ask, *resource, [&] { return writes_.Patch(ask, *resource, warnings); });
  if (ask.method == "DELETE" && whole)
    return Write(ask, *resource, [&] { return writes_.Delete(ask, *resource); });
  throw MethodNotAllowed();
}

Reply Api::Write(const Ask& ask, const Resource& resource, const std::function<Reply()>& write) {
  const Presentation presentation = ReadPresentation(ask, resource, world_.Now());
  Reply reply = write();
  const bool is_scale = ask.target.subresource == "scale";
  reply.body = presentation.OfAnswer(reply.body, is_scale ? ScaleKind() : resource);
  return reply;
}

}  // namespace kopp::apiserver
