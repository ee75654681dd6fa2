#pragma once

#include "controller/controller_impl.hpp"
#include "controller/controller_queue.hpp"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include <kopp/manager.hpp>
#include <kopp/testing/fake_clock.hpp>
#include <kopp/testing/scripted_transport.hpp>

namespace kopp {

inline constexpr const char* kPods = "/api/v1/pods";
inline constexpr const char* kDeployments = "/apis/apps/v1/deployments";

inline std::string PodJson(const std::string& name, const std::string& extra_metadata = "") {
  return R"({"kind":"Pod","apiVersion":"v1","metadata":{"name":")" + name +
         R"(","namespace":"ns","uid":"u-)" + name + R"(","resourceVersion":"5")" + extra_metadata +
         "}}";
}

/// A Manager connected to a scripted API server that serves Pods and Deployments. The reconcilers
/// of the tests record their calls with RecordCall.
class ManagerTest : public ::testing::Test {
 protected:
  ManagerTest() {
    transport_->Respond(
        "GET", "/api/v1", 200,
        R"({"kind":"APIResourceList","resources":[{"name":"pods","kind":"Pod","namespaced":true}]})");
    transport_->Respond("GET", "/apis/apps/v1", 200,
                        R"({"kind":"APIResourceList","resources":[{"name":"deployments",)"
                        R"("kind":"Deployment","namespaced":true}]})");
    SetPods({});
    transport_->Respond(
        "GET", kDeployments, 200,
        R"({"kind":"DeploymentList","metadata":{"resourceVersion":"5"},"items":[]})");
  }
  ~ManagerTest() override { Stop(); }

  /// Sets the Pods that a list returns.
  void SetPods(const std::vector<std::string>& pods) {
    std::string items;
    for (const std::string& pod : pods) items += (items.empty() ? "" : ",") + pod;
    transport_->Respond(
        "GET", kPods, 200,
        R"({"kind":"PodList","metadata":{"resourceVersion":"5"},"items":[)" + items + "]}");
  }
  /// Sends an event to the watch of Pods.
  void SendPodEvent(const std::string& type, const std::string& object) {
    transport_->SendToWatch(kPods, R"({"type":")" + type + R"(","object":)" + object + "}\n");
  }

  /// Runs the manager in a thread.
  void Start() {
    runner_ = std::jthread([this](const std::stop_token& stop) { code_ = manager_.Run(stop); });
  }
  /// Stops the manager and returns the result of Run.
  int Stop() {
    runner_.request_stop();
    if (runner_.joinable()) runner_.join();
    return code_;
  }

  /// Called by reconcilers. Thread-safe.
  void RecordCall(const std::string& name) {
    {
      const std::lock_guard guard{mutex_};
      calls_.push_back(name);
    }
    changed_.notify_all();
  }
  /// Blocks until RecordCall was called `count` times in all; returns the names.
  std::vector<std::string> AwaitCalls(std::size_t count) {
    std::unique_lock lock{mutex_};
    changed_.wait(lock, [&] { return calls_.size() >= count; });
    return calls_;
  }
  std::string LogText() {
    const std::lock_guard guard{mutex_};
    return log_;
  }
  /// Returns a logger that adds its lines to LogText.
  Logger RecordingLogger() {
    return Logger({.write = [this](std::string_view line) {
      {
        const std::lock_guard guard{mutex_};
        log_ += line;
      }
      changed_.notify_all();
    }});
  }
  /// Blocks until the log contains `text`.
  void AwaitLog(const std::string& text) {
    std::unique_lock lock{mutex_};
    changed_.wait(lock, [&] { return log_.find(text) != std::string::npos; });
  }
  /// Blocks until a manager logs the address that it serves. Returns the port.
  std::uint16_t AwaitPort() {
    const std::string address = "127.0.0.1:";
    AwaitLog(address);
    const std::string log = LogText();
    return static_cast<std::uint16_t>(std::stoi(log.substr(log.find(address) + address.size())));
  }
  /// Advances the clock until the log contains `text`. After that, the time limit of the shutdown
  /// may run.
  void AdvanceUntilLogged(const std::string& text) {
    while (LogText().find(text) == std::string::npos) clock_.Advance(std::chrono::seconds(1));
  }
  /// Blocks until the watch, the delayed adds of the queue and the manager all wait for the clock.
  void AwaitIdle() { clock_.AwaitSleepers(3); }

  /// Blocks until no key of `controller` is ready or being reconciled.
  static void AwaitWorkers(Controller& controller) {
    ControllerQueue& queue = Controller::Impl::Of(controller).queue();
    while (true) {
      const auto snapshot = queue.TakeSnapshot();
      if (snapshot.ready_count + snapshot.processing_count == 0) return;
      std::this_thread::yield();
    }
  }
  /// Advances the clock in steps until RecordCall was called `count` times in all. Calls
  /// AwaitWorkers before each step: if the clock ran ahead of a slow worker, the watch would become
  /// idle, and the list after it would reconcile the objects early.
  void AdvanceUntilCalls(Controller& controller, std::size_t count, Duration step) {
    while (true) {
      AwaitIdle();
      AwaitWorkers(controller);
      {
        const std::lock_guard guard{mutex_};
        if (calls_.size() >= count) return;
      }
      clock_.Advance(step);
    }
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::string> calls_;
  std::string log_;
  std::atomic<int> code_{-1};
  testing::FakeClock clock_;
  std::shared_ptr<testing::ScriptedTransport> transport_ =
      std::make_shared<testing::ScriptedTransport>(clock_);
  Manager manager_{Options{
      .name = "test-operator", .log = RecordingLogger(), .transport = transport_, .clock = clock_}};
  std::jthread runner_;
};

}  // namespace kopp
