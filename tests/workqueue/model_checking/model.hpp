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

namespace kopp::model_checking {

/// An item of the queues under test. Pairs of items have the same hash, so that tables must compare
/// them.
struct TestItem {
  int id = 0;
  bool operator==(const TestItem&) const = default;
  friend std::ostream& operator<<(std::ostream& out, const TestItem& item) {
    return out << item.id;
  }
};

}  // namespace kopp::model_checking

template <>
struct std::hash<kopp::model_checking::TestItem> {
  std::size_t operator()(const kopp::model_checking::TestItem& item) const {
    return static_cast<std::size_t>(item.id) / 2;
  }
};

namespace kopp::model_checking {

/// The order of a queue under test and of its model.
struct OrderSpec {
  bool by_priority = false;
  bool fair = false;  // whether there are two tenants, "even" and "odd"

  [[nodiscard]] std::string TenantOf(int id) const {
    if (!fair) return "";
    return id % 2 == 0 ? "even" : "odd";
  }
  static int WeightOf(const std::string& tenant) { return tenant == "even" ? 2 : 1; }
  [[nodiscard]] workqueue::Order QueueOrder() const {
    if (!by_priority) return {};
    if (!fair) return workqueue::Order::Priority();
    return workqueue::Order::Fair<TestItem>(
        {.tenant = [order = *this](const TestItem& item) { return order.TenantOf(item.id); },
         .weight = &OrderSpec::WeightOf});
  }
};

/// An OrderSpec with a name, for parameterized tests.
struct NamedOrderSpec {
  std::string name;
  OrderSpec order;
  friend void PrintTo(const NamedOrderSpec& spec, std::ostream* out) { *out << spec.name; }
};
inline std::vector<NamedOrderSpec> AllOrderSpecs() {
  return {{"Fifo", {}},
          {"Priority", {.by_priority = true}},
          {"Fair", {.by_priority = true, .fair = true}}};
}

/// A model of the queue. It implements the documentation of queue.hpp in the simplest way, for one
/// thread. Items are identified by TestItem::id.
class Model {
 public:
  struct Returned {
    int id = 0;
    int priority = 0;
    bool operator==(const Returned&) const = default;
  };
  struct Waiting {
    std::int64_t ready_at = 0;  // in seconds
    std::uint64_t call = 0;     // the number of the AddAfter call
    int id = 0;
    int priority = 0;
  };

  explicit Model(OrderSpec order) : order_(order) {}

  void Add(int id, int priority) {
    if (shut_down_) return;
    if (!order_.by_priority) priority = 0;
    if (processing_.contains(id)) {
      const auto [dirty, is_new] = dirty_.try_emplace(id, priority);
      dirty->second = std::max(dirty->second, priority);
    } else if (const auto ready = PriorityOfReady(id); !ready) {
      Push(id, priority);
    } else if (priority > *ready) {
      Remove(id, *ready);
      Push(id, priority);
    }
  }

  /// Requires: Len() > 0.
  Returned Get() {
    const int priority = NextPriority();
    const bool is_highest = priority == ready_.begin()->first;
    passed_over_ = is_highest && ready_.size() > 1 ? passed_over_ + 1 : 0;
    if (!is_highest) last_lower_priority_ = priority;
    auto& lists = ready_[priority];
    const Returned returned{lists.front().ids.front(), priority};
    if (++lists.front().served >= OrderSpec::WeightOf(lists.front().tenant)) {
      lists.front().served = 0;
      std::rotate(lists.begin(), lists.begin() + 1, lists.end());
    }
    Remove(returned.id, returned.priority);
    processing_[returned.id] = returned.priority;
    return returned;
  }

  void Done(int id) {
    if (processing_.erase(id) == 0) {
      ++stray_dones_;
    } else if (const auto dirty = dirty_.extract(id)) {
      Push(id, dirty.mapped());
    }
  }

  void AddAfter(int id, std::int64_t delay, std::optional<int> priority, std::int64_t now) {
    const auto processing = processing_.find(id);
    const int new_priority =
        priority.value_or(processing == processing_.end() ? 0 : processing->second);
    if (delay <= 0) return Add(id, new_priority);
    if (shut_down_) return;
    const Waiting waiting{now + delay, calls_++, id, new_priority};
    const auto [entry, is_new] = waiting_.try_emplace(id, waiting);
    if (is_new) return;
    const int highest = std::max(entry->second.priority, new_priority);
    if (waiting.ready_at < entry->second.ready_at) entry->second = waiting;
    entry->second.priority = highest;
  }

  /// Adds the items whose delays have passed at `now`.
  void Advance(std::int64_t now) {
    for (const Waiting& due : WaitingInOrder()) {
      if (due.ready_at > now) return;
      waiting_.erase(due.id);
      Add(due.id, due.priority);
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
        for (const int id : list.ids) ready.push_back({id, priority});
      }
    }
    return ready;
  }
  [[nodiscard]] std::vector<Waiting> WaitingInOrder() const {
    std::vector<Waiting> all;
    for (const auto& [id, waiting] : waiting_) all.push_back(waiting);
    std::sort(all.begin(), all.end(), [](const auto& a, const auto& b) {
      return std::pair(a.ready_at, a.call) < std::pair(b.ready_at, b.call);
    });
    return all;
  }
  [[nodiscard]] std::size_t Len() const { return Ready().size(); }
  [[nodiscard]] const std::map<int, int>& Processing() const { return processing_; }
  [[nodiscard]] bool IsDirty(int id) const { return dirty_.contains(id); }
  [[nodiscard]] bool Idle() const { return ready_.empty() && processing_.empty(); }
  [[nodiscard]] bool ShuttingDown() const { return shut_down_; }
  [[nodiscard]] std::uint64_t StrayDones() const { return stray_dones_; }

 private:
  struct TenantList {
    std::string tenant;
    int served = 0;
    std::deque<int> ids;
  };

  /// Returns the highest priority. After nine items that were returned before ready items of lower
  /// priorities, returns a lower priority: the next below the last one, or else the highest of
  /// them.
  [[nodiscard]] int NextPriority() const {
    std::vector<int> lower;
    for (const auto& [priority, lists] : ready_) lower.push_back(priority);
    const int highest = lower.front();
    lower.erase(lower.begin());
    if (passed_over_ < 9 || lower.empty()) return highest;
    const auto next = std::find_if(lower.begin(), lower.end(),
                                   [&](int each) { return each < last_lower_priority_; });
    return next == lower.end() ? lower.front() : *next;
  }
  [[nodiscard]] std::optional<int> PriorityOfReady(int id) const {
    for (const Returned& ready : Ready()) {
      if (ready.id == id) return ready.priority;
    }
    return std::nullopt;
  }
  void Push(int id, int priority) {
    auto& lists = ready_[priority];
    const std::string tenant = order_.TenantOf(id);
    auto list = std::find_if(lists.begin(), lists.end(),
                             [&](const TenantList& each) { return each.tenant == tenant; });
    if (list == lists.end()) list = lists.insert(list, TenantList{tenant, 0, {}});
    list->ids.push_back(id);
  }
  void Remove(int id, int priority) {
    auto& lists = ready_[priority];
    for (TenantList& list : lists) std::erase(list.ids, id);
    std::erase_if(lists, [](const TenantList& list) { return list.ids.empty(); });
    if (lists.empty()) ready_.erase(priority);
  }

  OrderSpec order_;
  std::map<int, std::vector<TenantList>, std::greater<>> ready_;  // the first list is served next
  int passed_over_ = 0;
  int last_lower_priority_ = 0;
  std::map<int, int> processing_;  // the priorities of the items
  std::map<int, int> dirty_;       // the items that were added while processing
  std::map<int, Waiting> waiting_;
  std::uint64_t calls_ = 0;
  std::uint64_t stray_dones_ = 0;
  bool shut_down_ = false;
};

}  // namespace kopp::model_checking
