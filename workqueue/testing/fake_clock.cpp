#include <algorithm>
#include <chrono>

#include <kopp/testing/fake_clock.hpp>

namespace kopp::testing {

FakeClock::FakeClock(WallTime wall) : wall_(wall) {}

TimePoint FakeClock::Now() const {
  const std::lock_guard guard{mutex_};
  return now_;
}

WallTime FakeClock::WallNow() const {
  const std::lock_guard guard{mutex_};
  return wall_;
}

void FakeClock::WaitUntil(std::unique_lock<std::mutex>& lock, std::condition_variable& cv,
                          TimePoint deadline) {
  Sleeper self{lock.mutex(), &cv, deadline};
  {
    const std::lock_guard guard{mutex_};
    if (deadline <= now_) return;
    sleepers_.push_back(&self);
    arrived_.notify_all();
  }
  cv.wait(lock);
  // Advance may be about to use the mutex and the cv of this sleeper: wait until it is done.
  // Release the lock meanwhile, because Advance acquires it.
  lock.unlock();
  {
    std::unique_lock guard{mutex_};
    wake_finished_.wait(guard, [&] { return !self.being_woken; });
    std::erase(sleepers_, &self);
  }
  lock.lock();
}

void FakeClock::Advance(Duration step) {
  std::vector<Sleeper*> woken;
  {
    const std::lock_guard guard{mutex_};
    now_ += step;
    wall_ += step;
    woken.swap(sleepers_);
    for (Sleeper* sleeper : woken) sleeper->being_woken = true;
  }
  for (const Sleeper* sleeper : woken) {
    {
      const std::lock_guard asleep{*sleeper->mutex};
    }  // the sleeper has released its mutex, so it is waiting
    sleeper->cv->notify_all();
  }
  const std::lock_guard guard{mutex_};
  for (Sleeper* sleeper : woken) sleeper->being_woken = false;
  wake_finished_.notify_all();
}

void FakeClock::AwaitSleepers(std::size_t count) {
  std::unique_lock guard{mutex_};
  arrived_.wait(guard, [&] { return sleepers_.size() >= count; });
}

void FakeClock::AwaitSleeperFor(Duration remaining) {
  constexpr Duration kTolerance = std::chrono::milliseconds(1);
  std::unique_lock guard{mutex_};
  arrived_.wait(guard, [&] {
    const TimePoint deadline = SaturatingAdd(now_, remaining);
    return std::any_of(sleepers_.begin(), sleepers_.end(), [&](const Sleeper* sleeper) {
      return sleeper->deadline >= deadline - kTolerance &&
             sleeper->deadline - kTolerance <= deadline;
    });
  });
}

}  // namespace kopp::testing
