#include "widget.hpp"

#include <memory>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <kopp/informer/filtering_handler.hpp>

namespace kopp::informer {
namespace {

using kopp::testing::MakeWidget;
using kopp::testing::Widget;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

/// A handler that gets the widgets with a size of at least 10.
class FilteringHandlerTest : public ::testing::Test {
 protected:
  using Ptr = std::shared_ptr<const Widget>;

  static AnyObject WidgetOfSize(int size) {
    return std::make_shared<const Widget>(MakeWidget().WithSize(size));
  }
  static std::string SizeOf(const Ptr& widget) { return std::to_string(widget->spec.size); }

  std::vector<std::string> calls_;
  AnyEventHandler handler_ = FilteringHandler<Widget>(
      [](const Widget& widget) { return widget.spec.size >= 10; },
      {.on_add =
           [this](const Ptr& object, bool initial) {
             calls_.push_back((initial ? "initial " : "add ") + SizeOf(object));
           },
       .on_update =
           [this](const Ptr& before, const Ptr& after) {
             calls_.push_back("update " + SizeOf(before) + " to " + SizeOf(after));
           },
       .on_delete =
           [this](const Ptr& object, bool unknown) {
             calls_.push_back((unknown ? "tombstone " : "delete ") + SizeOf(object));
           }});
};

TEST_F(FilteringHandlerTest, AddsAndDeletionsOfMatchingObjectsPass) {
  handler_.on_add(WidgetOfSize(10), true);
  handler_.on_add(WidgetOfSize(11), false);
  handler_.on_delete(WidgetOfSize(12), false);
  handler_.on_delete(WidgetOfSize(13), true);

  EXPECT_THAT(calls_, ElementsAre("initial 10", "add 11", "delete 12", "tombstone 13"));
}

TEST_F(FilteringHandlerTest, EventsOfOtherObjectsAreDropped) {
  handler_.on_add(WidgetOfSize(1), true);
  handler_.on_update(WidgetOfSize(1), WidgetOfSize(2));
  handler_.on_delete(WidgetOfSize(2), false);

  EXPECT_THAT(calls_, IsEmpty());
}

TEST_F(FilteringHandlerTest, AnUpdateOfAnObjectThatMatchesBeforeAndAfterPasses) {
  handler_.on_update(WidgetOfSize(10), WidgetOfSize(11));

  EXPECT_THAT(calls_, ElementsAre("update 10 to 11"));
}

TEST_F(FilteringHandlerTest, AnUpdateThatMakesAnObjectMatchIsAnAdd) {
  handler_.on_update(WidgetOfSize(1), WidgetOfSize(10));

  EXPECT_THAT(calls_, ElementsAre("add 10"));
}

TEST_F(FilteringHandlerTest, AnUpdateThatMakesAnObjectNotMatchIsADeletionOfTheOldState) {
  handler_.on_update(WidgetOfSize(10), WidgetOfSize(1));

  EXPECT_THAT(calls_, ElementsAre("delete 10"));
}

TEST_F(FilteringHandlerTest, EmptyFunctionsAreSkipped) {
  const auto handler =
      FilteringHandler<Widget>([](const Widget& widget) { return widget.spec.size >= 10; }, {});

  handler.on_add(WidgetOfSize(10), false);
  handler.on_update(WidgetOfSize(1), WidgetOfSize(10));
  handler.on_delete(WidgetOfSize(10), false);
}

}  // namespace
}  // namespace kopp::informer
