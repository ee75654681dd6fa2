#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <kopp/client.hpp>
#include <kopp/informer/object_key.hpp>
#include <kopp/informer/owning_kind.hpp>

namespace kopp {

/// A write of a Client: the request.
struct ClientWrite {
  enum class Verb { kUpdate, kApply, kDelete, kDeleteCollection };  ///< kUpdate: also POST

  Verb verb = Verb::kUpdate;
  OwningKind kind{};
  ObjectKey key{};            ///< without a name if the API server chooses it, or of a collection
  std::string subresource{};  ///< empty: none
  std::string field_manager{};
  std::string precondition{};  ///< the version that the object must have; empty: any
  std::size_t path_hash = 0;   ///< of the URL path
  std::size_t body_hash = 0;
};

/// The change of one object by a write, as watches show it.
struct ObjectChange {
  enum class Type {
    kCreated,
    kUpdated,            ///< without a subresource
    kStatusUpdated,      ///< its subresource status
    kDeletionRequested,  ///< it was removed, or has a deletionTimestamp
    kRemoved,
  };

  Type type = Type::kUpdated;
  std::string uid{};
  std::string resource_version{};  ///< empty for deletions: their responses do not have it
};

/// Returns the changes that are proven to be those of `write`. `created` is whether the status of
/// the response was 201; `response` is its body. A write that changes nothing returns the object as
/// another client has left it. So an update is only proven by its precondition, or if no other
/// field manager has written the object later than that of `write`.
[[nodiscard]] std::vector<ObjectChange> ProvenChanges(const ClientWrite& write, bool created,
                                                      std::string_view response);

/// Returns metadata.resourceVersion of a merge patch, or "".
[[nodiscard]] std::string PreconditionOf(std::string_view patch);

/// Observes the writes of a Client. Must be thread-safe.
class WriteListener {
 public:
  virtual ~WriteListener() = default;
  WriteListener(const WriteListener&) = delete;
  WriteListener& operator=(const WriteListener&) = delete;

  /// Called before the write is sent. Returns an id for OnWriteEnded.
  virtual std::uint64_t OnWriteStarted(ClientWrite&& write) = 0;
  /// Called before the call of the client returns. `response` is empty if the write has failed, or
  /// if it is not known whether it has. Must not throw.
  virtual void OnWriteEnded(std::uint64_t id, bool created, std::string_view response) = 0;

 protected:
  WriteListener() = default;
};

/// Returns a copy of `client` that calls `listener` before each write is sent and after it has
/// ended, except for dry runs.
[[nodiscard]] Client WithWriteListener(const Client& client,
                                       std::shared_ptr<WriteListener> listener);

}  // namespace kopp
