#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <thread>
#include <utility>

#include <kopp/workqueue/clock.hpp>
#include <kopp/workqueue/guarded.hpp>

namespace kopp::apiserver {

/// Rings at moments of a Clock, which need not be that of the machine. Safe to use from any thread.
class Alarm {
 public:
  using Who = std::uint64_t;

  /// `ring` is called in a thread of the alarm's own, and is short.
  Alarm(Clock& clock, std::function<void(Who)> ring);
  /// Waits for a call that runs.
  ~Alarm();
  Alarm(const Alarm&) = delete;
  Alarm& operator=(const Alarm&) = delete;

  /// Rings for `who` at `when`, once, and not at what was set for it before. TimePoint::max() is
  /// never.
  void Set(Who who, TimePoint when);

 private:
  struct State {
    std::map<Who, TimePoint> by_who;
    std::set<std::pair<TimePoint, Who>> by_time;  // the same the other way round
    bool ending = false;
  };
  void Run();

  Clock& clock_;
  const std::function<void(Who)> ring_;
  Guarded<State> state_;
  std::condition_variable changed_;
  std::jthread thread_;  // last: it uses everything above
};

}  // namespace kopp::apiserver
