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

/// An item. Two each have the same hash: tables have to tell them apart.
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

/// What a queue under test is ordered by, and the model of it alike.
struct Rules {
  bool by_priority = false;
  bool fair = false;  // keys of even numbers are one tenant's, and the others another's

  [[nodiscard]] std::string TenantOf(int key) const {
    if (!fair) return "";
    return key % 2 == 0 ? "even" : "odd";
  }
  static int WeightOf(const std::string& tenant) { return tenant == "even" ? 2 : 1; }
  [[nodiscard]] workqueue::Order OfQueue() const {
    if (!by_priority) return {};
    if (!fair) return workqueue::Order::Priority();
    return workqueue::Order::Fair<Key>(
        {.tenant = [rules = *this](const Key& key) { return rules.TenantOf(key.id); },
         .weight = &Rules::WeightOf});
  }
};

/// An order by its name, for tests of each.
struct Named {
  std::string name;
  Rules rules;
  friend void PrintTo(const Named& named, std::ostream* out) { *out << named.name; }
};
inline std::vector<Named> AllOrders() {
  return {{"FirstCome", {}},
          {"Priority", {.by_priority = true}},
          {"Fair", {.by_priority = true, .fair = true}}};
}

/// A queue as its header describes it, for one thread: slow, and plain enough to be believed.
class Model {
 public:
  struct Handed {
    int key = 0;
    int priority = 0;
    bool operator==(const Handed&) const = default;
  };
  struct Waiting {
    std::int64_t at = 0;
    std::uint64_t since = 0;
    int key = 0;
    int priority = 0;
  };

  explicit Model(Rules rules) : rules_(rules) {}

  void Add(int key, int priority) {
    if (shut_down_) return;
    if (!rules_.by_priority) priority = 0;
    if (in_hand_.contains(key)) {
      const auto [held, is_new] = again_.try_emplace(key, priority);
      held->second = std::max(held->second, priority);
    } else if (const auto ready = PriorityOfReady(key); !ready) {
      Push(key, priority);
    } else if (priority > *ready) {
      Remove(key, *ready);
      Push(key, priority);
    }
  }

  /// Requires: Len() > 0.
  Handed Get() {
    auto& [priority, lanes] = *levels_.begin();
    const Handed handed{lanes.front().keys.front(), priority};
    if (++lanes.front().served >= Rules::WeightOf(lanes.front().tenant)) {
      lanes.front().served = 0;
      std::rotate(lanes.begin(), lanes.begin() + 1, lanes.end());
    }
    Remove(handed.key, handed.priority);
    in_hand_[handed.key] = handed.priority;
    return handed;
  }

  void Done(int key) {
    if (in_hand_.erase(key) == 0) {
      ++stray_dones_;
    } else if (const auto again = again_.extract(key)) {
      Push(key, again.mapped());
    }
  }

  void AddAfter(int key, std::int64_t delay, std::optional<int> priority, std::int64_t now) {
    const auto hand = in_hand_.find(key);
    const int wanted = priority.value_or(hand == in_hand_.end() ? 0 : hand->second);
    if (delay <= 0) return Add(key, wanted);
    if (shut_down_) return;
    const Waiting waiting{now + delay, calls_++, key, wanted};
    const auto [known, is_new] = waiting_.try_emplace(key, waiting);
    if (is_new) return;
    const int highest = std::max(known->second.priority, wanted);
    if (waiting.at < known->second.at) known->second = waiting;
    known->second.priority = highest;
  }

  /// It is `now`.
  void Pass(std::int64_t now) {
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

  [[nodiscard]] std::vector<Handed> Ready() const {
    std::vector<Handed> ready;
    for (const auto& [priority, lanes] : levels_) {
      for (const Lane& lane : lanes) {
        for (const int key : lane.keys) ready.push_back({key, priority});
      }
    }
    return ready;
  }
  [[nodiscard]] std::vector<Waiting> WaitingInOrder() const {
    std::vector<Waiting> all;
    for (const auto& [key, waiting] : waiting_) all.push_back(waiting);
    std::sort(all.begin(), all.end(), [](const auto& a, const auto& b) {
      return std::pair(a.at, a.since) < std::pair(b.at, b.since);
    });
    return all;
  }
  [[nodiscard]] std::size_t Len() const { return Ready().size(); }
  [[nodiscard]] const std::map<int, int>& InHand() const { return in_hand_; }
  [[nodiscard]] bool WantedAgain(int key) const { return again_.contains(key); }
  [[nodiscard]] bool Idle() const { return levels_.empty() && in_hand_.empty(); }
  [[nodiscard]] bool ShuttingDown() const { return shut_down_; }
  [[nodiscard]] std::uint64_t StrayDones() const { return stray_dones_; }

 private:
  struct Lane {
    std::string tenant;
    int served = 0;
    std::deque<int> keys;
  };

  [[nodiscard]] std::optional<int> PriorityOfReady(int key) const {
    for (const Handed& ready : Ready()) {
      if (ready.key == key) return ready.priority;
    }
    return std::nullopt;
  }
  void Push(int key, int priority) {
    auto& lanes = levels_[priority];
    const std::string tenant = rules_.TenantOf(key);
    auto lane = std::find_if(lanes.begin(), lanes.end(),
                             [&](const Lane& each) { return each.tenant == tenant; });
    if (lane == lanes.end()) lane = lanes.insert(lane, Lane{tenant, 0, {}});
    lane->keys.push_back(key);
  }
  void Remove(int key, int priority) {
    auto& lanes = levels_[priority];
    for (Lane& lane : lanes) std::erase(lane.keys, key);
    std::erase_if(lanes, [](const Lane& lane) { return lane.keys.empty(); });
    if (lanes.empty()) levels_.erase(priority);
  }

  Rules rules_;
  std::map<int, std::vector<Lane>, std::greater<>> levels_;  // the lane in front is next
  std::map<int, int> in_hand_;                               // with its priority
  std::map<int, int> again_;                                 // wanted while in hand
  std::map<int, Waiting> waiting_;
  std::uint64_t calls_ = 0;
  std::uint64_t stray_dones_ = 0;
  bool shut_down_ = false;
};

}  // namespace kopp::proof
