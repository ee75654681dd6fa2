// Applies that take over the fields of former field managers; see Client::WithFieldManager.
#include "client/resource_path.hpp"

#include <algorithm>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include <kopp/client.hpp>

namespace kopp {

/// A field manager whose applied fields a client takes over.
struct detail::FormerFieldManager {
  std::string name;
  /// The part of an object's text that says that it has an entry of operation Apply. API servers
  /// send compact JSON with these members in this order.
  std::string entry;
};

namespace {

using detail::FormerFieldManager;

using nlohmann::json;

/// The identity and the field managers of an object.
struct OwnedObject {
  struct Entry {
    std::string manager;
    std::string operation;
    std::string subresource;
  };
  struct Metadata {
    std::string name;
    std::string ns;
    std::string uid;
    std::vector<Entry> managedFields;
  };
  Metadata metadata;
};
KOPP_FIELDS(OwnedObject::Entry, manager, operation, subresource)
KOPP_FIELDS(OwnedObject::Metadata, name, KOPP_FIELD(ns, "namespace"), uid, managedFields)
KOPP_FIELDS(OwnedObject, metadata)

/// Returns the object in the response if `former` owns fields that it has applied to the
/// subresource. The text is searched first: usually there is nothing to decode.
std::optional<OwnedObject> FindApplied(std::string_view response, const FormerFieldManager& former,
                                       const std::string& subresource) {
  const std::string& entry = former.entry;
  if (::memmem(response.data(), response.size(), entry.data(), entry.size()) == nullptr) {
    return std::nullopt;
  }
  auto object = Decode<OwnedObject>(response);
  const bool has_applied =
      std::ranges::any_of(object.metadata.managedFields, [&](const OwnedObject::Entry& owned) {
        return owned.manager == former.name && owned.operation == "Apply" &&
               owned.subresource == subresource;
      });
  return has_applied ? std::optional(std::move(object)) : std::nullopt;
}

/// Returns the body of an apply without any field. With the uid, it never creates an object.
std::string WithoutFields(const Kind& kind, const OwnedObject::Metadata& metadata) {
  json identity{{"name", metadata.name}, {"uid", metadata.uid}};
  if (!metadata.ns.empty()) identity["namespace"] = metadata.ns;
  return json{{"apiVersion", kind.api_version}, {"kind", kind.kind}, {"metadata", identity}}.dump();
}

}  // namespace

Client Client::WithFieldManager(std::string field_manager, std::vector<std::string> former) const {
  std::vector<FormerFieldManager> all;
  for (std::string& name : former) {
    if (name == field_manager || name.empty()) continue;
    std::string entry = R"("manager":)" + detail::EncodeString(name) + R"(,"operation":"Apply")";
    all.push_back({std::move(name), std::move(entry)});
  }
  Client copy = *this;
  copy.calls_.field_manager_ = std::move(field_manager);
  copy.calls_.former_ =
      all.empty() ? nullptr
                  : std::make_shared<const std::vector<FormerFieldManager>>(std::move(all));
  return copy;
}

/// Applies, and then makes each former manager apply nothing: what it alone owns is removed.
AnyClient::Written AnyClient::ApplyAndTakeOver(const Kind& kind, const Target& target,
                                               const ApiRequest& request,
                                               const WriteOptions& options,
                                               std::string_view force) const {
  Written written = ApplyAsAny(kind, target, request, options, force);
  for (const FormerFieldManager& former : *former_) {
    const auto object = FindApplied(written.text, former, options.subresource);
    if (!object) continue;
    static_cast<void>(Reported(kind, written));
    ApiRequest release = request;
    release.body = WithoutFields(kind, object->metadata);
    WriteOptions as_former = options;
    as_former.field_manager = former.name;
    written = Write(kind, {target.key, ""}, std::move(release), as_former, force);
  }
  return written;
}

/// Returns the text of the object's metadata, or nullopt if the client must not read it.
std::optional<std::string> AnyClient::ReadMetadata(const Kind& kind, const ObjectKey& key) const {
  try {
    return Call(
        {.target = detail::ObjectPath(kind, key), .accept = std::string(detail::kAcceptMetadata)});
  } catch (const ApiError&) {
    return std::nullopt;
  }
}

/// Applies. If fields of a former manager are a conflict, or are not valid together with the
/// applied ones, applies as that manager first, which replaces them.
AnyClient::Written AnyClient::ApplyAsAny(const Kind& kind, const Target& target,
                                         const ApiRequest& request, const WriteOptions& options,
                                         std::string_view force) const {
  try {
    return Write(kind, target, request, options, force);
  } catch (const ApiError& error) {
    if (!error.IsInvalid() && !error.HasCause("FieldManagerConflict")) throw;
    const auto current = ReadMetadata(kind, target.key);
    for (const FormerFieldManager& former : *former_) {
      if (current && !FindApplied(*current, former, options.subresource)) continue;
      WriteOptions as_former = options;
      as_former.field_manager = former.name;
      try {
        static_cast<void>(Reported(kind, Write(kind, target, request, as_former, force)));
      } catch (const ApiError&) {
        continue;  // it is not the cause
      }
      return Write(kind, target, request, options, force);
    }
    throw;
  }
}

}  // namespace kopp
