#include "controller/timer_queue.hpp"

namespace kopp {

TimerQueue::TimerQueue(Clock& clock) : clock_(clock), thread_([this] { Run(); }) {}

TimerQueue::~TimerQueue() {
  state_.Lock()->stopped = true;
  changed_.notify_one();
}

TimerQueue::Id TimerQueue::Add(TimePoint at, std::function<void()> run) {
  Id id;
  bool wakes_thread = false;
  {
    auto state = state_.Lock();
    id = {at, ++state->last_number};
    state->timers.emplace(id, std::move(run));
    wakes_thread = at < state->sleeps_until;
  }
  if (wakes_thread) changed_.notify_one();
  return id;
}

bool TimerQueue::Cancel(const Id& id) {
  decltype(State::timers)::node_type timer;  // destroyed after the lock is released
  auto state = state_.Lock();
  timer = state->timers.extract(id);
  return !timer.empty();
}

void TimerQueue::Run() {
  auto state = state_.Lock();
  while (!state->stopped) {
    const auto first = state->timers.begin();
    const TimePoint next = first == state->timers.end() ? TimePoint::max() : first->first.first;
    if (clock_.Now() < next) {
      state->sleeps_until = next;
      clock_.WaitUntil(state.lock(), changed_, next);
      state->sleeps_until = TimePoint::min();
      continue;
    }
    {
      auto timer = state->timers.extract(first);
      state.lock().unlock();
      timer.mapped()();
    }
    state.lock().lock();
  }
}

}  // namespace kopp
