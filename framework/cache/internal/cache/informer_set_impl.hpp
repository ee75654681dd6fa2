#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include <kopp/http_source.hpp>
#include <kopp/informer/detail/reflector.hpp>
#include <kopp/informer/informer.hpp>
#include <kopp/informer/informer_status.hpp>
#include <kopp/informer/owning_kind.hpp>
#include <kopp/informer/source.hpp>
#include <kopp/informer_set.hpp>
#include <kopp/log.hpp>
#include <kopp/read_your_writes.hpp>
#include <kopp/unsynced_informer.hpp>

namespace kopp {

/// An informer that the caller feeds, see CacheOptions::manual: the source to list and watch, and
/// the receiver of the objects.
struct ManualInformer {
  OwningKind kind = {};
  informer::AnySource* source = nullptr;
  informer::AnyReflector::Sink* sink = nullptr;

  /// Replaces the objects of the receiver by those of a list, and returns the resourceVersion of
  /// the list.
  std::string List(const informer::ListRequest& request = {}) const;
};

/// The internal interface of an InformerSet, for its cache: its threads, and the writes of the
/// program. Thread-safe.
class InformerSet::Impl final : public InformerSet {
 public:
  struct Options {
    OwningKind kind = {};
    ObjectForm form = ObjectForm::kComplete;
    AnyHttpSource::Decoder decode = {};
    std::vector<Selector> selectors = {};  ///< of the informers; one for each watched namespace
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
  Impl(Transport& transport, Options options);
  ~Impl() override;

  using InformerSet::AddHandler;
  using InformerSet::List;
  std::vector<informer::HandlerRegistration> AddHandler(
      const informer::AnyEventHandler& handler, const informer::HandlerOptions& options) override;
  [[nodiscard]] const OwningKind& kind() const override { return options_.kind; }
  [[nodiscard]] informer::AnyObject Get(const ObjectKey& key) const override;
  [[nodiscard]] std::vector<informer::AnyObject> List(std::string_view ns) const override;
  [[nodiscard]] std::vector<informer::AnyObject> List(const Selector& selector,
                                                      const ListOrder& order) const override;
  [[nodiscard]] std::size_t Size() const override;
  void AddIndex(const std::string& name, const informer::AnyIndexFunc& values_of) override;
  void AddOwnerIndex() override;
  [[nodiscard]] std::vector<informer::AnyObject> ByIndex(std::string_view index,
                                                         std::string_view value) const override;
  [[nodiscard]] bool HasSynced() const override;
  bool WaitForSync(const std::stop_token& stop) const override;

  /// Returns whether the current thread is in a call of a handler of any InformerSet.
  [[nodiscard]] static bool InHandler();

  /// See WriteObserver::FindOwned.
  [[nodiscard]] std::optional<std::string> FindOwned(const ObjectKey& key,
                                                     std::string_view owner_uid) const;
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
  [[nodiscard]] bool IsStopped() const { return stopped_.stop_requested(); }
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
