#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include <kopp/workqueue/order.hpp>

namespace kopp::proof {

/// An item. Pairs of keys have the same hash, so that tables must compare them.
struct Key {
  int id = 0;
  bool operator==(const Key&) const = default;
  friend std::ostream& operator<<(std::ostream& out, const Key& key) { return out << key.id; }
};

}  // namespace kopp::proof

template <>
struct std::hash<kopp::proof::Key> {
  std::size_t operator()(const kopp::proof::Key& key) const {
    return static_cast<std::size_t>(key.id) / 2;
  }
};

namespace kopp::proof {

/// The order of a queue under test and of its model.
struct Rules {
  bool by_priority = false;
  bool fair = false;  // the tenants are "even" and "odd"

  [[nodiscard]] std::string TenantOf(int key) const {
    if (!fair) return "";
    return key % 2 == 0 ? "even" : "odd";
  }
  static int WeightOf(const std::string& tenant) { return tenant == "even" ? 2 : 1; }
  [[nodiscard]] workqueue::Order QueueOrder() const {
    if (!by_priority) return {};
    if (!fair) return workqueue::Order::Priority();
    return workqueue::Order::Fair<Key>(
        {.tenant = [rules = *this](const Key& key) { return rules.TenantOf(key.id); },
         .weight = &Rules::WeightOf});
  }
};

/// Rules with a name, for parameterized tests.
struct NamedRules {
  std::string name;
  Rules rules;
  friend void PrintTo(const NamedRules& rules, std::ostream* out) { *out << rules.name; }
};
inline std::vector<NamedRules> AllOrders() {
  return {{"Fifo", {}},
          {"Priority", {.by_priority = true}},
          {"Fair", {.by_priority = true, .fair = true}}};
}

/// A model of the queue that implements the documentation of its header in the simplest way, for
/// one thread.
class Model {
 public:
  struct Returned {
    int key = 0;
    int priority = 0;
    bool operator==(const Returned&) const = default;
  };
  struct Waiting {
    std::int64_t at = 0;
    std::uint64_t added = 0;  // number of the call
    int key = 0;
    int priority = 0;
  };

  explicit Model(Rules rules) : rules_(rules) {}

  void Add(int key, int priority) {
    if (shut_down_) return;
    if (!rules_.by_priority) priority = 0;
    if (processing_.contains(key)) {
      const auto [dirty, is_new] = dirty_.try_emplace(key, priority);
      dirty->second = std::max(dirty->second, priority);
    } else if (const auto ready = PriorityOfReady(key); !ready) {
      Push(key, priority);
    } else if (priority > *ready) {
      Remove(key, *ready);
      Push(key, priority);
    }
  }

  /// Requires: Len() > 0.
  Returned Get() {
    auto& [priority, lists] = *ready_.begin();
    const Returned returned{lists.front().keys.front(), priority};
    if (++lists.front().served >= Rules::WeightOf(lists.front().tenant)) {
      lists.front().served = 0;
      std::rotate(lists.begin(), lists.begin() + 1, lists.end());
    }
    Remove(returned.key, returned.priority);
    processing_[returned.key] = returned.priority;
    return returned;
  }

  void Done(int key) {
    if (processing_.erase(key) == 0) {
      ++stray_dones_;
    } else if (const auto dirty = dirty_.extract(key)) {
      Push(key, dirty.mapped());
    }
  }

  void AddAfter(int key, std::int64_t delay, std::optional<int> priority, std::int64_t now) {
    const auto processing = processing_.find(key);
    const int new_priority =
        priority.value_or(processing == processing_.end() ? 0 : processing->second);
    if (delay <= 0) return Add(key, new_priority);
    if (shut_down_) return;
    const Waiting waiting{now + delay, calls_++, key, new_priority};
    const auto [entry, is_new] = waiting_.try_emplace(key, waiting);
    if (is_new) return;
    const int highest = std::max(entry->second.priority, new_priority);
    if (waiting.at < entry->second.at) entry->second = waiting;
    entry->second.priority = highest;
  }

  /// Adds the keys whose delays have passed at `now`.
  void Advance(std::int64_t now) {
    for (const Waiting& due : WaitingInOrder()) {
      if (due.at > now) return;
      waiting_.erase(due.key);
      Add(due.key, due.priority);
    }
  }

  void ShutDown() {
    shut_down_ = true;
    waiting_.clear();
  }

  [[nodiscard]] std::vector<Returned> Ready() const {
    std::vector<Returned> ready;
    for (const auto& [priority, lists] : ready_) {
      for (const TenantList& list : lists) {
        for (const int key : list.keys) ready.push_back({key, priority});
      }
    }
    return ready;
  }
  [[nodiscard]] std::vector<Waiting> WaitingInOrder() const {
    std::vector<Waiting> all;
    for (const auto& [key, waiting] : waiting_) all.push_back(waiting);
    std::sort(all.begin(), all.end(), [](const auto& a, const auto& b) {
      return std::pair(a.at, a.added) < std::pair(b.at, b.added);
    });
    return all;
  }
  [[nodiscard]] std::size_t Len() const { return Ready().size(); }
  [[nodiscard]] const std::map<int, int>& Processing() const { return processing_; }
  [[nodiscard]] bool IsDirty(int key) const { return dirty_.contains(key); }
  [[nodiscard]] bool Idle() const { return ready_.empty() && processing_.empty(); }
  [[nodiscard]] bool ShuttingDown() const { return shut_down_; }
  [[nodiscard]] std::uint64_t StrayDones() const { return stray_dones_; }

 private:
  struct TenantList {
    std::string tenant;
    int served = 0;
    std::deque<int> keys;
  };

  [[nodiscard]] std::optional<int> PriorityOfReady(int key) const {
    for (const Returned& ready : Ready()) {
      if (ready.key == key) return ready.priority;
    }
    return std::nullopt;
  }
  void Push(int key, int priority) {
    auto& lists = ready_[priority];
    const std::string tenant = rules_.TenantOf(key);
    auto list = std::find_if(lists.begin(), lists.end(),
                             [&](const TenantList& each) { return each.tenant == tenant; });
    if (list == lists.end()) list = lists.insert(list, TenantList{tenant, 0, {}});
    list->keys.push_back(key);
  }
  void Remove(int key, int priority) {
    auto& lists = ready_[priority];
    for (TenantList& list : lists) std::erase(list.keys, key);
    std::erase_if(lists, [](const TenantList& list) { return list.keys.empty(); });
    if (lists.empty()) ready_.erase(priority);
  }

  Rules rules_;
  std::map<int, std::vector<TenantList>, std::greater<>> ready_;  // the first list is next
  std::map<int, int> processing_;                                 // with their priorities
  std::map<int, int> dirty_;                                      // added while processing
  std::map<int, Waiting> waiting_;
  std::uint64_t calls_ = 0;
  std::uint64_t stray_dones_ = 0;
  bool shut_down_ = false;
};

}  // namespace kopp::proof
