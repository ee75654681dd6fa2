// Compares the queue with its model. Both get the same calls, on one thread.
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

namespace kopp::model_checking {
namespace {

struct Command {
  enum Operation { kAdd, kGet, kDone, kAddAfter, kRequeueAfter, kAdvance, kShutDown };
  Operation operation = kAdd;
  int id = 0;  // the id of the item
  int priority = 0;
  int seconds = 0;

  friend std::ostream& operator<<(std::ostream& out, const Command& command) {
    constexpr const char* kNames[] = {
        "Add", "Get", "Done", "AddAfter", "AddAfter with the same priority", "Advance", "ShutDown"};
    return out << kNames[command.operation] << "(item " << command.id << ", priority "
               << command.priority << ", " << command.seconds << " s)";
  }
};

/// Generates a random command. Add, Get and Done are the most frequent operations.
rc::Gen<Command> AnyCommand() {
  using Operation = Command::Operation;
  return rc::gen::build<Command>(
      rc::gen::set(&Command::operation,
                   rc::gen::weightedElement<Operation>({{8, Operation::kAdd},
                                                        {6, Operation::kGet},
                                                        {6, Operation::kDone},
                                                        {4, Operation::kAddAfter},
                                                        {2, Operation::kRequeueAfter},
                                                        {3, Operation::kAdvance}})),
      rc::gen::set(&Command::id, rc::gen::inRange(0, 7)),
      rc::gen::set(&Command::priority, rc::gen::inRange(-1, 3)),
      rc::gen::set(&Command::seconds, rc::gen::inRange(0, 5)));
}

/// A queue and its model, which must behave in the same way.
class QueueAndModel {
 public:
  explicit QueueAndModel(const OrderSpec& order)
      : model_(order), queue_(MakeDelayingQueue(order, clock_)) {}

  void Do(const Command& command) {
    const TestItem item{command.id};
    const auto delay = std::chrono::seconds(command.seconds);
    switch (command.operation) {
      case Command::kAdd:
        queue_->Add(item, command.priority);
        model_.Add(item.id, command.priority);
        break;
      case Command::kGet:
        if (model_.Len() > 0 || model_.ShuttingDown()) Get();
        break;
      case Command::kDone:
        queue_->Done(item);
        model_.Done(item.id);
        break;
      case Command::kAddAfter:
        queue_->AddAfter(item, delay, command.priority);
        model_.AddAfter(item.id, delay.count(), command.priority, now_);
        break;
      case Command::kRequeueAfter:
        queue_->AddAfter(item, delay, {});
        model_.AddAfter(item.id, delay.count(), {}, now_);
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
    RC_ASSERT(queue_->Len() == model_.Len());  // otherwise Get can block
    const auto returned = queue_->Get({});
    RC_ASSERT(returned.has_value() == (model_.Len() > 0));
    if (!returned) return;
    const Model::Returned expected = model_.Get();
    RC_ASSERT(returned->item.id == expected.id);
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
    for (const auto& [id, priority] : model_.Ready()) expected_ready.emplace_back(id, priority);
    RC_ASSERT(ready == expected_ready);

    std::map<int, std::pair<int, bool>> processing;
    for (const auto& entry : snapshot.processing) {
      processing[entry.item.id] = {entry.priority, entry.dirty};
    }
    std::map<int, std::pair<int, bool>> expected_processing;
    for (const auto& [id, priority] : model_.Processing()) {
      expected_processing[id] = {priority, model_.IsDirty(id)};
    }
    RC_ASSERT(processing == expected_processing);

    std::vector<std::tuple<int, TimePoint, int>> waiting;
    for (const auto& entry : snapshot.waiting) {
      waiting.emplace_back(entry.item.id, entry.at.value(), entry.priority);
    }
    std::vector<std::tuple<int, TimePoint, int>> expected_waiting;
    for (const auto& each : model_.WaitingInOrder()) {
      const auto at = TimePoint{} + std::chrono::seconds(each.ready_at);
      expected_waiting.emplace_back(each.id, at, each.priority);
    }
    RC_ASSERT(waiting == expected_waiting);

    RC_ASSERT(snapshot.ready_count == snapshot.ready.size());
    RC_ASSERT(snapshot.processing_count == snapshot.processing.size());
    RC_ASSERT(snapshot.waiting_count == snapshot.waiting.size());
    RC_ASSERT(snapshot.stray_dones == model_.StrayDones());
    RC_ASSERT(snapshot.shutting_down == model_.ShuttingDown());
  }

  Model model_;
  std::int64_t now_ = 0;  // in seconds
  kopp::testing::FakeClock clock_;
  const std::unique_ptr<QueueUnderTest> queue_;
};

class QueueModelTest : public ::testing::TestWithParam<NamedOrderSpec> {};

TEST_P(QueueModelTest, TheQueueBehavesLikeItsModel) {
  ExpectHolds([] {
    QueueAndModel pair(GetParam().order);
    for (const Command& command : *rc::gen::container<std::vector<Command>>(AnyCommand())) {
      pair.Do(command);
    }
  });
}

TEST_P(QueueModelTest, TheQueueBehavesLikeItsModelAfterShutDown) {
  ExpectHolds([] {
    QueueAndModel pair(GetParam().order);
    for (const Command& command : *rc::gen::container<std::vector<Command>>(AnyCommand())) {
      pair.Do(command);
    }
    pair.Do({.operation = Command::kShutDown});
    for (const Command& command : *rc::gen::container<std::vector<Command>>(AnyCommand())) {
      pair.Do(command);
    }
  });
}

INSTANTIATE_TEST_SUITE_P(, QueueModelTest, ::testing::ValuesIn(AllOrderSpecs()),
                         [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace kopp::model_checking
