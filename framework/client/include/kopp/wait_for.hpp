#pragma once

#include <functional>

#include <kopp/client.hpp>
#include <kopp/client_options.hpp>
#include <kopp/informer/api_error.hpp>
#include <kopp/watch.hpp>
#include <kopp/workqueue/clock.hpp>

namespace kopp {

/// Options of WaitFor.
struct WaitForOptions {
  Duration timeout = Duration::max();  ///< how long to wait for the condition
  Clock& clock = Clock::Real();
};

/// Blocks until `condition` returns true for the object `key`. It is called in the calling thread,
/// for the current state and for each change; with null while the object does not exist. Returns
/// false if `options.timeout` passes before that.
///
///     kopp::WaitFor<Foo>(client, {"shop", "web"}, [](const Foo* foo) {
///       return foo != nullptr && foo->status.availableReplicas == 3;
///     }, {.timeout = 1min});
///     kopp::WaitFor<Foo>(client, {"shop", "web"}, [](const Foo* foo) { return foo == nullptr; });
///
/// Watches only this object, and lists it again if the version of the watch has expired. May miss
/// states that are replaced quickly. For programs without a cache, such as tests and command line
/// tools: a reconciler does not wait, but returns and is called again after a change. Throws what
/// Client::ListPage and Watcher::Next throw; a stop request of the client is a TransportError
/// (kCancelled). Go: watch.UntilWithSync of client-go.
template <ApiObject T>
bool WaitFor(const Client& client, const ObjectKey& key,
             const std::function<bool(const T* object)>& condition,
             const WaitForOptions& options = {}) {
  const TimePoint deadline = SaturatingAdd(options.clock.Now(), options.timeout);
  const Selector selector{.ns = key.ns,
                          .fields = FieldSelector().Equals("metadata.name", key.name)};
  while (true) {
    const auto page = client.ListPage<T>(selector, {.limit = 0});
    if (condition(page.objects.empty() ? nullptr : &page.objects.front())) return true;
    auto watcher = client.Watch<T>(
        selector, {.resource_version = page.resource_version, .clock = options.clock});
    try {
      while (true) {
        const TimePoint now = options.clock.Now();
        const auto event = watcher.Next(now < deadline ? deadline - now : Duration::zero());
        if (!event) return false;
        if (event->type == WatchEventType::kBookmark || event->type == WatchEventType::kError) {
          continue;
        }
        const bool exists = event->type != WatchEventType::kDeleted;
        if (condition(exists ? &event->object : nullptr)) return true;
      }
    } catch (const ApiError& error) {
      if (!error.IsGone()) throw;
    }
  }
}

}  // namespace kopp
