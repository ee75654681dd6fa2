#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include <kopp/informer/any_object.hpp>
#include <kopp/manager.hpp>
#include <kopp/standalone_cache.hpp>
#include <kopp/testing/api_server.hpp>
#include <kopp/testing/wait_result.hpp>

namespace kopp::testing {

struct EnvironmentOptions {
  /// The name of the operator: its user name at the server, Options::name of its manager, and the
  /// field manager of Reconcile.
  std::string name = "operator";
  /// The operator watches these namespaces, separated by commas; empty: those of `cache`.
  std::string watch_namespace{};
  CacheOptions cache{};          ///< of the operator
  Clock& clock = Clock::Real();  ///< used by the server and the operator
  /// The time limit of Eventually, EventuallyGone and Stop. Always real time, even if `clock` is a
  /// FakeClock.
  Duration timeout = std::chrono::seconds(30);
  int verbosity = 4;  ///< the operator's log level, same as its flag -v
  /// Of the clients of the operator and of the test. By default, a write with a misspelt field
  /// fails with an ApiError, which a cluster would only report as a warning.
  FieldValidation field_validation = FieldValidation::kStrict;
  /// Whether the operator may send only the requests that Manager::Permissions() returned at Start
  /// or before Reconcile, as with the Roles that `--print-rbac` prints. A request that you forgot
  /// to pass to Manager::Declare then fails with 403 in the test instead of in a cluster. The
  /// server also checks owner references, as OpenShift does. Reads of Reconcile need no permission.
  bool enforce_permissions = false;
};

class Environment;

/// Stops the operator of an Environment and aborts its pending calls when it is destroyed. See
/// Environment::StartScoped.
class [[nodiscard]] ScopedOperator {
 public:
  /// Blocks until the operator has stopped.
  ~ScopedOperator();
  ScopedOperator(const ScopedOperator&) = delete;
  ScopedOperator& operator=(const ScopedOperator&) = delete;

 private:
  friend class Environment;
  explicit ScopedOperator(Environment& environment) : environment_(environment) {}

  Environment& environment_;
};

/// A test environment for an operator: an API server in memory, a client for the test, and a
/// manager for the operator. There are two ways to use it. The first runs one reconcile at a time
/// in the thread of the test:
///
///     kopp::testing::Environment env;
///     env.Install("crd.yaml");
///     env.client().Create<Foo>(…);
///     env.Reconcile<Foo, kopp::Deployment>({"default", "foo"}, Reconcile);
///     EXPECT_THAT(env.Writes(), ElementsAre("create deployments default/web"));
///
/// The second runs the whole operator in the background, as in a cluster:
///
///     env.manager().AddController<Foo>().Owns<kopp::Deployment>().Reconcile(Reconcile);
///     const auto running = env.StartScoped();
///     env.client().Create<Foo>(…);
///     EXPECT_TRUE(env.Eventually<kopp::Deployment>({"default", "web"}));
///
/// The operator and the test use different users and transports: faults and restarts affect the
/// operator only, and Writes, Events and Log report what the operator did, not the test. The calls
/// of the operator are not retried (RetryPolicy::max_tries is 1), so that each fault reaches the
/// reconciler.
///
/// Not thread-safe: use it from one thread. It owns the server, the client and the manager. The
/// destructor stops the operator and aborts its pending calls.
///
/// The objects that a reconciler uses, and EnvironmentOptions::clock, must outlive the running
/// operator. If the environment is declared before them, it outlives them: use StartScoped, or call
/// Stop at the end of the test.
class Environment {
 public:
  explicit Environment(EnvironmentOptions options = {});
  ~Environment();
  Environment(const Environment&) = delete;
  Environment& operator=(const Environment&) = delete;

  [[nodiscard]] ApiServer& server();
  /// Returns the client of the test, which is an administrator and is not affected by faults.
  [[nodiscard]] const Client& client();
  /// Returns the manager of the operator. Add controllers to it before Start.
  [[nodiscard]] Manager& manager();

  /// Creates or updates (by server-side apply) all objects in a YAML or JSON file, or in the files
  /// of a folder. Creates CustomResourceDefinitions first. Throws std::runtime_error with the file,
  /// the object and the error of the server. Skips the server's own Service default/kubernetes.
  void Install(const std::filesystem::path& path);
  /// Same as Install, for one object.
  void InstallObject(const nlohmann::json& object);

  /// Makes the server call the webhooks of manager() in this process, without sockets and
  /// certificates. Call it after the last Manager::AddWebhook; Start calls it if you have not.
  /// Without webhooks, it does nothing. After the operator has ended by force, the stop tokens of
  /// their functions are stopped from the start. A call fails if 20 calls are running in the same
  /// thread, each for a write of the one before.
  ///
  ///     env.manager().AddWebhook<Foo>().Default(SetDefaults).Validate(Validate);
  ///     env.ServeWebhooks();
  ///     EXPECT_THROW(env.client().Create(invalid), kopp::ApiError);
  void ServeWebhooks();

  /// Runs the manager in a background thread, and returns without waiting for its caches. If the
  /// manager fails, Eventually returns its error. Throws std::logic_error on a second call. The
  /// objects that the reconcilers use must exist until Stop returns or the environment is
  /// destroyed.
  void Start();
  /// Same as Start. The operator runs until the result is destroyed, so that no reconciler runs
  /// afterwards. Declare the result after all objects that the reconcilers use; the environment may
  /// be declared before or after these objects.
  [[nodiscard]] ScopedOperator StartScoped();
  /// Stops the manager as SIGTERM does, and blocks until it has stopped. After
  /// EnvironmentOptions::timeout it clears the faults and restarts the server, so that delayed
  /// calls fail and the manager can stop. Returns the manager's exit code, or 0 if it never ran.
  int Stop();

  /// Runs one reconcile in this thread for the object that `key` names. `reconcile` is a function
  /// as for ControllerBuilder::Reconcile. Its cache contains all objects of `T` and `Reads` as they
  /// are on the server before the call. Returns the result of `reconcile`, and throws what it
  /// throws, after its Events were written. As in a controller, a write of an object that the
  /// reconciled object cannot own throws std::invalid_argument. Throws ApiError if the server does
  /// not have a kind, and std::invalid_argument if the object does not exist or the cache does not
  /// contain it.
  template <ApiObject T, ApiObject... Reads, typename F>
  Result Reconcile(const ObjectKey& key, F reconcile) {
    return ReconcileIf<T, Reads...>(true, key, std::move(reconcile));
  }
  /// Same as Reconcile, for an object that has been deleted: only a reconciler that takes an
  /// ObjectKey is called. Throws std::invalid_argument if the object exists.
  template <ApiObject T, ApiObject... Reads, typename F>
  Result ReconcileDeleted(const ObjectKey& key, F reconcile) {
    return ReconcileIf<T, Reads...>(false, key, std::move(reconcile));
  }

  /// Blocks until the object exists and `condition`, unless empty, returns true for it. Checks
  /// again after each write to the server. Fails on timeout, and when the operator has ended; the
  /// message then shows the current object and what the operator did: its writes, its last
  /// requests, its Events and the end of its log.
  template <ApiObject T>
  WaitResult Eventually(const ObjectKey& key, const std::function<bool(const T&)>& condition = {}) {
    return AwaitObject(T::kKind, key, [&](const std::string* object) {
      return object != nullptr && (!condition || condition(Decode<T>(*object)));
    });
  }
  /// Same as Eventually, but blocks until the object does not exist.
  template <ApiObject T>
  WaitResult EventuallyGone(const ObjectKey& key) {
    return AwaitObject(T::kKind, key, [](const std::string* object) { return object == nullptr; });
  }
  /// Same as Eventually, but blocks until `condition` returns true. Checks again after each write
  /// to the server, and every 20 ms, for conditions that do not depend on the server.
  WaitResult Eventually(const std::function<bool()>& condition);

  /// Returns the operator's writes so far, oldest first, without those of Events and Leases:
  /// "create deployments default/web", "patch foos/status default/foo". A failed write ends with
  /// its status: "update foos default/foo: 409 Conflict".
  [[nodiscard]] std::vector<std::string> Writes() const;
  /// Returns the request body of the operator's latest write with this text, which has the form of
  /// Writes() without a status. Throws std::out_of_range, with a list of the writes, if there is
  /// none.
  [[nodiscard]] nlohmann::json Sent(std::string_view write) const;
  /// Returns the Events that the operator has created, oldest first, without updates of their
  /// count: "Warning ErrResourceExists: it is not ours".
  [[nodiscard]] std::vector<std::string> Events() const;
  /// Returns the last 30 lines of the operator's log.
  [[nodiscard]] std::string Log() const;

 private:
  friend class ScopedOperator;
  /// The object of one reconcile.
  struct Target {
    const Kind& kind;
    const ObjectKey& key;
    bool must_exist = true;
    std::function<informer::AnyObject()> find{};  ///< returns the object in the cache
  };

  template <ApiObject T, ApiObject... Reads, typename F>
  Result ReconcileIf(bool must_exist, const ObjectKey& key, F reconcile) {
    const auto cache = NewCache();
    cache->template InformerFor<T>();
    (cache->template InformerFor<Reads>(), ...);
    const auto find = [&]() -> informer::AnyObject { return cache->template Get<T>(key); };
    return ReconcileOnce(*cache, {T::kKind, key, must_exist, find},
                         ReconcilerOf<T>(std::move(reconcile)));
  }
  [[nodiscard]] std::unique_ptr<StandaloneCache> NewCache();
  Result ReconcileOnce(StandaloneCache& cache, const Target& target, const Reconciler& reconcile);
  WaitResult AwaitObject(const Kind& kind, const ObjectKey& key,
                         const std::function<bool(const std::string* object)>& condition);

  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace kopp::testing
