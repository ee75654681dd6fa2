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

#include <kopp/manager.hpp>
#include <kopp/testing/api_server.hpp>
#include <kopp/testing/verdict.hpp>

namespace kopp::testing {

struct EnvironmentOptions {
  /// The operator's: its user at the server, its field manager and the source of its Events.
  std::string name = "operator";
  std::string watch_namespace{};  ///< the only one that it watches; empty: all
  Clock& clock = Clock::Real();   ///< the server's and the operator's
  /// Of Eventually and of Stop: real time, whatever `clock` is.
  Duration patience = std::chrono::seconds(10);
  int verbosity = 4;  ///< of what is kept of the operator's log, as -v
};

/// All that the test of an operator needs: an API server in memory, a client for the test, and a
/// manager for the operator. Two ways to use it. Directly, a reconcile at a time, with no threads
/// to wait for:
///
///     kopp::testing::Environment env;
///     env.Install("crd.yaml");
///     env.client().Create<Foo>(…);
///     env.Reconcile<Foo, kopp::Deployment>({"default", "foo"}, Reconcile);
///     EXPECT_THAT(env.Writes(), ElementsAre("create deployments default/web"));
///
/// Or whole, with the operator at work as in a cluster:
///
///     env.manager().AddController<Foo>().Owns<kopp::Deployment>().Reconcile(Reconcile);
///     env.Start();
///     env.client().Create<Foo>(…);
///     EXPECT_TRUE(env.Eventually<kopp::Deployment>({"default", "web"}));
///
/// The operator and the test come to the server apart: faults and restarts befall the operator
/// alone, and Writes, Events and Log tell what the operator did, not the test.
///
/// Used by one thread; what it hands out keeps its own promises. The destructor stops the operator,
/// and breaks off the calls that it waits for.
class Environment {
 public:
  explicit Environment(EnvironmentOptions options = {});
  ~Environment();
  Environment(const Environment&) = delete;
  Environment& operator=(const Environment&) = delete;

  [[nodiscard]] ApiServer& server();
  [[nodiscard]] const Client& client();  ///< the test's: an administrator whom no fault befalls
  [[nodiscard]] Manager& manager();      ///< the operator's; not run yet

  /// Makes all objects of a YAML or JSON file, or of a folder of them, custom resources among them;
  /// what is there already becomes as the file says. Throws std::runtime_error with the file and
  /// the server's words.
  void Install(const std::filesystem::path& path);
  /// The same with one object.
  void InstallObject(const nlohmann::json& object);

  /// Runs the manager in a thread of its own, once, and does not wait for its caches. What it fails
  /// of, at the start or later, is told by Eventually.
  void Start();
  /// Stops it as a signal would, and waits until it has. When the patience is at an end the faults
  /// are cleared and the server restarts, so that no call is held back any more. Returns its exit
  /// code; 0 where it never ran.
  int Stop();

  /// One reconcile in this thread, of the object that `key` names: `reconcile` is what
  /// ControllerBuilder::Reconcile takes. Its cache holds the objects of the views `T` and `Reads`
  /// as they are on the server when it begins. Returns and throws what the reconcile does, once its
  /// Events are written. Throws ApiError for a kind that the server does not have.
  template <Object T, Object... Reads, typename F>
  Result Reconcile(const ObjectKey& key, F reconcile) {
    const auto cache = NewCache();
    cache->template InformerFor<T>();
    (cache->template InformerFor<Reads>(), ...);
    return ReconcileOnce(*cache, key, ReconcilerOf<T>(std::move(reconcile)));
  }

  /// Blocks until there is such an object of which `holds` is true; empty: any. It is looked at
  /// after each write to the server. False when the patience is at an end, or the operator is, with
  /// a text that tells the object as it is, and what the operator did.
  template <Object T>
  Verdict Eventually(const ObjectKey& key, const std::function<bool(const T&)>& holds = {}) {
    return AwaitObject(T::kKind, key, [&](const std::string* object) {
      return object != nullptr && (!holds || holds(Decode<T>(*object)));
    });
  }
  /// The same until there is none.
  template <Object T>
  Verdict EventuallyGone(const ObjectKey& key) {
    return AwaitObject(T::kKind, key, [](const std::string* object) { return object == nullptr; });
  }
  /// The same until `holds` is true, which is asked after each write to the server, and every now
  /// and then for what the server does not know.
  Verdict Eventually(const std::function<bool()>& holds);

  /// What the operator wrote so far, but for Events and Leases, oldest first: "create deployments
  /// default/web", "patch foos/status default/foo"; what was refused ends with ": 409 Conflict".
  [[nodiscard]] std::vector<std::string> Writes() const;
  /// What the operator sent with the last of such a write. Throws std::out_of_range, with those
  /// that there are.
  [[nodiscard]] nlohmann::json Sent(std::string_view write) const;
  /// The operator's Events, each once, oldest first: "Warning ErrResourceExists: it is not ours".
  [[nodiscard]] std::vector<std::string> Events() const;
  /// The end of the operator's log.
  [[nodiscard]] std::string Log() const;

 private:
  [[nodiscard]] std::unique_ptr<Cache> NewCache();
  Result ReconcileOnce(Cache& cache, const ObjectKey& key, const Reconciler& reconcile);
  Verdict AwaitObject(const Kind& kind, const ObjectKey& key,
                      const std::function<bool(const std::string* object)>& holds);

  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace kopp::testing
