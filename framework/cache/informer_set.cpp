#include "base/any_token.hpp"
#include "cache/informer_set_impl.hpp"
#include "client/owned_object.hpp"
#include "client/read_scope.hpp"
#include "client/resource_path.hpp"
#include "own_writes.hpp"

#include <algorithm>
#include <atomic>
#include <exception>
#include <functional>
#include <iterator>
#include <optional>
#include <stdexcept>
#include <thread>
#include <utility>

#include <kopp/informer/api_error.hpp>
#include <kopp/informer/selector.hpp>
#include <kopp/workqueue/guarded.hpp>

namespace kopp {
namespace {

thread_local bool in_handler = false;

/// Sets `in_handler` while it exists.
struct HandlerCall {
  ~HandlerCall() { in_handler = outer; }
  const bool outer = std::exchange(in_handler, true);
};

/// Returns `function`, within a HandlerCall.
template <typename... Args>
std::function<void(Args...)> AsHandlerCall(std::function<void(Args...)> function) {
  if (!function) return {};
  return [function = std::move(function)](Args... args) {
    const HandlerCall call;
    function(args...);
  };
}

bool IsNotFound(const std::exception_ptr& failure) {
  try {
    std::rethrow_exception(failure);
  } catch (const ApiError& error) {
    return error.IsNotFound();
  } catch (...) {
    return false;
  }
}

}  // namespace

std::string ToString(const std::vector<UnsyncedInformer>& unsynced) {
  std::string text;
  for (const UnsyncedInformer& each : unsynced) {
    text += (text.empty() ? "" : "; ") + each.kind.kind;
    if (!each.ns.empty()) text += " in namespace " + each.ns;
    if (!each.problem.empty()) text += ": " + each.problem;
  }
  return text;
}

/// The informer of one namespace, or of all of them.
struct InformerSet::Impl::Member {
  Member(Transport& transport, const Options& options, const Selector& selected)
      : selector(selected),
        source(transport, options.kind, options.decode, selector, options.clock, options.form,
               options.on_skipped),
        informer(
            source,
            {.clock = options.clock,
             .use_watch_list = options.use_watch_list,
             .consistent_start = options.consistent_start,
             .audit_interval = options.audit_interval,
             .on_problem =
                 [this, log = LogOf(options, selector.ns)](const std::string& problem, bool minor) {
                   minor ? log.V(4).Info("Reflector retries", {{"reason", problem}})
                         : log.Error("Reflector error", {{"err", problem}});
                   *last_problem.Lock() = problem;
                 },
             .name = NameOf(options, selector.ns),
             .kind = options.kind.kind,
             .on_error =
                 [this, next = options.on_error](const informer::InformerError& error) {
                   if (error.handler.empty()) missing = IsNotFound(error.error);
                   if (next) next(error);
                 },
             .metrics = options.metrics}),
        own_writes(options.kind.kind, informer, options.clock) {}

  /// Returns "deployments.v1.apps", with a namespace "deployments.v1.apps/web".
  static std::string NameOf(const Options& options, const std::string& ns) {
    const std::string kind = options.kind.ToString();
    return ns.empty() ? kind : kind + "/" + ns;
  }

  static Logger LogOf(const Options& options, const std::string& ns) {
    Logger log = options.log.With({{"kind", options.kind.kind}});
    return ns.empty() ? log : log.With({{"namespace", ns}});
  }

  /// Returns whether the informer certainly watches the object, or nullopt if its labels are not
  /// known. Only some fields are known.
  [[nodiscard]] std::optional<bool> Selects(const WrittenObject& object) const {
    if (!object.labels) return std::nullopt;
    bool all_known = true;
    const bool matches =
        selector.fields.Matches([&](const std::string& field) -> const std::string* {
          if (field == "metadata.name") return &object.key.name;
          if (field == "metadata.namespace") return &object.key.ns;
          all_known = false;
          return nullptr;
        });
    return matches && all_known && selector.labels.Matches(*object.labels);
  }

  Selector selector;
  detail::Guarded<std::string> last_problem;
  std::atomic<bool> missing{false};  // the last failure of a list or watch was 404
  AnyHttpSource source;
  informer::AnyInformer informer;
  OwnWrites own_writes;   // that the informer has not received
  std::jthread thread{};  // last: it uses all members above; ends with Impl::stopped_
};

InformerSet::Impl::Impl(Transport& transport, Options options) : options_(std::move(options)) {
  for (const Selector& selector : options_.selectors) {
    static_cast<void>(detail::CollectionPath(options_.kind, selector.ns));  // throws if not valid
    members_.push_back(std::make_unique<Member>(transport, options_, selector));
  }
}

InformerSet::Impl::~Impl() { Stop(); }

bool InformerSet::Impl::InHandler() { return in_handler; }

std::vector<informer::HandlerRegistration> InformerSet::Impl::AddHandler(
    const informer::AnyEventHandler& handler, const informer::HandlerOptions& given) {
  informer::HandlerOptions options = given;
  if (options_.manual) options.delivery = informer::Delivery::kInformerThread;
  std::vector<informer::HandlerRegistration> registrations;
  const informer::AnyEventHandler marked{.on_add = AsHandlerCall(handler.on_add),
                                         .on_update = AsHandlerCall(handler.on_update),
                                         .on_delete = AsHandlerCall(handler.on_delete)};
  for (const auto& member : members_) {
    registrations.push_back(member->informer.AddHandler(marked, options));
  }
  return registrations;
}

/// Returns the informer of the namespace, or the one of all other namespaces, or null.
InformerSet::Impl::Member* InformerSet::Impl::FindMember(std::string_view ns) const {
  const auto watches = [&](std::string_view name) {
    return std::ranges::find_if(members_,
                                [=](const auto& each) { return each->selector.ns == name; });
  };
  auto member = watches(ns);
  if (member == members_.end()) member = watches("");
  return member == members_.end() ? nullptr : member->get();
}

const informer::AnyStore& InformerSet::Impl::StoreOf(std::string_view ns) const {
  if (const Member* const member = FindMember(ns)) return member->informer.store();
  throw std::logic_error("the cache does not watch " + options_.kind.kind +
                         " objects in the namespace \"" + std::string(ns) +
                         "\": add it to the watched namespaces, or use the client");
}

informer::AnyObject InformerSet::Impl::Get(const ObjectKey& key) const {
  return StoreOf(key.ns).Get(key);
}

/// Returns the objects that `read` returns for the stores.
template <typename Read>
std::vector<informer::AnyObject> InformerSet::Impl::ReadAll(Read read) const {
  std::vector<informer::AnyObject> all;
  for (const auto& member : members_) {
    auto objects = read(member->informer.store().Snapshot());
    if (all.empty()) {
      all = std::move(objects);
    } else {
      std::ranges::move(objects, std::back_inserter(all));
    }
  }
  return all;
}

std::vector<informer::AnyObject> InformerSet::Impl::List(std::string_view ns) const {
  if (!ns.empty()) return StoreOf(ns).List(ns);
  return ReadAll([](const informer::AnyStoreSnapshot& store) { return store.List(); });
}

std::vector<informer::AnyObject> InformerSet::Impl::List(const Selector& selector,
                                                         const ListOrder& order) const {
  if (!selector.ns.empty()) return StoreOf(selector.ns).Snapshot().List(selector, order);
  auto all =
      ReadAll([&](const informer::AnyStoreSnapshot& store) { return store.List(selector, order); });
  if (members_.size() == 1) return all;
  if (order.sort_by_name) std::ranges::sort(all, {}, &informer::AnyObject::key);
  if (order.limit != 0 && all.size() > order.limit) all.resize(order.limit);
  return all;
}

void InformerSet::Impl::AddIndex(const std::string& name, const informer::AnyIndexFunc& values_of) {
  for (const auto& member : members_) member->informer.AddIndex(name, values_of);
}

void InformerSet::Impl::AddOwnerIndex() {
  for (const auto& member : members_) member->informer.AddOwnerIndex();
}

std::vector<informer::AnyObject> InformerSet::Impl::ByIndex(std::string_view index,
                                                            std::string_view value) const {
  return ReadAll(
      [&](const informer::AnyStoreSnapshot& store) { return store.ByIndex(index, value); });
}

std::size_t InformerSet::Impl::Size() const {
  std::size_t size = 0;
  for (const auto& member : members_) size += member->informer.store().Size();
  return size;
}

std::optional<std::string> InformerSet::Impl::FindOwned(const ObjectKey& key,
                                                        std::string_view owner_uid) const {
  Member* const member = FindMember(key.ns);
  if (member == nullptr) return std::nullopt;
  // First the writes: if none is found, the store is at least as new as the last one.
  const auto written = member->own_writes.Find(key);
  const informer::AnyObject stored = member->informer.store().Get(key);
  if (stored && detail::IsOwnedOnlyBy(stored.metadata(), owner_uid)) return stored.metadata().uid;
  if (written) {
    const bool is_owned =
        written->state == WrittenObject::State::kExists && written->controller == owner_uid;
    return is_owned ? std::optional(written->uid) : std::nullopt;
  }
  const Selector& selector = member->selector;
  const bool is_absent =
      !stored && selector.labels.empty() && selector.fields.empty() && member->informer.HasSynced();
  return is_absent ? std::optional<std::string>("") : std::nullopt;
}

void InformerSet::Impl::RecordWrite(const WrittenObject& object) {
  Member* const member = FindMember(object.key.ns);
  if (member != nullptr) member->own_writes.Record(object, member->Selects(object));
}

void InformerSet::Impl::AwaitWrites(const ObjectKey& key, Duration timeout,
                                    const std::stop_token& stop) const {
  Member* const member = FindMember(key.ns);
  if (member == nullptr || member->own_writes.size() == 0) return;
  const detail::AnyToken end(stop, stopped_.get_token(), ReadScope::stop());
  member->own_writes.Await(key, timeout, end.get());
}

void InformerSet::Impl::AwaitWrites(std::string_view ns, Duration timeout,
                                    const std::stop_token& stop) const {
  const bool none =
      std::ranges::all_of(members_, [](const auto& each) { return each->own_writes.size() == 0; });
  if (none) return;
  const detail::AnyToken end(stop, stopped_.get_token(), ReadScope::stop());
  for (const auto& member : members_) member->own_writes.AwaitAll(ns, timeout, end.get());
}

std::string ManualInformer::List(const informer::ListRequest& request) const {
  std::vector<informer::AnyObject> objects;
  informer::ListResult list = source->List(
      request, [&](informer::AnyObject object) { objects.push_back(std::move(object)); }, {});
  std::vector<ObjectKey> skipped;
  for (const informer::SkippedItem& item : list.skipped) skipped.push_back(item.key);
  sink->Replace(std::move(objects), skipped);
  sink->OnVersion(list.resource_version);
  return std::move(list.resource_version);
}

std::vector<ManualInformer> InformerSet::Impl::ManualInformers() const {
  if (!options_.manual) throw std::logic_error("ManualInformers needs CacheOptions::manual");
  std::vector<ManualInformer> informers;
  for (const auto& member : members_) {
    informers.push_back({options_.kind, &member->source, &member->informer.sink()});
  }
  return informers;
}

void InformerSet::Impl::Start() {
  if (options_.manual)
    throw std::logic_error("a cache with CacheOptions::manual cannot be started");
  const std::lock_guard guard{lifecycle_};
  if (stopped_.stop_requested()) return;
  options_.log.Info("Starting EventSource", {{"kind", options_.kind.kind}});
  for (const auto& member : members_) {
    member->thread = std::jthread(
        [informer = &member->informer, stop = stopped_.get_token()] { informer->Run(stop); });
  }
}

bool InformerSet::Impl::HasSynced() const {
  return std::ranges::all_of(members_,
                             [](const auto& member) { return member->informer.HasSynced(); });
}

bool InformerSet::Impl::WaitForSync(const std::stop_token& stop) const {
  const detail::AnyToken end(stop, stopped_.get_token());
  return std::ranges::all_of(
      members_, [&](const auto& member) { return member->informer.WaitForSync(end.get()); });
}

std::vector<UnsyncedInformer> InformerSet::Impl::NotSynced() const {
  std::vector<UnsyncedInformer> unsynced;
  for (const auto& member : members_) {
    if (member->informer.HasSynced()) continue;
    unsynced.push_back(
        {options_.kind, member->selector.ns, *member->last_problem.Lock(), member->missing});
  }
  return unsynced;
}

std::vector<informer::InformerStatus> InformerSet::Impl::Statuses() const {
  std::vector<informer::InformerStatus> statuses;
  for (const auto& member : members_) statuses.push_back(member->informer.Status());
  return statuses;
}

std::optional<std::vector<informer::AnyObject>> InformerSet::Impl::ObjectsOf(
    std::string_view informer, std::size_t limit) const {
  for (const auto& member : members_) {
    if (member->informer.Status().name != informer) continue;
    return member->informer.store().Snapshot().List({}, {.limit = limit, .sort_by_name = true});
  }
  return std::nullopt;
}

void InformerSet::Impl::RequestStop() { stopped_.request_stop(); }

void InformerSet::Impl::Stop() {
  RequestStop();
  const std::lock_guard guard{lifecycle_};
  for (const auto& member : members_) {
    if (member->thread.joinable()) member->thread.join();
  }
}

std::vector<std::string> InformerSet::Impl::WaitForHandlers(TimePoint deadline) const {
  std::vector<std::string> busy;
  for (const auto& member : members_) {
    if (member->informer.WaitForHandlers(deadline)) continue;
    for (const informer::HandlerStatus& handler : member->informer.Status().handlers) {
      if (handler.busy) busy.push_back('"' + handler.name + "\" of " + options_.kind.kind);
    }
  }
  return busy;
}

}  // namespace kopp
