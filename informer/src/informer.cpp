#include <algorithm>
#include <exception>
#include <stdexcept>

#include <kopp/informer/informer.hpp>

namespace kopp::informer {

void AnyInformer::AddHandler(AnyEventHandler handler, Duration resync) {
  if (running_) throw std::logic_error("AddHandler was called after Run: add handlers before Run");
  handlers_.push_back({std::move(handler), resync});
}

void AnyInformer::Run(const std::stop_token& stop) {
  running_ = true;
  AnyReflector reflector(source_, *this, {options_.clock, options_.seed, options_.on_problem});
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
  for (const ObjectKey& key : skipped_keys) {  // the object exists: keep its cached state
    if (AnyObject cached = store_.Get(key)) objects.push_back(std::move(cached));
  }
  const bool initial = !HasSynced();
  AnyStore::Objects before = store_.Replace(objects);
  std::vector<std::pair<AnyObject, AnyObject>> changes;
  changes.reserve(objects.size());
  for (AnyObject& object : objects) {
    auto cached = before.extract(object.key());
    changes.emplace_back(cached ? std::move(cached.mapped()) : AnyObject{}, std::move(object));
  }
  for (const auto& [key, deleted] : before) {
    NotifyHandlers(&AnyEventHandler::on_delete, deleted, true);
  }
  for (const auto& [old_object, new_object] : changes) {
    NotifyChange(old_object, new_object, initial);
  }
  if (!initial) return;

  for (Registration& registration : handlers_) {
    if (registration.resync > Duration::zero()) {
      registration.next_resync = After(options_.clock.Now(), registration.resync);
    }
  }
  *synced_.Lock() = true;
  synced_changed_.notify_all();
}

void AnyInformer::ApplyEvent(EventType type, AnyObject object) {
  const AnyObject cached = store_.Get(object.key());
  if (cached && IsOlderResourceVersion(object.metadata().resourceVersion,
                                       cached.metadata().resourceVersion)) {
    return;  // outdated: this API server lags behind the one that sent `cached`
  }
  if (type == EventType::kDeleted) {
    store_.Erase(object.key());
    const bool same_uid = cached && cached.metadata().uid == object.metadata().uid;
    if (cached) NotifyHandlers(&AnyEventHandler::on_delete, same_uid ? object : cached, !same_uid);
  } else {
    store_.Set(object);
    NotifyChange(cached, object, false);
  }
}

TimePoint AnyInformer::ResyncIfDue(TimePoint now) {
  TimePoint next = TimePoint::max();
  for (Registration& registration : handlers_) {
    if (now >= registration.next_resync) {
      for (const AnyObject& object : store_.List()) {
        CallHandler(registration.handler.on_update, object, object);
      }
      registration.next_resync = After(now, registration.resync);
    }
    next = std::min(next, registration.next_resync);
  }
  return next;
}

void AnyInformer::NotifyChange(const AnyObject& before, const AnyObject& after,
                               bool initial) const {
  if (before && before.metadata().uid == after.metadata().uid) {
    return NotifyHandlers(&AnyEventHandler::on_update, before, after);
  }
  if (before) NotifyHandlers(&AnyEventHandler::on_delete, before, true);
  NotifyHandlers(&AnyEventHandler::on_add, after, initial);
}

template <typename Function, typename... Args>
void AnyInformer::NotifyHandlers(Function AnyEventHandler::*function, const Args&... args) const {
  for (const Registration& registration : handlers_) {
    CallHandler(registration.handler.*function, args...);
  }
}

template <typename Function, typename... Args>
void AnyInformer::CallHandler(const std::function<Function>& function, const Args&... args) const {
  if (!function) return;
  std::string problem;
  try {
    return function(args...);
  } catch (const std::exception& error) {
    problem = error.what();
  } catch (...) {
    problem = "an exception that is not a std::exception";
  }
  if (options_.on_problem) options_.on_problem("an event handler threw: " + problem, false);
}

}  // namespace kopp::informer
