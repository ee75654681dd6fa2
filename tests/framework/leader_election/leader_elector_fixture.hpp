#pragma once

#include <cstddef>
#include <exception>
#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <kopp/leader_election/leader_elector.hpp>
#include <kopp/metrics.hpp>
#include <kopp/testing/fake_clock.hpp>
#include <kopp/testing/scripted_transport.hpp>

namespace kopp {

inline constexpr const char* kLeasesPath = "/apis/coordination.k8s.io/v1/namespaces/shop/leases";
inline constexpr const char* kLeasePath = "/apis/coordination.k8s.io/v1/namespaces/shop/leases/web";

/// An elector of the replica "baz" for the Lease shop/web, and an API server that has only this
/// Lease.
///
/// The elector has these threads that sleep on the clock: the timer of its requests and, while it
/// is the leader, the renewal and the fence, else the thread of Run.
class LeaderElectorTest : public ::testing::Test {
 protected:
  static constexpr std::size_t kSleepersOfLeader = 3;
  static constexpr std::size_t kSleepersOfCandidate = 2;

  LeaderElectorTest() {
    transport_.On("GET", kLeasePath, [this](const ApiRequest&) {
      const std::lock_guard guard{mutex_};
      if (!lease_) return ApiResponse{.status = 404, .body = R"({"reason":"NotFound"})"};
      return ApiResponse{.status = 200, .body = lease_->dump()};
    });
    transport_.On("POST", kLeasesPath, [this](const ApiRequest& request) {
      const std::lock_guard guard{mutex_};
      if (lease_) return ApiResponse{.status = 409, .body = R"({"reason":"AlreadyExists"})"};
      return Store(request, 201);
    });
    RespondToUpdates();
  }
  ~LeaderElectorTest() override {
    if (!runner_.joinable()) return;
    RequestStop();
    Finish();
    runner_.join();
  }

  /// Makes the server execute updates.
  void RespondToUpdates() {
    transport_.On("PUT", kLeasePath, [this](const ApiRequest& request) {
      const std::lock_guard guard{mutex_};
      const auto version = nlohmann::json::parse(request.body)["metadata"]["resourceVersion"];
      if (!lease_) return ApiResponse{.status = 404, .body = R"({"reason":"NotFound"})"};
      if ((*lease_)["metadata"]["resourceVersion"] != version) {
        return ApiResponse{.status = 409, .body = R"({"reason":"Conflict"})"};
      }
      return Store(request, 200);
    });
  }
  /// Makes the next update fail with `status`.
  void FailNextUpdate(int status) {
    transport_.On("PUT", kLeasePath, [this, status](const ApiRequest&) {
      RespondToUpdates();
      return ApiResponse{.status = status, .body = "{}"};
    });
  }
  /// Makes all requests fail without response.
  void Disconnect() {
    for (const char* method : {"GET", "PUT"}) {
      transport_.On(method, kLeasePath, [](const ApiRequest&) -> ApiResponse {
        throw TransportError(TransportError::Kind::kUnreachable, "no route");
      });
    }
  }

  /// Replaces the Lease by one that `holder` renewed now.
  void SetLease(const std::string& holder, int transitions = 3) {
    const std::lock_guard guard{mutex_};
    lease_ = nlohmann::json{{"metadata", {{"name", "web"}, {"namespace", "shop"}, {"uid", "u1"}}},
                            {"spec",
                             {{"holderIdentity", holder},
                              {"leaseDurationSeconds", 15},
                              {"acquireTime", "2026-01-01T00:00:00.000000Z"},
                              {"renewTime", "2026-01-01T00:00:00.000000Z"},
                              {"leaseTransitions", transitions}}}};
    (*lease_)["metadata"]["resourceVersion"] = std::to_string(++version_);
  }
  void DeleteLease() {
    const std::lock_guard guard{mutex_};
    lease_.reset();
  }
  [[nodiscard]] nlohmann::json Lease() {
    const std::lock_guard guard{mutex_};
    return lease_.value_or(nlohmann::json::object());
  }
  [[nodiscard]] std::string Holder() { return Lease()["spec"]["holderIdentity"]; }

  /// Creates the elector. Its work waits for a stop and then for Finish, if `wait_for_finish` is
  /// set.
  LeaderElector& NewElector() {
    elector_ = std::make_unique<LeaderElector>(
        Client(transport_, "web"), fence_,
        LeaderElectorOptions{
            .election = options_,
            .events = events_,
            .metrics = &metrics_,
            .release_timeout = release_timeout_,
            .log = Logger({.verbosity = 4, .write = [this](auto line) { AddToLog(line); }}),
            .clock = clock_,
            .random = [this] { return random_; }});
    return *elector_;
  }
  /// Calls Run in a thread.
  void Start() {
    if (!elector_) NewElector();
    runner_ = std::jthread([this](const std::stop_token& stop) {
      try {
        outcome_.set_value(elector_->Run([this](const std::stop_token& end) { Work(end); }, stop));
      } catch (...) {
        outcome_.set_exception(std::current_exception());
      }
    });
  }
  /// Blocks until the work has begun, and all threads sleep.
  void StartAndLead() {
    Start();
    AwaitLeader();
  }
  void AwaitLeader() {
    working_.get_future().wait();
    clock_.AwaitSleepers(kSleepersOfLeader);
  }
  /// Lets `time` pass for a leader, and blocks until all threads sleep again.
  void AdvanceAsLeader(Duration time) {
    clock_.Advance(time);
    clock_.AwaitSleepers(kSleepersOfLeader);
  }
  /// Lets the work end, and returns the result of Run.
  LeaderElector::Outcome Stop() {
    RequestStop();
    Finish();
    return Join();
  }
  void RequestStop() { runner_.request_stop(); }
  void Finish() {
    if (!std::exchange(finished_, true)) finish_.set_value();
  }
  /// Blocks until Run has returned.
  LeaderElector::Outcome Join() {
    auto outcome = outcome_.get_future();
    outcome.wait();
    runner_ = {};
    return outcome.get();
  }
  void AwaitEndOfWork() { ending_.get_future().wait(); }

  /// Returns the methods of all requests, such as "GET PUT".
  [[nodiscard]] std::string Methods() {
    std::string methods;
    for (const ApiRequest& request : transport_.Requests()) {
      methods += (methods.empty() ? "" : " ") + request.method;
    }
    return methods;
  }
  [[nodiscard]] std::string Log() {
    const std::lock_guard guard{mutex_};
    return log_;
  }

  std::mutex mutex_;
  std::optional<nlohmann::json> lease_;  // guarded by mutex_
  int version_ = 0;                      // guarded by mutex_
  std::string log_;                      // guarded by mutex_
  testing::FakeClock clock_;
  testing::ScriptedTransport transport_{clock_};
  Metrics metrics_;
  EventRecorder* events_ = nullptr;
  double random_ = 0;
  std::function<Duration()> release_timeout_;
  LeaderElectionOptions options_{.id = "web", .ns = "shop", .identity = "baz"};
  bool wait_for_finish_ = false;
  std::function<void()> at_end_of_work_;
  WriteFence fence_{clock_};
  std::unique_ptr<LeaderElector> elector_;

 private:
  ApiResponse Store(const ApiRequest& request, int status) {
    lease_ = nlohmann::json::parse(request.body);
    (*lease_)["metadata"]["uid"] = "u1";
    (*lease_)["metadata"]["resourceVersion"] = std::to_string(++version_);
    return {.status = status, .body = lease_->dump()};
  }
  void AddToLog(std::string_view line) {
    const std::lock_guard guard{mutex_};
    log_ += line;
  }
  void Work(const std::stop_token& end) {
    std::promise<void> stopped;
    const std::stop_callback wake(end, [&] { stopped.set_value(); });
    working_.set_value();
    stopped.get_future().wait();
    ending_.set_value();
    if (wait_for_finish_) finish_.get_future().wait();
    if (at_end_of_work_) at_end_of_work_();
  }

  std::promise<void> working_;
  std::promise<void> ending_;
  std::promise<void> finish_;
  bool finished_ = false;
  std::promise<LeaderElector::Outcome> outcome_;
  std::jthread runner_;
};

}  // namespace kopp
