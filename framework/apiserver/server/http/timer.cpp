#include "http/timer.hpp"

namespace kopp::apiserver {

Timer::Timer(Clock& clock, std::function<void(Id)> on_expiry)
    : clock_(clock), on_expiry_(std::move(on_expiry)), thread_([this] { Run(); }) {}

Timer::~Timer() {
  { state_.Lock()->stopping = true; }
  changed_.notify_all();
}

void Timer::Set(Id id, TimePoint when) {
  bool is_next = false;
  {
    auto state = state_.Lock();
    if (const auto set = state->by_id.find(id); set != state->by_id.end()) {
      if (set->second == when) return;
      state->by_time.erase({set->second, id});
      state->by_id.erase(set);
    }
    if (when == TimePoint::max()) return;
    state->by_id.emplace(id, when);
    state->by_time.emplace(when, id);
    is_next = state->by_time.begin()->second == id;
  }
  if (is_next) changed_.notify_all();
}

void Timer::Run() {
  auto state = state_.Lock();
  while (!state->stopping) {
    if (state->by_time.empty()) {  // no timer is set
      changed_.wait(state.lock());
      continue;
    }
    const auto [when, id] = *state->by_time.begin();
    if (clock_.Now() < when) {
      clock_.WaitUntil(state.lock(), changed_, when);
      continue;
    }
    state->by_time.erase(state->by_time.begin());
    state->by_id.erase(id);
    state.lock().unlock();
    on_expiry_(id);
    state.lock().lock();
  }
}

}  // namespace kopp::apiserver
