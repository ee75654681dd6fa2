#pragma once

#include "widget.hpp"

#include <condition_variable>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include <kopp/informer/informer.hpp>
#include <kopp/testing/fake_clock.hpp>
#include <kopp/testing/fake_source.hpp>

namespace kopp::informer {

/// Records the calls of handlers, with one line of text for each call. Thread-safe.
class EventLog {
 public:
  void Append(std::string line) {
    lines_.Lock()->push_back(std::move(line));
    appended_.notify_all();
  }
  /// Blocks until there are `count` lines, and returns all lines.
  std::vector<std::string> Await(std::size_t count) {
    auto lines = lines_.Lock();
    lines.Wait(appended_, [&] { return lines->size() >= count; });
    return *lines;
  }

 private:
  kopp::detail::Guarded<std::vector<std::string>> lines_;
  std::condition_variable appended_;
};

/// Blocks threads until it is opened. Thread-safe.
class Gate {
 public:
  void Open() {
    state_.Lock()->open = true;
    changed_.notify_all();
  }
  /// Blocks until Open was called.
  void Pass() {
    auto state = state_.Lock();
    ++state->arrived;
    changed_.notify_all();
    state.Wait(changed_, [&] { return state->open; });
  }
  /// Blocks until `count` threads have called Pass.
  void AwaitArrivals(int count) {
    auto state = state_.Lock();
    state.Wait(changed_, [&] { return state->arrived >= count; });
  }

 private:
  struct State {
    bool open = false;
    int arrived = 0;
  };
  kopp::detail::Guarded<State> state_;
  std::condition_variable changed_;
};

class InformerTest : public ::testing::Test {
 protected:
  ~InformerTest() override { gate_.Open(); }

  /// Returns a handler that appends each call to the event log.
  EventHandler<testing::Widget> RecordingHandler() {
    using Ptr = std::shared_ptr<const testing::Widget>;
    const auto text = [](const testing::Widget& widget) {
      return widget.metadata.name + "=" + std::to_string(widget.spec.size);
    };
    return {
        .on_add =
            [this, text](const Ptr& object, bool initial) {
              event_log_.Append(std::string(initial ? "initial " : "add ") + text(*object));
            },
        .on_update =
            [this, text](const Ptr& before, const Ptr& after) {
              event_log_.Append("update " + text(*before) + " to " + text(*after));
            },
        .on_delete =
            [this, text](const Ptr& object, bool unknown) {
              event_log_.Append(std::string(unknown ? "tombstone " : "delete ") + text(*object));
            },
    };
  }
  /// Adds a RecordingHandler that gets each event, unmerged.
  void AddRecordingHandler() {
    informer_.AddHandler(RecordingHandler(), {.delivery = Delivery::kInformerThread});
  }
  void StartAndWaitForSync() {
    runner_ = std::jthread([this](const std::stop_token& stop) { informer_.Run(stop); });
    informer_.WaitForSync(runner_.get_stop_token());
  }
  /// Blocks until the source has received the request with this index and its watch waits for
  /// events.
  void AwaitWatchRequest(std::size_t index) {
    source_.AwaitRequests(index + 1);
    source_.AwaitIdleWatch();
  }
  /// Advances the clock in steps until the source has received `count` requests in total.
  void AdvanceUntilRequests(std::size_t count, Duration step) {
    clock_.AwaitSleepers(1);
    while (source_.Requests().size() < count) {
      clock_.Advance(step);
      clock_.AwaitSleepers(1);
    }
  }
  std::vector<std::string> Problems() { return *problems_.Lock(); }

  testing::FakeClock clock_;
  testing::FakeSource<testing::Widget> source_{clock_};
  EventLog event_log_;
  Gate gate_;  // for handlers that block
  kopp::detail::Guarded<std::vector<std::string>> problems_;
  Informer<testing::Widget> informer_{
      source_, {.clock = clock_, .seed = 1, .on_problem = [this](const std::string& problem, bool) {
                  problems_.Lock()->push_back(problem);
                }}};
  std::jthread runner_;  // declared last, so that it is stopped and destroyed first
};

/// Tests of handlers that block.
class InformerHandlersTest : public InformerTest {
 protected:
  using Ptr = std::shared_ptr<const testing::Widget>;

  /// Returns a handler whose calls record the event and then block until gate_ is opened.
  EventHandler<testing::Widget> BlockingHandler() {
    EventHandler<testing::Widget> handler = RecordingHandler();
    handler.on_add = [this, record = handler.on_add](const Ptr& object, bool initial) {
      record(object, initial);
      gate_.Pass();
    };
    return handler;
  }
  void Stop() {
    runner_.request_stop();
    runner_.join();
  }
};

}  // namespace kopp::informer
