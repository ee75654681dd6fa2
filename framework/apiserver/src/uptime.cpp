#include "uptime.hpp"

#include <utility>

namespace kopp::apiserver {

void Uptime::Restart(Duration closed) {
  const std::lock_guard alone(restarting_);
  std::stop_source ended;
  {
    auto state = state_.Lock();
    ended = std::exchange(state->life, {});
    state->up = kopp::After(clock_.Now(), closed);
  }
  ended.request_stop();  // not under the lock: whom it tells may ask how things are
}

}  // namespace kopp::apiserver
