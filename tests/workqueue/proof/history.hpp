#pragma once

#include "model.hpp"
#include "scheduler.hpp"
#include "subject.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

namespace kopp::proof {

/// A queue under the scheduler, that writes down in which step each call took effect: the step in
/// which it held the lock for the last time. Told in this order, the calls are those of one thread,
/// and the model must have answered the same. So one comparison checks that no key is in two hands
/// (Q1), none is lost (Q2) or queued twice (Q3), that order holds (Q8) and that a drain returns
/// when it may (Q7).
class Recorded {
 public:
  Recorded(Subject& queue, Rules rules) : queue_(queue), rules_(rules) {}

  void Add(int key, int priority = 0) {
    Start();
    queue_.Add(Key{key}, priority);
    Note({.what = "Add", .key = key, .priority = priority});
  }
  std::optional<int> Get(const std::stop_token& stop = {}) {
    Start();
    const auto handed = queue_.Get(stop);
    if (!handed) return Note({.what = "Get of nothing"}), std::nullopt;
    Note({.what = "Get",
          .key = handed->item.id,
          .priority = handed->priority,
          .stoppable = stop.stop_possible()});
    return handed->item.id;
  }
  void Done(int key) {
    Start();
    queue_.Done(Key{key});
    Note({.what = "Done", .key = key});
  }
  void ShutDown() {
    Start();
    queue_.ShutDown();
    Note({.what = "ShutDown"});
  }
  /// Two events: from the first it takes nothing more, at the second it returns.
  void Drain() {
    Start();
    queue_.ShutDownWithDrain();
    const std::vector<std::uint64_t> steps = TakeLockSteps();
    events_[steps.front()] = {.what = "drain"};
    events_[steps.back()] = {.what = "drained", .began = steps.front()};
  }
  /// From this step on a Get with the token of `source` hands out nothing.
  void RequestStop(std::stop_source& source) {
    stopped_at_ = Step(&source);
    source.request_stop();
  }

  /// Works on what comes, until there will be nothing more.
  void Work(const std::stop_token& stop = {}) {
    while (const auto key = Get(stop)) Done(*key);
  }
  /// Works on what comes, `times` times: nobody says that there will be nothing more.
  void Work(int times) {
    for (int i = 0; i < times; ++i) {
      if (const auto key = Get()) Done(*key);
    }
  }

  /// To be called when all threads have ended. `left` keys are still in hand then.
  void Check(std::size_t left = 0) const {
    Model model(rules_);
    std::vector<std::uint64_t> shutdowns;
    for (const auto& [step, event] : events_) {
      const std::string wrong = Replay(model, shutdowns, step, event);
      if (!wrong.empty()) return Fail(wrong + "\n" + Told());
    }
    if (model.Len() > 0) return Fail("something was left in the queue\n" + Told());
    if (model.InHand().size() != left) Fail("a key was not given back\n" + Told());
  }

 private:
  struct Event {
    std::string what = {};
    int key = 0;
    int priority = 0;
    std::uint64_t began = 0;
    bool stoppable = false;
  };

  static void Start() { TakeLockSteps(); }
  void Note(const Event& event) { events_[TakeLockSteps().back()] = event; }

  [[nodiscard]] std::string Replay(Model& model, std::vector<std::uint64_t>& shutdowns,
                                   std::uint64_t step, const Event& event) const {
    const bool stopped = stopped_at_ && *stopped_at_ <= step;
    if (event.what == "Add") {
      model.Add(event.key, event.priority);
    } else if (event.what == "Get") {
      if (stopped && event.stoppable) return "a Get that was told to stop went on";
      if (model.Len() == 0) return "a key was handed out that was not ready";
      const Model::Handed handed = model.Get();
      if (handed.key != event.key) return "it was " + std::to_string(handed.key) + "'s turn";
      if (handed.priority != event.priority) return "handed out with another priority";
    } else if (event.what == "Get of nothing") {
      const bool ended = model.ShuttingDown() && model.Len() == 0;
      if (!stopped && !ended) return "a Get got nothing";
    } else if (event.what == "Done") {
      model.Done(event.key);
    } else if (event.what == "drained") {
      if (event.began == step) model.ShutDown();
      const bool freed = std::any_of(shutdowns.begin(), shutdowns.end(),
                                     [&](std::uint64_t at) { return at > event.began; });
      if (!model.Idle() && !freed) return "a drain returned too early";
    } else {
      model.ShutDown();
      if (event.what == "ShutDown") shutdowns.push_back(step);
    }
    return {};
  }

  [[nodiscard]] std::string Told() const {
    std::string told = "calls, by the step in which they took effect:\n";
    for (const auto& [step, event] : events_) {
      told += "  " + std::to_string(step) + ": " + event.what + " " + std::to_string(event.key) +
              " " + std::to_string(event.priority) + "\n";
    }
    return told;
  }

  Subject& queue_;
  Rules rules_;
  std::map<std::uint64_t, Event> events_;
  std::optional<std::uint64_t> stopped_at_;
};

}  // namespace kopp::proof
