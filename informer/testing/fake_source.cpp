#include <stdexcept>

#include <kopp/informer/api_error.hpp>
#include <kopp/testing/fake_source.hpp>

namespace kopp::testing {

using informer::EventType;
using informer::WatchItem;
using Type = WatchItem::Type;

class AnyFakeSource::Stream final : public informer::WatchStream {
 public:
  Stream(AnyFakeSource& source, std::stop_token stop) : source_(source), stop_(std::move(stop)) {}

  WatchItem Next(Duration timeout) override {
    const std::stop_callback wake(stop_, [this] {
      { auto state = source_.state_.Lock(); }
      source_.changed_.notify_all();
    });
    const TimePoint deadline = SaturatingAdd(source_.clock_.Now(), timeout);
    auto state = source_.state_.Lock();
    while (true) {
      if (stop_.stop_requested()) {
        throw std::runtime_error(
            "FakeSource: the watch was cancelled because a stop was requested");
      }
      if (state->watch_failure) std::exchange(state->watch_failure, nullptr)();
      if (!state->events.empty()) {
        WatchItem item = std::move(state->events.front());
        state->events.pop_front();
        return item;
      }
      if (source_.clock_.Now() >= deadline) return {.type = Type::kNoEvent};
      state->watch_is_waiting = true;
      source_.changed_.notify_all();
      source_.clock_.WaitUntil(state.lock(), source_.changed_, deadline);
      state->watch_is_waiting = false;
    }
  }

 private:
  AnyFakeSource& source_;
  std::stop_token stop_;
};

void AnyFakeSource::SendBookmark() {
  Send({.type = Type::kBookmark, .resource_version = ResourceVersion()});
}

void AnyFakeSource::SendSkippedEvent(const std::string& problem) {
  Send({.type = Type::kSkipped, .problem = problem});
}

void AnyFakeSource::DropNextEvent() { state_.Lock()->drop_next_event = true; }

void AnyFakeSource::EndWatch() { Send({.type = Type::kEnd}); }

void AnyFakeSource::DropInitialEventsEnd() { state_.Lock()->drop_initial_events_end = true; }

void AnyFakeSource::SendInitialEventsEnd() {
  Send(
      {.type = Type::kBookmark, .resource_version = ResourceVersion(), .initial_events_end = true});
}

void AnyFakeSource::ListAsSkipped(const ObjectKey& key, const ObjectKey& reported_key) {
  state_.Lock()->skipped_keys.insert_or_assign(key, reported_key);
}

void AnyFakeSource::SetPageSize(std::size_t size) { state_.Lock()->page_size = size; }

std::vector<SourceRequest> AnyFakeSource::Requests() { return state_.Lock()->requests; }

void AnyFakeSource::AwaitRequests(std::size_t count) {
  auto state = state_.Lock();
  state.Wait(changed_, [&] { return state->requests.size() >= count; });
}

void AnyFakeSource::AwaitIdleWatch() {
  auto state = state_.Lock();
  state.Wait(changed_, [&] {
    return state->watch_is_waiting && state->events.empty() && !state->watch_failure;
  });
}

void AnyFakeSource::SetResourceVersion(std::uint64_t version) {
  state_.Lock()->resource_version = version;
}

std::string AnyFakeSource::ResourceVersion() {
  return std::to_string(state_.Lock()->resource_version);
}

void AnyFakeSource::Change(const ObjectKey& key, const MakeObject& make, bool deleted) {
  {
    auto state = state_.Lock();
    const std::string version = std::to_string(++state->resource_version);
    const informer::AnyObject object = make(version);
    const bool existed = state->objects.contains(key);
    if (deleted) {
      state->objects.erase(key);
    } else {
      state->objects.insert_or_assign(key, object);
    }
    if (std::exchange(state->drop_next_event, false)) return;
    state->events.push_back({.type = Type::kEvent,
                             .event_type = deleted   ? EventType::kDeleted
                                           : existed ? EventType::kModified
                                                     : EventType::kAdded,
                             .object = object,
                             .resource_version = version});
  }
  changed_.notify_all();
}

void AnyFakeSource::SendEvent(EventType type, informer::AnyObject object, bool metadata_only) {
  std::string version = object.metadata().resourceVersion;
  Send({.type = Type::kEvent,
        .event_type = type,
        .object = std::move(object),
        .metadata_only = metadata_only,
        .resource_version = std::move(version)});
}

void AnyFakeSource::SetWatchFailure(std::function<void()> failure) {
  state_.Lock()->watch_failure = std::move(failure);
  changed_.notify_all();
}

void AnyFakeSource::AddOutcome(std::function<void()> failure) {
  state_.Lock()->request_outcomes.push_back(std::move(failure));
}

void AnyFakeSource::Send(WatchItem item) {
  state_.Lock()->events.push_back(std::move(item));
  changed_.notify_all();
}

/// Records a request. Throws if the next queued outcome is a failure.
void AnyFakeSource::RecordRequest(State& state, SourceRequest request) {
  state.requests.push_back(std::move(request));
  changed_.notify_all();
  if (state.request_outcomes.empty()) return;
  const std::function<void()> failure = std::move(state.request_outcomes.front());
  state.request_outcomes.pop_front();
  if (failure) failure();
}

/// Replaces the pending events by one for each object and the bookmark at their end.
void AnyFakeSource::QueueInitialEvents(State& state) {
  state.events.clear();
  for (const auto& [key, object] : state.objects) {
    const auto skipped = state.skipped_keys.find(key);
    if (skipped == state.skipped_keys.end()) {
      state.events.push_back({.type = Type::kEvent,
                              .object = object,
                              .resource_version = object.metadata().resourceVersion});
    } else {
      state.events.push_back({.type = Type::kSkipped,
                              .problem = key.ToString() + " could not be decoded",
                              .skipped_key = skipped->second});
    }
  }
  if (state.drop_initial_events_end) return;
  state.events.push_back({.type = Type::kBookmark,
                          .resource_version = std::to_string(state.resource_version),
                          .initial_events_end = true});
}

informer::ListResult AnyFakeSource::HandleList(
    const informer::ListRequest& options,
    const std::function<void(informer::AnyObject)>& on_object) {
  auto state = state_.Lock();
  RecordRequest(*state, {SourceRequest::Verb::kList, options.resource_version, options.limit,
                         options.continue_token});
  if (options.exact && options.continue_token.empty() &&
      options.resource_version != std::to_string(state->resource_version)) {
    throw ApiError("LIST",
                   {.message = "FakeSource: the version is not the current one", .code = 410});
  }
  const std::size_t begin = options.continue_token.empty() ? 0 : std::stoul(options.continue_token);
  const std::size_t end = options.limit == 0 ? state->objects.size() : begin + state->page_size;
  std::size_t index = 0;
  informer::ListResult result;
  for (const auto& [key, object] : state->objects) {
    const bool on_page =
        options.object.name.empty() ? index >= begin && index < end : key == options.object;
    ++index;
    if (!on_page) continue;
    const auto skipped = state->skipped_keys.find(key);
    if (skipped != state->skipped_keys.end()) {
      result.skipped.push_back({skipped->second, key.ToString() + " could not be decoded"});
    } else {
      on_object(object);
    }
  }
  if (options.limit != 1 && !options.exact) state->events.clear();
  result.resource_version = std::to_string(state->resource_version);
  if (end < index) result.continue_token = std::to_string(end);
  return result;
}

std::unique_ptr<informer::WatchStream> AnyFakeSource::HandleWatch(
    const informer::WatchRequest& options, std::stop_token stop) {
  auto state = state_.Lock();
  RecordRequest(*state, {SourceRequest::Verb::kWatch, options.resource_version, 0, "",
                         options.send_initial_events});
  if (options.send_initial_events) QueueInitialEvents(*state);
  return std::make_unique<Stream>(*this, std::move(stop));
}

}  // namespace kopp::testing
