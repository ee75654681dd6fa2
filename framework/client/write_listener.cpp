#include "client/write_listener.hpp"

#include "written_object.hpp"

#include <algorithm>
#include <functional>
#include <utility>

#include <kopp/informer/decode_error.hpp>
#include <kopp/informer/fields.hpp>

namespace kopp {
namespace {

using Type = ObjectChange::Type;
using Verb = ClientWrite::Verb;

/// The field managers of an object: metav1.ManagedFieldsEntry.
struct ManagedObject {
  struct Entry {
    std::string manager;
    std::string operation;
    std::string subresource;
    std::string time;  // RFC 3339 in UTC: the order of the texts is that of the times
  };
  struct Metadata {
    std::vector<Entry> managedFields;
  };
  Metadata metadata;
};
KOPP_FIELDS(ManagedObject::Entry, manager, operation, subresource, time)
KOPP_FIELDS(ManagedObject::Metadata, managedFields)
KOPP_FIELDS(ManagedObject, metadata)

/// The precondition of a write, in its body.
struct VersionedObject {
  struct Metadata {
    std::string resourceVersion;
  };
  Metadata metadata;
};
KOPP_FIELDS(VersionedObject::Metadata, resourceVersion)
KOPP_FIELDS(VersionedObject, metadata)

/// Returns whether no other field manager has written the object later. Times are in seconds: those
/// of writes in the same second are equal.
bool IsLatestWriter(const ClientWrite& write, std::string_view response) {
  const auto entries = Decode<ManagedObject>(response).metadata.managedFields;
  const std::string_view operation = write.verb == Verb::kApply ? "Apply" : "Update";
  std::string_view latest;
  for (const auto& entry : entries) latest = std::max<std::string_view>(latest, entry.time);
  return std::ranges::any_of(entries, [&](const ManagedObject::Entry& entry) {
    return entry.manager == write.field_manager && entry.operation == operation &&
           entry.subresource == write.subresource && entry.time == latest;
  });
}

bool IsProvenUpdate(const ClientWrite& write, std::string_view response,
                    const std::string& version) {
  if (!write.precondition.empty()) return write.precondition != version;
  return IsLatestWriter(write, response);
}

std::vector<ObjectChange> Deletions(const std::vector<WrittenObject>& objects) {
  std::vector<ObjectChange> changes;
  for (const WrittenObject& object : objects) {
    const bool removed = object.state == WrittenObject::State::kGone;
    changes.push_back(
        {.type = removed ? Type::kRemoved : Type::kDeletionRequested, .uid = object.uid});
  }
  return changes;
}

std::vector<ObjectChange> Changes(const ClientWrite& write, bool created,
                                  std::string_view response) {
  if (write.verb == Verb::kDelete) {
    return Deletions(DeletedObjects(write.kind, write.key, response));
  }
  if (write.verb == Verb::kDeleteCollection) return Deletions(DeletedCollection(response));
  const bool is_status = write.subresource == "status";
  if (!is_status && !write.subresource.empty()) return {};
  std::vector<ObjectChange> changes;
  for (const WrittenObject& object : WrittenObjects(write.kind, response)) {
    if (object.state == WrittenObject::State::kGone) {
      changes.push_back({.type = Type::kRemoved, .uid = object.uid});
    } else if (created || IsProvenUpdate(write, response, object.resource_version)) {
      changes.push_back({.type = created     ? Type::kCreated
                                 : is_status ? Type::kStatusUpdated
                                             : Type::kUpdated,
                         .uid = object.uid,
                         .resource_version = object.resource_version});
    }
  }
  return changes;
}

/// Reports a write to a listener: its start, and its end. Without a response, the write has failed.
class StartedWrite {
 public:
  StartedWrite(WriteListener& listener, ClientWrite&& write)
      : listener_(&listener), id_(listener.OnWriteStarted(std::move(write))) {}
  ~StartedWrite() {
    if (listener_ != nullptr) listener_->OnWriteEnded(id_, /*created=*/false, "");
  }
  StartedWrite(const StartedWrite&) = delete;
  StartedWrite& operator=(const StartedWrite&) = delete;

  void OnResponse(const ApiResponse& response) {
    std::exchange(listener_, nullptr)->OnWriteEnded(id_, response.status == 201, response.body);
  }

 private:
  WriteListener* listener_;
  const std::uint64_t id_;
};

}  // namespace

std::vector<ObjectChange> ProvenChanges(const ClientWrite& write, bool created,
                                        std::string_view response) {
  try {
    return Changes(write, created, response);
  } catch (const DecodeError&) {
    return {};
  }
}

Client WithWriteListener(const Client& client, std::shared_ptr<WriteListener> listener) {
  Client copy = client;
  copy.calls_.listener_ = std::move(listener);
  return copy;
}

std::string PreconditionOf(std::string_view patch) {
  if (patch.find("\"resourceVersion\"") == std::string_view::npos) return "";
  try {
    return Decode<VersionedObject>(patch).metadata.resourceVersion;
  } catch (const DecodeError&) {
    return "";
  }
}

/// Sends a write request, and reports it to the listener.
std::string AnyClient::CallWrite(const ApiRequest& request, bool dry_run, ClientWrite write) const {
  if (listener_ == nullptr || dry_run) return Call(request);
  const auto hash = [](std::string_view text) { return std::hash<std::string_view>()(text); };
  if (write.precondition == "0") write.precondition.clear();  // any version
  write.path_hash = hash(std::string_view(request.target).substr(0, request.target.find('?')));
  write.body_hash = hash(request.body);
  StartedWrite started(*listener_, std::move(write));
  ApiResponse response = Send(request);
  started.OnResponse(response);
  return std::move(response.body);
}

}  // namespace kopp
