#include "handler_runner.hpp"

#include "informer_fixture.hpp"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kopp::informer::detail {
namespace {

using kopp::testing::FakeClock;
using kopp::testing::MakeWidget;
using kopp::testing::Widget;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using Type = HandlerEvent::Type;

AnyObject WidgetOf(const std::string& name, int size) {
  return std::make_shared<const Widget>(MakeWidget(name).WithSize(size));
}

/// A handler that is called by the thread that delivers the event, and records its calls.
class HandlerRunnerTest : public ::testing::Test {
 protected:
  std::shared_ptr<HandlerRunner> NewRunner() {
    const auto text = [](const AnyObject& object) {
      return object.name() + "=" + std::to_string(object.As<Widget>()->spec.size);
    };
    AnyEventHandler handler{
        .on_add = [this, text](const AnyObject& object,
                               bool initial) { Record(initial ? "initial" : "add", text(object)); },
        .on_update = [this, text](const AnyObject&,
                                  const AnyObject& after) { Record("update", text(after)); },
        .on_delete = [this, text](const AnyObject& object,
                                  bool) { Record("delete", text(object)); }};
    return std::make_shared<HandlerRunner>(
        std::move(handler), HandlerOptions{.delivery = Delivery::kInformerThread}, options_);
  }

  std::vector<std::string> calls_;

 private:
  void Record(const std::string& function, const std::string& object) {
    calls_.push_back(function + " " + object);
  }

  FakeClock clock_;
  InformerOptions options_{.clock = clock_};
};

TEST_F(HandlerRunnerTest, EventsBeforeTheInitialListAreMergedWithIt) {
  const auto runner = NewRunner();
  const AnyObject a = WidgetOf("a", 1);
  const AnyObject b = WidgetOf("b", 1);
  runner->AwaitInitialList();

  runner->Deliver({.type = Type::kUpdate, .object = WidgetOf("a", 2), .before = a});
  runner->Deliver({.type = Type::kDelete, .object = b});
  runner->Deliver({.type = Type::kAdd, .object = WidgetOf("d", 1)});
  EXPECT_THAT(calls_, IsEmpty());
  runner->PushInitialList({a, b, WidgetOf("c", 1)});
  runner->CallPending();

  EXPECT_THAT(calls_, ElementsAre("initial a=2", "initial c=1", "add d=1"));
  EXPECT_TRUE(runner->HasSynced());
}

TEST_F(HandlerRunnerTest, AHandlerThatIsRemovedBeforeItsInitialListGetsNoCalls) {
  const auto runner = NewRunner();
  runner->AwaitInitialList();
  runner->Remove();

  runner->PushInitialList({WidgetOf("a", 1)});
  runner->CallPending();

  EXPECT_THAT(calls_, IsEmpty());
  EXPECT_EQ(runner->Status().queue_depth, 0);
}

}  // namespace
}  // namespace kopp::informer::detail
