#include "http/server_lifecycle.hpp"

#include <utility>

namespace kopp::apiserver {

void ServerLifecycle::Restart(Duration downtime) {
  const std::lock_guard restarting(restarting_);
  std::stop_source ended;
  {
    auto state = state_.Lock();
    ended = std::exchange(state->run, {});
    state->up_since = kopp::SaturatingAdd(clock_.Now(), downtime);
  }
  ended.request_stop();  // without the state's lock: the stop callbacks may read the state
}

}  // namespace kopp::apiserver
