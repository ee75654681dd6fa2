// Operators with a planted bug in how they keep state outside of the API server: a bucket in a
// cloud for each Widget.
#include "widget.hpp"

#include <memory>
#include <set>
#include <string>

namespace kopp::testing {
namespace {

constexpr const char* kFinalizer = "explore.example.com/bucket";

class OperatorBugOutsideTest : public ::testing::Test {
 protected:
  void CreateBucket(const Widget& widget) { buckets_.insert(widget.metadata.name); }
  void DeleteBucket(const Widget& widget) { buckets_.erase(widget.metadata.name); }

  /// The Widget is created and deleted; no bucket may be left.
  [[nodiscard]] Scenario NewScenario() {
    return {.start = [this](const Client&) { buckets_.clear(); },
            .steps = {CreateWidget(), DeleteWidget()},
            .outside_state =
                [this] {
                  std::string names = "buckets:";
                  for (const std::string& name : buckets_) names += ' ' + name;
                  return names;
                }};
  }

  [[nodiscard]] OperatorSetup Corrected() {
    return WidgetOperator(WithFinalizer<Widget>(
        kFinalizer,
        [this](const Widget& widget, Context&) -> Result {
          CreateBucket(widget);
          return {};
        },
        [this](const Widget& widget, Context&) { DeleteBucket(widget); }));
  }

  std::set<std::string> buckets_;
};

TEST_F(OperatorBugOutsideTest, TheBucketIsCreatedBeforeTheFinalizerIsStored) {
  const auto buggy = [this](const Widget& widget, Context& context) -> Result {
    ObjectMeta metadata = widget.metadata;
    if (metadata.deletionTimestamp) {
      DeleteBucket(widget);
      RemoveFinalizer(context.client, Widget::kKind, metadata, kFinalizer);
      return {};
    }
    CreateBucket(widget);
    AddFinalizer(context.client, Widget::kKind, metadata, kFinalizer);
    return {};
  };
  ExpectFoundAndFixed(NewScenario(), WidgetOperator(buggy), Corrected());
}

TEST_F(OperatorBugOutsideTest, TheFinalizerIsRemovedBeforeTheCleanup) {
  const auto buggy = [this](const Widget& widget, Context& context) -> Result {
    ObjectMeta metadata = widget.metadata;
    if (metadata.deletionTimestamp) {
      RemoveFinalizer(context.client, Widget::kKind, metadata, kFinalizer);
      DeleteBucket(widget);
      return {};
    }
    AddFinalizer(context.client, Widget::kKind, metadata, kFinalizer);
    CreateBucket(widget);
    return {};
  };
  ExpectFoundAndFixed(NewScenario(), WidgetOperator(buggy), Corrected());
}

TEST_F(OperatorBugOutsideTest, TheOperatorNeedsWhatItHadInMemory) {
  const OperatorSetup buggy = [this](Manager& manager) {
    const auto known = std::make_shared<std::set<std::string>>();
    manager.AddController<Widget>().Reconcile(
        [this, known](const Widget& widget, Context& context) -> Result {
          ObjectMeta metadata = widget.metadata;
          if (metadata.deletionTimestamp) {
            if (known->contains(metadata.uid)) DeleteBucket(widget);
            RemoveFinalizer(context.client, Widget::kKind, metadata, kFinalizer);
          } else if (!HasFinalizer(metadata, kFinalizer)) {
            AddFinalizer(context.client, Widget::kKind, metadata, kFinalizer);
            known->insert(metadata.uid);
            CreateBucket(widget);
          }
          return {};
        });
  };
  ExpectFoundAndFixed(NewScenario(), buggy, Corrected());
}

}  // namespace
}  // namespace kopp::testing
