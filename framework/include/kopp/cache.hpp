#pragma once

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>
#include <typeindex>
#include <utility>
#include <vector>

#include <kopp/http_source.hpp>
#include <kopp/informer/informer.hpp>
#include <kopp/log.hpp>

namespace kopp {

/// The objects of the kinds that are watched, as this process knows them: answers at once, perhaps
/// a little behind the API server (`Client` asks that).
///
/// Reads are safe from any thread. One informer serves each view; it is made before Start, by the
/// first InformerFor.
class Cache {
 public:
  /// `ns`: the only namespace that is watched; empty: all. `transport` and `clock` outlive the
  /// cache.
  Cache(Transport& transport, std::string ns, Logger log, Clock& clock)
      : transport_(transport), ns_(std::move(ns)), log_(std::move(log)), clock_(clock) {}
  Cache(const Cache&) = delete;
  Cache& operator=(const Cache&) = delete;

  /// Null when there is no such object. Throws std::logic_error for a view that is not watched.
  template <Object T>
  [[nodiscard]] std::shared_ptr<const T> Get(const ObjectKey& key) const {
    return Watched<T>().store().Get(key);
  }

  /// All objects, or those of one namespace, in no order. Throws as Get does.
  template <Object T>
  [[nodiscard]] std::vector<std::shared_ptr<const T>> List(std::string_view ns = {}) const {
    return Watched<T>().store().List(ns);
  }

  /// The informer of a view; the shortest `resync` that is asked for counts. Before Start.
  template <Object T>
  informer::Informer<T>& InformerFor(Duration resync = {}) {
    auto& entry = entries_[std::type_index(typeid(T))];
    if (!entry) entry = std::make_unique<EntryOf<T>>(*this);
    auto& informer = static_cast<EntryOf<T>&>(*entry).informer;
    informer.ResyncEvery(resync);
    return informer;
  }

  /// The kinds that are watched.
  [[nodiscard]] std::vector<Kind> Kinds() const;

  /// Starts to list and watch, a thread for each view. Once.
  void Start();
  /// Blocks until each view has its first list, or until `stop` asks. Returns whether they have.
  bool WaitForSync(const std::stop_token& stop) const;
  /// Ends the threads. What is known stays readable.
  void Stop();

 private:
  struct Entry {
    virtual ~Entry() = default;
    [[nodiscard]] virtual Kind kind() const = 0;
    virtual void Run(const std::stop_token& stop) = 0;
    virtual bool WaitForSync(const std::stop_token& stop) const = 0;
  };
  template <Object T>
  struct EntryOf final : Entry {
    explicit EntryOf(Cache& cache)
        : source(cache.transport_, cache.ns_), informer(source, cache.OptionsFor(T::kKind)) {}
    [[nodiscard]] Kind kind() const override { return T::kKind; }
    void Run(const std::stop_token& stop) override { informer.Run(stop); }
    bool WaitForSync(const std::stop_token& stop) const override {
      return informer.WaitForSync(stop);
    }
    HttpSource<T> source;
    informer::Informer<T> informer;
  };

  template <Object T>
  const informer::Informer<T>& Watched() const {
    const auto found = entries_.find(std::type_index(typeid(T)));
    if (found == entries_.end()) ThrowNotWatched(T::kKind);
    return static_cast<const EntryOf<T>&>(*found->second).informer;
  }
  [[noreturn]] static void ThrowNotWatched(const Kind& kind);
  [[nodiscard]] informer::InformerOptions OptionsFor(const Kind& kind) const;

  Transport& transport_;
  std::string ns_;
  Logger log_;
  Clock& clock_;
  std::map<std::type_index, std::unique_ptr<Entry>> entries_;
  std::vector<std::jthread> threads_;  // last: they use everything above
};

}  // namespace kopp
