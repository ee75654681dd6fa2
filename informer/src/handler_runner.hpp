#pragma once

#include "handler_queue.hpp"

#include <condition_variable>
#include <cstdint>
#include <exception>
#include <memory>
#include <stop_token>
#include <thread>
#include <utility>
#include <vector>

#include <kopp/informer/event_handler.hpp>
#include <kopp/informer/informer.hpp>
#include <kopp/informer/informer_status.hpp>
#include <kopp/workqueue/guarded.hpp>

namespace kopp::informer::detail {

/// Calls one handler of an informer, one event at a time: on a thread of its own, or on the thread
/// that delivers the event. Catches and reports what the handler throws. Thread-safe.
///
/// The informer and the registrations share it. The handler is destroyed when it can no longer be
/// called, so it may own its registration, and its destructor may call Remove.
class HandlerRunner : public std::enable_shared_from_this<HandlerRunner> {
 public:
  /// `informer` must outlive all calls of the handler.
  HandlerRunner(AnyEventHandler handler, HandlerOptions options, const InformerOptions& informer)
      : options_(std::move(options)), informer_(informer), handler_(std::move(handler)) {}

  [[nodiscard]] const HandlerOptions& options() const { return options_; }

  /// The time of the next resync. Only for the thread of the informer, once it has the runner.
  TimePoint next_resync = TimePoint::max();

  /// Makes the handler wait for PushInitialList: until then, events are added without a call. Call
  /// it before the first event.
  void AwaitInitialList();
  /// Adds the objects that existed before the first event, and the end of the initial list, without
  /// calling the handler. CallPending or the thread calls it later.
  void PushInitialList(std::vector<AnyObject> objects);
  /// Starts the thread, if the handler has its own. Call it once.
  void Start();
  /// Calls the handler with the pending events, unless it has its own thread.
  void CallPending();
  /// Calls the handler, or adds the event for its thread.
  void Deliver(const HandlerEvent& event);

  /// Drops the pending events; the handler gets no further calls. Does not block.
  void RequestStop();
  /// Blocks until no call is running and the thread has ended, or until `deadline`. Returns whether
  /// all calls have ended.
  bool WaitUntilEnded(TimePoint deadline);
  /// Stops the handler and waits for its end, except in a call of the handler itself.
  void Remove();
  [[nodiscard]] bool Ended();

  [[nodiscard]] bool HasSynced();
  bool WaitForSync(const std::stop_token& stop);
  [[nodiscard]] HandlerStatus Status();

  /// Reports a call that has been running for a minute, once. Returns when to check again.
  TimePoint ReportSlowCall(TimePoint now);

 private:
  struct State {
    HandlerQueue queue = {};
    bool stopped = false;
    bool awaits_list = false;     // until PushInitialList; the queue has only the events since then
    bool has_thread = false;      // the thread runs
    std::thread thread = {};      // joinable until it was joined or detached
    std::thread::id caller = {};  // the thread that calls or destroys the handler; none: no call
    TimePoint call_started = {};
    AnyObject current = {};      // the object of the running call; empty for kSynced
    bool slow_reported = false;  // the running call
    bool synced = false;
    std::uint64_t calls = 0;
    std::uint64_t errors = 0;

    [[nodiscard]] bool Busy() const { return caller != std::thread::id{}; }
    [[nodiscard]] bool HasNext() const { return !awaits_list && !queue.empty(); }
    [[nodiscard]] bool Ended() const { return !Busy() && !has_thread; }
  };

  void RunThread();
  void BeginCall(State& state, const HandlerEvent& event);
  void CallAndEnd(const HandlerEvent& event);
  void DestroyHandler();
  [[nodiscard]] std::exception_ptr Call(const HandlerEvent& event) const;
  void ReportException(const HandlerEvent& event, const std::exception_ptr& error,
                       int consecutive) const;

  const HandlerOptions options_;
  const InformerOptions& informer_;
  // Used only by the caller (see State), which also destroys it after a stop.
  AnyEventHandler handler_;
  int consecutive_errors_ = 0;  // used only by the caller
  kopp::detail::Guarded<State> state_;
  std::condition_variable changed_;  // an event was pushed, synced, stopped or ended
};

}  // namespace kopp::informer::detail
