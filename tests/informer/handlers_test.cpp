#include "widget.hpp"

#include <memory>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <kopp/informer/handlers.hpp>

namespace kopp::informer {
namespace {

using kopp::testing::AWidget;
using kopp::testing::Widget;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr Kind kOwner{"samplecontroller.k8s.io/v1alpha1", "Foo", "foos"};

class HandlersTest : public ::testing::Test {
 protected:
  static AnyObject Share(Widget widget) {
    return std::make_shared<const Widget>(std::move(widget));
  }
  static Widget OwnedWidget(std::string owner,
                            std::string api_version = "samplecontroller.k8s.io/v1") {
    return AWidget().OwnedBy({.apiVersion = std::move(api_version),
                              .kind = "Foo",
                              .name = std::move(owner),
                              .controller = true});
  }
  std::vector<std::string> Queued() {
    std::vector<std::string> keys;
    while (queue_.Len() > 0) {
      keys.push_back(queue_.Get()->ToString());
      queue_.Done(ObjectKey::Parse(keys.back()));
    }
    return keys;
  }

  KeyQueue queue_;
};

TEST_F(HandlersTest, EnqueueKeyPutsInTheObjectsOwnKeyAtEachChangeAndResync) {
  const auto handler = EnqueueKey(queue_);
  const auto object = Share(AWidget("a"));

  handler.on_add(object, true);
  EXPECT_THAT(Queued(), ElementsAre("default/a"));
  handler.on_update(object, object);
  EXPECT_THAT(Queued(), ElementsAre("default/a"));
  handler.on_delete(object, false);
  EXPECT_THAT(Queued(), ElementsAre("default/a"));
}

TEST_F(HandlersTest, EnqueueOwnerPutsInTheControllerOfAnyVersionOfItsKind) {
  const auto handler = EnqueueOwner(queue_, kOwner);

  handler.on_add(Share(OwnedWidget("foo")), false);
  handler.on_delete(Share(OwnedWidget("bar")), true);

  EXPECT_THAT(Queued(), ElementsAre("default/foo", "default/bar"));
}

TEST_F(HandlersTest, EnqueueOwnerPutsInBothOwnersWhenAnObjectChangesHands) {
  const auto handler = EnqueueOwner(queue_, kOwner);

  handler.on_update(Share(OwnedWidget("before").AtVersion("7")),
                    Share(OwnedWidget("after").AtVersion("8")));

  EXPECT_THAT(Queued(), ElementsAre("default/after", "default/before"));
}

TEST_F(HandlersTest, EnqueueOwnerIgnoresOtherKindsOtherGroupsAndOwnersThatDoNotControl) {
  const auto handler = EnqueueOwner(queue_, kOwner);

  handler.on_add(Share(AWidget()), false);
  handler.on_add(Share(OwnedWidget("foo", "other.group/v1alpha1")), false);
  handler.on_add(
      Share(AWidget().OwnedBy(
          {.apiVersion = "samplecontroller.k8s.io/v1alpha1", .kind = "Foo", .name = "foo"})),
      false);

  EXPECT_THAT(Queued(), IsEmpty());
}

TEST_F(HandlersTest, EnqueueOwnerIgnoresAnUpdateThatChangedNothing) {
  const auto handler = EnqueueOwner(queue_, kOwner);
  const auto object = Share(OwnedWidget("foo").AtVersion("7"));

  handler.on_update(object, object);
  handler.on_update(object, Share(OwnedWidget("foo").AtVersion("7")));

  EXPECT_THAT(Queued(), IsEmpty());
}

TEST_F(HandlersTest, EnqueueOwnerOfAKindWithoutNamespaceUsesTheNameAlone) {
  Kind cluster_owner = kOwner;
  cluster_owner.scope = Scope::kCluster;
  const auto handler = EnqueueOwner(queue_, cluster_owner);

  handler.on_add(Share(OwnedWidget("foo")), false);

  EXPECT_THAT(Queued(), ElementsAre("foo"));
}

TEST_F(HandlersTest, AnUpdatePutsInAKeyOnceThoughAWorkerTakesItAtOnce) {
  // A worker that is quicker than the handler: it has the key in hand before another Add.
  const auto own = EnqueueKey(queue_);
  const auto mapped = EnqueueMapped<Widget>(queue_, [this](const Widget&) {
    while (queue_.Len() > 0) static_cast<void>(queue_.Get());
    return std::vector<ObjectKey>{{"default", "one"}};
  });

  own.on_update(Share(AWidget().AtVersion("7")), Share(AWidget().AtVersion("8")));
  EXPECT_THAT(Queued(), ElementsAre("default/a"));
  mapped.on_update(Share(AWidget().AtVersion("7")), Share(AWidget().AtVersion("8")));
  EXPECT_THAT(Queued(), ElementsAre("default/one"));
}

TEST_F(HandlersTest, EnqueueMappedPutsInTheKeysOfBothStates) {
  const auto handler = EnqueueMapped<Widget>(queue_, [](const Widget& widget) {
    return std::vector<ObjectKey>{{"ns", "size-" + std::to_string(widget.spec.size)}};
  });

  handler.on_update(Share(AWidget().Sized(1)), Share(AWidget().Sized(2)));

  EXPECT_THAT(Queued(), ElementsAre("ns/size-2", "ns/size-1"));
}

// Where the order of the queue has priorities.
class HandlersPriorityTest : public HandlersTest {
 protected:
  static constexpr int kLive = 0;

  /// The priority of each key that was put in.
  std::vector<int> Priorities() {
    std::vector<int> priorities;
    while (by_priority_.Len() > 0) {
      const auto handed = by_priority_.GetWithPriority();
      by_priority_.Done(handed->item);
      priorities.push_back(handed->priority);
    }
    return priorities;
  }
  void ExpectLowForAFirstListAndAResyncOnly(const AnyHandler& handler) {
    const auto object = Share(OwnedWidget("foo").AtVersion("7"));
    const auto changed = Share(OwnedWidget("foo").AtVersion("8"));

    handler.on_add(object, true);
    EXPECT_THAT(Priorities(), ElementsAre(kLowPriority));
    handler.on_add(object, false);
    EXPECT_THAT(Priorities(), ElementsAre(kLive));
    handler.on_update(object, changed);
    EXPECT_THAT(Priorities(), ElementsAre(kLive));
    handler.on_update(object, object);
    EXPECT_THAT(Priorities(), ::testing::Each(kLowPriority));
    handler.on_delete(object, true);
    EXPECT_THAT(Priorities(), ElementsAre(kLive));
  }

  KeyQueue by_priority_{{.order = workqueue::Order::Priority()}};
};

TEST_F(HandlersPriorityTest, EnqueueKeyPutsAFirstListAndAResyncBehindWhatHappensMeanwhile) {
  ExpectLowForAFirstListAndAResyncOnly(EnqueueKey(by_priority_));
}

TEST_F(HandlersPriorityTest, EnqueueOwnerPutsAFirstListBehindWhatHappensMeanwhile) {
  ExpectLowForAFirstListAndAResyncOnly(EnqueueOwner(by_priority_, kOwner));
}

TEST_F(HandlersPriorityTest, EnqueueMappedPutsAFirstListAndAResyncBehindWhatHappensMeanwhile) {
  ExpectLowForAFirstListAndAResyncOnly(
      EnqueueMapped<Widget>(by_priority_, [](const Widget& widget) {
        return std::vector<ObjectKey>{{"", widget.metadata.name}};
      }));
}

}  // namespace
}  // namespace kopp::informer
