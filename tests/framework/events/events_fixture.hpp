#pragma once

#include <atomic>
#include <chrono>
#include <future>
#include <latch>
#include <memory>
#include <mutex>
#include <set>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <kopp/events.hpp>
#include <kopp/kinds.hpp>
#include <kopp/testing/fake_clock.hpp>
#include <kopp/testing/scripted_transport.hpp>

namespace kopp {

/// A transport whose calls block until they are cancelled.
class UnresponsiveTransport final : public Transport {
 public:
  ApiResponse Call(const ApiRequest&, std::stop_token stop) override {
    called_.count_down();
    std::promise<void> stopped;
    const std::stop_callback wake(stop, [&] { stopped.set_value(); });
    stopped.get_future().wait();
    cancelled_ = true;
    throw TransportError(TransportError::Kind::kCancelled, "stopped");
  }
  std::unique_ptr<Stream> Open(const ApiRequest&, std::stop_token) override { return nullptr; }

  /// Blocks until the first call.
  void AwaitCall() const { called_.wait(); }
  [[nodiscard]] bool IsCancelled() const { return cancelled_; }

 private:
  std::latch called_{1};
  std::atomic<bool> cancelled_ = false;
};

/// A scripted API server and the Pod shop/web, for tests of an EventRecorder.
class EventsTest : public ::testing::Test {
 protected:
  EventsTest() {
    web_.metadata.name = "web";
    web_.metadata.ns = "shop";
    web_.metadata.uid = "u1";
    web_.metadata.resourceVersion = "7";
  }
  Logger NewLogger() {
    return Logger({.write = [this](std::string_view line) {
      const std::lock_guard guard{mutex_};
      log_ += line;
    }});
  }
  std::string LogText() {
    const std::lock_guard guard{mutex_};
    return log_;
  }
  /// Returns the bodies of the requests with this method.
  std::vector<nlohmann::json> Sent(const std::string& method) {
    std::vector<nlohmann::json> bodies;
    for (const ApiRequest& request : transport_.Requests()) {
      if (request.method == method) bodies.push_back(nlohmann::json::parse(request.body));
    }
    return bodies;
  }
  /// Returns the different names of the Events that the recorder has created.
  std::set<std::string> NamesOfCreatedEvents() {
    std::set<std::string> names;
    for (const auto& event : Sent("POST")) names.insert(event["metadata"]["name"]);
    return names;
  }
  /// Accepts updates of the first Event that is created at `path`. Blocks until it is created.
  std::string AcceptPatches(const std::string& path) {
    const auto body = nlohmann::json::parse(transport_.Await("POST", path).body);
    std::string event = path + "/" + body["metadata"]["name"].get<std::string>();
    transport_.Respond("PATCH", event, 200, "{}");
    return event;
  }

  std::mutex mutex_;
  std::string log_;
  testing::FakeClock clock_{WallTime{std::chrono::seconds(1'700'000'000)}};
  testing::ScriptedTransport transport_{clock_};
  Pod web_;
};

}  // namespace kopp
