#include <algorithm>

#include <kopp/controller/watch_handle.hpp>
#include <kopp/informer_set.hpp>

namespace kopp {

bool WatchHandle::WaitForSync(const std::stop_token& stop) const {
  return informers_->WaitForSync(stop) &&
         std::ranges::all_of(registrations_,
                             [&](const auto& each) { return each.WaitForSync(stop); });
}

void WatchHandle::Stop() {
  for (informer::HandlerRegistration& registration : registrations_) registration.Remove();
  registrations_.clear();
  informers_.reset();
}

}  // namespace kopp
