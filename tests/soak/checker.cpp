#include "checker.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <utility>

namespace kopp::soak {
namespace {

Objects ByKey(const std::vector<ObjectVersion>& list) {
  Objects objects;
  for (const ObjectVersion& object : list) objects.emplace(object.key, object);
  return objects;
}

const ObjectVersion* Find(const Objects& objects, const ObjectKey& key) {
  const auto found = objects.find(key);
  return found == objects.end() ? nullptr : &found->second;
}

bool SameAt(const ObjectKey& key, const Objects& a, const Objects& b) {
  const ObjectVersion* const in_a = Find(a, key);
  const ObjectVersion* const in_b = Find(b, key);
  return in_a == nullptr || in_b == nullptr ? in_a == in_b : *in_a == *in_b;
}

/// Returns the keys whose objects differ.
std::set<ObjectKey> DifferingKeys(const Objects& a, const Objects& b) {
  std::set<ObjectKey> keys;
  for (const auto& [key, object] : a) {
    if (!SameAt(key, a, b)) keys.insert(key);
  }
  for (const auto& [key, object] : b) {
    if (!a.contains(key)) keys.insert(key);
  }
  return keys;
}

/// Returns "ns/a: expected …, but it is …" for the first differing object; "" if all are equal.
std::string Difference(const Objects& expected, const Objects& actual) {
  const std::set<ObjectKey> keys = DifferingKeys(expected, actual);
  if (keys.empty()) return "";
  const auto text = [](const ObjectVersion* object) {
    return object == nullptr ? std::string("none") : object->ToString();
  };
  const ObjectKey& first = *keys.begin();
  return std::to_string(keys.size()) + " objects differ, first " + first.ToString() +
         ": expected " + text(Find(expected, first)) + ", but it is " + text(Find(actual, first));
}

/// The objects that the API server had after a number of changes.
class TruthCursor {
 public:
  explicit TruthCursor(const Truth& truth) : truth_(truth), objects_(truth.initial) {}

  [[nodiscard]] const Objects& objects() const { return objects_; }

  void MoveTo(std::uint64_t version) {
    const std::size_t position = truth_.FirstAfter(version);
    if (position < position_) *this = TruthCursor(truth_);
    while (position_ < position) Apply(truth_.changes[position_++], objects_);
  }
  /// Moves forward to the first state that equals `actual`. Returns false, and does not move, if
  /// there is none.
  bool MoveForwardTo(const Objects& actual) {
    std::set<ObjectKey> differing = DifferingKeys(objects_, actual);
    Objects objects = objects_;
    std::size_t position = position_;
    for (; !differing.empty(); ++position) {
      if (position == truth_.changes.size()) return false;
      const Change& change = truth_.changes[position];
      Apply(change, objects);
      if (SameAt(change.object.key, objects, actual)) {
        differing.erase(change.object.key);
      } else {
        differing.insert(change.object.key);
      }
    }
    objects_ = std::move(objects);
    position_ = position;
    return true;
  }
  TruthCursor& operator=(const TruthCursor& other) {
    objects_ = other.objects_;
    position_ = other.position_;
    return *this;
  }
  TruthCursor(const TruthCursor&) = default;
  ~TruthCursor() = default;

 private:
  const Truth& truth_;
  Objects objects_;
  std::size_t position_ = 0;  // the number of changes in objects_
};

/// C1: what an informer has received.
class WatchChecker {
 public:
  explicit WatchChecker(const Truth& truth) : truth_(truth), state_at_list_(truth) {}

  std::string OnList(const CacheLogLine& line) {
    reached_ = line.version;
    state_at_list_.MoveTo(line.version);
    const std::string difference = Difference(state_at_list_.objects(), ByKey(line.objects));
    return difference.empty() ? "" : "the list is not the state at its version: " + difference;
  }
  std::string OnWatch(const CacheLogLine& line) {
    next_ = truth_.FirstAfter(line.version);
    if (line.version <= reached_) return "";
    return "the watch starts at version " + std::to_string(line.version) + ", after version " +
           std::to_string(reached_) + " that the informer has reached";
  }
  std::string OnEvent(const CacheLogLine& line) {
    reached_ = std::max(reached_, line.change.object.version);
    const std::size_t expected = next_;
    const auto& changes = truth_.changes;
    next_ = std::max(next_, truth_.FirstAfter(line.change.object.version));
    if (expected < changes.size() && line.change == changes[expected]) return "";
    const auto known = std::find(changes.begin(), changes.end(), line.change);
    if (known == changes.end()) return "unknown event " + line.change.ToString();
    if (known - changes.begin() < static_cast<std::ptrdiff_t>(expected)) {
      return "repeated or outdated event " + line.change.ToString();
    }
    return "the watch has omitted " + changes[expected].ToString() + " before " +
           line.change.ToString();
  }
  std::string OnBookmark(const CacheLogLine& line) {
    reached_ = std::max(reached_, line.version);
    const std::size_t after = truth_.FirstAfter(line.version);
    if (after < next_) return "the bookmark is older than the last event";
    const std::size_t expected = std::exchange(next_, after);
    if (after == expected) return "";
    return "the watch has omitted " + truth_.changes[expected].ToString() + " before a bookmark";
  }

 private:
  const Truth& truth_;
  TruthCursor state_at_list_;
  std::size_t next_ = 0;       // index of the change that the open watch has to send next
  std::uint64_t reached_ = 0;  // the version of the last list, event or bookmark
};

/// C4 and C6: the calls of a handler.
class HandlerChecker {
 public:
  [[nodiscard]] const Objects& objects() const { return objects_; }

  std::string OnCall(const Change& call) {
    const ObjectVersion& object = call.object;
    const auto [entry, is_new] = lives_.try_emplace(object.uid);
    Life& life = entry->second;
    const Life before = std::exchange(life, {object.version, call.type != "delete"});
    const ObjectVersion* const at_key = Find(objects_, object.key);
    const bool other_uid = at_key != nullptr && at_key->uid != object.uid;
    Apply(call, objects_);
    if (call.type == "add") {
      if (!is_new) return before.alive ? "a second add" : "an add after the delete";
      if (other_uid) return "an add while another uid with this key exists";
      return "";
    }
    if (is_new) return "an " + call.type + " before the add";
    if (!before.alive) return "an " + call.type + " after the delete";
    if (object.version < before.version) return "the version of the object goes back";
    return "";
  }
  [[nodiscard]] bool HasSeen(const std::string& uid) const { return lives_.contains(uid); }

 private:
  struct Life {
    std::uint64_t version = 0;
    bool alive = false;
  };
  std::map<std::string, Life> lives_;  // by uid
  Objects objects_;
};

/// Checks all lines of one informer.
class InformerChecker {
 public:
  explicit InformerChecker(const Truth& truth) : truth_(truth), watch_(truth), store_(truth) {}

  [[nodiscard]] std::vector<Violation> Check(const CacheLogLine& line) {
    violations_.clear();
    if (line.entry == "list") {
      if (!std::exchange(listed_, true)) first_list_ = line.objects;
      const Objects listed = ByKey(line.objects);
      std::erase_if(first_list_, [&](const ObjectVersion& object) {
        const ObjectVersion* const found = Find(listed, object.key);
        return found == nullptr || found->uid != object.uid;
      });
      Report(line, "C1", watch_.OnList(line));
    } else if (line.entry == "watch") {
      Report(line, "C1", watch_.OnWatch(line));
    } else if (line.entry == "event") {
      if (line.change.type == "DELETED") {
        std::erase_if(first_list_,
                      [&](const ObjectVersion& o) { return o.uid == line.change.object.uid; });
      }
      Report(line, "C1", watch_.OnEvent(line));
    } else if (line.entry == "bookmark") {
      Report(line, "C1", watch_.OnBookmark(line));
    } else if (line.entry == "added") {
      handlers_.try_emplace(line.handler);
    } else if (line.entry == "handler") {
      Report(line, "C4", handlers_[line.handler].OnCall(line.change), line.change.ToString());
    } else if (line.entry == "synced") {
      CheckSynced(line);
    } else if (line.entry == "snapshot" || line.entry == "final") {
      CheckStore(line);
    } else {
      Report(line, "recorder", "unknown entry " + line.entry);
    }
    return std::move(violations_);
  }

 private:
  void Report(const CacheLogLine& line, const std::string& invariant, const std::string& problem,
              const std::string& subject = "") {
    if (problem.empty()) return;
    violations_.push_back({invariant, line.informer, line.number,
                           subject.empty() ? problem : problem + ": " + subject});
  }
  void CheckSynced(const CacheLogLine& line) {
    synced_ = true;
    for (const ObjectVersion& object : first_list_) {
      if (handlers_[line.handler].HasSeen(object.uid)) continue;
      Report(line, "C6", "no handler call for an object of the first list", object.ToString());
    }
  }
  void CheckStore(const CacheLogLine& line) {
    const bool is_before_list = !synced_ && line.objects.empty();
    if (is_before_list && line.entry == "snapshot") return;
    const Objects actual = ByKey(line.objects);
    if (!store_.MoveForwardTo(actual)) {
      Report(line, "C2",
             "the store is in no state that the API server had since the last read; compared to "
             "that state: " +
                 Difference(store_.objects(), actual));
    }
    if (line.entry != "final") return;
    Report(line, "C3", Difference(truth_.final, actual));
    for (const auto& [name, handler] : handlers_) {
      Report(line, "C4", Difference(actual, handler.objects()),
             "calls of the handler " + name + " applied to an empty map");
    }
  }

  const Truth& truth_;
  WatchChecker watch_;
  std::map<std::string, HandlerChecker> handlers_;  // by name
  TruthCursor store_;
  bool listed_ = false;
  // Without the objects that were deleted later: a handler with a queue gets no call for an object
  // that is deleted before its turn.
  std::vector<ObjectVersion> first_list_;
  bool synced_ = false;  // a handler
  std::vector<Violation> violations_;
};

/// Returns which write the recorder has missed, or reports twice; "" if none. Other programs may
/// change other objects.
std::string FindUnrecordedWrite(const Truth& truth) {
  std::set<ObjectKey> written;
  for (const Change& write : truth.writes) written.insert(write.object.key);
  auto write = truth.writes.begin();
  for (const Change& change : truth.changes) {
    if (!written.contains(change.object.key)) continue;
    if (write == truth.writes.end()) return "no write caused " + change.ToString();
    Change expected = *write++;
    if (expected.type == "DELETED") expected.object.version = change.object.version;  // unknown
    if (change != expected) {
      return "the write " + expected.ToString() + " is missing before " + change.ToString();
    }
  }
  return write == truth.writes.end() ? "" : "the write " + write->ToString() + " is missing";
}

/// Returns the reason why the truth cannot be used; "" if it can.
std::string FindRecorderProblem(const Truth& truth) {
  std::uint64_t version = truth.initial_version;
  for (const Change& change : truth.changes) {
    if (change.object.version <= version) return "not in order: " + change.ToString();
    version = change.object.version;
  }
  TruthCursor cursor(truth);
  cursor.MoveTo(version);
  const std::string difference = Difference(truth.final, cursor.objects());
  return difference.empty() ? FindUnrecordedWrite(truth) : difference;
}

}  // namespace

std::string Violation::ToString() const {
  return invariant + " " + informer + " line " + std::to_string(line) + ": " + text;
}

std::vector<Violation> FindViolations(const Truth& truth, std::istream& cache_log) {
  const std::string problem = FindRecorderProblem(truth);
  if (!problem.empty()) return {{"recorder", "", 0, problem}};
  std::vector<Violation> violations;
  std::map<std::string, InformerChecker> checkers;
  bool is_complete = false;
  ForEachCacheLogLine(cache_log, [&](const CacheLogLine& line) {
    if (line.entry == "stopped") {
      checkers.erase(line.informer);
      return;
    }
    auto& checker = checkers.try_emplace(line.informer, truth).first->second;
    for (Violation& violation : checker.Check(line)) violations.push_back(std::move(violation));
    is_complete |= line.entry == "final";
  });
  if (!is_complete) violations.push_back({"C3", "", 0, "the log has no final state"});
  return violations;
}

}  // namespace kopp::soak
