#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include <kopp/manager.hpp>
#include <kopp/testing/fake_clock.hpp>
#include <kopp/testing/scripted_transport.hpp>

namespace kopp {

inline constexpr const char* kPods = "/api/v1/pods";
inline constexpr const char* kDeployments = "/apis/apps/v1/deployments";

inline std::string PodText(const std::string& name, const std::string& more = "") {
  return R"({"kind":"Pod","apiVersion":"v1","metadata":{"name":")" + name +
         R"(","namespace":"ns","uid":"u-)" + name + R"(","resourceVersion":"5")" + more + "}}";
}

/// A manager over a scripted API server that serves Pods and Deployments; a test counts what its
/// reconciler was called for.
class ManagerTest : public ::testing::Test {
 protected:
  ManagerTest() {
    transport_->Reply("GET", "/api/v1", 200, R"({"resources":[{"name":"pods"}]})");
    transport_->Reply("GET", "/apis/apps/v1", 200, R"({"resources":[{"name":"deployments"}]})");
    ListPods({});
    transport_->Reply("GET", kDeployments, 200,
                      R"({"kind":"DeploymentList","metadata":{"resourceVersion":"5"},"items":[]})");
  }
  ~ManagerTest() override { Stop(); }

  void ListPods(const std::vector<std::string>& pods) {
    std::string items;
    for (const std::string& pod : pods) items += (items.empty() ? "" : ",") + pod;
    transport_->Reply(
        "GET", kPods, 200,
        R"({"kind":"PodList","metadata":{"resourceVersion":"5"},"items":[)" + items + "]}");
  }
  void Send(const std::string& type, const std::string& object) {
    transport_->SendToWatch(kPods, R"({"type":")" + type + R"(","object":)" + object + "}\n");
  }

  void Start() {
    runner_ = std::jthread([this](const std::stop_token& stop) { code_ = manager_.Run(stop); });
  }
  int Stop() {
    runner_.request_stop();
    if (runner_.joinable()) runner_.join();
    return code_;
  }

  void Saw(const std::string& what) {
    {
      const std::lock_guard guard{mutex_};
      seen_.push_back(what);
    }
    changed_.notify_all();
  }
  std::vector<std::string> AwaitSeen(std::size_t count) {
    std::unique_lock lock{mutex_};
    changed_.wait(lock, [&] { return seen_.size() >= count; });
    return seen_;
  }
  std::string Logged() {
    const std::lock_guard guard{mutex_};
    return log_;
  }
  /// Until the watch, the queue's delays and the manager all wait for time to pass.
  void AwaitQuiet() { clock_.AwaitSleepers(3); }

  /// Lets time pass until the reconciler was called `count` times in all.
  void PassUntilSeen(std::size_t count, Duration step) {
    while (true) {
      AwaitQuiet();
      {
        const std::lock_guard guard{mutex_};
        if (seen_.size() >= count) return;
      }
      clock_.Advance(step);
    }
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::string> seen_;
  std::string log_;
  std::atomic<int> code_{-1};
  testing::FakeClock clock_;
  std::shared_ptr<testing::ScriptedTransport> transport_ =
      std::make_shared<testing::ScriptedTransport>(clock_);
  Manager manager_{Options{.name = "test-operator",
                           .log = Logger({.write =
                                              [this](std::string_view line) {
                                                const std::lock_guard guard{mutex_};
                                                log_ += line;
                                              }}),
                           .transport = transport_,
                           .clock = clock_}};
  std::jthread runner_;
};

}  // namespace kopp
