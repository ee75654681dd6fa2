#include <algorithm>
#include <exception>
#include <set>
#include <stdexcept>

#include <kopp/informer/informer.hpp>

namespace kopp::informer {

void AnyInformer::AddHandler(AnyEventHandler handler, Duration resync) {
  if (run_called_)
    throw std::logic_error("AddHandler was called after Run: add handlers before Run");
  handlers_.push_back({std::move(handler), resync});
}

void AnyInformer::Run(const std::stop_token& stop) {
  run_called_ = true;
  AnyReflector reflector(source_, *this,
                         {.clock = options_.clock,
                          .seed = options_.seed,
                          .use_watch_list = options_.use_watch_list,
                          .consistent_start = options_.consistent_start,
                          .audit_interval = options_.audit_interval,
                          .on_drift = options_.on_drift,
                          .on_problem = options_.on_problem});
  reflector.Run(stop);
}

bool AnyInformer::WaitForSync(const std::stop_token& stop) const {
  const std::stop_callback wake(stop, [this] {
    { auto synced = synced_.Lock(); }
    synced_changed_.notify_all();
  });
  auto synced = synced_.Lock();
  synced.Wait(synced_changed_, [&] { return *synced || stop.stop_requested(); });
  return *synced;
}

void AnyInformer::Replace(std::vector<AnyObject> objects,
                          const std::vector<ObjectKey>& skipped_keys) {
  // A skipped object exists on the server but could not be decoded. Its cached state is kept.
  for (const ObjectKey& key : skipped_keys) {
    if (AnyObject cached = store_.Get(key)) objects.push_back(std::move(cached));
  }
  KeepUnlistedObjectsIfAKeyIsUnknown(objects, skipped_keys);
  const bool in_initial_list = !HasSynced();
  const AnyStoreSnapshot previous = store_.Replace(objects);
  const AnyStoreSnapshot current = store_.Snapshot();
  for (const AnyObject& object : previous.List()) {
    if (!current.Get(object.key())) NotifyDelete(object, /*final_state_unknown=*/true);
  }
  for (const AnyObject& object : objects) {
    NotifyChange(previous.Get(object.key()), object, in_initial_list);
  }
  if (!in_initial_list) return;

  for (Registration& registration : handlers_) {
    if (registration.resync > Duration::zero()) {
      registration.next_resync = After(options_.clock.Now(), registration.resync);
    }
  }
  *synced_.Lock() = true;
  synced_changed_.notify_all();
}

/// If the key of a skipped object could not be read, the object may be any cached object that is
/// not in the list. Then none of these is considered deleted.
void AnyInformer::KeepUnlistedObjectsIfAKeyIsUnknown(
    std::vector<AnyObject>& objects, const std::vector<ObjectKey>& skipped_keys) const {
  if (std::none_of(skipped_keys.begin(), skipped_keys.end(),
                   [](const ObjectKey& key) { return key.name.empty(); })) {
    return;
  }
  std::set<ObjectKey> listed;
  for (const AnyObject& object : objects) listed.insert(object.key());
  for (const AnyObject& cached : store_.List()) {
    if (!listed.contains(cached.key())) objects.push_back(cached);
  }
}

void AnyInformer::ApplyEvent(const WatchItem& event) {
  const AnyObject& object = event.object;
  const AnyObject cached = store_.Get(object.key());
  if (cached && IsOlderResourceVersion(object.metadata().resourceVersion,
                                       cached.metadata().resourceVersion)) {
    // The event is older than the cached object. This happens if several API servers serve the
    // watch and one of them lags behind.
    return;
  }
  if (event.event_type == EventType::kDeleted) {
    store_.Erase(object.key());
    if (!cached) return;
    const bool final_state_known =
        !event.metadata_only && cached.metadata().uid == object.metadata().uid;
    NotifyDelete(final_state_known ? object : cached, !final_state_known);
  } else {
    store_.Set(object);
    NotifyChange(cached, object, /*in_initial_list=*/false);
  }
}

TimePoint AnyInformer::ResyncIfDue(TimePoint now) {
  TimePoint next = TimePoint::max();
  for (Registration& registration : handlers_) {
    if (now >= registration.next_resync) {
      for (const AnyObject& object : store_.List()) {
        CallHandler("on_update", registration.handler.on_update, object, object);
      }
      registration.next_resync = After(now, registration.resync);
    }
    next = std::min(next, registration.next_resync);
  }
  return next;
}

void AnyInformer::NotifyChange(const AnyObject& before, const AnyObject& after,
                               bool in_initial_list) const {
  if (before && before.metadata().uid == after.metadata().uid) {
    for (const Registration& registration : handlers_) {
      CallHandler("on_update", registration.handler.on_update, before, after);
    }
    return;
  }
  if (before) NotifyDelete(before, /*final_state_unknown=*/true);
  for (const Registration& registration : handlers_) {
    CallHandler("on_add", registration.handler.on_add, after, in_initial_list);
  }
}

void AnyInformer::NotifyDelete(const AnyObject& object, bool final_state_unknown) const {
  for (const Registration& registration : handlers_) {
    CallHandler("on_delete", registration.handler.on_delete, object, final_state_unknown);
  }
}

template <typename Function, typename... Args>
void AnyInformer::CallHandler(const char* name, const std::function<Function>& function,
                              const AnyObject& object, const Args&... args) const {
  if (!function) return;
  std::string problem;
  try {
    return function(object, args...);
  } catch (const std::exception& error) {
    problem = error.what();
  } catch (...) {
    problem = "an exception that is not a std::exception";
  }
  if (!options_.on_problem) return;
  options_.on_problem(std::string("an ") + name + " handler threw for " + object.key().ToString() +
                          ": " + problem + "; other handlers are not affected",
                      /*minor=*/false);
}

}  // namespace kopp::informer
