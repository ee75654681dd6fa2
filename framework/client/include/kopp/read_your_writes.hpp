#pragma once

#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>

#include <kopp/informer/object.hpp>
#include <kopp/informer/selector.hpp>

namespace kopp {

// Reads of a Cache wait for the writes of this program. After the manager's client has written an
// object, the cache returns it no earlier than in that state, although the event of the watch
// arrives later. controller-runtime: EnableReadYourWritesConsistency.

/// Options of a read of a Cache.
struct ReadOptions {
  /// true: waits until the cache has the writes of this program. false: returns at once what it
  /// has. Not set: false in handlers of informers and functions of Watches, else true.
  std::optional<bool> await_own_writes = {};
  ListOrder order = {};  ///< for lists
};

/// Thrown by a read of a Cache that has not received a write of this program in time. In a
/// reconciler let it escape, and the queue retries.
class StaleCacheError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The state of an object after a write that the API server has accepted.
struct WrittenObject {
  enum class State {
    kExists,    ///< in `resource_version`
    kDeleting,  ///< it is gone, or it has a deletionTimestamp
    kGone,
  };

  ObjectKey key = {};
  std::string uid = {};
  std::string resource_version = {};  ///< empty unless the state is kExists
  /// Not set if the response does not have them: that of a Scale, or the Status of a deletion.
  std::optional<std::map<std::string, std::string>> labels = {};
  std::string controller = {};  ///< uid of the controller; empty if there is none, or not known
  State state = State::kExists;
  friend bool operator==(const WrittenObject&, const WrittenObject&) = default;
};

/// Learns the result of each write of a Client, and tells it which objects exist; see
/// Client::WithWriteObserver.
class WriteObserver {
 public:
  virtual ~WriteObserver() = default;
  WriteObserver(const WriteObserver&) = delete;
  WriteObserver& operator=(const WriteObserver&) = delete;

  /// Called before the call of the client returns, on its thread. `kind` is that of the call, also
  /// for the subresources scale and status. Must be thread-safe, and must not throw or block.
  virtual void OnWrite(const Kind& kind, const WrittenObject& object) = 0;

  /// Returns the uid of the object if it is known to belong to this owner, "" if the object is
  /// known not to exist, or nullopt. The answer may be outdated. Must be thread-safe, and must not
  /// throw or block.
  [[nodiscard]] virtual std::optional<std::string> FindOwned(const Kind& /*kind*/,
                                                             const ObjectKey& /*key*/,
                                                             std::string_view /*owner_uid*/) const {
    return std::nullopt;
  }

 protected:
  WriteObserver() = default;
};

}  // namespace kopp
