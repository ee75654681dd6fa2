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

/// The objects of the kinds that are watched, as this process knows them: answers at once, perhaps
/// a little behind the API server (`Client` asks that).
///
/// Reads are safe from any thread. One informer serves each view; it is made before Start, by the
/// first InformerFor.
class Cache {
 public:
  /// `ns`: the only namespace that is watched; empty: all. `transport` and `clock` outlive the
  /// cache.
  Cache(Transport& transport, std::string ns, Logger log, Clock& clock);
  ~Cache();
  Cache(const Cache&) = delete;
  Cache& operator=(const Cache&) = delete;

  /// Null when there is no such object. Throws std::logic_error for a view that is not watched.
  template <Object T>
  [[nodiscard]] std::shared_ptr<const T> Get(const ObjectKey& key) const {
    return StoreOf<T>().Get(key);
  }

  /// All objects, or those of one namespace, in no order. Throws as Get does.
  template <Object T>
  [[nodiscard]] std::vector<std::shared_ptr<const T>> List(std::string_view ns = {}) const {
    return StoreOf<T>().List(ns);
  }

  /// The informer of a view, made at the first call. Before Start.
  template <Object T>
  informer::AnyInformer& InformerFor() {
    return InformerFor(typeid(T), T::kKind, DecodeAny<T>);
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
  struct Entry;

  template <Object T>
  [[nodiscard]] informer::Store<T> StoreOf() const {
    return informer::Store<T>(Watched(typeid(T), T::kKind).store());
  }
  informer::AnyInformer& InformerFor(std::type_index view, const Kind& kind,
                                     AnyHttpSource::Decoder decode);
  [[nodiscard]] const informer::AnyInformer& Watched(std::type_index view, const Kind& kind) const;
  [[nodiscard]] informer::InformerOptions OptionsFor(const Kind& kind) const;

  Transport& transport_;
  std::string ns_;
  Logger log_;
  Clock& clock_;
  std::map<std::type_index, std::unique_ptr<Entry>> entries_;
  std::vector<std::jthread> threads_;  // last: they use everything above
};

}  // namespace kopp
