#pragma once

#include "client/write_scope.hpp"

#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <kopp/informer/any_object.hpp>
#include <kopp/informer/object.hpp>
#include <kopp/informer/object_key.hpp>
#include <kopp/informer/owning_kind.hpp>
#include <kopp/log.hpp>
#include <kopp/workqueue/guarded.hpp>

namespace kopp {

/// Finds mistakes in the owner references of the objects that the reconciles of a controller write.
/// Thread-safe.
class OwnerCheck {
 public:
  struct Options {
    OwningKind owner{};  ///< the kind of the reconciled objects
    /// Returns the reconciled object, or an empty AnyObject.
    std::function<informer::AnyObject(const ObjectKey&)> find{};
    /// Returns whether the controller watches a kind.
    std::function<bool(const Kind&)> watches{};
    Logger log{};
  };

  explicit OwnerCheck(Options options) : options_(std::move(options)) {}

  /// Checks the object that the reconcile of `reconciled` writes. `object` is its JSON text. Throws
  /// std::invalid_argument if it has the reconciled object as an owner, and the garbage collector
  /// would therefore delete it. Logs, once per kind, if an object of the reconciled kind controls
  /// it and the controller does not watch its kind.
  void BeforeWrite(const ObjectKey& reconciled, const Kind& kind, const ObjectKey& key,
                   std::string_view object);

 private:
  void RequireSameNamespace(const ObjectKey& reconciled, const ObjectKey& key,
                            const std::vector<OwnerReference>& owners) const;
  void ReportUnwatched(const Kind& kind, const std::vector<OwnerReference>& owners);

  const Options options_;
  detail::Guarded<std::set<std::string>> logged_;  // kinds
};

/// While it exists, the writes on this thread are those of the reconcile of `reconciled`.
class OwnerCheckScope final : private WriteCheck {
 public:
  /// Both references must outlive the scope.
  OwnerCheckScope(OwnerCheck& check, const ObjectKey& reconciled)
      : check_(check), reconciled_(reconciled) {}

 private:
  void BeforeWrite(const Kind& kind, const ObjectKey& key, std::string_view object) override {
    check_.BeforeWrite(reconciled_, kind, key, object);
  }

  OwnerCheck& check_;
  const ObjectKey& reconciled_;
  const WriteScope scope_{*this};
};

}  // namespace kopp
