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

namespace kopp::proof {

/// A queue under the scheduler. Records the step in which each call took effect, which is the last
/// step in which the call acquired the lock. Check replays the calls in this order on the model,
/// which must return the same. This one comparison checks that keys are processed exclusively (Q1),
/// that no key is lost (Q2) or queued twice (Q3), that the order is kept (Q8) and that a drain does
/// not return too early (Q7).
class RecordedQueue {
 public:
  RecordedQueue(QueueUnderTest& queue, Rules rules) : queue_(queue), rules_(rules) {}

  void Add(int key, int priority = 0) {
    Start();
    queue_.Add(Key{key}, priority);
    Record({.call = "Add", .key = key, .priority = priority});
  }
  std::optional<int> Get(const std::stop_token& stop = {}) {
    Start();
    const auto returned = queue_.Get(stop);
    if (!returned) return Record({.call = "Get: nullopt"}), std::nullopt;
    Record({.call = "Get",
            .key = returned->item.id,
            .priority = returned->priority,
            .stoppable = stop.stop_possible()});
    return returned->item.id;
  }
  void Done(int key) {
    Start();
    queue_.Done(Key{key});
    Record({.call = "Done", .key = key});
  }
  void ShutDown() {
    Start();
    queue_.ShutDown();
    Record({.call = "ShutDown"});
  }
  /// Records two events: when the queue starts to ignore Adds, and when the drain returns.
  void Drain() {
    Start();
    queue_.ShutDownWithDrain();
    const std::vector<std::uint64_t> steps = PopLockSteps();
    events_[steps.front()] = {.call = "drain starts"};
    events_[steps.back()] = {.call = "drain returns", .start = steps.front()};
  }
  /// After this step a Get with the token of `source` must return nullopt.
  void RequestStop(std::stop_source& source) {
    stop_step_ = Step(&source);
    source.request_stop();
  }

  /// Processes keys until Get returns nullopt.
  void Work(const std::stop_token& stop = {}) {
    while (const auto key = Get(stop)) Done(*key);
  }
  /// Processes `times` keys.
  void Work(int times) {
    for (int i = 0; i < times; ++i) {
      if (const auto key = Get()) Done(*key);
    }
  }

  /// Compares the calls with the model. Requires: all threads have ended.
  void Check() const {
    Model model(rules_);
    std::vector<std::uint64_t> shutdowns;
    for (const auto& [step, event] : events_) {
      const std::string error = Replay(model, shutdowns, step, event);
      if (!error.empty()) return Fail(error + "\n" + Describe());
    }
    if (model.Len() > 0) return Fail("a key was left in the queue\n" + Describe());
    if (!model.Processing().empty()) Fail("a key is still in processing\n" + Describe());
  }

 private:
  struct Event {
    std::string call = {};
    int key = 0;
    int priority = 0;
    std::uint64_t start = 0;
    bool stoppable = false;
  };

  static void Start() { PopLockSteps(); }
  void Record(const Event& event) { events_[PopLockSteps().back()] = event; }

  [[nodiscard]] std::string Replay(Model& model, std::vector<std::uint64_t>& shutdowns,
                                   std::uint64_t step, const Event& event) const {
    const bool stopped = stop_step_ && *stop_step_ <= step;
    if (event.call == "Add") {
      model.Add(event.key, event.priority);
    } else if (event.call == "Get") {
      if (stopped && event.stoppable) return "Get returned a key after its stop was requested";
      if (model.Len() == 0) return "Get returned a key that was not ready";
      const Model::Returned expected = model.Get();
      if (expected.key != event.key) {
        return "Get must return key " + std::to_string(expected.key) + " first";
      }
      if (expected.priority != event.priority) return "Get returned the wrong priority";
    } else if (event.call == "Get: nullopt") {
      const bool ended = model.ShuttingDown() && model.Len() == 0;
      if (!stopped && !ended) return "Get returned nullopt too early";
    } else if (event.call == "Done") {
      model.Done(event.key);
    } else if (event.call == "drain returns") {
      if (event.start == step) model.ShutDown();
      const bool released = std::any_of(shutdowns.begin(), shutdowns.end(),
                                        [&](std::uint64_t at) { return at > event.start; });
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
      text += "  " + std::to_string(step) + ": " + event.call + " " + std::to_string(event.key) +
              " " + std::to_string(event.priority) + "\n";
    }
    return text;
  }

  QueueUnderTest& queue_;
  Rules rules_;
  std::map<std::uint64_t, Event> events_;
  std::optional<std::uint64_t> stop_step_;
};

}  // namespace kopp::proof
