#include <kopp/informer/detail/store_version.hpp>
#include <kopp/informer/object.hpp>

namespace kopp::informer {

void StoreVersion::Set(const std::string& resource_version) {
  {
    auto state = state_.Lock();
    if (IsOlderResourceVersion(resource_version, state->resource_version)) ++state->restores;
    state->resource_version = resource_version;
    ++state->changes;
  }
  changed_.notify_all();
}

void StoreVersion::OnRestore() {
  {
    auto state = state_.Lock();
    ++state->restores;
    ++state->changes;
  }
  changed_.notify_all();
}

std::string StoreVersion::Get() const { return state_.Lock()->resource_version; }

bool StoreVersion::HasReached(std::string_view resource_version) const {
  auto state = state_.Lock();
  return state->resource_version == resource_version ||
         IsOlderResourceVersion(resource_version, state->resource_version);
}

std::uint64_t StoreVersion::restores() const { return state_.Lock()->restores; }

bool StoreVersion::WaitFor(std::string_view resource_version, TimePoint deadline,
                           const std::stop_token& stop) const {
  return WaitUntil([&] { return HasReached(resource_version); }, deadline, stop);
}

bool StoreVersion::WaitUntil(const std::function<bool()>& ready, TimePoint deadline,
                             const std::stop_token& stop) const {
  const std::stop_callback wake(stop, [this] {
    { auto state = state_.Lock(); }
    changed_.notify_all();
  });
  while (true) {
    const std::uint64_t changes = state_.Lock()->changes;
    if (ready()) return true;
    auto state = state_.Lock();
    if (stop.stop_requested() || clock_.Now() >= deadline) return false;
    if (state->changes == changes) clock_.WaitUntil(state.lock(), changed_, deadline);
  }
}

}  // namespace kopp::informer
