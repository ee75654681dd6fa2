#pragma once

#include <cstddef>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include <kopp/informer/informer.hpp>
#include <kopp/informer/owning_kind.hpp>

namespace kopp {

/// The informers of one view in a Cache: one for each watched namespace, or one for all of them.
/// The cache owns and starts it; programs add handlers and read.
///
/// Thread-safe. Handlers may be added before and while it runs.
/// controller-runtime: multiNamespaceInformer.
class InformerSet {
 public:
  class Impl;  // not for users: what the cache calls

  virtual ~InformerSet() = default;
  InformerSet(const InformerSet&) = delete;
  InformerSet& operator=(const InformerSet&) = delete;

  /// Adds a handler to each informer; see AnyInformer::AddHandler. Returns one registration for
  /// each namespace. With several namespaces, the handler is called by several threads at once, but
  /// never for the same object.
  virtual std::vector<informer::HandlerRegistration> AddHandler(
      const informer::AnyEventHandler& handler, const informer::HandlerOptions& options) = 0;
  std::vector<informer::HandlerRegistration> AddHandler(const informer::AnyEventHandler& handler) {
    return AddHandler(handler, {});
  }

  [[nodiscard]] virtual const OwningKind& kind() const = 0;

  /// Returns the object, or an empty AnyObject if there is none. Throws std::logic_error if the
  /// namespace is not watched.
  [[nodiscard]] virtual informer::AnyObject Get(const ObjectKey& key) const = 0;
  /// Returns the objects of the namespace `ns`, or of all watched namespaces if it is empty, in no
  /// particular order. Throws std::logic_error if the namespace is not watched.
  [[nodiscard]] virtual std::vector<informer::AnyObject> List(std::string_view ns) const = 0;
  [[nodiscard]] std::vector<informer::AnyObject> List() const { return List(std::string_view()); }
  /// As AnyStoreSnapshot::List. Throws std::logic_error if the namespace is not watched.
  [[nodiscard]] virtual std::vector<informer::AnyObject> List(const Selector& selector,
                                                              const ListOrder& order) const = 0;
  [[nodiscard]] virtual std::size_t Size() const = 0;

  /// Adds an index to each store; see AnyStore::AddIndex.
  virtual void AddIndex(const std::string& name, const informer::AnyIndexFunc& values_of) = 0;
  /// Adds the index kOwnerIndex to each store, unless there is one.
  virtual void AddOwnerIndex() = 0;
  /// Returns the objects for which the index has `value`, in no particular order. Throws
  /// std::logic_error if there is no index with this name.
  [[nodiscard]] virtual std::vector<informer::AnyObject> ByIndex(std::string_view index,
                                                                 std::string_view value) const = 0;

  [[nodiscard]] virtual bool HasSynced() const = 0;
  /// Blocks until each informer has synced, `stop` is requested or the informers are stopped.
  /// Returns whether all have synced.
  virtual bool WaitForSync(const std::stop_token& stop) const = 0;

 private:
  InformerSet() = default;
};

}  // namespace kopp
