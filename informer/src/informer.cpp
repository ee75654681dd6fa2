#include <algorithm>
#include <exception>
#include <stdexcept>

#include <kopp/informer/informer.hpp>

namespace kopp::informer {

void AnyInformer::AddHandler(AnyHandler handler, Duration resync) {
  if (running_) throw std::logic_error("add handlers before the informer runs");
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
    has_synced_.notify_all();
  });
  auto synced = synced_.Lock();
  synced.Wait(has_synced_, [&] { return *synced || stop.stop_requested(); });
  return *synced;
}

void AnyInformer::Replace(std::vector<AnyObject> objects, const std::vector<ObjectKey>& unusable) {
  for (const ObjectKey& key : unusable) {  // it is there: what is known of it stays
    if (AnyObject known = store_.Get(key)) objects.push_back(std::move(known));
  }
  const bool initial = !HasSynced();
  AnyStore::Objects before = store_.Replace(objects);
  std::vector<std::pair<AnyObject, AnyObject>> changes;
  changes.reserve(objects.size());
  for (AnyObject& object : objects) {
    auto known = before.extract(object.key());
    changes.emplace_back(known ? std::move(known.mapped()) : AnyObject{}, std::move(object));
  }
  for (const auto& [key, missing] : before) TellAll(&AnyHandler::on_delete, missing, true);
  for (const auto& [old, now] : changes) TellChange(old, now, initial);
  if (!initial) return;

  for (Registration& each : handlers_) {
    if (each.resync > Duration::zero()) {
      each.next_resync = After(options_.clock.Now(), each.resync);
    }
  }
  *synced_.Lock() = true;
  has_synced_.notify_all();
}

void AnyInformer::Apply(EventType type, AnyObject object) {
  const AnyObject known = store_.Get(object.key());
  if (known &&
      IsOlderVersion(object.metadata().resourceVersion, known.metadata().resourceVersion)) {
    return;  // from a server that lags behind the one asked before
  }
  if (type == EventType::kDeleted) {
    store_.Erase(object.key());
    const bool same = known && known.metadata().uid == object.metadata().uid;
    if (known) TellAll(&AnyHandler::on_delete, same ? object : known, !same);
  } else {
    store_.Set(object);
    TellChange(known, object, false);
  }
}

TimePoint AnyInformer::Tick(TimePoint now) {
  TimePoint next = TimePoint::max();
  for (Registration& each : handlers_) {
    if (now >= each.next_resync) {
      for (const AnyObject& object : store_.List()) Tell(each.handler.on_update, object, object);
      each.next_resync = After(now, each.resync);
    }
    next = std::min(next, each.next_resync);
  }
  return next;
}

void AnyInformer::TellChange(const AnyObject& before, const AnyObject& after, bool initial) const {
  if (before && before.metadata().uid == after.metadata().uid) {
    return TellAll(&AnyHandler::on_update, before, after);
  }
  if (before) TellAll(&AnyHandler::on_delete, before, true);
  TellAll(&AnyHandler::on_add, after, initial);
}

template <typename Function, typename... Args>
void AnyInformer::TellAll(Function AnyHandler::*function, const Args&... args) const {
  for (const Registration& each : handlers_) Tell(each.handler.*function, args...);
}

template <typename Function, typename... Args>
void AnyInformer::Tell(const std::function<Function>& function, const Args&... args) const {
  if (!function) return;
  std::string problem;
  try {
    return function(args...);
  } catch (const std::exception& error) {
    problem = error.what();
  } catch (...) {
    problem = "something that is no std::exception";
  }
  if (options_.on_problem) options_.on_problem("an event handler threw: " + problem, false);
}

}  // namespace kopp::informer
