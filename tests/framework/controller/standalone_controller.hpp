#pragma once

#include "controller/controller_impl.hpp"

#include <condition_variable>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <kopp/kinds.hpp>
#include <kopp/metrics.hpp>
#include <kopp/standalone_cache.hpp>
#include <kopp/testing/fake_clock.hpp>
#include <kopp/testing/scripted_transport.hpp>

namespace kopp {

/// Tests of one controller of Pods without a manager and informers: they add keys to its queue, and
/// stop its workers to look at the queue.
class StandaloneControllerTest : public ::testing::Test {
 protected:
  using Snapshot = workqueue::Snapshot<ObjectKey, QueuedReasons>;

  /// A copy of a ReconcileEvent.
  struct Event {
    ObjectKey key;
    std::string id;
    ReconcileResult result;
    std::string error;
    int retries;
    bool timed_out;
  };

  Controller::Impl& NewController(Reconciler reconcile, ControllerOptions options = {}) {
    options.name = "pod";
    controller_.emplace(std::move(options), Pod::kKind, cache_, clock_, &metrics_);
    controller_->SetReconciler(std::move(reconcile));
    controller_->AddObserver([this](const ReconcileEvent& event) {
      {
        const std::lock_guard guard{mutex_};
        events_.push_back({event.key, std::string(event.reconcile_id), event.result,
                           std::string(event.error), event.retries, event.timed_out});
      }
      changed_.notify_all();
    });
    return *controller_;
  }
  void Start() { controller_->Start(client_, recorder_, log_); }
  /// Blocks until all workers have ended.
  void Stop() {
    controller_->RequestStop();
    EXPECT_TRUE(controller_->WaitForWorkers(TimePoint::max(), log_));
  }
  /// Blocks until `count` reconciles have ended in all.
  std::vector<Event> AwaitEvents(std::size_t count) {
    std::unique_lock lock{mutex_};
    changed_.wait(lock, [&] { return events_.size() >= count; });
    return events_;
  }
  /// Reconciles the Pod ns/a once, with priority 7. Returns the queue afterwards.
  Snapshot ReconcileOnce() {
    std::size_t before = 0;
    {
      const std::lock_guard guard{mutex_};
      before = events_.size();
    }
    controller_->queue().Add(key_, {.priority = 7});
    Start();
    AwaitEvents(before + 1);
    Stop();
    return controller_->queue().TakeSnapshot();
  }
  std::string LogText() {
    const std::lock_guard guard{mutex_};
    return text_;
  }
  /// Returns the value of a metric with the label controller="pod", or "none".
  std::string Metric(const std::string& name, const std::string& more_labels = "") {
    const std::string text = '\n' + metrics_.Text();
    const std::string series = '\n' + name + R"({controller="pod")" + more_labels + "} ";
    const auto at = text.find(series);
    if (at == std::string::npos) return "none";
    const auto value = at + series.size();
    return text.substr(value, text.find('\n', value) - value);
  }
  std::string Total(const std::string& result) {
    return Metric("controller_runtime_reconcile_total", R"(,result=")" + result + '"');
  }

  const ObjectKey key_{"ns", "a"};
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Event> events_;
  std::string text_;
  testing::FakeClock clock_;
  testing::ScriptedTransport transport_{clock_};
  Logger log_{{.verbosity = 5, .write = [this](std::string_view line) {
                 const std::lock_guard guard{mutex_};
                 text_ += line;
               }}};
  StandaloneCache cache_{transport_, CacheOptions{}, log_, clock_};
  std::stop_source cancel_calls_;
  Client client_{transport_, "test", cancel_calls_.get_token()};
  EventRecorder recorder_{client_, "test", log_, clock_};
  Metrics metrics_;
  std::optional<Controller::Impl> controller_;  // last: its workers use all members above
};

}  // namespace kopp
