#pragma once

#include <memory>
#include <string>
#include <string_view>

#include <nlohmann/json_fwd.hpp>

#include <kopp/client.hpp>
#include <kopp/informer/object.hpp>
#include <kopp/log.hpp>

namespace kopp {

/// Identifies the object of an Event: `involvedObject` of a core/v1 Event. Go: ObjectReference in
/// k8s.io/api/core/v1.
struct ObjectReference {
  std::string apiVersion = {};
  std::string kind = {};
  std::string ns = {};
  std::string name = {};
  std::string uid = {};
  std::string resourceVersion = {};
};
KOPP_FIELDS(ObjectReference, apiVersion, kind, KOPP_FIELD(ns, "namespace"), name, uid,
            resourceVersion)

/// Returns a reference to the object of `kind` with this metadata.
[[nodiscard]] ObjectReference ReferenceTo(const Kind& kind, const ObjectMeta& metadata);
/// Returns a reference to `object`.
template <Object T>
[[nodiscard]] ObjectReference ReferenceTo(const T& object) {
  return ReferenceTo(T::kKind, object.metadata);
}
/// Returns a reference to `object`, a whole object as JSON. apiVersion and kind come from `kind`,
/// because the items of a list have none. Missing metadata stays empty; does not throw.
[[nodiscard]] ObjectReference ReferenceTo(const Kind& kind, const nlohmann::json& object);

/// Records what a controller did or failed to do, as Kubernetes Events in the namespace of the
/// object. `kubectl describe` shows them.
///
/// Normal and Warning are thread-safe. They only queue the Event and do not throw; a thread of the
/// recorder writes it to the API server. If the server cannot be reached, it tries again every 10
/// seconds, up to 12 times.
///
/// Events can be lost. The recorder drops an Event if 1000 are queued, if its object has used up
/// its budget (a burst of 25, then one in five minutes), or if the API server rejects it. An Event
/// that repeats (same object, type, reason and message) increments `count` of the existing one.
///
/// The limits are those of client-go's tools/record. client-go also merges Events that differ only
/// in the message, after ten of them; this recorder does not.
class EventRecorder {
 public:
  /// `component` is shown as the source of the Events. `clock` must outlive the recorder. The stop
  /// token of `client` is not used, because Events are written until Stop.
  EventRecorder(const Client& client, std::string component, Logger log, Clock& clock);
  /// Calls Stop.
  ~EventRecorder();
  EventRecorder(const EventRecorder&) = delete;
  EventRecorder& operator=(const EventRecorder&) = delete;

  /// Records an Event of type Normal about `object`. `reason` is one CamelCase word for programs,
  /// such as "ScalingUp"; `message` is a sentence for people, cut to 1024 bytes.
  template <Object T>
  void Normal(const T& object, std::string_view reason, std::string_view message) {
    Normal(ReferenceTo(object), reason, message);
  }
  /// Records an Event of type Warning about `object`.
  template <Object T>
  void Warning(const T& object, std::string_view reason, std::string_view message) {
    Warning(ReferenceTo(object), reason, message);
  }
  // The same for an object whose kind is only known at run time: see ReferenceTo.
  void Normal(const ObjectReference& object, std::string_view reason, std::string_view message);
  void Warning(const ObjectReference& object, std::string_view reason, std::string_view message);

  /// Writes the queued Events until the first write that gets no response, for at most five
  /// seconds, then cancels the current write; blocks until the thread has ended. The recorder does
  /// not repeat a write; the transport of the client may. Later Events are dropped. May be called
  /// again, but by one thread only.
  void Stop();

 private:
  void Record(std::string_view type, const ObjectReference& object, std::string_view reason,
              std::string_view message);

  class Writer;
  std::unique_ptr<Writer> writer_;
};

}  // namespace kopp
