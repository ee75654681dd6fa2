// Compares the queue with its model: both get the same calls, on one thread.
#include "model.hpp"

#include "properties.hpp"
#include "queue_under_test.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <ostream>
#include <tuple>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <kopp/testing/fake_clock.hpp>

namespace kopp::proof {
namespace {

struct Command {
  enum Kind { kAdd, kGet, kDone, kAddAfter, kRequeueAfter, kAdvance, kShutDown };
  Kind kind = kAdd;
  int key = 0;
  int priority = 0;
  int seconds = 0;

  friend std::ostream& operator<<(std::ostream& out, const Command& command) {
    constexpr const char* kNames[] = {
        "Add", "Get", "Done", "AddAfter", "AddAfter with the same priority", "Advance", "ShutDown"};
    return out << kNames[command.kind] << "(key " << command.key << ", priority "
               << command.priority << ", " << command.seconds << " s)";
  }
};

/// A random command; Add, Get and Done are the most frequent ones.
rc::Gen<Command> AnyCommand() {
  using Kind = Command::Kind;
  return rc::gen::build<Command>(
      rc::gen::set(&Command::kind, rc::gen::weightedElement<Kind>({{8, Kind::kAdd},
                                                                   {6, Kind::kGet},
                                                                   {6, Kind::kDone},
                                                                   {4, Kind::kAddAfter},
                                                                   {2, Kind::kRequeueAfter},
                                                                   {3, Kind::kAdvance}})),
      rc::gen::set(&Command::key, rc::gen::inRange(0, 7)),
      rc::gen::set(&Command::priority, rc::gen::inRange(-1, 3)),
      rc::gen::set(&Command::seconds, rc::gen::inRange(0, 5)));
}

/// A queue and its model, which must behave alike.
class QueueAndModel {
 public:
  explicit QueueAndModel(const Rules& rules)
      : model_(rules), queue_(MakeDelayingQueue(rules, clock_)) {}

  void Do(const Command& command) {
    const Key key{command.key};
    const auto delay = std::chrono::seconds(command.seconds);
    switch (command.kind) {
      case Command::kAdd:
        queue_->Add(key, command.priority);
        model_.Add(key.id, command.priority);
        break;
      case Command::kGet:
        if (model_.Len() > 0 || model_.ShuttingDown()) Get();
        break;
      case Command::kDone:
        queue_->Done(key);
        model_.Done(key.id);
        break;
      case Command::kAddAfter:
        queue_->AddAfter(key, delay, command.priority);
        model_.AddAfter(key.id, delay.count(), command.priority, now_);
        break;
      case Command::kRequeueAfter:
        queue_->AddAfter(key, delay, {});
        model_.AddAfter(key.id, delay.count(), {}, now_);
        break;
      case Command::kAdvance:
        Advance(command.seconds);
        break;
      case Command::kShutDown:
        queue_->ShutDown();
        model_.ShutDown();
        break;
    }
    RC_ASSERT(queue_->Len() == model_.Len());
    CompareSnapshots();
  }

 private:
  void Get() {
    RC_ASSERT(queue_->Len() == model_.Len());  // else Get might block
    const auto returned = queue_->Get({});
    RC_ASSERT(returned.has_value() == (model_.Len() > 0));
    if (!returned) return;
    const Model::Returned expected = model_.Get();
    RC_ASSERT(returned->item.id == expected.key);
    RC_ASSERT(returned->priority == expected.priority);
  }

  void Advance(int seconds) {
    now_ += seconds;
    if (!model_.ShuttingDown()) clock_.AwaitSleepers(1);
    clock_.Advance(std::chrono::seconds(seconds));
    if (model_.ShuttingDown()) return;
    clock_.AwaitSleepers(1);  // the queue has read the new time
    model_.Advance(now_);
  }

  void CompareSnapshots() {
    const auto snapshot = queue_->TakeSnapshot();
    std::vector<std::pair<int, int>> ready;
    for (const auto& entry : snapshot.ready) ready.emplace_back(entry.item.id, entry.priority);
    std::vector<std::pair<int, int>> expected_ready;
    for (const auto& [key, priority] : model_.Ready()) expected_ready.emplace_back(key, priority);
    RC_ASSERT(ready == expected_ready);

    std::map<int, std::pair<int, bool>> processing;
    for (const auto& entry : snapshot.processing) {
      processing[entry.item.id] = {entry.priority, entry.dirty};
    }
    std::map<int, std::pair<int, bool>> expected_processing;
    for (const auto& [key, priority] : model_.Processing()) {
      expected_processing[key] = {priority, model_.IsDirty(key)};
    }
    RC_ASSERT(processing == expected_processing);

    std::vector<std::tuple<int, TimePoint, int>> waiting;
    for (const auto& [item, priority, failures, at, dirty] : snapshot.waiting) {
      waiting.emplace_back(item.id, at.value(), priority);
    }
    std::vector<std::tuple<int, TimePoint, int>> expected_waiting;
    for (const auto& each : model_.WaitingInOrder()) {
      const auto at = TimePoint{} + std::chrono::seconds(each.at);
      expected_waiting.emplace_back(each.key, at, each.priority);
    }
    RC_ASSERT(waiting == expected_waiting);

    RC_ASSERT(snapshot.ready_count == snapshot.ready.size());
    RC_ASSERT(snapshot.processing_count == snapshot.processing.size());
    RC_ASSERT(snapshot.waiting_count == snapshot.waiting.size());
    RC_ASSERT(snapshot.stray_dones == model_.StrayDones());
    RC_ASSERT(snapshot.shutting_down == model_.ShuttingDown());
  }

  Model model_;
  std::int64_t now_ = 0;  // seconds
  kopp::testing::FakeClock clock_;
  const std::unique_ptr<QueueUnderTest> queue_;
};

class QueueModelTest : public ::testing::TestWithParam<NamedRules> {};

TEST_P(QueueModelTest, TheQueueBehavesLikeItsModel) {
  ExpectHolds([] {
    QueueAndModel pair(GetParam().rules);
    for (const Command& command : *rc::gen::container<std::vector<Command>>(AnyCommand())) {
      pair.Do(command);
    }
  });
}

TEST_P(QueueModelTest, TheQueueBehavesLikeItsModelAfterShutDown) {
  ExpectHolds([] {
    QueueAndModel pair(GetParam().rules);
    for (const Command& command : *rc::gen::container<std::vector<Command>>(AnyCommand())) {
      pair.Do(command);
    }
    pair.Do({.kind = Command::kShutDown});
    for (const Command& command : *rc::gen::container<std::vector<Command>>(AnyCommand())) {
      pair.Do(command);
    }
  });
}

INSTANTIATE_TEST_SUITE_P(, QueueModelTest, ::testing::ValuesIn(AllOrders()),
                         [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace kopp::proof
