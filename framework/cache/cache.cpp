#include "base/any_token.hpp"
#include "client/read_scope.hpp"

#include <algorithm>
#include <chrono>
#include <exception>
#include <iterator>
#include <stdexcept>
#include <thread>
#include <typeinfo>
#include <utility>

#include <kopp/cache.hpp>
#include <kopp/informer_set.hpp>

namespace kopp {
namespace {

/// Calls `wait` with a token that is stopped with `stop`, and after `limit` unless that is 0.
/// Returns its result.
bool WaitWithLimit(Clock& clock, Duration limit, const std::stop_token& stop,
                   const std::function<bool(const std::stop_token&)>& wait) {
  if (limit == Duration::zero()) return wait(stop);
  std::stop_source ended;
  const std::stop_callback end_on_stop(stop, [&] { ended.request_stop(); });
  const std::jthread timer([&, deadline = After(clock.Now(), limit)](const std::stop_token& done) {
    if (SleepUntil(clock, deadline, done)) ended.request_stop();
  });
  return wait(ended.get_token());
}

std::string SecondsText(Duration duration) {
  return std::to_string(std::chrono::ceil<std::chrono::seconds>(duration).count()) + " s";
}

/// Returns a description of a view, and what watches it.
std::string WatchHint(const detail::CacheKey& key, const std::string& kind) {
  if (key.kind.kind.empty()) {
    return "this view of " + kind + ": add .Owns<…>() or .Watches<…>()";
  }
  if (key.form == typeid(PartialObjectMetadata)) {
    return "the metadata of " + kind + " objects: add .Owns(kind)";
  }
  return "complete " + kind +
         " objects: add .Owns(kind, ObjectForm::kComplete) or .Watches(kind, …)";
}

}  // namespace

std::shared_ptr<const Unstructured> Cache::Get(const KindRef& kind, const ObjectKey& key,
                                               const ReadOptions& read) const {
  return AfterWrites(ForRead(kind, ObjectForm::kComplete), key, read)->Get(key).As<Unstructured>();
}

std::vector<std::shared_ptr<const Unstructured>> Cache::List(const KindRef& kind,
                                                             std::string_view ns,
                                                             const ReadOptions& read) const {
  return Typed<Unstructured>(AfterWrites(ForRead(kind, ObjectForm::kComplete), ns, read)->List(ns));
}

std::shared_ptr<const PartialObjectMetadata> Cache::GetMetadata(const KindRef& kind,
                                                                const ObjectKey& key,
                                                                const ReadOptions& read) const {
  return AfterWrites(ForRead(kind, ObjectForm::kMetadataOnly), key, read)
      ->Get(key)
      .As<PartialObjectMetadata>();
}

std::vector<std::shared_ptr<const PartialObjectMetadata>> Cache::ListMetadata(
    const KindRef& kind, std::string_view ns, const ReadOptions& read) const {
  return Typed<PartialObjectMetadata>(
      AfterWrites(ForRead(kind, ObjectForm::kMetadataOnly), ns, read)->List(ns));
}

/// Several views may be of one kind, also of another version of it.
void Cache::OnWrite(const Kind& kind, const WrittenObject& object) {
  for (const Entry& entry : Entries()) {
    const Kind& watched = entry.informers->kind();
    if (watched.plural != kind.plural || watched.group() != kind.group()) continue;
    entry.informers->RecordWrite(object);
  }
}

/// A mapping function must not fail because an unrelated write is late: its event would be lost.
bool Cache::AwaitsWrites(const ReadOptions& read) const {
  return options_.own_writes_timeout > Duration::zero() &&
         read.await_own_writes.value_or(!InformerSet::InHandler());
}

std::shared_ptr<InformerSet> Cache::AfterWrites(std::shared_ptr<InformerSet> informers,
                                                const ObjectKey& key,
                                                const ReadOptions& read) const {
  if (AwaitsWrites(read)) {
    informers->AwaitWrites(key, options_.own_writes_timeout, cancel_reads_.get_token());
  }
  return informers;
}

std::shared_ptr<InformerSet> Cache::AfterWrites(std::shared_ptr<InformerSet> informers,
                                                std::string_view ns,
                                                const ReadOptions& read) const {
  if (AwaitsWrites(read)) {
    informers->AwaitWrites(ns, options_.own_writes_timeout, cancel_reads_.get_token());
  }
  return informers;
}

informer::AnyObject Cache::GetAny(const Key& view, Spec (*spec)(const Cache&), const ObjectKey& key,
                                  const ReadOptions& read) const {
  return AfterWrites(ForRead(view, spec), key, read)->Get(key);
}

std::vector<informer::AnyObject> Cache::ListAny(const Key& view, Spec (*spec)(const Cache&),
                                                std::string_view ns,
                                                const ReadOptions& read) const {
  return AfterWrites(ForRead(view, spec), ns, read)->List(ns);
}

std::vector<informer::AnyObject> Cache::ListAny(const Key& view, Spec (*spec)(const Cache&),
                                                const informer::StoreListOptions& options,
                                                const ReadOptions& read) const {
  return AfterWrites(ForRead(view, spec), options.ns, read)->List(options);
}

std::vector<informer::AnyObject> Cache::ByIndexAny(const Key& view, Spec (*spec)(const Cache&),
                                                   std::string_view index, std::string_view value,
                                                   const ReadOptions& read) const {
  return AfterWrites(ForRead(view, spec), "", read)->ByIndex(index, value);
}

InformerSet& Cache::InformersFor(const Spec& spec) { return *FindOrAdd(spec, Use::kPermanent); }

InformerSet& Cache::InformerFor(const KindRef& kind, ObjectForm form) {
  return InformersFor(SpecOf(kind, form));
}

void Cache::AddIndex(const Spec& spec, const std::string& name,
                     const informer::AnyIndexFunc& values_of) {
  InformersFor(spec).AddIndex(name, values_of);
}

void Cache::AddOwnerIndex(const Spec& spec) { InformersFor(spec).AddOwnerIndex(); }

Cache::Spec Cache::SpecOf(const KindRef& kind, ObjectForm form) const {
  const Key key = Key::Of(kind, form);
  if (form == ObjectForm::kMetadataOnly) {
    return SpecOf(
        key, kind, form,
        [](const JsonObject& text, const Transform& transform) {
          return Transformed(text.Decode<PartialObjectMetadata>(), transform);
        },
        key);
  }
  return {key, kind, form,
          [kind, transform = TransformOf(key)](const JsonObject& text) {
            return Transformed(Unstructured::FromJson(text, kind), transform);
          },
          key};
}

Cache::Spec Cache::SpecOf(const Key& key, const KindRef& kind, ObjectForm form,
                          DecodeFunction decode, const Key& complete) const {
  return {key, kind, form,
          [decode, transform = TransformOf(key)](const JsonObject& text) {
            return decode(text, transform);
          },
          options_.by_object.contains(key) ? key : complete};
}

/// Returns the transform of `key`, or the default. It throws DecodeError in place of any other
/// exception, so that the source skips the object. It keeps the name, namespace, uid and
/// resourceVersion, by which the cache identifies and orders the states of objects.
Cache::Transform Cache::TransformOf(const Key& key) const {
  const auto found = options_.by_object.find(key);
  const auto own = found == options_.by_object.end() ? nullptr : found->second.transform;
  if (!own && !options_.transform) return {};
  return [own, of_metadata = options_.transform](void* object, ObjectMeta& metadata) {
    ObjectMeta identity{.name = metadata.name,
                        .ns = metadata.ns,
                        .uid = metadata.uid,
                        .resourceVersion = metadata.resourceVersion};
    try {
      own ? own(object) : of_metadata(metadata);
    } catch (const std::exception& error) {
      throw DecodeError(DecodeError::Kind::kTypeMismatch, "",
                        std::string("the transform threw: ") + error.what());
    } catch (...) {
      throw DecodeError(DecodeError::Kind::kTypeMismatch, "",
                        "the transform threw an exception that is not a std::exception");
    }
    metadata.name = std::move(identity.name);
    metadata.ns = std::move(identity.ns);
    metadata.uid = std::move(identity.uid);
    metadata.resourceVersion = std::move(identity.resourceVersion);
  };
}

bool Cache::MustAwaitSync(const InformerSet& informers) const {
  return options_.start_informers_on_read && !informers.HasSynced();
}

std::shared_ptr<InformerSet> Cache::ForRead(const Key& view, Spec (*spec)(const Cache&)) const {
  auto informers = Find(view);
  if (informers && !MustAwaitSync(*informers)) return informers;
  return Synced(spec(*this));
}

std::shared_ptr<InformerSet> Cache::ForRead(const KindRef& kind, ObjectForm form) const {
  auto informers = Find(Key::Of(kind, form));
  if (informers && !MustAwaitSync(*informers)) return informers;
  return Synced(SpecOf(kind, form));
}

/// Returns the informers after their first lists; adds them if there are none. Throws as the reads
/// do.
std::shared_ptr<InformerSet> Cache::Synced(const Spec& spec) const {
  if (!options_.start_informers_on_read) {
    throw std::logic_error("the cache does not watch " + WatchHint(spec.key, spec.kind.kind) +
                           " to the controller, set CacheOptions::start_informers_on_read, or use "
                           "the client");
  }
  {
    const std::shared_lock lock{mutex_};
    if (!running_) {
      throw std::logic_error("the cache of " + spec.kind.kind +
                             " objects was read, but it is not running: read it after Start");
    }
  }
  auto informers = FindOrAdd(spec, Use::kPermanent);
  const TimePoint start = clock_.Now();
  const Duration limit = options_.sync_timeout;
  const auto wait = [&](const std::stop_token& end) { return informers->WaitForSync(end); };
  const detail::AnyToken cancelled(cancel_reads_.get_token(), ReadScope::stop());
  if (WaitWithLimit(clock_, limit, cancelled.get(), wait)) return informers;
  std::string problem = "the cache has no complete list of " + spec.kind.kind + " objects ";
  const bool timed_out = limit > Duration::zero() && clock_.Now() - start >= limit;
  problem += timed_out ? "after " + SecondsText(limit) : "before the stop";
  throw std::runtime_error(problem + ": " + ToString(informers->NotSynced()));
}

std::vector<KindRef> Cache::Kinds() const {
  std::vector<KindRef> kinds;
  for (const Entry& entry : Entries()) kinds.push_back(entry.informers->kind());
  return kinds;
}

std::vector<KindRef> Cache::RequiredKinds() const {
  std::vector<KindRef> kinds;
  for (const Entry& entry : Entries()) {
    if (!entry.wait_if_missing) kinds.push_back(entry.informers->kind());
  }
  return kinds;
}

void Cache::Start() {
  std::unique_lock lock{mutex_};
  if (stopped_) return;
  running_ = true;
  const auto entries = entries_;  // FindOrAdd starts those that are added later
  lock.unlock();
  for (const auto& [key, entry] : entries) entry.informers->Start();
}

bool Cache::WaitForSync(const std::vector<Entry>& entries, const std::stop_token& stop) const {
  const auto all_synced = [&](const std::stop_token& end) {
    return std::ranges::all_of(
        entries, [&](const Entry& entry) { return entry.informers->WaitForSync(end); });
  };
  const auto may_wait = [](const Entry& entry) {
    return std::ranges::all_of(entry.informers->NotSynced(), [&](const UnsyncedInformer& unsynced) {
      return entry.wait_if_missing && unsynced.missing;
    });
  };
  while (!WaitWithLimit(clock_, options_.sync_timeout, stop, all_synced)) {
    if (stop.stop_requested() || !std::ranges::all_of(entries, may_wait)) return false;
  }
  return true;
}

bool Cache::WaitForSync(const std::stop_token& stop) const { return WaitForSync(Entries(), stop); }

bool Cache::WaitForSync(const std::vector<const InformerSet*>& informers,
                        const std::stop_token& stop) const {
  return WaitForSync(Entries(informers), stop);
}

std::vector<ObjectMeta> Cache::MetadataOf(std::string_view informer, std::size_t limit) const {
  std::vector<ObjectMeta> metadata;
  for (const Entry& entry : Entries()) {
    const auto objects = entry.informers->ObjectsOf(informer, limit);
    if (!objects) continue;
    for (const informer::AnyObject& object : *objects) metadata.push_back(object.metadata());
    break;  // further views of the kind have informers of the same name
  }
  return metadata;
}

std::vector<informer::InformerStatus> Cache::Statuses() const {
  std::vector<informer::InformerStatus> statuses;
  for (const Entry& entry : Entries()) {
    std::ranges::move(entry.informers->Statuses(), std::back_inserter(statuses));
  }
  return statuses;
}

std::vector<UnsyncedInformer> Cache::NotSynced() const { return NotSynced(Entries()); }

std::vector<UnsyncedInformer> Cache::NotSynced(
    const std::vector<const InformerSet*>& informers) const {
  return NotSynced(Entries(informers));
}

std::vector<UnsyncedInformer> Cache::NotSynced(const std::vector<Entry>& entries) {
  std::vector<UnsyncedInformer> unsynced;
  for (const Entry& entry : entries) {
    std::ranges::move(entry.informers->NotSynced(), std::back_inserter(unsynced));
  }
  return unsynced;
}

std::vector<std::string> Cache::WaitForHandlers(TimePoint deadline) const {
  std::vector<std::string> busy;
  for (const auto& informers : AllInformers()) {
    std::ranges::move(informers->WaitForHandlers(deadline), std::back_inserter(busy));
  }
  return busy;
}

void Cache::Stop() {
  {
    const std::unique_lock lock{mutex_};
    running_ = false;  // FindOrAdd starts nothing any more
    stopped_ = true;
  }
  CancelReads();  // handlers may wait in a read
  const auto all = AllInformers();
  for (const auto& informers : all) informers->RequestStop();
  for (const auto& informers : all) informers->Stop();
}

}  // namespace kopp
