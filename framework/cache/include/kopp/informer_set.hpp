#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include <kopp/http_source.hpp>
#include <kopp/informer/informer.hpp>
#include <kopp/informer/informer_status.hpp>
#include <kopp/informer/kind_ref.hpp>
#include <kopp/informer/reflector.hpp>
#include <kopp/informer/source.hpp>
#include <kopp/log.hpp>
#include <kopp/read_your_writes.hpp>
#include <kopp/unsynced_informer.hpp>

namespace kopp {

/// An informer that the caller feeds, see CacheOptions::manual: the source to list and watch, and
/// the receiver of the objects.
struct ManualInformer {
  KindRef kind = {};
  informer::AnySource* source = nullptr;
  informer::AnyReflector::Sink* sink = nullptr;
};

/// The informers of one view in a Cache: one for each watched namespace, or one for all of them.
/// The cache owns and starts it; programs add handlers and read.
///
/// Thread-safe. Handlers may be added before and while it runs.
/// controller-runtime: multiNamespaceInformer.
class InformerSet {
 public:
  struct Options {
    KindRef kind = {};
    ObjectForm form = ObjectForm::kComplete;
    AnyHttpSource::Decoder decode = {};
    std::vector<ListFilter> filters = {};  ///< of the informers; one for each watched namespace
    Logger log{};
    Clock& clock = Clock::Real();
    std::function<void(const informer::InformerError&)> on_error = {};  ///< see InformerOptions
    AnyHttpSource::SkipObserver on_skipped = {};                        ///< see CacheOptions
    informer::InformerMetrics* metrics = nullptr;                       ///< see InformerOptions
    bool use_watch_list = false;                                        ///< see InformerOptions
    bool consistent_start = false;                                      ///< see InformerOptions
    Duration audit_interval{};                                          ///< see InformerOptions
    bool manual = false;                                                ///< see CacheOptions
  };

  /// `transport` and `options.clock` must outlive the object. Throws std::invalid_argument if a
  /// namespace or the kind is not valid in a path.
  InformerSet(Transport& transport, Options options);
  ~InformerSet();
  InformerSet(const InformerSet&) = delete;
  InformerSet& operator=(const InformerSet&) = delete;

  /// Adds a handler to each informer; see AnyInformer::AddHandler. Returns one registration for
  /// each namespace. With several namespaces, the handler is called by several threads at once, but
  /// never for the same object.
  std::vector<informer::HandlerRegistration> AddHandler(
      const informer::AnyEventHandler& handler, const informer::HandlerOptions& options = {});

  [[nodiscard]] const KindRef& kind() const { return options_.kind; }

  /// Returns the object, or an empty AnyObject if there is none. Throws std::logic_error if the
  /// namespace is not watched.
  [[nodiscard]] informer::AnyObject Get(const ObjectKey& key) const;
  /// Returns the objects of the namespace `ns`, or of all watched namespaces if it is empty, in no
  /// particular order. Throws std::logic_error if the namespace is not watched.
  [[nodiscard]] std::vector<informer::AnyObject> List(std::string_view ns = {}) const;
  /// Returns the selected objects, in no particular order unless the options say so.
  [[nodiscard]] std::vector<informer::AnyObject> List(
      const informer::StoreListOptions& options) const;
  [[nodiscard]] std::size_t Size() const;

  /// Adds an index to each store; see AnyStore::AddIndex.
  void AddIndex(const std::string& name, const informer::AnyIndexFunc& values_of);
  /// Adds the index kOwnerIndex to each store, unless there is one.
  void AddOwnerIndex();
  /// Returns the objects for which the index has `value`, in no particular order. Throws
  /// std::logic_error if there is no index with this name.
  [[nodiscard]] std::vector<informer::AnyObject> ByIndex(std::string_view index,
                                                         std::string_view value) const;

  /// Returns whether the current thread is in a call of a handler of any InformerSet.
  [[nodiscard]] static bool InHandler();

  /// Adds a write of this program, which later calls of AwaitWrites wait for.
  void RecordWrite(const WrittenObject& object);
  /// Blocks until the store has the recorded write of `key`. Throws StaleCacheError after
  /// `timeout`, a stop request or Stop, and when the calls of the reconcile on this thread are
  /// cancelled.
  void AwaitWrites(const ObjectKey& key, Duration timeout, const std::stop_token& stop) const;
  /// The same for all objects of the namespace `ns`, or of all namespaces if it is empty.
  void AwaitWrites(std::string_view ns, Duration timeout, const std::stop_token& stop) const;

  /// Returns the informers, which are valid as long as this object. Requires: Options::manual.
  [[nodiscard]] std::vector<ManualInformer> ManualInformers() const;

  /// Starts one thread for each informer, unless Stop was called. Call it once.
  void Start();
  [[nodiscard]] bool HasSynced() const;
  /// Blocks until each informer has synced, `stop` is requested or Stop was called. Returns whether
  /// all have synced.
  bool WaitForSync(const std::stop_token& stop) const;
  /// Returns the informers that have not synced.
  [[nodiscard]] std::vector<UnsyncedInformer> NotSynced() const;
  /// Returns the state of each informer.
  [[nodiscard]] std::vector<informer::InformerStatus> Statuses() const;
  /// Returns the first `limit` objects, by namespace and name, of the informer with this
  /// InformerStatus::name, or nullopt if there is none.
  [[nodiscard]] std::optional<std::vector<informer::AnyObject>> ObjectsOf(std::string_view informer,
                                                                          std::size_t limit) const;
  /// Makes the threads end, and the calls that wait. Does not block.
  void RequestStop();
  /// Calls RequestStop and blocks until the threads have ended. The objects remain readable. May be
  /// called again. Must not be called by a handler.
  void Stop();
  /// Blocks until no handler is being called any more, or until `deadline`. Returns the handlers
  /// that are still being called, for a log: `"foo" of Pod`. Call it after Stop; the destructor
  /// waits without a deadline.
  [[nodiscard]] std::vector<std::string> WaitForHandlers(TimePoint deadline) const;

 private:
  struct Member;

  [[nodiscard]] Member* FindMember(std::string_view ns) const;
  [[nodiscard]] const informer::AnyStore& StoreOf(std::string_view ns) const;
  template <typename Read>
  [[nodiscard]] std::vector<informer::AnyObject> ReadAll(Read read) const;

  Options options_;
  std::mutex lifecycle_;      // held by Start and Stop
  std::stop_source stopped_;  // ends the threads and the calls that wait
  std::vector<std::unique_ptr<Member>> members_;
};

}  // namespace kopp
