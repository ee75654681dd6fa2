#pragma once

#include "model.hpp"
#include "queue_under_test.hpp"
#include "scheduler.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

namespace kopp::model_checking {

/// Calls a queue under the scheduler, and records the step in which each call took effect, which is
/// the last step in which the call acquired the lock. Check replays the calls in this order on the
/// model, which must return the same results. This comparison checks that items are processed
/// exclusively (Q1), that no item is lost (Q2) or queued twice (Q3), that the order is kept (Q8)
/// and that a drain does not return too early (Q7).
class RecordedQueue {
 public:
  RecordedQueue(QueueUnderTest& queue, OrderSpec order) : queue_(queue), order_(order) {}

  void Add(int id, int priority = 0) {
    StartCall();
    queue_.Add(TestItem{id}, priority);
    Record({.call = "Add", .id = id, .priority = priority});
  }
  std::optional<int> Get(const std::stop_token& stop = {}) {
    StartCall();
    const auto returned = queue_.Get(stop);
    if (!returned) return Record({.call = "Get: nullopt"}), std::nullopt;
    Record({.call = "Get",
            .id = returned->item.id,
            .priority = returned->priority,
            .stoppable = stop.stop_possible()});
    return returned->item.id;
  }
  void Done(int id) {
    StartCall();
    queue_.Done(TestItem{id});
    Record({.call = "Done", .id = id});
  }
  void ShutDown() {
    StartCall();
    queue_.ShutDown();
    Record({.call = "ShutDown"});
  }
  /// Records two events: when the queue starts to ignore Adds, and when the drain returns.
  void Drain() {
    StartCall();
    queue_.ShutDownWithDrain();
    const std::vector<std::uint64_t> steps = PopLockSteps();
    events_[steps.front()] = {.call = "drain starts"};
    events_[steps.back()] = {.call = "drain returns", .start_step = steps.front()};
  }
  /// Requests a stop of `source`. After this step, a Get with its token must return nullopt.
  void RequestStop(std::stop_source& source) {
    stop_step_ = SchedulingPoint(&source);
    source.request_stop();
  }

  /// Processes items until Get returns nullopt.
  void ProcessItems(const std::stop_token& stop = {}) {
    while (const auto id = Get(stop)) Done(*id);
  }
  /// Calls Get `count` times, and processes the items that it returns.
  void ProcessItems(int count) {
    for (int i = 0; i < count; ++i) {
      if (const auto id = Get()) Done(*id);
    }
  }

  /// Compares the calls with the model. Requires: all threads have ended.
  void Check() const {
    Model model(order_);
    std::vector<std::uint64_t> shutdowns;
    for (const auto& [step, event] : events_) {
      const std::string error = Replay(model, shutdowns, step, event);
      if (!error.empty()) return ReportFailure(error + "\n" + Describe());
    }
    if (model.Len() > 0)
      return ReportFailure("an item is still queued after the end of the program\n" + Describe());
    if (!model.Processing().empty())
      ReportFailure("an item is still in processing after the end of the program\n" + Describe());
  }

 private:
  struct Event {
    std::string call = {};
    int id = 0;
    int priority = 0;
    std::uint64_t start_step = 0;  // the step in which a drain started
    bool stoppable = false;
  };

  static void StartCall() { PopLockSteps(); }
  void Record(const Event& event) { events_[PopLockSteps().back()] = event; }

  [[nodiscard]] std::string Replay(Model& model, std::vector<std::uint64_t>& shutdowns,
                                   std::uint64_t step, const Event& event) const {
    const bool stopped = stop_step_ && *stop_step_ <= step;
    if (event.call == "Add") {
      model.Add(event.id, event.priority);
    } else if (event.call == "Get") {
      if (stopped && event.stoppable) return "Get returned an item after its stop was requested";
      if (model.Len() == 0) return "Get returned an item that was not ready";
      const Model::Returned expected = model.Get();
      if (expected.id != event.id) {
        return "Get returned item " + std::to_string(event.id) + " before item " +
               std::to_string(expected.id);
      }
      if (expected.priority != event.priority) return "Get returned the wrong priority";
    } else if (event.call == "Get: nullopt") {
      const bool ended = model.ShuttingDown() && model.Len() == 0;
      if (!stopped && !ended) return "Get returned nullopt too early";
    } else if (event.call == "Done") {
      model.Done(event.id);
    } else if (event.call == "drain returns") {
      if (event.start_step == step) model.ShutDown();
      const bool released =
          std::any_of(shutdowns.begin(), shutdowns.end(),
                      [&](std::uint64_t shutdown) { return shutdown > event.start_step; });
      if (!model.Idle() && !released) return "ShutDownWithDrain returned too early";
    } else {
      model.ShutDown();
      if (event.call == "ShutDown") shutdowns.push_back(step);
    }
    return {};
  }

  [[nodiscard]] std::string Describe() const {
    std::string text = "calls, by the step in which they took effect:\n";
    for (const auto& [step, event] : events_) {
      text += "  " + std::to_string(step) + ": " + event.call + " " + std::to_string(event.id) +
              " " + std::to_string(event.priority) + "\n";
    }
    return text;
  }

  QueueUnderTest& queue_;
  OrderSpec order_;
  std::map<std::uint64_t, Event> events_;
  std::optional<std::uint64_t> stop_step_;
};

}  // namespace kopp::model_checking
