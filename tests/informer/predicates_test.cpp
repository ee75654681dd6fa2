#include "widget.hpp"

#include <memory>
#include <stdexcept>
#include <string>
#include <typeinfo>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <kopp/informer/predicates.hpp>

namespace kopp {
namespace {

using informer::AnyObject;
using kopp::testing::MakeWidget;
using kopp::testing::Widget;
using ::testing::ElementsAre;

class PredicatesTest : public ::testing::Test {
 protected:
  PredicatesTest() {
    before_.metadata.resourceVersion = "1";
    before_.metadata.generation = 1;
    after_ = before_;
    after_.metadata.resourceVersion = "2";
  }

  static AnyObject Any(const Widget& widget) { return std::make_shared<const Widget>(widget); }
  /// Returns the events that pass: of "add", "update" from before_ to after_, "resync" and
  /// "delete", the last two of after_.
  std::vector<std::string> Passing(AnyPredicate predicate) const {
    std::vector<std::string> passing;
    const auto handler = informer::WithPredicate(
        std::make_shared<const AnyPredicate>(std::move(predicate)),
        {.on_add = [&](const AnyObject&, bool) { passing.emplace_back("add"); },
         .on_update =
             [&](const AnyObject& before, const AnyObject& after) {
               passing.emplace_back(before == after ? "resync" : "update");
             },
         .on_delete = [&](const AnyObject&, bool) { passing.emplace_back("delete"); }});
    const AnyObject after = Any(after_);
    handler.on_add(after, false);
    handler.on_update(Any(before_), after);
    handler.on_update(after, after);
    handler.on_delete(after, false);
    return passing;
  }

  Widget before_ = MakeWidget("a");
  Widget after_;
};

TEST_F(PredicatesTest, GenerationChangedHidesAnUpdateOfTheStatus) {
  EXPECT_THAT(Passing(GenerationChanged()), ElementsAre("add", "resync", "delete"));

  after_.metadata.generation = 2;
  EXPECT_THAT(Passing(GenerationChanged()), ElementsAre("add", "update", "resync", "delete"));
}

TEST_F(PredicatesTest, GenerationChangedPassesEachChangeOfAnObjectWithoutAGeneration) {
  before_.metadata.generation.reset();
  after_.metadata.generation.reset();
  EXPECT_THAT(Passing(GenerationChanged()), ElementsAre("add", "update", "resync", "delete"));

  after_.metadata.resourceVersion = before_.metadata.resourceVersion;
  EXPECT_THAT(Passing(GenerationChanged()), ElementsAre("add", "resync", "delete"));
}

TEST_F(PredicatesTest, ResourceVersionChangedHidesResyncsAndUnchangedObjects) {
  EXPECT_THAT(Passing(ResourceVersionChanged()), ElementsAre("add", "update", "delete"));

  after_.metadata.resourceVersion = before_.metadata.resourceVersion;
  EXPECT_THAT(Passing(ResourceVersionChanged()), ElementsAre("add", "delete"));
}

TEST_F(PredicatesTest, LabelsChangedAndAnnotationsChangedPassOnlyChangesOfTheirMap) {
  after_.metadata.labels["k"] = "v";
  EXPECT_THAT(Passing(LabelsChanged()), ElementsAre("add", "update", "resync", "delete"));
  EXPECT_THAT(Passing(AnnotationsChanged()), ElementsAre("add", "resync", "delete"));

  before_.metadata.labels = after_.metadata.labels;
  after_.metadata.annotations["k"] = "v";
  EXPECT_THAT(Passing(LabelsChanged()), ElementsAre("add", "resync", "delete"));
  EXPECT_THAT(Passing(AnnotationsChanged()), ElementsAre("add", "update", "resync", "delete"));
}

TEST_F(PredicatesTest, MatchesSelectorPassesTheUpdateWithWhichAnObjectLeavesTheSelection) {
  const auto predicate = MatchesSelector(LabelSelector().Equals("app", "web"));
  EXPECT_THAT(Passing(predicate), ElementsAre());

  before_.metadata.labels["app"] = "web";
  EXPECT_THAT(Passing(predicate), ElementsAre("update"));

  after_.metadata.labels["app"] = "web";
  EXPECT_THAT(Passing(predicate), ElementsAre("add", "update", "resync", "delete"));
}

TEST_F(PredicatesTest, NotPausedHidesAllButTheDeleteOfAPausedObject) {
  after_.metadata.annotations["example.com/paused"] = "true";
  EXPECT_THAT(Passing(NotPaused("example.com/paused")), ElementsAre("delete"));

  after_.metadata.annotations["example.com/paused"] = "false";
  EXPECT_THAT(Passing(NotPaused("example.com/paused")),
              ElementsAre("add", "update", "resync", "delete"));
}

TEST_F(PredicatesTest, RemovingThePauseIsAnUpdateThatPassesWithAnnotationsChanged) {
  before_.metadata.annotations["example.com/paused"] = "true";

  EXPECT_THAT(
      Passing((GenerationChanged() || AnnotationsChanged()) && NotPaused("example.com/paused")),
      ElementsAre("add", "update", "resync", "delete"));
}

TEST_F(PredicatesTest, AndOrAndNotCombineTheResultsOfEachEvent) {
  const AnyPredicate only_adds =
      Predicate<Widget>{.on_update = [](const Widget&, const Widget&) { return false; },
                        .on_delete = [](const Widget&) { return false; }};
  EXPECT_THAT(Passing(only_adds), ElementsAre("add"));
  EXPECT_THAT(Passing(!only_adds), ElementsAre("update", "resync", "delete"));
  EXPECT_THAT(Passing(Not(only_adds)), ElementsAre("update", "resync", "delete"));
  EXPECT_THAT(Passing(only_adds || ResourceVersionChanged()),
              ElementsAre("add", "update", "delete"));
  EXPECT_THAT(Passing(only_adds && ResourceVersionChanged()), ElementsAre("add"));
  EXPECT_THAT(Passing(And(ResourceVersionChanged(), AnyPredicate{}, Not(GenerationChanged()))),
              ElementsAre("update"));
  EXPECT_THAT(Passing(Or(only_adds, only_adds, Not(GenerationChanged()))),
              ElementsAre("add", "update"));
}

TEST_F(PredicatesTest, PredicateOfGetsTheNewStateOfAnUpdate) {
  before_.spec.size = 1;
  after_.spec.size = 2;
  EXPECT_THAT(
      Passing(PredicateOf<Widget>([](const Widget& widget) { return widget.spec.size == 1; })),
      ElementsAre());
  EXPECT_THAT(
      Passing(PredicateOf<Widget>([](const Widget& widget) { return widget.spec.size == 2; })),
      ElementsAre("add", "update", "resync", "delete"));
}

TEST_F(PredicatesTest, PredicatesForDifferentViewsCannotBeCombined) {
  const AnyPredicate widgets = PredicateOf<Widget>([](const Widget&) { return true; });
  const AnyPredicate others{.view = &typeid(ObjectMeta)};

  EXPECT_THROW((void)(widgets && others), std::logic_error);
  EXPECT_EQ(*(GenerationChanged() && widgets).view, typeid(Widget));
}

}  // namespace
}  // namespace kopp
