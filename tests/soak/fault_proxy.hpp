#pragma once

#include "base/file_descriptor.hpp"

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <random>
#include <stop_token>
#include <string>
#include <thread>

#include <kopp/workqueue/clock.hpp>
#include <kopp/workqueue/guarded.hpp>

namespace kopp::soak {

/// A TCP proxy on loopback that breaks connections at random times. The sequence of faults depends
/// on the seed only. Thread-safe.
class FaultProxy {
 public:
  enum class Fault {
    kReset,     ///< resets the connection
    kTruncate,  ///< forwards half of the next bytes, then resets the connection
    kClose,     ///< closes the connection in order
    kDelay,     ///< forwards nothing for a while
    kHalfOpen,  ///< forwards nothing any more and keeps the connection open
    kRefuse,    ///< resets all connections, and new ones for a while
  };
  static constexpr std::size_t kFaults = 6;

  /// Forwards connections to 127.0.0.1:`target_port`. Throws std::runtime_error if it cannot
  /// listen.
  FaultProxy(std::uint16_t target_port, std::uint64_t seed);
  ~FaultProxy();
  FaultProxy(const FaultProxy&) = delete;
  FaultProxy& operator=(const FaultProxy&) = delete;

  [[nodiscard]] std::uint16_t port() const { return port_; }
  /// Injects no more faults, and resets the half-open connections.
  void Heal();
  /// Returns how often each fault was injected: "3 resets, 1 half-open, …".
  [[nodiscard]] std::string Summary() const;

 private:
  class Connection;

  void Accept(const std::stop_token& stop);
  void InjectFaults(const std::stop_token& stop);
  void Inject(Fault fault, Duration duration);

  std::uint16_t target_port_;
  detail::FileDescriptor listener_;
  std::uint16_t port_;
  std::mt19937_64 random_;
  std::array<std::atomic<int>, kFaults> counts_{};
  std::atomic<TimePoint> refuse_until_{TimePoint{}};
  detail::Guarded<std::list<std::unique_ptr<Connection>>> connections_;
  std::jthread injector_;
  std::jthread acceptor_;
};

}  // namespace kopp::soak
