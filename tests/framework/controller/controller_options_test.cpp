#include "controller/controller_fixture.hpp"
#include "controller/controller_impl.hpp"
#include "controller/controller_queue.hpp"

#include <chrono>
#include <functional>
#include <latch>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <kopp/controller/expectations.hpp>
#include <kopp/crd.hpp>
#include <kopp/http_server.hpp>
#include <kopp/kinds.hpp>
#include <kopp/serving/access_review.hpp>

namespace kopp {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;

constexpr const char* kPaused = R"(,"annotations":{"example.com/paused":"true"})";

TEST_F(ControllerTest, APausedObjectIsNotReconciledUntilTheAnnotationIsRemoved) {
  SetPods({PodJson("a", kPaused)});
  manager_
      .AddController<Pod>({.order = workqueue::Order(), .pause_annotation = "example.com/paused"})
      .Where(GenerationChanged() && ResourceVersionChanged())  // also after an ignored update
      .Reconcile([this](const Pod& pod, Context&) {
        RecordCall(pod.metadata.name);
        return Result{};
      });
  Start();
  transport_->Await("WATCH", kPods);
  SendPodEvent("ADDED", PodJson("b"));
  SendPodEvent("ADDED", PodJson("c", R"(,"annotations":{"example.com/paused":"false"})"));
  EXPECT_THAT(AwaitCalls(2), ElementsAre("b", "c"));
  // The key of the initial list was the first, and was dropped.

  SendPodEvent("MODIFIED", PodJson("a"));  // without a new generation or version

  EXPECT_THAT(AwaitCalls(3), ElementsAre("b", "c", "a"));
  Stop();
}

TEST_F(ControllerTest, AQueuedRetryOfAnObjectThatWasPausedIsDropped) {
  SetPods({PodJson("a")});
  manager_.AddController<Pod>({.pause_annotation = "example.com/paused"})
      .Reconcile([this](const Pod& pod, Context&) {
        RecordCall(pod.metadata.name);
        return pod.metadata.name == "a" ? Result{.requeue_after = 10s} : Result{};
      });
  Start();
  transport_->Await("WATCH", kPods);
  AwaitCalls(1);
  clock_.AwaitSleeperFor(10s);  // the retry
  SendPodEvent("MODIFIED", PodJson("a", kPaused));
  SendPodEvent("ADDED", PodJson("b"));
  EXPECT_THAT(AwaitCalls(2), ElementsAre("a", "b"));

  clock_.Advance(10s);
  AwaitIdle();  // the retry is in the queue
  SendPodEvent("ADDED", PodJson("c"));

  EXPECT_THAT(AwaitCalls(3), ElementsAre("a", "b", "c"));
  Stop();
}

TEST_F(ControllerTest, ADeletedObjectIsReconciledAlthoughItWasPaused) {
  SetPods({PodJson("a", kPaused)});
  manager_.AddController<Pod>({.pause_annotation = "example.com/paused"})
      .Reconcile([this](const ObjectKey& key, Context&) {
        RecordCall(key.name);
        return Result{};
      });
  Start();
  transport_->Await("WATCH", kPods);
  SendPodEvent("DELETED", PodJson("a", kPaused));

  EXPECT_EQ(AwaitCalls(1).front(), "a");
}

// MaxIntervalTest tests the times.
TEST_F(ControllerTest, EachObjectIsReconciledAgainAfterItsMaximumInterval) {
  SetPods({PodJson("a")});
  Controller& controller = manager_.AddController<Pod>({.max_interval = 100s})
                               .Reconcile([this](const Pod& pod, Context&) {
                                 RecordCall(pod.metadata.name);
                                 return Result{};
                               });
  Start();
  AwaitCalls(1);

  AdvanceUntilCalls(controller, 3, 10s);

  Stop();
}

TEST_F(ControllerTest, AnObjectThatIsGoneHasNoMaximumInterval) {
  SetPods({PodJson("a")});
  Controller& controller = manager_.AddController<Pod>({.max_interval = 100s})
                               .Reconcile([this](const ObjectKey& key, Context&) {
                                 RecordCall(key.name);
                                 return Result{};
                               });
  Start();
  transport_->Await("WATCH", kPods);
  AwaitCalls(1);
  AwaitWorkers(controller);
  SetPods({PodJson("b")});  // for the list after the watch has become idle
  SendPodEvent("DELETED", PodJson("a"));
  AwaitCalls(2);
  AwaitWorkers(controller);
  SendPodEvent("ADDED", PodJson("b"));
  AwaitCalls(3);
  while (AwaitCalls(3).size() < 5) {
    clock_.AwaitSleepers(4);
    AwaitWorkers(controller);
    clock_.Advance(10s);
  }

  const auto names = AwaitCalls(5);
  EXPECT_THAT(std::vector(names.begin(), names.begin() + 5), ElementsAre("a", "a", "b", "b", "b"));
}

TEST_F(ControllerTest, ItsNumberOfWorkersCanBeChangedWhileItRuns) {
  SetPods({PodJson("a"), PodJson("b")});
  std::latch both{2};
  Controller& controller =
      manager_.AddController<Pod>({.workers = 1}).Reconcile([&](const Pod& pod, Context&) {
        RecordCall(pod.metadata.name);
        both.arrive_and_wait();
        return Result{};
      });
  Start();
  AwaitCalls(1);

  controller.SetWorkers(2);

  AwaitCalls(2);
  EXPECT_EQ(controller.workers(), 2);
  EXPECT_THROW(controller.SetWorkers(0), std::invalid_argument);
  Stop();
}

/// Returns the message of the std::invalid_argument that `function` throws, or "".
std::string InvalidArgumentOf(const std::function<void()>& function) {
  try {
    function();
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "";
}

TEST_F(ControllerTest, NegativeTimesInItsOptionsAreRejected) {
  const auto error_of = [&](const std::function<void(ControllerOptions&)>& change) {
    ControllerOptions options{.name = "web"};
    change(options);
    return InvalidArgumentOf([&] { (void)manager_.AddController<Pod>(std::move(options)); });
  };
  EXPECT_EQ(error_of([](auto& options) { options.max_interval = -1s; }),
            "the option max_interval of the controller \"web\" is -1s: it must not be negative");
  EXPECT_NE(error_of([](auto& options) { options.sync_period = -1s; }), "");
  EXPECT_NE(error_of([](auto& options) { options.reconcile_timeout = Duration::min(); }), "");
  EXPECT_NE(error_of([](auto& options) { options.coalesce.quiet = -1ns; }), "");
  EXPECT_NE(error_of([](auto& options) { options.coalesce.max_wait = -1ns; }), "");
}

TEST_F(ControllerTest, OptionsWithWhichNothingWouldWorkAreRejected) {
  const Client client(*transport_);
  const auto review_error = [&](const AccessReviewOptions& options) {
    return InvalidArgumentOf(
        [&] { const AccessReviewer reviewer(client, Logger{}, clock_, options); });
  };
  EXPECT_EQ(review_error({}), "");
  EXPECT_EQ(review_error({.max_cached = 0}),
            "AccessReviewOptions::max_cached is 0: it must be at least 1");
  EXPECT_NE(review_error({.max_pending = 0}), "");
  EXPECT_NE(review_error({.token_ttl = -1s}), "");
  EXPECT_NE(review_error({.allowed_ttl = -1s}), "");
  EXPECT_NE(review_error({.denied_ttl = -1s}), "");
  const auto server_error = [](HttpServerOptions options) {
    options.address = "127.0.0.1:0";
    return InvalidArgumentOf([&] { const HttpServer server(options, {}); });
  };
  EXPECT_EQ(server_error({}), "");
  EXPECT_NE(server_error({.max_connections = 0}), "");
  EXPECT_NE(server_error({.max_head = 0}), "");
  EXPECT_NE(InvalidArgumentOf([&] { Expectations(clock_, -1s); }), "");
  EXPECT_NE(InvalidArgumentOf([&] { InstallCrds(client, {}, {.timeout = -1s}); }), "");
  EXPECT_NE(InvalidArgumentOf([&] { InstallCrds(client, {}, {.names_timeout = -1s}); }), "");
  const auto connect = [] {
    (void)MakeTransport({.server = "http://127.0.0.1:1"}, {.max_body = 0});
  };
  EXPECT_NE(InvalidArgumentOf(connect), "");
}

TEST_F(ControllerTest, NegativeTimesInTheOptionsOfTheManagerAreRejected) {
  const auto error_of = [&](const std::function<void(Options&)>& change) {
    Options options{.transport = transport_};
    change(options);
    return InvalidArgumentOf([&] { const Manager manager(std::move(options)); });
  };
  EXPECT_EQ(error_of([](auto&) {}), "");
  EXPECT_EQ(error_of([](auto& options) { options.sync_period = -1s; }),
            "Options::sync_period is -1s: it must not be negative");
  EXPECT_NE(error_of([](auto& options) { options.health.liveness_limit = -1s; }), "");
  EXPECT_NE(error_of([](auto& options) { options.retry.initial_backoff = -1s; }), "");
  EXPECT_NE(error_of([](auto& options) { options.retry.max_elapsed_time = -1s; }), "");
  EXPECT_NE(error_of([](auto& options) { options.cache.sync_timeout = -1s; }), "");
  EXPECT_NE(error_of([](auto& options) { options.cache.own_writes_timeout = -1s; }), "");
  EXPECT_NE(error_of([](auto& options) { options.cache.audit_interval = -1s; }), "");
}

struct Foo {
  static constexpr Kind kKind{"samplecontroller.k8s.io/v1alpha1", "Foo", "foos"};
  ObjectMeta metadata = {};
};
KOPP_FIELDS(Foo, metadata)

TEST_F(ControllerTest, TheDefaultsOfItsOptionsComeFromTheManager) {
  Manager manager(Options{.max_concurrent_reconciles = 3,
                          .kind_concurrency = {{"Foo.samplecontroller.k8s.io", 5}, {"Pod", 2}},
                          .sync_period = 7min,
                          .transport = transport_,
                          .clock = clock_});
  const auto reconcile = [](const ObjectKey&, Context&) { return Result{}; };
  const auto resync_of = [](Controller& of) { return Controller::Impl::Of(of).sync_period(); };
  Controller& of_foo = manager.AddController<Foo>().Reconcile(reconcile);
  Controller& of_pod = manager.AddController<Pod>().Reconcile(reconcile);
  const Controller& of_deployment = manager.AddController<Deployment>().Reconcile(reconcile);
  Controller& own = manager.AddController<Pod>({.name = "own", .workers = 9, .sync_period = 1h})
                        .Reconcile(reconcile);

  EXPECT_EQ(of_foo.workers(), 5);
  EXPECT_EQ(of_pod.workers(), 2);
  EXPECT_EQ(of_deployment.workers(), 3);
  EXPECT_EQ(own.workers(), 9);
  EXPECT_GE(resync_of(of_foo), 378s);
  EXPECT_LE(resync_of(of_foo), 462s);
  EXPECT_NE(resync_of(of_foo), resync_of(of_pod)) << "all resyncs coincide";
  EXPECT_EQ(resync_of(own), 1h);
}

}  // namespace
}  // namespace kopp
