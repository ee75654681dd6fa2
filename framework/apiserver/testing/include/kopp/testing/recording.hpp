#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <kopp/cache.hpp>
#include <kopp/client_options.hpp>
#include <kopp/controller/detail/reconciler_of.hpp>
#include <kopp/testing/wait_result.hpp>

namespace kopp::testing {

/// Options of Recording::Replay. They must describe the operator that was recorded.
struct ReplayOptions {
  std::string controller{};  ///< ControllerOptions::name; empty: the kind in lower case
  /// ControllerOptions::former_field_managers
  std::optional<std::vector<std::string>> former_field_managers{};
  CacheOptions cache{};  ///< the namespaces and selectors that the operator watched
  FieldValidation field_validation = FieldValidation::kWarn;  ///< Options::field_validation
};

/// What an operator that ran with --record FILE read from the API server, and its reconciles. A
/// test replays it against the reconciler, for example to reproduce a failure of production:
///
///     const kopp::testing::Recording recording("testdata/stuck-foo.jsonl");
///     EXPECT_TRUE((recording.Replay<Foo, kopp::Deployment>(Reconcile)));
///
/// Needs neither a server nor a network. Immutable and thread-safe.
class Recording {
 public:
  /// Reads the file. Throws std::runtime_error, with the file and the line, if it is not a
  /// recording or has an unknown format. A last line that is incomplete is ignored: the operator
  /// was killed.
  explicit Recording(const std::filesystem::path& file);
  ~Recording();
  Recording(const Recording&) = delete;
  Recording& operator=(const Recording&) = delete;

  /// Calls `reconcile` for each recorded reconcile of the controller, in the order of their start,
  /// in this thread. `reconcile` is a function as for ControllerBuilder::Reconcile.
  ///
  /// The cache has the objects of `T` and `Reads` that the operator had read when that reconcile
  /// started, and its own writes; after each call, also what it had read by then. If the reconcile
  /// differs, it is called again with what had been read some events before and after its start,
  /// because a recording does not say when an event reached the cache. The clock has the recorded
  /// time. The calls of Context::client get the recorded responses and errors, and
  /// must be the recorded ones, in the same order, with the same body; timestamps and secret values
  /// in bodies may differ. Events are ignored.
  ///
  /// Returns a failure that describes the first differences, also if the recording has no reconcile
  /// of this controller. After its first other call, the rest of a reconcile is not compared: its
  /// calls throw TransportError. Throws std::runtime_error if the operator did not watch `T` or one
  /// of `Reads` with the selectors of `options`.
  template <ApiObject T, ApiObject... Reads, typename F>
  [[nodiscard]] WaitResult Replay(F reconcile, const ReplayOptions& options = {}) const {
    const auto add_informers = [](Cache& cache) {
      cache.template InformerFor<T>();
      (cache.template InformerFor<Reads>(), ...);
    };
    return ReplayAll(T::kKind.kind, add_informers, ReconcilerOf<T>(std::move(reconcile)), options);
  }

 private:
  [[nodiscard]] WaitResult ReplayAll(std::string_view kind,
                                     const std::function<void(Cache&)>& add_informers,
                                     const Reconciler& reconcile,
                                     const ReplayOptions& options) const;

  class Impl;
  std::unique_ptr<const Impl> impl_;
};

}  // namespace kopp::testing
