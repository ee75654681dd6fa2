#pragma once

#include <chrono>
#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include <nlohmann/json_fwd.hpp>

#include <kopp/client.hpp>
#include <kopp/informer/object.hpp>
#include <kopp/log.hpp>
#include <kopp/workqueue/clock.hpp>
#include <kopp/workqueue/owned_ptr.hpp>
#include <kopp/workqueue/random_source.hpp>

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
  std::string fieldPath = {};  ///< a part of the object, such as "spec.containers{web}"
};
KOPP_FIELDS(ObjectReference, apiVersion, kind, KOPP_FIELD(ns, "namespace"), name, uid,
            resourceVersion, fieldPath)

/// Returns a reference to the object of `kind` with this metadata.
[[nodiscard]] ObjectReference ReferenceTo(const Kind& kind, const ObjectMeta& metadata);
/// Returns a reference to `object`.
template <ApiObject T>
[[nodiscard]] ObjectReference ReferenceTo(const T& object) {
  return ReferenceTo(T::kKind, object.metadata);
}
/// Returns a reference to `object`, a whole object as JSON. apiVersion and kind come from `kind`,
/// because the items of a list have none. Missing metadata stays empty; does not throw.
[[nodiscard]] ObjectReference ReferenceTo(const Kind& kind, const nlohmann::json& object);

/// The API that Events are written to. Both show the same objects; they differ in the fields and in
/// the Events that are combined.
enum class EventApi {
  /// core/v1, group "" in a Role. An Event that repeats (same object, type, reason and message)
  /// increments `count` of the existing one. Events that differ only in the message are combined
  /// from the tenth one within ten minutes: "(combined from similar events): …" is followed by the
  /// last message. Each object has a budget: a burst of 25 Events, then one in five minutes. The
  /// limits are those of client-go's tools/record.
  kCore,
  /// events.k8s.io/v1, group events.k8s.io in a Role. Events that differ only in the message are
  /// one series with the message of the first one. Its count is written when the second one occurs,
  /// then every 30 minutes, and when none has occurred for 6 to 12 minutes. The rules are those of
  /// client-go's tools/events. client-go: loses the last count of a series when the program stops;
  /// this recorder writes it.
  kEvents,
};

/// Further fields of an Event.
struct EventDetails {
  /// The action of the controller, one CamelCase word such as "ScaleUp". If it is empty,
  /// EventApi::kEvents uses the reason, because its Events must have an action.
  std::string action = {};
  std::optional<ObjectReference> related = {};  ///< a second object, such as a child
  std::map<std::string, std::string> annotations = {};
};

/// The interface through which an EventRecorder reports metrics. Metrics implements it.
/// Implementations must be thread-safe and must not throw.
class EventMetrics {
 public:
  virtual ~EventMetrics() = default;
  EventMetrics(const EventMetrics&) = delete;
  EventMetrics& operator=(const EventMetrics&) = delete;

  /// Called when `count` Events were dropped. `reason` is "queue_full", "rejected" (by the API
  /// server, or it could not be sent), "retry_limit" or "stopped" (not written by Stop). An Event
  /// of an object that has used up its budget is not reported: later ones have its count.
  virtual void AddDroppedEvents(std::string_view reason, std::size_t count) = 0;

 protected:
  EventMetrics() = default;
};

/// Options of an EventRecorder.
struct EventRecorderOptions {
  EventApi api = EventApi::kCore;
  /// `reportingInstance` of EventApi::kEvents, such as the name of the Pod. Empty: the component
  /// and the host name.
  std::string instance = {};
  /// Null: no metrics, or those of the Manager. Must outlive the recorder.
  EventMetrics* metrics = nullptr;
  workqueue::RandomSource random = workqueue::SystemRandom;  ///< for the jitter of retries
};

/// Records what a controller did or failed to do, as Kubernetes Events in the namespace of the
/// object. `kubectl describe` shows them.
///
/// Normal and Warning are thread-safe. They only queue the Event: they do not wait for the network
/// and do not throw. A thread of the recorder writes it to the API server. If the server cannot be
/// reached, or asks to try later (429 or 503), it tries again every 10 to 15 seconds, or later if
/// the server asks for that, up to 12 times. Meanwhile the later Events of the same namespace wait,
/// and those of other namespaces are written; the namespaces take turns. Give the recorder a client
/// whose transport does not retry: its waits would delay all namespaces.
///
/// Events can be lost. The recorder drops an Event if its object has used up its budget (see
/// EventApi::kCore), or if the API server rejects it. If 1000 are queued, it drops the newest one
/// of the namespace that has most of them. EventRecorderOptions::metrics counts what is dropped.
/// The program needs the permissions `create` and `patch` for `events` of the API group.
class EventRecorder {
 public:
  static constexpr Duration kMaxStopTimeout = std::chrono::seconds(5);  ///< of Stop

  /// `component` is shown as the source of the Events. `clock` must outlive the recorder. The stop
  /// token of `client` is not used, because Events are written until Stop.
  EventRecorder(const Client& client, std::string component, Logger log, Clock& clock,
                EventRecorderOptions options = {});
  /// Calls Stop.
  ~EventRecorder();
  EventRecorder(const EventRecorder&) = delete;
  EventRecorder& operator=(const EventRecorder&) = delete;

  /// Records an Event of type Normal about `object`. `reason` is one CamelCase word for programs,
  /// such as "ScalingUp"; `message` is a sentence for people, cut to 1024 bytes.
  ///
  ///     ctx.events.Normal(foo, "Created", "created the Deployment web",
  ///                       {.action = "Create", .related = kopp::ReferenceTo(web)});
  template <ApiObject T>
  void Normal(const T& object, std::string_view reason, std::string_view message,
              const EventDetails& details = {}) {
    Normal(ReferenceTo(object), reason, message, details);
  }
  /// Records an Event of type Warning about `object`.
  template <ApiObject T>
  void Warning(const T& object, std::string_view reason, std::string_view message,
               const EventDetails& details = {}) {
    Warning(ReferenceTo(object), reason, message, details);
  }
  // The same for an object whose kind is only known at run time: see ReferenceTo.
  void Normal(const ObjectReference& object, std::string_view reason, std::string_view message,
              const EventDetails& details = {});
  void Warning(const ObjectReference& object, std::string_view reason, std::string_view message,
               const EventDetails& details = {});

  /// Writes the queued Events, those of each namespace until the first write that would have to be
  /// tried again, for at most `timeout`, then cancels the current write; blocks until the thread
  /// has ended. The recorder does not repeat a write; the transport of the client may. Later Events
  /// are dropped. May be called again, but by one thread only.
  void Stop(Duration timeout = kMaxStopTimeout);

 private:
  void Record(std::string_view type, const ObjectReference& object, std::string_view reason,
              std::string_view message, const EventDetails& details);

  class Writer;
  detail::OwnedPtr<Writer> writer_;
};

}  // namespace kopp
