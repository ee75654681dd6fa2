#include "own_writes.hpp"

#include <algorithm>
#include <chrono>

namespace kopp {
namespace {

using namespace std::chrono_literals;
using State = WrittenObject::State;

// How long a deletion is kept whose object the store has never had.
constexpr Duration kDeletionRetention = 1min;

/// Returns whether `version` is a number, so that it can be compared with others.
bool IsComparable(const std::string& version) {
  return IsOlderResourceVersion(version, version + "0");
}

/// Returns whether `written` is older than `known`. The responses to two concurrent writes may
/// arrive in any order.
bool IsSuperseded(const WrittenObject& written, const WrittenObject& known) {
  if (written.state != State::kExists) return false;
  if (known.state == State::kGone) return written.uid == known.uid;
  return IsOlderResourceVersion(written.resource_version, known.resource_version);
}

}  // namespace

void OwnWrites::Record(const WrittenObject& object, std::optional<bool> selected) {
  const informer::StoreVersion& version = informer_.version();
  if (object.state == State::kExists) {
    // It cannot be known when the write will be visible.
    if (!IsComparable(object.resource_version)) return;
  }
  const informer::AnyObject stored = informer_.store().Get(object.key);
  Write write{.object = object,
              .selected = selected.value_or(static_cast<bool>(stored)),
              .was_in_store = stored && stored.metadata().uid == object.uid,
              .restores = version.restores(),
              .time = clock_.Now()};
  if (IsVisible(write) && IsSettled(write)) return;
  std::vector<Write> sweep;
  {
    auto writes = writes_.Lock();
    Write& known = writes->by_key.try_emplace(object.key, write).first->second;
    if (IsSuperseded(object, known.object)) return;
    if (!selected) write.selected = known.selected;
    known = write;
    size_ = writes->by_key.size();
    if (size_ < writes->sweep_at) return;
    for (const auto& [key, each] : writes->by_key) sweep.push_back(each);
  }
  ForgetSettled(sweep);
  auto writes = writes_.Lock();
  writes->sweep_at = std::max<std::size_t>(64, 2 * writes->by_key.size());
}

/// Returns the last write of `key`, if there is one.
std::vector<OwnWrites::Write> OwnWrites::LastWrite(const ObjectKey& key) {
  auto writes = writes_.Lock();
  const auto found = writes->by_key.find(key);
  return found == writes->by_key.end() ? std::vector<Write>() : std::vector{found->second};
}

void OwnWrites::Await(const ObjectKey& key, Duration timeout, const std::stop_token& stop) {
  if (size_ == 0) return;
  const std::vector<Write> pending = LastWrite(key);
  AwaitVisible(pending, timeout, stop);
  ForgetSettled(pending);
}

void OwnWrites::AwaitAll(std::string_view ns, Duration timeout, const std::stop_token& stop) {
  if (size_ == 0) return;
  std::vector<Write> pending;
  {
    auto writes = writes_.Lock();
    for (const auto& [key, write] : writes->by_key) {
      if (ns.empty() || key.ns == ns) pending.push_back(write);
    }
  }
  AwaitVisible(pending, timeout, stop);
  ForgetSettled(pending);
}

std::optional<WrittenObject> OwnWrites::Find(const ObjectKey& key) {
  if (size_ == 0) return std::nullopt;
  const std::vector<Write> last = LastWrite(key);
  if (last.empty()) return std::nullopt;
  if (!IsVisible(last.front()) || !IsSettled(last.front())) return last.front().object;
  ForgetSettled(last);
  return std::nullopt;
}

/// Returns whether the store is not older than the write for its object.
bool OwnWrites::IsVisible(const Write& write) const {
  const informer::StoreVersion& version = informer_.version();
  if (version.restores() != write.restores) return true;
  const WrittenObject& written = write.object;
  // Read the version before the store: the store is at least as new.
  const bool reached = version.HasReached(written.resource_version);
  const informer::AnyObject stored = informer_.store().Get(written.key);
  switch (written.state) {
    case State::kExists:
      // If an event could not be decoded, the object is older than the version of the store.
      if (stored &&
          IsOlderResourceVersion(stored.metadata().resourceVersion, written.resource_version)) {
        return false;
      }
      return reached || stored || !write.selected;
    case State::kDeleting:
      if (stored && stored.metadata().deletionTimestamp) return true;
      [[fallthrough]];
    case State::kGone:
      return !stored || stored.metadata().uid != written.uid;
  }
  return true;
}

/// Returns whether a write that is visible stays visible.
bool OwnWrites::IsSettled(const Write& write) const {
  if (informer_.version().restores() != write.restores) return true;
  if (write.object.state == State::kExists) {
    return informer_.version().HasReached(write.object.resource_version);
  }
  return write.was_in_store || clock_.Now() - write.time >= kDeletionRetention;
}

void OwnWrites::AwaitVisible(const std::vector<Write>& writes, Duration timeout,
                             const std::stop_token& stop) const {
  auto missing = writes.end();
  const auto all_visible = [&] {
    missing = std::find_if(writes.begin(), writes.end(),
                           [this](const Write& write) { return !IsVisible(write); });
    return missing == writes.end();
  };
  const TimePoint deadline = SaturatingAdd(clock_.Now(), timeout);
  if (informer_.version().WaitUntil(all_visible, deadline, stop)) return;
  throw ErrorFor(*missing, timeout, stop);
}

void OwnWrites::ForgetSettled(const std::vector<Write>& writes) {
  for (const Write& write : writes) {
    if (!IsVisible(write) || !IsSettled(write)) continue;
    auto known = writes_.Lock();
    const auto found = known->by_key.find(write.object.key);
    // Another thread may have written the object since.
    if (found == known->by_key.end() || found->second.object != write.object) continue;
    known->by_key.erase(found);
    size_ = known->by_key.size();
  }
}

StaleCacheError OwnWrites::ErrorFor(const Write& write, Duration timeout,
                                    const std::stop_token& stop) const {
  const WrittenObject& written = write.object;
  const std::string change = written.state == State::kExists
                                 ? "resource version " + written.resource_version
                                 : "the deletion of uid " + written.uid;
  const auto milliseconds = std::chrono::duration_cast<std::chrono::milliseconds>(timeout);
  const std::string limit = stop.stop_requested()
                                ? "before the stop"
                                : "within " + std::to_string(milliseconds.count()) + " ms";
  // NOLINTNEXTLINE(modernize-return-braced-init-list): the constructor is explicit
  return StaleCacheError("the cache has not received this program's own write of " + kind_ + " " +
                         written.key.ToString() + " (" + change + ") " + limit +
                         ": its watch is at resource version " + informer_.version().Get() +
                         "; see earlier errors of the reflector");
}

}  // namespace kopp
