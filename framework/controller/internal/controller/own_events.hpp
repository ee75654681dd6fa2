#pragma once

#include "client/write_listener.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include <kopp/controller/reason.hpp>
#include <kopp/informer/any_object.hpp>
#include <kopp/informer/handlers.hpp>
#include <kopp/informer/object_key.hpp>
#include <kopp/informer/owning_kind.hpp>
#include <kopp/workqueue/guarded.hpp>
#include <kopp/workqueue/queue.hpp>

namespace kopp {

/// Recognizes the events that the reconciles of a key cause by their own writes, so that they do
/// not cut short the delay before a retry of the key.
///
/// The writes of a key are those of Context::client in its reconciles, in on_error and in
/// finalizers, also on other threads. They are known from before they are sent until a reconcile of
/// the key succeeds. An event is own if it is proven to be the change of one of these writes, and
/// of nothing else:
/// - while the key is reconciled, it waits for the result. If that is a success, it is added to the
///   queue; if the key is retried, or not until a change, it is dropped.
/// - while the key waits for its retry or for a change, it is dropped.
/// An event that may be that of a write without a response yet waits for the response. All other
/// events are foreign.
///
/// Thread-safe. Locks nothing while no write is known.
class OwnEvents {
 public:
  using AddOptions = workqueue::AddOptions<QueuedReasons>;
  using Add = std::function<void(const ObjectKey& key, AddOptions options)>;

  /// `kind` is that of the reconciled objects. `add` adds an event to the queue of the controller.
  OwnEvents(OwningKind kind, Add add) : kind_(std::move(kind)), add_(std::move(add)) {}
  OwnEvents(const OwnEvents&) = delete;
  OwnEvents& operator=(const OwnEvents&) = delete;

  /// Handles an event of an object of the kind `kind` that reconciles `key`. Returns false if the
  /// caller must add it with `options`.
  [[nodiscard]] bool Handle(const ObjectKey& key, std::string_view kind,
                            const informer::KeyEvent& event, const AddOptions& options) {
    return size_ != 0 && HandleKnown(key, kind, event, options);
  }

  class Listener;

  /// One reconcile of a key, with its error hook. The reconciles of one key must not be concurrent.
  class Scope {
   public:
    /// `events` must outlive the object and the listener.
    Scope(OwnEvents& events, const ObjectKey& key);
    /// Calls End(false) if End was not called.
    ~Scope();
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

    /// Returns the listener for the client of the reconcile. It may outlive the scope: a write
    /// that starts later is known only if the key is still retried.
    [[nodiscard]] std::shared_ptr<WriteListener> listener() const;
    /// Ends the reconcile. `succeeded`: the key is neither retried, nor waits for a change because
    /// of an error.
    void End(bool succeeded);

   private:
    OwnEvents& events_;
    const std::shared_ptr<Listener> listener_;
  };

  /// Forgets the writes of a key, or all writes. Events that wait are added to the queue.
  void Forget(const ObjectKey& key);
  void Clear();

  /// Returns the number of keys with known writes.
  [[nodiscard]] std::size_t size() const { return size_; }

 private:
  enum class Origin { kOwn, kForeign, kUndecided };

  /// A copy of a KeyEvent, and of its AddOptions.
  struct WaitingEvent {
    std::string kind;
    informer::KeyEvent::Type type;
    informer::AnyObject object;
    informer::AnyObject before;  // may be empty
    bool is_watch_event;
    AddOptions options;
  };
  struct SentWrite {
    std::uint64_t id;
    std::shared_ptr<const ClientWrite> write;
  };
  struct Response {
    std::shared_ptr<const ClientWrite> write;
    bool created;
    std::string text;
  };
  struct LastBody {
    std::size_t path_hash;
    std::size_t body_hash;
  };
  /// The writes of one key.
  struct Writes {
    bool running = false;                    // a reconcile runs
    std::vector<SentWrite> sent = {};        // without a response
    std::vector<Response> responses = {};    // not decoded: many are never needed
    std::size_t response_size = 0;           // bytes of their texts
    std::vector<ObjectChange> changes = {};  // of decoded responses
    std::vector<LastBody> last_bodies = {};  // of updates and applies, one for each path
    std::vector<WaitingEvent> waiting = {};
  };
  using Entries = std::unordered_map<ObjectKey, Writes>;

  [[nodiscard]] bool HandleKnown(const ObjectKey& key, std::string_view kind,
                                 const informer::KeyEvent& event, const AddOptions& options);
  void Begin(const ObjectKey& key);
  void Suspend(const ObjectKey& key);
  std::uint64_t OnWriteStarted(const Listener& listener, ClientWrite&& write);
  void OnWriteEnded(const ObjectKey& key, std::uint64_t id, bool created,
                    std::string_view response);

  static void Record(Writes& writes, Response response);
  template <typename Predicate>
  static void Decode(Writes& writes, Predicate predicate);
  static bool IsProbablyOwn(const Writes& writes, std::string_view kind,
                            const informer::KeyEvent& event);
  static Origin OriginOf(Writes& writes, std::string_view kind, const informer::KeyEvent& event);
  static std::vector<WaitingEvent> RemoveForeign(Writes& writes, const ClientWrite* ended);
  void AddAll(const ObjectKey& key, std::vector<WaitingEvent> events) const noexcept;

  const OwningKind kind_;
  const Add add_;
  std::atomic<std::size_t> size_{0};       // of entries_
  std::atomic<std::uint64_t> last_id_{0};  // of writes
  detail::Guarded<Entries> entries_;
};

}  // namespace kopp
