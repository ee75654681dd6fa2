#include "alarm.hpp"

namespace kopp::apiserver {

Alarm::Alarm(Clock& clock, std::function<void(Who)> ring)
    : clock_(clock), ring_(std::move(ring)), thread_([this] { Run(); }) {}

Alarm::~Alarm() {
  { state_.Lock()->ending = true; }
  changed_.notify_all();
}

void Alarm::Set(Who who, TimePoint when) {
  bool is_next = false;
  {
    auto state = state_.Lock();
    if (const auto set = state->by_who.find(who); set != state->by_who.end()) {
      if (set->second == when) return;
      state->by_time.erase({set->second, who});
      state->by_who.erase(set);
    }
    if (when == TimePoint::max()) return;
    state->by_who.emplace(who, when);
    state->by_time.emplace(when, who);
    is_next = state->by_time.begin()->second == who;
  }
  if (is_next) changed_.notify_all();
}

void Alarm::Run() {
  auto state = state_.Lock();
  while (!state->ending) {
    if (state->by_time.empty()) {  // nobody needs the clock
      changed_.wait(state.lock());
      continue;
    }
    const auto [when, who] = *state->by_time.begin();
    if (clock_.Now() < when) {
      clock_.WaitUntil(state.lock(), changed_, when);
      continue;
    }
    state->by_time.erase(state->by_time.begin());
    state->by_who.erase(who);
    state.lock().unlock();
    ring_(who);
    state.lock().lock();
  }
}

}  // namespace kopp::apiserver
