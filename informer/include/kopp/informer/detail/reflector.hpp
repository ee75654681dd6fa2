#pragma once

#include <exception>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <kopp/informer/detail/reflector_state.hpp>
#include <kopp/informer/source.hpp>

namespace kopp::informer {

class CacheAudit;

/// Lists and watches a source and applies every change to a sink. After a failure it resumes the
/// watch or lists again, until it is stopped.
class AnyReflector {
 public:
  /// Receives the objects. Its functions are called on the thread of Run. If one throws, the
  /// reflector treats that as a failure of the list or watch. client-go: ReflectorStore.
  class Sink {
   public:
    virtual ~Sink() = default;
    Sink(const Sink&) = delete;
    Sink& operator=(const Sink&) = delete;

    /// Replaces the whole content by the result of a list. The objects with `skipped_keys` exist
    /// too, but could not be decoded. A key without a name means: one more object exists.
    virtual void Replace(std::vector<AnyObject> objects,
                         const std::vector<ObjectKey>& skipped_keys) = 0;
    /// Applies one watch event, of type kEvent.
    virtual void ApplyEvent(const WatchItem& event) = 0;
    /// Returns all objects, for an audit.
    [[nodiscard]] virtual std::vector<AnyObject> Objects() const = 0;
    /// Runs the periodic work that is due, such as resyncs and reports of slow handlers. Called
    /// before the reflector waits. Returns the time of the next work; TimePoint::max() means never.
    virtual TimePoint RunPeriodicWork(TimePoint now) = 0;
    /// Called after each list, event and bookmark was applied, with the version up to which the
    /// sink has all changes. The default does nothing.
    virtual void OnVersion(const std::string& resource_version);
    /// Called after Replace and before OnVersion if etcd was probably restored from a backup: the
    /// versions cannot be compared with those before. The default does nothing.
    virtual void OnRestore();

    // For statistics; the defaults do nothing.

    /// Called for each object of a watch that could not be applied.
    virtual void OnSkippedObject();
    /// Called when a watch has ended. `reason` is "closed" (by the server), "idle" (nothing came
    /// for too long), "outdated" (it sent an older version), "expired" (410), "rejected" (another
    /// status), "malformed" (no valid JSON), "failed" (no complete response) or "drift" (an audit).
    virtual void OnWatchEnd(std::string_view reason);
    /// Called when a list or watch threw `error`. It is repeated after `retry_in`.
    virtual void OnFailure(const std::exception_ptr& error, Duration retry_in);

   protected:
    Sink() = default;
  };

  /// `source` and `sink` must outlive the reflector.
  AnyReflector(AnySource& source, Sink& sink, ReflectorOptions options)
      : source_(source), sink_(sink), options_(std::move(options)), state_(options_) {}

  /// Lists and watches; blocks until `stop` is requested. Call it once. It does not throw for
  /// failures of the source or the sink: it reports them and retries.
  void Run(const std::stop_token& stop);

 private:
  class InitialObjects;

  void List(const std::stop_token& stop);
  void Replace(std::vector<AnyObject> objects, const std::vector<ObjectKey>& skipped_keys,
               const std::function<void()>& advance);
  ReflectorState::NextStep CheckVersion(const std::stop_token& stop);
  ReflectorState::NextStep Watch(const std::stop_token& stop);
  ReflectorState::NextStep EndWatch(std::string_view reason, ReflectorState::NextStep next);
  /// Calls stream.Next.
  WatchItem Read(WatchStream& stream, Duration timeout);
  void HandleInitialItem(const WatchItem& item, InitialObjects& objects);
  void HandleWatchItem(const WatchItem& item);
  std::optional<CacheDrift> ContinueAudit(std::optional<CacheAudit>& audit,
                                          const std::stop_token& stop);
  void WaitFor(Duration delay, const std::stop_token& stop);
  void ReportProblem(const std::string& problem, bool minor) const;

  AnySource& source_;
  Sink& sink_;
  ReflectorOptions options_;
  ReflectorState state_;
  std::vector<AnyObject> listed_objects_;  // of the pages so far
  std::vector<ObjectKey> skipped_keys_;    // of the pages so far
};

/// An AnyReflector for objects of the view `T`. client-go: Reflector.
template <ApiObject T>
class Reflector final : public AnyReflector {
 public:
  Reflector(Source<T>& source, Sink& sink, ReflectorOptions options = {})
      : AnyReflector(source, sink, std::move(options)) {}
};

}  // namespace kopp::informer
