#pragma once

#include <map>
#include <memory>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>
#include <typeindex>
#include <typeinfo>
#include <vector>

#include <kopp/http_source.hpp>
#include <kopp/informer/informer.hpp>
#include <kopp/log.hpp>

namespace kopp {

/// Local copies of the objects of all watched kinds, kept up to date by list and watch. Reads
/// return immediately and may be stale; use `Client` to read the current state from the API server.
///
/// There is one informer for each view (a struct with KOPP_FIELDS). Get, List and Kinds are
/// thread-safe once no thread calls InformerFor any more.
class Cache {
 public:
  /// Watches the namespace `ns`, or all namespaces if it is empty. `transport` and `clock` must
  /// outlive the cache.
  Cache(Transport& transport, std::string ns, Logger log, Clock& clock);
  ~Cache();
  Cache(const Cache&) = delete;
  Cache& operator=(const Cache&) = delete;

  /// Returns the object, or null if the cache has none. Throws std::logic_error if the view `T` is
  /// not watched.
  template <Object T>
  [[nodiscard]] std::shared_ptr<const T> Get(const ObjectKey& key) const {
    return StoreOf<T>().Get(key);
  }

  /// Returns the objects of the namespace `ns`, or of all namespaces if it is empty, in no
  /// particular order. Throws std::logic_error if the view `T` is not watched.
  template <Object T>
  [[nodiscard]] std::vector<std::shared_ptr<const T>> List(std::string_view ns = {}) const {
    return StoreOf<T>().List(ns);
  }

  /// Returns the informer of the view `T`; the first call creates it, so that `T` is watched. The
  /// cache owns it. Call this before Start only; not thread-safe.
  template <Object T>
  informer::AnyInformer& InformerFor() {
    return InformerFor(typeid(T), T::kKind, DecodeAny<T>);
  }

  /// Returns the kind of each watched view. Several views may be of one kind.
  [[nodiscard]] std::vector<Kind> Kinds() const;

  /// Starts one thread for each view, which lists and watches. Call it once.
  void Start();
  /// Blocks until the initial list of each view is complete, or until a stop is requested. Returns
  /// whether all lists are complete.
  bool WaitForSync(const std::stop_token& stop) const;
  /// Stops the threads and blocks until they have ended. The objects remain readable. May be called
  /// again.
  void Stop();

 private:
  struct Entry;

  template <Object T>
  [[nodiscard]] informer::Store<T> StoreOf() const {
    return informer::Store<T>(ExistingInformer(typeid(T), T::kKind).store());
  }
  informer::AnyInformer& InformerFor(std::type_index view, const Kind& kind,
                                     AnyHttpSource::Decoder decode);
  [[nodiscard]] const informer::AnyInformer& ExistingInformer(std::type_index view,
                                                              const Kind& kind) const;
  [[nodiscard]] informer::InformerOptions OptionsFor(const Kind& kind) const;

  Transport& transport_;
  std::string ns_;
  Logger log_;
  Clock& clock_;
  std::map<std::type_index, std::unique_ptr<Entry>> entries_;
  std::vector<std::jthread> threads_;  // last: the threads use all members above
};

}  // namespace kopp
