// Writes of objects that an owner controls, without a takeover of foreign objects.
#include "client/owned_object.hpp"
#include "client/resource_path.hpp"
#include "client/response_check.hpp"
#include "owned_uids.hpp"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <kopp/detail/any_client.hpp>
#include <kopp/foreign_object_error.hpp>
#include <kopp/informer/metadata_only.hpp>

namespace kopp {
namespace {

// No object has this resourceVersion: the first write of a new etcd is version 2. So the API server
// rejects a write with it if the object exists, and else creates the object with a new version.
constexpr std::string_view kOnlyIfAbsent = R"("resourceVersion":"1",)";

// Between two tries, another client has deleted or created the object.
constexpr int kMaxTries = 4;

/// Returns the position of the first member of `metadata` in the text of an object without
/// whitespace.
std::size_t StartOfMetadata(std::string_view object) {
  constexpr std::string_view kMetadata = R"("metadata":{)";
  int depth = 0;
  for (std::size_t i = 0; i < object.size(); ++i) {
    const char c = object[i];
    if (c == '{' || c == '[') ++depth;
    if (c == '}' || c == ']') --depth;
    if (c != '"') continue;
    if (depth == 1 && object.substr(i).starts_with(kMetadata)) return i + kMetadata.size();
    while (object[++i] != '"') {
      if (object[i] == '\\') ++i;
    }
  }
  return std::string_view::npos;
}

/// Returns whether the precondition of a write may have failed: the API server returns 409, or 422
/// for the uid in an apply.
bool IsFailedPrecondition(const ApiError& error) {
  if (error.IsConflict()) return !error.HasCause("FieldManagerConflict");
  return error.IsInvalid() && std::ranges::any_of(error.causes(), [](const Status::Cause& cause) {
           return cause.field == "metadata.uid";
         });
}

/// Returns whether both references are to objects of the same kind and name.
bool HaveSameName(const OwnerReference& a, const OwnerReference& b) {
  return Kind{a.apiVersion}.group() == Kind{b.apiVersion}.group() && a.kind == b.kind &&
         a.name == b.name;
}

/// Returns whether a person has set the label that allows `owner` to take over the object.
bool HasAdoptLabel(const OwnerReference& owner, const ObjectMeta& object) {
  const OwnerReference* const controller = ControllerOf(object);
  if (controller != nullptr && !HaveSameName(*controller, owner)) return false;
  const auto label = object.labels.find(kAdoptLabel);
  return label != object.labels.end() && label->second == "true";
}

std::string Problem(const Kind& kind, const ObjectKey& key, const OwnerReference& owner,
                    const std::optional<OwnerReference>& controller) {
  const std::string object = std::string(kind.kind) + ' ' + key.ToString();
  const std::string label = std::string("set the label ") + kAdoptLabel + "=true on it";
  const std::string name = owner.kind + ' ' + owner.name;
  if (!controller) {
    return object + " already exists and is not controlled by " + name +
           ": delete it, or choose another name; to let the " + owner.kind + " take it over, " +
           label + ", or write it with {.adopt = true}";
  }
  if (HaveSameName(*controller, owner)) {
    return object + " already exists and belongs to a former " + name + " (uid " + controller->uid +
           "): the garbage collector deletes it; to keep it, " + label;
  }
  return object + " already exists and is controlled by " + controller->kind + ' ' +
         controller->name + ", not by " + name + ": delete one of the two, or choose another name";
}

/// Returns `error` with the reason for the read.
ApiError ReadForbidden(const ApiError& error, const ApiRequest& request) {
  Status status = error.status();
  status.message +=
      ". The client reads an object that it does not know before it writes it for an owner, "
      "because it could belong to others";
  return {request.method + " " + request.target, std::move(status)};
}

}  // namespace

ForeignObjectError::ForeignObjectError(const Kind& kind, const ObjectKey& key,
                                       const OwnerReference& owner,
                                       std::optional<OwnerReference> controller)
    : std::runtime_error(Problem(kind, key, owner, controller)),
      controller_(std::move(controller)),
      belongs_to_former_owner_(controller_ && HaveSameName(*controller_, owner)) {}

/// Returns the uid of the object at the API server, or "" if it does not exist. Throws
/// ForeignObjectError if the controller in `body` may not write it.
std::string AnyClient::ReadOwned(const Kind& kind, const Body& body) const {
  const ApiRequest request{.target = detail::ObjectPath(kind, body.key),
                           .accept = std::string(detail::kAcceptMetadata)};
  std::string text;
  try {
    text = Call(request);
  } catch (const ApiError& error) {
    if (detail::IsNotFoundByServer(error)) return "";
    if (error.IsForbidden()) throw ReadForbidden(error, request);
    throw;
  }
  auto object = Decode<PartialObjectMetadata>(text).metadata;
  const OwnerReference& owner = *body.controller;
  if (!detail::IsOwnedOnlyBy(object, owner.uid) && !HasAdoptLabel(owner, object)) {
    const OwnerReference* const controller = ControllerOf(object);
    throw ForeignObjectError(kind, body.key, owner,
                             controller != nullptr ? std::optional(*controller) : std::nullopt);
  }
  return std::move(object.uid);
}

/// Sends a body. If it has a controller, sends it with a precondition: the uid of the object that
/// the owner controls, or that there is no object. So the API server rejects the write if another
/// client creates or replaces the object meanwhile. The precondition comes from the cache, else
/// from earlier writes, else from a read.
AnyClient::Written AnyClient::WriteOwned(const Kind& kind, Body& body, const WriteOptions& options,
                                         const std::function<Written(std::string)>& send) const {
  if (!body.controller || options.adopt || !options.subresource.empty()) {
    return send(std::move(body.text));
  }
  const std::string& owner = body.controller->uid;
  const std::size_t start = StartOfMetadata(body.text);
  auto uid = observer_ != nullptr ? observer_->FindOwned(kind, body.key, owner) : std::nullopt;
  const bool is_cached = uid.has_value();
  if (!uid) uid = owned_uids_->Find(kind, body.key, owner);
  if (!uid) uid = ReadOwned(kind, body);
  const auto body_with_precondition = [&] {
    const std::string precondition =
        uid->empty() ? std::string(kOnlyIfAbsent) : R"("uid":")" + *uid + R"(",)";
    std::string text;
    text.reserve(body.text.size() + precondition.size());
    return text.append(body.text, 0, start).append(precondition).append(body.text, start);
  };
  for (int tries = 1;; ++tries) {
    try {
      Written written = send(body_with_precondition());
      if (is_cached || dry_run_ || options.dry_run) return written;
      if (uid->empty()) uid = Decode<PartialObjectMetadata>(written.text).metadata.uid;
      owned_uids_->Set(kind, body.key, owner, *std::move(uid));
      return written;
    } catch (const ApiError& error) {
      if (tries == kMaxTries || !IsFailedPrecondition(error)) throw;
      std::string current = ReadOwned(kind, body);
      if (current == *uid) throw;  // the conflict is another one
      uid = std::move(current);
    }
  }
}

}  // namespace kopp
