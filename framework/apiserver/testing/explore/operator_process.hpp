#pragma once

#include "controller/controller_impl.hpp"
#include "explore/cache_view.hpp"
#include "explore/simulated_cluster.hpp"
#include "manager/manager_access.hpp"

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <kopp/manager.hpp>
#include <kopp/testing/explore.hpp>

namespace kopp::apiserver::explore {

/// Thrown by each API call of a process that has ended. It is not a std::exception, so that the
/// handlers of reconcile functions do not catch it.
struct ProcessEnded {};

/// One life of the operator: a manager that is never run, and what it would do, one step at a time
/// in the calling thread.
class OperatorProcess {
 public:
  /// Executes an API call of the process.
  using CallHandler =
      std::function<ApiResponse(OperatorProcess& process, const ApiRequest& request)>;

  /// A key of a controller's queue. Not a pointer to the controller: the order must not depend on
  /// addresses.
  struct Work {
    std::size_t controller = 0;  ///< its number in the order of AddController
    ObjectKey key{};
    auto operator<=>(const Work&) const = default;
  };
  /// The outcome of a reconcile.
  struct Outcome {
    std::string error{};             ///< empty: none
    std::optional<Duration> next{};  ///< the time until the next try, without a change
    /// Nothing but own writes has cut short several delays of the key in a row.
    bool defeats_backoff = false;
  };

  /// Calls `setup`. `cluster` must outlive the process.
  OperatorProcess(SimulatedCluster& cluster, const testing::OperatorSetup& setup,
                  const testing::ExploreOptions& options, CallHandler on_call);
  ~OperatorProcess();
  OperatorProcess(const OperatorProcess&) = delete;
  OperatorProcess& operator=(const OperatorProcess&) = delete;

  /// Lists all views: the newest objects, or those at version `at`.
  void Start(std::optional<ResourceVersion> at);
  /// Lists one view again.
  void Relist(CacheView& view);
  [[nodiscard]] std::vector<CacheView>& views() { return views_; }
  /// Delivers the next event of a view.
  void Deliver(CacheView& view);
  /// Runs the resyncs of a view that are due at `now`. Returns the time of the next one.
  TimePoint RunPeriodicWork(CacheView& view, TimePoint now);
  /// Tells that a call of the process has made the versions after `before`, up to `last`.
  void OnWritten(ResourceVersion before, ResourceVersion last);
  /// Takes the events that the server has sent to all views.
  void ReceiveEvents();

  /// Makes all further calls of the process throw.
  [[noreturn]] void End();
  [[nodiscard]] bool ended() const { return ended_; }

  /// Returns a key that is to be reconciled now, and removes it from its queue.
  [[nodiscard]] std::optional<Work> TakeWork();
  /// Reconciles a key of TakeWork. After a crash, ended() is true.
  Outcome Reconcile(const Work& work);
  /// Returns the time of the next retry or requeue_after, or TimePoint::max().
  [[nodiscard]] TimePoint NextTimer() const;
  /// Adds the keys whose time has come to the queues.
  void FireTimers();
  /// Keys that were reconciled several times without an effect are not tried again until a change.
  /// This tries them again, because something has changed.
  void ResumeIdleTimers();

  [[nodiscard]] const std::string& NameOf(const Work& work) const {
    return controllers_[work.controller]->name();
  }
  [[nodiscard]] std::vector<CustomResourceDefinition> Crds() const { return manager_.Crds(); }
  [[nodiscard]] WebhookRegistry& webhooks() { return WebhooksOf(manager_); }

 private:
  class CountingTransport;
  class DiscardingTransport;
  struct KeyState {
    int failures = 0;
    std::string last_error{};
    int rounds_without_effect = 0;
    ResourceVersion version = 0;     // of the server after the last reconcile
    bool failed = false;             // it is retried, or waits for a change
    std::size_t foreign_events = 0;  // ForeignEvents at the start of the last reconcile
    std::size_t cut_delays = 0;      // consecutive ones, without a foreign event
  };

  Outcome Call(const Work& work, KeyState& state);
  Outcome CallWith(const Client& client, const Work& work, KeyState& state);
  [[nodiscard]] std::size_t ForeignEvents(const Work& work) const;
  void Schedule(const Work& work, KeyState& state, const Outcome& outcome);
  Duration NextBackoff(KeyState& state) const;

  SimulatedCluster& cluster_;
  CallHandler on_call_;
  bool ended_ = false;
  std::shared_ptr<CountingTransport> transport_;
  std::unique_ptr<DiscardingTransport> events_transport_;
  Logger log_;
  Manager manager_;
  EventRecorder events_;
  std::vector<Controller::Impl*> controllers_;
  std::vector<Client> clients_;  // of the reconciles, for each of controllers_
  std::vector<CacheView> views_;
  std::map<Work, KeyState> keys_;
  std::map<Work, TimePoint> timers_;
  std::map<Work, Duration> idle_timers_;
  std::optional<Work> running_;              // the reconcile that runs
  std::map<ResourceVersion, Work> writers_;  // of the versions that reconciles have made
  std::map<Work, std::size_t> own_events_;   // delivered events of the writes of a key
  std::size_t all_events_ = 0;               // delivered events, lists and resyncs
};

}  // namespace kopp::apiserver::explore
