#pragma once

#include "manager_fixture.hpp"

#include <cstdint>
#include <optional>
#include <stop_token>
#include <thread>

namespace kopp {

/// Tests of the HTTP endpoint of a Manager: `served_`, which subclasses create with
/// RecordingLogger.
class ServedManagerTest : public ManagerTest {
 protected:
  /// Runs the manager in a thread. Blocks until it serves.
  void StartManager() {
    manager_thread_ =
        std::jthread([this](const std::stop_token& stop) { code_ = served_->Run(stop); });
    port_ = AwaitPort();
  }

  std::optional<Manager> served_;
  std::uint16_t port_ = 0;
  std::jthread manager_thread_;
};

}  // namespace kopp
