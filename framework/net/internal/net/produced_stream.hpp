#pragma once

#include "net/http_message.hpp"

#include <functional>
#include <memory>
#include <string>
#include <utility>

#include <kopp/workqueue/guarded.hpp>

namespace kopp::detail {

/// A BodyStream whose parts are produced in another thread.
class ProducedStream final : public BodyStream {
 public:
  /// Starts to produce the next part in another thread. That thread stores the part in the state
  /// and calls HttpListener::Wake.
  using Produce = std::function<void()>;

  struct State {
    std::string ready{};  // produced, but not sent yet
    bool ended = false;
    bool failed = false;
  };

  ProducedStream(std::shared_ptr<Guarded<State>> state, Produce produce)
      : state_(std::move(state)), produce_(std::move(produce)) {}

  std::string Take() override { return std::exchange(state_->Lock()->ready, {}); }
  [[nodiscard]] bool ended() const override {
    auto state = state_->Lock();
    return state->ended && state->ready.empty();
  }
  [[nodiscard]] bool aborted() const override { return state_->Lock()->failed; }
  void OnDrained() override { produce_(); }

 private:
  const std::shared_ptr<Guarded<State>> state_;
  const Produce produce_;
};

}  // namespace kopp::detail
