#include "controller/own_events.hpp"

#include <algorithm>
#include <iterator>
#include <type_traits>
#include <utility>

namespace kopp {
namespace {

using informer::KeyEvent;

// The events of older writes count as foreign.
constexpr std::size_t kMaxChanges = 256;  // also of remembered bodies
constexpr std::size_t kMaxResponses = 128;
constexpr std::size_t kMaxResponseSize = std::size_t{1} << 20;  // of one, and of those kept

/// Returns whether two states of an object differ at most in the status.
bool HasSameSpec(const ObjectMeta& a, const ObjectMeta& b) {
  return a.generation == b.generation && a.labels == b.labels && a.annotations == b.annotations &&
         a.finalizers == b.finalizers && a.ownerReferences == b.ownerReferences &&
         a.deletionTimestamp == b.deletionTimestamp;
}

/// Returns whether the update from `before` to `after` may be of this type. A write that changes
/// nothing may have returned the version of another client's write, of another type.
bool IsUpdateOf(const ObjectChange& change, const ObjectMeta& before, const ObjectMeta& after) {
  switch (change.type) {
    case ObjectChange::Type::kUpdated:
      return change.resource_version == after.resourceVersion &&
             (!after.generation || !HasSameSpec(before, after));
    case ObjectChange::Type::kStatusUpdated:
      return change.resource_version == after.resourceVersion && HasSameSpec(before, after);
    case ObjectChange::Type::kDeletionRequested:
      return !before.deletionTimestamp && after.deletionTimestamp;
    case ObjectChange::Type::kCreated:
    case ObjectChange::Type::kRemoved:
      break;
  }
  return false;
}

/// Returns whether the event shows this change, and nothing else. What a removal leaves does not
/// depend on changes before it.
bool IsEventOf(const ObjectChange& change, const KeyEvent& event) {
  using Type = ObjectChange::Type;
  const ObjectMeta& object = event.object.metadata();
  if (change.uid.empty() || change.uid != object.uid) return false;
  switch (event.type) {
    case KeyEvent::Type::kAdd:
      return event.is_watch_event && change.type == Type::kCreated &&
             change.resource_version == object.resourceVersion;
    case KeyEvent::Type::kUpdate:
      return event.is_watch_event && IsUpdateOf(change, event.before->metadata(), object);
    case KeyEvent::Type::kDelete:
      return change.type == Type::kRemoved || (change.type == Type::kDeletionRequested &&
                                               event.is_watch_event && !object.deletionTimestamp);
  }
  return false;
}

/// Returns whether the event shows that the deletion of an object has been requested.
bool IsDeletionRequest(const KeyEvent& event) {
  return event.type == KeyEvent::Type::kUpdate && event.before != nullptr &&
         !event.before->metadata().deletionTimestamp && event.object.metadata().deletionTimestamp;
}

/// Returns whether the write may be to the object of the kind.
bool MayConcern(const ClientWrite& write, std::string_view kind, const ObjectKey& object) {
  return write.kind.kind == kind && write.key.ns == object.ns &&
         (write.key.name.empty() || write.key.name == object.name);
}

template <typename T>
void PushBounded(std::vector<T>& values, std::type_identity_t<T> value) {
  if (values.size() == kMaxChanges) values.erase(values.begin());
  values.push_back(std::move(value));
}

constexpr auto kAll = [](const ClientWrite& /*write*/) { return true; };

}  // namespace

class OwnEvents::Listener final : public WriteListener {
 public:
  Listener(OwnEvents& events, const ObjectKey& key) : events_(events), key_(key) {}

  std::uint64_t OnWriteStarted(ClientWrite&& write) override {
    return events_.OnWriteStarted(*this, std::move(write));
  }
  void OnWriteEnded(std::uint64_t id, bool created, std::string_view response) override {
    try {
      events_.OnWriteEnded(key_, id, created, response);
    } catch (...) {  // NOLINT(bugprone-empty-catch): there is no memory for the write
    }
  }

  [[nodiscard]] const ObjectKey& key() const { return key_; }
  /// Sets that the reconcile has ended. Returns whether it had ended before.
  bool SetEnded() { return ended_.exchange(true); }
  [[nodiscard]] bool ended() const { return ended_; }

 private:
  OwnEvents& events_;
  const ObjectKey key_;
  std::atomic<bool> ended_ = false;
};

OwnEvents::Scope::Scope(OwnEvents& events, const ObjectKey& key)
    : events_(events), listener_(std::make_shared<Listener>(events, key)) {
  events_.Begin(key);
}

OwnEvents::Scope::~Scope() {
  try {
    End(/*succeeded=*/false);
  } catch (...) {  // NOLINT(bugprone-empty-catch): there is no memory for the changes
  }
}

std::shared_ptr<WriteListener> OwnEvents::Scope::listener() const { return listener_; }

void OwnEvents::Scope::End(bool succeeded) {
  if (listener_->SetEnded()) return;
  return succeeded ? events_.Forget(listener_->key()) : events_.Suspend(listener_->key());
}

void OwnEvents::Begin(const ObjectKey& key) {
  if (size_ == 0) return;
  auto entries = entries_.Lock();
  const auto found = entries->find(key);
  if (found != entries->end()) found->second.running = true;
}

void OwnEvents::Forget(const ObjectKey& key) {
  if (size_ == 0) return;
  Entries::node_type forgotten;
  {
    auto entries = entries_.Lock();
    forgotten = entries->extract(key);
    size_ = entries->size();
  }
  if (forgotten) AddAll(key, std::move(forgotten.mapped().waiting));
}

void OwnEvents::Clear() {
  Entries cleared;
  {
    auto entries = entries_.Lock();
    std::swap(*entries, cleared);
    size_ = 0;
  }
  for (auto& [key, writes] : cleared) AddAll(key, std::move(writes.waiting));
}

/// Ends the reconcile of a key that is retried, or waits for a change because of an error.
void OwnEvents::Suspend(const ObjectKey& key) {
  if (size_ == 0) return;
  std::vector<WaitingEvent> foreign;
  {
    auto entries = entries_.Lock();
    const auto found = entries->find(key);
    if (found == entries->end()) return;
    found->second.running = false;
    Decode(found->second, kAll);  // the texts of the responses need much memory
    foreign = RemoveForeign(found->second, nullptr);
  }
  AddAll(key, std::move(foreign));
}

std::uint64_t OwnEvents::OnWriteStarted(const Listener& listener, ClientWrite&& write) {
  auto entries = entries_.Lock();
  const auto [entry, is_new] = entries->try_emplace(listener.key());
  size_ = entries->size();
  // Read after size_ was set: either this finds that the reconcile has ended, or its end finds the
  // entry.
  const bool running = !listener.ended();
  if (is_new && !running) {
    entries->erase(entry);
    size_ = entries->size();
    return 0;
  }
  Writes& writes = entry->second;
  if (running) writes.running = true;
  const std::uint64_t id = ++last_id_;
  writes.sent.push_back({id, std::make_shared<const ClientWrite>(std::move(write))});
  return id;
}

void OwnEvents::OnWriteEnded(const ObjectKey& key, std::uint64_t id, bool created,
                             std::string_view response) {
  std::vector<WaitingEvent> foreign;
  {
    auto entries = entries_.Lock();
    const auto found = entries->find(key);
    if (found == entries->end()) return;
    Writes& writes = found->second;
    const auto sent = std::ranges::find(writes.sent, id, &SentWrite::id);
    if (sent == writes.sent.end()) return;
    const auto write = std::move(sent->write);
    writes.sent.erase(sent);
    if (!response.empty()) Record(writes, {write, created, std::string(response)});
    foreign = RemoveForeign(writes, write.get());
  }
  AddAll(key, std::move(foreign));
}

/// Keeps a response, unless it repeats the last write to the object, which has probably changed
/// nothing then.
void OwnEvents::Record(Writes& writes, Response response) {
  using Verb = ClientWrite::Verb;
  const ClientWrite& write = *response.write;
  if (write.verb == Verb::kUpdate || write.verb == Verb::kApply) {
    const auto last = std::ranges::find(writes.last_bodies, write.path_hash, &LastBody::path_hash);
    if (last == writes.last_bodies.end()) {
      PushBounded(writes.last_bodies, {write.path_hash, write.body_hash});
    } else {
      const bool repeats = std::exchange(last->body_hash, write.body_hash) == write.body_hash;
      if (repeats && !response.created) return;
    }
  }
  if (response.text.size() > kMaxResponseSize) return;
  const bool is_full = writes.responses.size() == kMaxResponses ||
                       writes.response_size + response.text.size() > kMaxResponseSize;
  if (is_full) Decode(writes, kAll);
  writes.response_size += response.text.size();
  writes.responses.push_back(std::move(response));
}

/// Decodes the responses for which `predicate` is true.
template <typename Predicate>
void OwnEvents::Decode(Writes& writes, Predicate predicate) {
  // Without memory for a change, the responses stay.
  std::vector<ObjectChange> changes;
  for (const Response& response : writes.responses) {
    if (!predicate(*response.write)) continue;
    std::ranges::move(ProvenChanges(*response.write, response.created, response.text),
                      std::back_inserter(changes));
  }
  std::erase_if(writes.responses, [&](const Response& response) {
    if (!predicate(*response.write)) return false;
    writes.response_size -= response.text.size();
    return true;
  });
  for (ObjectChange& change : changes) PushBounded(writes.changes, std::move(change));
}

/// Returns whether the event is probably that of a write whose response has not been decoded.
bool OwnEvents::IsProbablyOwn(const Writes& writes, std::string_view kind, const KeyEvent& event) {
  if (event.type == KeyEvent::Type::kDelete) return false;
  // The end of "resourceVersion": the search is fast because V is rare.
  const std::string version = R"(Version":")" + event.object.metadata().resourceVersion + '"';
  return std::ranges::any_of(writes.responses, [&](const Response& response) {
    return MayConcern(*response.write, kind, event.object.key()) &&
           response.text.find(version) != std::string::npos;
  });
}

/// Does not decode a response while a reconcile runs: it is not needed after a success.
OwnEvents::Origin OwnEvents::OriginOf(Writes& writes, std::string_view kind,
                                      const KeyEvent& event) {
  if (writes.running && IsProbablyOwn(writes, kind, event)) return Origin::kUndecided;
  const auto may_concern = [kind, object = event.object.key()](const ClientWrite& write) {
    return MayConcern(write, kind, object);
  };
  Decode(writes, may_concern);
  if (std::ranges::any_of(writes.changes,
                          [&](const ObjectChange& change) { return IsEventOf(change, event); })) {
    return Origin::kOwn;
  }
  const bool may_be_sent = std::ranges::any_of(
      writes.sent, [&](const SentWrite& sent) { return may_concern(*sent.write); });
  return may_be_sent ? Origin::kUndecided : Origin::kForeign;
}

bool OwnEvents::HandleKnown(const ObjectKey& key, std::string_view kind, const KeyEvent& event,
                            const AddOptions& options) {
  const bool is_deletion = event.type == KeyEvent::Type::kDelete;
  if (!event.is_watch_event && !is_deletion) return false;
  // After the deletion nothing is left to retry, and after its request finalizers must run.
  const bool is_own_object = kind == kind_.kind && event.object.key() == key;
  if (is_own_object && (is_deletion || IsDeletionRequest(event))) return false;
  auto entries = entries_.Lock();
  const auto found = entries->find(key);
  if (found == entries->end()) return false;
  Writes& writes = found->second;
  const Origin origin = OriginOf(writes, kind, event);
  if (origin == Origin::kForeign) return false;
  if (origin == Origin::kUndecided || writes.running) {
    writes.waiting.push_back(
        {.kind = std::string(kind),
         .type = event.type,
         .object = event.object,
         .before = event.before == nullptr ? informer::AnyObject() : *event.before,
         .is_watch_event = event.is_watch_event,
         .options = options});
  }
  return true;
}

/// Removes the events that wait for nothing any more. Returns the foreign ones. `ended`: only those
/// that may have waited for this write; null: all.
std::vector<OwnEvents::WaitingEvent> OwnEvents::RemoveForeign(Writes& writes,
                                                              const ClientWrite* ended) {
  std::vector<WaitingEvent> foreign;
  for (WaitingEvent& waiting : std::exchange(writes.waiting, {})) {
    if (ended != nullptr && !MayConcern(*ended, waiting.kind, waiting.object.key())) {
      writes.waiting.push_back(std::move(waiting));
      continue;
    }
    const KeyEvent event{.type = waiting.type,
                         .object = waiting.object,
                         .before = waiting.before ? &waiting.before : nullptr,
                         .is_watch_event = waiting.is_watch_event};
    const Origin origin = OriginOf(writes, waiting.kind, event);
    if (origin == Origin::kForeign) {
      foreign.push_back(std::move(waiting));
    } else if (origin == Origin::kUndecided || writes.running) {
      writes.waiting.push_back(std::move(waiting));
    }
  }
  return foreign;
}

/// Without memory for the queue, the object waits for its next change or resync.
void OwnEvents::AddAll(const ObjectKey& key, std::vector<WaitingEvent> events) const noexcept {
  for (WaitingEvent& event : events) {
    try {
      add_(key, std::move(event.options));
    } catch (...) {  // NOLINT(bugprone-empty-catch): see above
    }
  }
}

}  // namespace kopp
