#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <optional>
#include <vector>

#include <kopp/workqueue/clock.hpp>
#include <kopp/workqueue/guarded.hpp>

namespace kopp::detail {

/// Detects that the existing connections to a server are dead while new ones work, for example
/// after a load balancer has lost its state. The peer of a connection may still acknowledge its
/// packets, so only the missing response of a request shows it.
///
/// A request on a reused connection that gets no byte for a time makes the older connections
/// suspect that were silent, too. The idle ones are closed. A response on a connection that is
/// newer than the request, within a shorter time, confirms the suspicion; then the older streams
/// that were silent are cut, so that their readers open them again. There is no suspicion if an
/// older connection responds: then the server was only slow.
///
/// Thread-safe. Does no I/O and has no thread.
class DeadConnectionDetector {
 public:
  /// A response that is open for a long time, such as a watch.
  class MonitoredStream {
   public:
    virtual ~MonitoredStream() = default;
    MonitoredStream(const MonitoredStream&) = delete;
    MonitoredStream& operator=(const MonitoredStream&) = delete;

    /// Returns the time at which the last bytes arrived.
    [[nodiscard]] virtual TimePoint LastReceived() const = 0;
    /// Makes the current and all later reads fail. Must not block.
    virtual void Cut() = 0;

   protected:
    MonitoredStream() = default;
  };

  /// Monitors `stream` until the object is destroyed. Both arguments must outlive it.
  class Registration {
   public:
    Registration(DeadConnectionDetector& detector, MonitoredStream& stream, TimePoint opened);
    ~Registration();
    Registration(const Registration&) = delete;
    Registration& operator=(const Registration&) = delete;

   private:
    DeadConnectionDetector& detector_;
    MonitoredStream* stream_;
  };

  /// Returns the time until which a request that is safe to repeat, and was sent at `sent` on a
  /// reused connection, waits for its first byte: a third of the time until `deadline`.
  [[nodiscard]] static TimePoint SilenceDeadline(TimePoint sent, TimePoint deadline) {
    return sent + std::max((deadline - sent) / 3, kMinSilence);
  }

  /// Call after a request that was sent at `sent` on a reused connection has failed, or was
  /// cancelled, without a byte of a response. Closes the connections in `pool` that were idle
  /// meanwhile.
  template <class Pool>
  void OnSilence(TimePoint sent, TimePoint now, Pool& pool) {
    const Silence silence{sent, now - sent};
    if (silence.length < kMinSilence) return;
    const bool responds = pool.CloseIdleSince(silence.middle(), sent);
    if (!responds) Suspect(silence);
  }

  /// Call when a response has arrived on a connection that was opened at `opened`, to a request
  /// sent at `sent`. Costs the read of a flag unless there is a suspicion.
  void OnResponse(TimePoint opened, TimePoint sent) {
    if (suspicious_.load(std::memory_order_relaxed)) Check(opened, sent, Clock::Real().Now());
  }

  /// As OnResponse, at the time `now`.
  void Check(TimePoint opened, TimePoint sent, TimePoint now);

 private:
  // Less silence is no sign of a dead connection. The shortest timeout of a caller of kopp is 1 s,
  // for a request for the Lease.
  static constexpr Duration kMinSilence = std::chrono::milliseconds(900);

  struct Entry {
    MonitoredStream* stream;
    TimePoint opened;
  };
  // The time during which a request got no response. A connection was alive at its end if it has
  // received something in the second half, when the request should have been answered.
  struct Silence {
    TimePoint since;
    Duration length;
    [[nodiscard]] TimePoint middle() const { return since + length / 2; }
  };
  struct State {
    std::vector<Entry> streams;
    std::optional<Silence> suspicion;
  };
  void Suspect(const Silence& silence);

  Guarded<State> state_;
  std::atomic<bool> suspicious_ = false;  // whether there is a suspicion
};

}  // namespace kopp::detail
