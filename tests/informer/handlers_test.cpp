#include "widget.hpp"

#include <memory>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <kopp/informer/handlers.hpp>
#include <kopp/informer/key_queue.hpp>

namespace kopp::informer {
namespace {

using kopp::testing::MakeWidget;
using kopp::testing::Widget;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr Kind kOwner{"samplecontroller.k8s.io/v1alpha1", "Foo", "foos"};

class HandlersTest : public ::testing::Test {
 protected:
  static AnyObject MakeAnyObject(Widget widget) {
    return std::make_shared<const Widget>(std::move(widget));
  }
  static Widget OwnedWidget(std::string owner,
                            std::string api_version = "samplecontroller.k8s.io/v1") {
    return MakeWidget().AddOwnerReference({.apiVersion = std::move(api_version),
                                           .kind = "Foo",
                                           .name = std::move(owner),
                                           .controller = true});
  }
  /// Empties the queue and returns its keys in order.
  std::vector<std::string> DrainQueue() {
    std::vector<std::string> keys;
    while (queue_.Len() > 0) {
      keys.push_back(queue_.Get()->ToString());
      queue_.Done(ObjectKey::Parse(keys.back()));
    }
    return keys;
  }

  KeyQueue queue_;
};

TEST_F(HandlersTest, EnqueueKeyAddsTheKeyOfTheObjectAtEachChangeAndResync) {
  const auto handler = EnqueueKey(queue_);
  const auto object = MakeAnyObject(MakeWidget("a"));

  handler.on_add(object, true);
  EXPECT_THAT(DrainQueue(), ElementsAre("default/a"));
  handler.on_update(object, object);
  EXPECT_THAT(DrainQueue(), ElementsAre("default/a"));
  handler.on_delete(object, false);
  EXPECT_THAT(DrainQueue(), ElementsAre("default/a"));
}

TEST_F(HandlersTest, EnqueueOwnerAddsTheControllerInAnyApiVersionOfItsKind) {
  const auto handler = EnqueueOwner(queue_, kOwner);

  handler.on_add(MakeAnyObject(OwnedWidget("foo")), false);
  handler.on_delete(MakeAnyObject(OwnedWidget("bar")), true);

  EXPECT_THAT(DrainQueue(), ElementsAre("default/foo", "default/bar"));
}

TEST_F(HandlersTest, EnqueueOwnerAddsOldAndNewControllerWhenAnUpdateChangesTheController) {
  const auto handler = EnqueueOwner(queue_, kOwner);

  handler.on_update(MakeAnyObject(OwnedWidget("before").WithResourceVersion("7")),
                    MakeAnyObject(OwnedWidget("after").WithResourceVersion("8")));

  EXPECT_THAT(DrainQueue(), ElementsAre("default/after", "default/before"));
}

TEST_F(HandlersTest, EnqueueOwnerIgnoresOtherGroupsAndNonControllerOwners) {
  const auto handler = EnqueueOwner(queue_, kOwner);

  handler.on_add(MakeAnyObject(MakeWidget()), false);
  handler.on_add(MakeAnyObject(OwnedWidget("foo", "other.group/v1alpha1")), false);
  handler.on_add(
      MakeAnyObject(MakeWidget().AddOwnerReference(
          {.apiVersion = "samplecontroller.k8s.io/v1alpha1", .kind = "Foo", .name = "foo"})),
      false);

  EXPECT_THAT(DrainQueue(), IsEmpty());
}

TEST_F(HandlersTest, EnqueueOwnerForEveryOwnerAddsEachMatchingOwnerOnce) {
  std::vector<std::string> keys;  // not a queue, which would remove duplicates
  const auto handler = EnqueueOwner(
      [&](const ObjectKey& key, int, const KeyEvent&) { keys.push_back(key.ToString()); }, kOwner,
      OwnerMatch::kEveryOwner);
  const std::string group = "samplecontroller.k8s.io/";

  handler.on_add(
      MakeAnyObject(
          OwnedWidget("foo")
              .AddOwnerReference({.apiVersion = group + "v2", .kind = "Foo", .name = "bar"})
              .AddOwnerReference({.apiVersion = group + "v1", .kind = "Foo", .name = "bar"})
              .AddOwnerReference({.apiVersion = group + "v1", .kind = "Other", .name = "x"})
              .AddOwnerReference({.apiVersion = "v1", .kind = "Foo", .name = "y"})),
      false);

  EXPECT_THAT(keys, ElementsAre("default/foo", "default/bar"));
}

TEST_F(HandlersTest, AnEnqueueFunctionGetsTheEventOfEachKey) {
  std::vector<std::string> events;
  const auto handler = EnqueueKey([&](const ObjectKey& key, int, const KeyEvent& event) {
    const char* const type = event.type == KeyEvent::Type::kAdd      ? " added"
                             : event.type == KeyEvent::Type::kUpdate ? " updated"
                                                                     : " deleted";
    events.push_back(key.name + type + (event.IsResync() ? " by a resync" : "") +
                     (event.in_initial_list ? " by the list" : ""));
  });
  const auto before = MakeAnyObject(MakeWidget("a").WithResourceVersion("7"));
  const auto after = MakeAnyObject(MakeWidget("a").WithResourceVersion("8"));

  handler.on_add(before, true);
  handler.on_add(before, false);
  handler.on_update(before, after);
  handler.on_update(after, after);
  handler.on_delete(after, false);

  EXPECT_THAT(events, ElementsAre("a added by the list", "a added", "a updated",
                                  "a updated by a resync", "a deleted"));
}

TEST_F(HandlersTest, EnqueueOwnerIgnoresAnUpdateWithTheSameResourceVersion) {
  const auto handler = EnqueueOwner(queue_, kOwner);
  const auto object = MakeAnyObject(OwnedWidget("foo").WithResourceVersion("7"));

  handler.on_update(object, object);
  handler.on_update(object, MakeAnyObject(OwnedWidget("foo").WithResourceVersion("7")));

  EXPECT_THAT(DrainQueue(), IsEmpty());
}

TEST_F(HandlersTest, EnqueueOwnerOfAClusterScopedKindAddsAKeyWithoutNamespace) {
  Kind cluster_owner = kOwner;
  cluster_owner.scope = Scope::kCluster;
  const auto handler = EnqueueOwner(queue_, cluster_owner);

  handler.on_add(MakeAnyObject(OwnedWidget("foo")), false);

  EXPECT_THAT(DrainQueue(), ElementsAre("foo"));
}

TEST_F(HandlersTest, AnUpdateAddsAKeyOnceEvenIfAWorkerGetsItImmediately) {
  // The mapping function also acts as a fast worker: it gets a key before it can be added again.
  const auto enqueue_key = EnqueueKey(queue_);
  const auto enqueue_mapped = EnqueueMapped<Widget>(queue_, [this](const Widget&) {
    while (queue_.Len() > 0) static_cast<void>(queue_.Get());
    return std::vector<ObjectKey>{{"default", "one"}};
  });

  enqueue_key.on_update(MakeAnyObject(MakeWidget().WithResourceVersion("7")),
                        MakeAnyObject(MakeWidget().WithResourceVersion("8")));
  EXPECT_THAT(DrainQueue(), ElementsAre("default/a"));
  enqueue_mapped.on_update(MakeAnyObject(MakeWidget().WithResourceVersion("7")),
                           MakeAnyObject(MakeWidget().WithResourceVersion("8")));
  EXPECT_THAT(DrainQueue(), ElementsAre("default/one"));
}

TEST_F(HandlersTest, EnqueueMappedAddsTheKeysOfTheOldAndTheNewState) {
  const auto handler = EnqueueMapped<Widget>(queue_, [](const Widget& widget) {
    return std::vector<ObjectKey>{{"ns", "size-" + std::to_string(widget.spec.size)}};
  });

  handler.on_update(MakeAnyObject(MakeWidget().WithSize(1)),
                    MakeAnyObject(MakeWidget().WithSize(2)));

  EXPECT_THAT(DrainQueue(), ElementsAre("ns/size-2", "ns/size-1"));
}

/// Handlers with a queue that has a priority order.
class HandlersPriorityTest : public HandlersTest {
 protected:
  static constexpr int kNormalPriority = 0;

  /// Empties the queue and returns the priorities of its keys.
  std::vector<int> DrainPriorities() {
    std::vector<int> priorities;
    while (priority_queue_.Len() > 0) {
      const auto entry = priority_queue_.GetWithPriority();
      priority_queue_.Done(entry->item);
      priorities.push_back(entry->priority);
    }
    return priorities;
  }
  /// `resync` are the expected priorities of the keys that the handler enqueues at a resync.
  void ExpectLowPriorityOnlyForInitialListAndResync(const AnyEventHandler& handler,
                                                    const std::vector<int>& resync) {
    const auto object = MakeAnyObject(OwnedWidget("foo").WithResourceVersion("7"));
    const auto changed = MakeAnyObject(OwnedWidget("foo").WithResourceVersion("8"));

    handler.on_add(object, true);
    EXPECT_THAT(DrainPriorities(), ElementsAre(kLowPriority));
    handler.on_add(object, false);
    EXPECT_THAT(DrainPriorities(), ElementsAre(kNormalPriority));
    handler.on_update(object, changed);
    EXPECT_THAT(DrainPriorities(), ElementsAre(kNormalPriority));
    handler.on_update(object, object);
    EXPECT_EQ(DrainPriorities(), resync);
    handler.on_delete(object, true);
    EXPECT_THAT(DrainPriorities(), ElementsAre(kNormalPriority));
  }

  KeyQueue priority_queue_{{.order = workqueue::Order::Priority()}};
};

TEST_F(HandlersPriorityTest, EnqueueKeyUsesLowPriorityOnlyForTheInitialListAndResyncs) {
  ExpectLowPriorityOnlyForInitialListAndResync(EnqueueKey(priority_queue_), {kLowPriority});
}

TEST_F(HandlersPriorityTest, EnqueueOwnerUsesLowPriorityOnlyForTheInitialList) {
  ExpectLowPriorityOnlyForInitialListAndResync(EnqueueOwner(priority_queue_, kOwner), {});
}

TEST_F(HandlersPriorityTest, EnqueueMappedUsesLowPriorityOnlyForTheInitialListAndResyncs) {
  ExpectLowPriorityOnlyForInitialListAndResync(
      EnqueueMapped<Widget>(priority_queue_,
                            [](const Widget& widget) {
                              return std::vector<ObjectKey>{{"", widget.metadata.name}};
                            }),
      {kLowPriority});
}

}  // namespace
}  // namespace kopp::informer
