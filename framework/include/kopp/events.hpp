#pragma once

#include <memory>
#include <string>
#include <string_view>

#include <kopp/client.hpp>
#include <kopp/informer/object.hpp>
#include <kopp/log.hpp>

namespace kopp {

/// The object that an Event is about.
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

/// Tells people what a controller did or could not do, as Events beside the object:
/// `kubectl describe` shows them.
///
/// Normal and Warning never block and never throw: a thread of the recorder's own writes. They may
/// be called from any thread. An Event is no log and no promise: beyond 1000 that wait, beyond 25
/// at once and one in five minutes about one object, and where the server refuses, they are
/// dropped. One that repeats (the same object, type, reason and message) raises the count of the
/// first. client-go: tools/record, with the same numbers; there, Events that
/// differ in the message alone are merged after ten.
class EventRecorder {
 public:
  /// `component` is the source that people see. `clock` outlives the recorder.
  EventRecorder(Client client, std::string component, Logger log, Clock& clock);
  /// Stops as Stop does.
  ~EventRecorder();
  EventRecorder(const EventRecorder&) = delete;
  EventRecorder& operator=(const EventRecorder&) = delete;

  template <Object T>
  void Normal(const T& about, std::string_view reason, std::string_view message) {
    Record("Normal", Refer(T::kKind, about.metadata), reason, message);
  }
  template <Object T>
  void Warning(const T& about, std::string_view reason, std::string_view message) {
    Record("Warning", Refer(T::kKind, about.metadata), reason, message);
  }

  /// Writes what waits, each once, for five seconds at the most and as long as the server answers;
  /// then ends. Later calls of Normal and Warning do nothing. Called by one thread.
  void Stop();

 private:
  static ObjectReference Refer(const Kind& kind, const ObjectMeta& metadata);
  void Record(std::string_view type, ObjectReference about, std::string_view reason,
              std::string_view message);

  class Writer;
  std::unique_ptr<Writer> writer_;
};

}  // namespace kopp
