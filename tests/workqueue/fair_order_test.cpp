#include <chrono>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <kopp/testing/fake_clock.hpp>
#include <kopp/workqueue/delaying_queue.hpp>

namespace kopp::workqueue {
namespace {

using namespace std::chrono_literals;
using Items = std::vector<std::string>;

// Returns the tenant of an item: "a" for "a1".
std::string Tenant(const std::string& item) { return item.substr(0, 1); }

FairShare<std::string> ByTenant() { return {.tenant = Tenant}; }

Items ProcessAll(Queue<std::string>& queue) {
  Items items;
  while (queue.Len() > 0) {
    items.push_back(*queue.Get());
    queue.Done(items.back());
  }
  return items;
}

class FairOrderTest : public ::testing::Test {
 protected:
  void Add(const Items& items) {
    for (const std::string& item : items) queue_.Add(item);
  }

  Queue<std::string> queue_{{.order = Order::Fair(ByTenant())}};
};

TEST_F(FairOrderTest, AThousandItemsOfOneTenantDelayAnotherTenantByOneTurn) {
  for (int i = 0; i < 1000; ++i) queue_.Add("a" + std::to_string(i));
  queue_.Add("b");

  EXPECT_EQ(queue_.Get(), "a0");
  EXPECT_EQ(queue_.Get(), "b");
  EXPECT_EQ(queue_.Get(), "a1");
}

TEST_F(FairOrderTest, TenantsTakeTurnsAndTheirItemsKeepTheirOrder) {
  Add({"a1", "a2", "a3", "b1", "b2", "c1"});

  EXPECT_EQ(ProcessAll(queue_), (Items{"a1", "b1", "c1", "a2", "b2", "a3"}));
}

TEST_F(FairOrderTest, ATenantWithoutReadyItemsJoinsTheRoundAtItsEnd) {
  Add({"a1", "b1", "b2"});
  EXPECT_EQ(queue_.Get(), "a1");
  Add({"a2"});

  EXPECT_EQ(ProcessAll(queue_), (Items{"b1", "a2", "b2"}));
}

TEST_F(FairOrderTest, AnItemInProcessingUsesNoTurn) {
  Add({"a1"});
  const auto processing = queue_.Get();
  Add({"a1", "b1", "b2", "c1"});

  EXPECT_EQ(queue_.Get(), "b1");
  EXPECT_EQ(queue_.Get(), "c1");
  queue_.Done(*processing);

  EXPECT_EQ(ProcessAll(queue_), (Items{"b2", "a1"}));
}

TEST_F(FairOrderTest, TenantsTakeTurnsWithinEachPriority) {
  Add({"a1", "a2", "b1"});
  queue_.Add("a9", {.priority = 5});
  queue_.Add("a8", {.priority = 5});
  queue_.Add("b9", {.priority = 5});

  EXPECT_EQ(ProcessAll(queue_), (Items{"a9", "b9", "a8", "a1", "b1", "a2"}));
}

TEST_F(FairOrderTest, RaisingAnItemLeavesTheTurnToTheNextItemOfItsTenant) {
  Add({"a1", "a2", "b1"});
  queue_.Add("a1", {.priority = 1});

  EXPECT_EQ(ProcessAll(queue_), (Items{"a1", "a2", "b1"}));
}

TEST_F(FairOrderTest, AfterShutDownTenantsStillTakeTurns) {
  Add({"a1", "a2", "b1"});
  queue_.ShutDown();
  Add({"c1"});

  EXPECT_EQ(ProcessAll(queue_), (Items{"a1", "b1", "a2"}));
}

TEST(FairOrderWeightTest, ATurnReturnsAsManyItemsAsTheWeight) {
  const auto weight = [](const std::string& tenant) { return tenant == "a" ? 2 : 1; };
  Queue<std::string> queue({.order = Order::Fair<std::string>({Tenant, weight})});
  for (const char* item : {"a1", "a2", "a3", "a4", "b1", "b2"}) queue.Add(item);

  EXPECT_EQ(ProcessAll(queue), (Items{"a1", "a2", "b1", "a3", "a4", "b2"}));
}

TEST(FairOrderWeightTest, AWeightBelowOneCountsAsOne) {
  const auto weight = [](const std::string& tenant) { return tenant == "a" ? 0 : -3; };
  Queue<std::string> queue({.order = Order::Fair<std::string>({Tenant, weight})});
  for (const char* item : {"a1", "a2", "b1", "b2"}) queue.Add(item);

  EXPECT_EQ(ProcessAll(queue), (Items{"a1", "b1", "a2", "b2"}));
}

TEST(FairOrderWeightTest, TheMostRecentWeightOfATenantApplies) {
  int weight = 1;
  Queue<std::string> queue(
      {.order = Order::Fair<std::string>({Tenant, [&](const std::string&) { return weight; }})});
  queue.Add("b1");
  queue.Add("a1");
  weight = 2;
  for (const char* item : {"a2", "a3"}) queue.Add(item);
  weight = 1;
  queue.Add("b2");

  EXPECT_EQ(ProcessAll(queue), (Items{"b1", "a1", "a2", "b2", "a3"}));
}

TEST(FairOrderBadInputTest, AnItemWhoseTenantFunctionThrowsIsReturned) {
  kopp::testing::FakeClock clock;
  DelayingQueue<std::string> queue(
      {.clock = clock,
       .order = Order::Fair<std::string>(
           {.tenant = [](const std::string&) -> std::string { throw std::out_of_range("?"); }})});
  queue.AddAfter("later", 1s);
  clock.AwaitSleepers(1);
  clock.Advance(1s);
  clock.AwaitSleepers(1);
  queue.Add("now");

  EXPECT_EQ(ProcessAll(queue), (Items{"later", "now"}));
}

TEST(FairOrderBadInputTest, TheTenantFunctionMayCallTheQueue) {
  Queue<std::string>* queue = nullptr;
  Queue<std::string> fair(
      {.order = Order::Fair<std::string>({.tenant = [&](const std::string& item) {
         if (item == "a1") queue->Add("b1");
         return Tenant(item);
       }})});
  queue = &fair;
  fair.Add("a1");

  EXPECT_EQ(ProcessAll(fair), (Items{"b1", "a1"}));
}

TEST(FairOrderBadInputTest, AnOrderWithoutATenantFunctionOrForOtherItemsIsRejected) {
  EXPECT_THROW(Order::Fair<std::string>({}), std::invalid_argument);
  const Order of_strings = Order::Fair(ByTenant());
  EXPECT_THROW(Queue<int>({.order = of_strings}), std::invalid_argument);
}

}  // namespace
}  // namespace kopp::workqueue
