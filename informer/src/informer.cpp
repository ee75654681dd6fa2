#include <algorithm>
#include <exception>
#include <stdexcept>

#include <kopp/informer/informer.hpp>

namespace kopp::informer {

void AnyInformer::AddHandler(AnyHandler handler) {
  if (running_) throw std::logic_error("add handlers before the informer runs");
  handlers_.push_back(std::move(handler));
}

void AnyInformer::ResyncEvery(Duration period) {
  if (period <= Duration::zero()) return;
  const bool none = options_.resync <= Duration::zero();
  options_.resync = none ? period : std::min(options_.resync, period);
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

void AnyInformer::Replace(std::vector<AnyObject> objects) {
  const bool initial = !HasSynced();
  AnyStore::Objects before = store_.Replace(objects);
  std::vector<std::pair<AnyObject, AnyObject>> changes;
  changes.reserve(objects.size());
  for (AnyObject& object : objects) {
    auto known = before.extract(object.key());
    changes.emplace_back(known ? std::move(known.mapped()) : AnyObject{}, std::move(object));
  }
  for (const auto& [key, missing] : before) Tell(&AnyHandler::on_delete, missing, true);
  for (const auto& [old, now] : changes) TellChange(old, now, initial);
  if (!initial) return;

  if (options_.resync > Duration::zero()) {
    next_resync_ = After(options_.clock.Now(), options_.resync);
  }
  *synced_.Lock() = true;
  has_synced_.notify_all();
}

void AnyInformer::Apply(EventType type, AnyObject object) {
  const AnyObject known = store_.Get(object.key());
  const bool same = known && known.metadata().uid == object.metadata().uid;
  if (same && IsOlderVersion(object.metadata().resourceVersion, known.metadata().resourceVersion)) {
    return;  // from a server that lags behind the one asked before
  }
  if (type == EventType::kDeleted) {
    store_.Erase(object.key());
    if (known) Tell(&AnyHandler::on_delete, same ? object : known, !same);
  } else {
    store_.Set(object);
    TellChange(known, object, false);
  }
}

TimePoint AnyInformer::Tick(TimePoint now) {
  if (now >= next_resync_) {
    for (const AnyObject& object : store_.List()) Tell(&AnyHandler::on_update, object, object);
    next_resync_ = After(options_.clock.Now(), options_.resync);
  }
  return next_resync_;
}

void AnyInformer::TellChange(const AnyObject& before, const AnyObject& after, bool initial) const {
  if (before && before.metadata().uid == after.metadata().uid) {
    return Tell(&AnyHandler::on_update, before, after);
  }
  if (before) Tell(&AnyHandler::on_delete, before, true);
  Tell(&AnyHandler::on_add, after, initial);
}

template <typename Function, typename... Args>
void AnyInformer::Tell(Function AnyHandler::*function, const Args&... args) const {
  for (const AnyHandler& handler : handlers_) {
    if (!(handler.*function)) continue;
    std::string problem;
    try {
      (handler.*function)(args...);
      continue;
    } catch (const std::exception& error) {
      problem = error.what();
    } catch (...) {
      problem = "something that is no std::exception";
    }
    if (options_.on_problem) options_.on_problem("an event handler threw: " + problem, false);
  }
}

}  // namespace kopp::informer
