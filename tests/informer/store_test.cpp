#include "widget.hpp"

#include <algorithm>
#include <latch>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <set>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <kopp/informer/store.hpp>

namespace kopp::informer {
namespace {

using kopp::testing::MakeWidget;
using kopp::testing::Widget;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

AnyObject Shared(Widget widget) { return std::make_shared<const Widget>(std::move(widget)); }

std::vector<std::string> Names(const std::vector<std::shared_ptr<const Widget>>& widgets) {
  std::vector<std::string> names;
  for (const auto& widget : widgets) names.push_back(widget->metadata.name);
  return names;
}

std::vector<std::string> SizeOf(const Widget& widget) { return {std::to_string(widget.spec.size)}; }

class StoreTest : public ::testing::Test {
 protected:
  void Set(Widget widget) { objects_.Set(Shared(std::move(widget))); }

  std::vector<std::string> problems_;
  AnyStore objects_{[this](const std::string& problem, bool) { problems_.push_back(problem); }};
  Store<Widget> store_{objects_};
};

TEST_F(StoreTest, ListOfANamespaceReturnsOnlyItsObjects) {
  Set(MakeWidget("a").InNamespace("blue"));
  Set(MakeWidget("b").InNamespace("blue"));
  Set(MakeWidget("c").InNamespace("red"));

  EXPECT_THAT(Names(store_.List("blue")), UnorderedElementsAre("a", "b"));
  EXPECT_THAT(store_.List("green"), IsEmpty());
  EXPECT_THAT(store_.ListIndexValues(kNamespaceIndex), UnorderedElementsAre("blue", "red"));
}

TEST_F(StoreTest, ANamespaceWithoutObjectsLeavesTheNamespaceIndex) {
  Set(MakeWidget("a").InNamespace("blue"));

  objects_.Erase({"blue", "a"});

  EXPECT_THAT(store_.ListIndexValues(kNamespaceIndex), IsEmpty());
}

TEST_F(StoreTest, ListReturnsTheObjectsWhoseLabelsMatchTheSelector) {
  Widget web = MakeWidget("web");
  web.metadata.labels["app"] = "web";
  Set(web);
  Set(MakeWidget("other"));

  EXPECT_THAT(Names(store_.List({.labels = "app=web"})), ElementsAre("web"));
}

TEST_F(StoreTest, ListSelectsByNameAndNamespace) {
  for (const char* name : {"a", "b"}) {
    Set(MakeWidget(name).InNamespace("red"));
    Set(MakeWidget(name).InNamespace("blue").WithSize(1));
  }

  EXPECT_THAT(Names(store_.List({.fields = "metadata.namespace=red,metadata.name!=a"})),
              ElementsAre("b"));
  EXPECT_THAT(Names(store_.List({.ns = "blue", .fields = "metadata.namespace=red"})), IsEmpty());
}

TEST_F(StoreTest, ListThrowsForAFieldThatTheStoreDoesNotKnow) {
  EXPECT_THROW((void)store_.List({.fields = "spec.size=1"}), std::invalid_argument);
}

TEST_F(StoreTest, ListSortsByNamespaceAndNameAndThenAppliesTheLimit) {
  for (const char* name : {"c", "a", "b"}) {
    Set(MakeWidget(name).InNamespace("red"));
    Set(MakeWidget(name).InNamespace("blue").WithSize(1));
  }

  EXPECT_THAT(Names(store_.List({}, {.sort_by_name = true})),
              ElementsAre("a", "b", "c", "a", "b", "c"));
  EXPECT_THAT(Names(store_.List({}, {.limit = 4, .sort_by_name = true})),
              ElementsAre("a", "b", "c", "a"));
  EXPECT_EQ(store_.List({}, {.limit = 4, .sort_by_name = true}).front()->spec.size, 1);
  EXPECT_THAT(Names(store_.List({.ns = "red"}, {.limit = 2, .sort_by_name = true})),
              ElementsAre("a", "b"));
}

TEST_F(StoreTest, ListWithALimitReturnsAtMostThatNumberOfObjects) {
  for (int i = 0; i < 100; ++i) Set(MakeWidget("w" + std::to_string(i)));

  EXPECT_EQ(store_.List({}, {.limit = 7}).size(), 7);
  EXPECT_EQ(store_.List({}, {.limit = 1000}).size(), 100);
}

TEST_F(StoreTest, ASnapshotDoesNotChangeWhenTheStoreChanges) {
  objects_.AddIndex("size", IndexFuncOf<Widget>(SizeOf));
  Set(MakeWidget("a").WithSize(1));
  Set(MakeWidget("b").WithSize(1));
  const auto snapshot = store_.Snapshot();

  Set(MakeWidget("a").WithSize(2));
  Set(MakeWidget("c").WithSize(1));
  objects_.Erase({"default", "b"});

  EXPECT_EQ(snapshot.Size(), 2);
  EXPECT_EQ(snapshot.Get({"default", "a"})->spec.size, 1);
  EXPECT_EQ(snapshot.Get({"default", "c"}), nullptr);
  EXPECT_THAT(Names(snapshot.List()), UnorderedElementsAre("a", "b"));
  EXPECT_THAT(Names(snapshot.ByIndex("size", "1")), UnorderedElementsAre("a", "b"));
  EXPECT_THAT(Names(store_.ByIndex("size", "1")), ElementsAre("c"));
}

TEST_F(StoreTest, AReadDuringAChangeDoesNotDestroyTheReplacedObject) {
  auto object = std::make_shared<const Widget>(MakeWidget("a"));
  const std::weak_ptr<const Widget> first = object;
  objects_.Set(std::exchange(object, nullptr));
  std::optional<AnyStoreSnapshot> read = objects_.Snapshot();

  Set(MakeWidget("a").WithSize(2));
  read.reset();
  EXPECT_FALSE(first.expired()) << "the reader has destroyed it";
  Set(MakeWidget("a").WithSize(3));
  EXPECT_TRUE(first.expired()) << "the next change has not destroyed it";
}

TEST_F(StoreTest, AReplacedObjectThatIsNotReadIsDestroyedAtOnce) {
  auto object = std::make_shared<const Widget>(MakeWidget("a"));
  const std::weak_ptr<const Widget> first = object;
  objects_.Set(std::exchange(object, nullptr));

  objects_.Erase({"default", "a"});

  EXPECT_TRUE(first.expired());
}

TEST_F(StoreTest, ASnapshotOverSeveralChangesKeepsItsObjectsOnlyUntilItIsDestroyed) {
  auto object = std::make_shared<const Widget>(MakeWidget("a"));
  const std::weak_ptr<const Widget> first = object;
  objects_.Set(std::exchange(object, nullptr));
  std::optional<AnyStoreSnapshot> snapshot = objects_.Snapshot();

  Set(MakeWidget("a").WithSize(2));
  Set(MakeWidget("a").WithSize(3));
  EXPECT_FALSE(first.expired());
  snapshot.reset();

  EXPECT_TRUE(first.expired());
}

TEST_F(StoreTest, ReplaceReturnsThePreviousContentAndReindexesTheNewContent) {
  objects_.AddIndex("size", IndexFuncOf<Widget>(SizeOf));
  Set(MakeWidget("a").WithSize(1));

  const AnyStoreSnapshot previous =
      objects_.Replace({Shared(MakeWidget("b").WithSize(2)), Shared(MakeWidget("b").WithSize(3))});

  EXPECT_EQ(previous.Size(), 1);
  EXPECT_TRUE(previous.Get({"default", "a"}));
  EXPECT_EQ(store_.Size(), 1) << "the list has the object b twice";
  EXPECT_EQ(store_.Get({"default", "b"})->spec.size, 3);
  EXPECT_THAT(store_.ListIndexValues("size"), ElementsAre("3"));
}

TEST_F(StoreTest, AnIndexFindsObjectsByEachOfTheirCurrentValues) {
  objects_.AddIndex("parity and size", IndexFuncOf<Widget>([](const Widget& widget) {
                      return std::vector<std::string>{widget.spec.size % 2 == 0 ? "even" : "odd",
                                                      std::to_string(widget.spec.size)};
                    }));
  Set(MakeWidget("a").WithSize(1));
  Set(MakeWidget("b").WithSize(3));
  Set(MakeWidget("a").WithSize(2));

  EXPECT_THAT(Names(store_.ByIndex("parity and size", "odd")), ElementsAre("b"));
  EXPECT_THAT(Names(store_.ByIndex("parity and size", "2")), ElementsAre("a"));
  EXPECT_THAT(store_.ByIndex("parity and size", "1"), IsEmpty());
  EXPECT_THAT(store_.IndexKeys("parity and size", "even"), ElementsAre(ObjectKey{"default", "a"}));
  EXPECT_THAT(store_.ListIndexValues("parity and size"),
              UnorderedElementsAre("even", "odd", "2", "3"));
}

TEST_F(StoreTest, ByIndexReturnsTheCurrentStateOfAnObjectWhoseValuesDidNotChange) {
  objects_.AddIndex("name", IndexFuncOf<Widget>([](const Widget& widget) {
                      return std::vector{widget.metadata.name};
                    }));
  Set(MakeWidget("a").WithSize(1));

  Set(MakeWidget("a").WithSize(2));

  ASSERT_EQ(store_.ByIndex("name", "a").size(), 1);
  EXPECT_EQ(store_.ByIndex("name", "a").front()->spec.size, 2);
}

TEST_F(StoreTest, AnIndexThatIsAddedLaterHasTheExistingObjects) {
  Set(MakeWidget("a").WithSize(1));

  objects_.AddIndex("size", IndexFuncOf<Widget>(SizeOf));

  EXPECT_THAT(Names(store_.ByIndex("size", "1")), ElementsAre("a"));
}

TEST_F(StoreTest, AddingTwoIndexesWithTheSameNameThrows) {
  objects_.AddIndex("size", IndexFuncOf<Widget>(SizeOf));

  EXPECT_THROW(objects_.AddIndex("size", IndexFuncOf<Widget>(SizeOf)), std::logic_error);
  EXPECT_THROW(objects_.AddIndex("namespace", IndexFuncOf<Widget>(SizeOf)), std::logic_error);
  EXPECT_THROW((void)store_.ByIndex("misspelt", "1"), std::logic_error);
}

TEST_F(StoreTest, AnIndexFunctionThatThrowsIsReportedAndTheObjectIsNotInThatIndex) {
  objects_.AddIndex("bad", [](const AnyObject&) -> std::vector<std::string> {
    throw std::runtime_error("no such field");
  });

  Set(MakeWidget("a"));

  EXPECT_NE(store_.Get({"default", "a"}), nullptr);
  EXPECT_THAT(store_.ListIndexValues("bad"), IsEmpty());
  EXPECT_THAT(problems_, ElementsAre(HasSubstr("index \"bad\" threw for default/a: no such")));
}

TEST_F(StoreTest, APreparedChangeIsVisibleOnlyAfterItsCommit) {
  AnyStore store;
  const AnyObject a = std::make_shared<const Widget>(MakeWidget("a"));
  const AnyObject b = std::make_shared<const Widget>(MakeWidget("b"));
  {
    AnyStore::Change change = store.PrepareReplace({a, b});
    EXPECT_EQ(store.Size(), 0);
    change.Commit();
    EXPECT_EQ(store.Size(), 2);
  }
  { const AnyStore::Change dropped = store.PrepareErase(a.key()); }

  EXPECT_EQ(store.Size(), 2);
  EXPECT_EQ(store.Get(a.key()), a);
}

TEST_F(StoreTest, OwnedByReturnsTheObjectsWithAnOwnerReferenceToTheOwner) {
  const Widget owner = MakeWidget("owner");
  objects_.AddOwnerIndex();
  objects_.AddOwnerIndex();  // has no effect
  Set(MakeWidget("child")
          .AddOwnerReference({.name = "other", .uid = "uid-other"})
          .AddOwnerReference({.name = "owner", .uid = "uid-owner"}));
  Set(MakeWidget("stranger"));

  EXPECT_THAT(Names(store_.OwnedBy(owner)), ElementsAre("child"));
  Set(MakeWidget("child"));
  EXPECT_THAT(store_.OwnedBy(owner), IsEmpty()) << "the owner reference was removed";
}

TEST_F(StoreTest, RandomChangesGiveTheContentOfAMapAndLeaveOldSnapshotsUnchanged) {
  objects_.AddIndex("last digit", IndexFuncOf<Widget>([](const Widget& widget) {
                      return std::vector<std::string>{std::to_string(widget.spec.size % 10)};
                    }));
  std::mt19937 random(1);
  std::map<ObjectKey, int> expected;
  const auto content = [](const StoreSnapshot<Widget>& snapshot) {
    std::map<ObjectKey, int> map;
    std::set<ObjectKey> indexed;
    for (int digit = 0; digit < 10; ++digit) {
      for (const auto& widget : snapshot.ByIndex("last digit", std::to_string(digit))) {
        EXPECT_EQ(widget->spec.size % 10, digit);
        EXPECT_TRUE(indexed.insert(KeyOf(*widget)).second) << "an object is in the index twice";
      }
    }
    EXPECT_EQ(indexed.size(), snapshot.Size());
    for (const auto& widget : snapshot.List()) map[KeyOf(*widget)] = widget->spec.size;
    EXPECT_EQ(snapshot.Size(), map.size());
    for (const auto& [key, size] : map) EXPECT_EQ(snapshot.Get(key)->spec.size, size);
    return map;
  };
  std::vector<std::pair<StoreSnapshot<Widget>, std::map<ObjectKey, int>>> history;
  for (int i = 0; i < 20'000; ++i) {
    const ObjectKey key{"ns" + std::to_string(random() % 3), std::to_string(random() % 1500)};
    if (random() % 3 == 0 || i > 15'000) {
      EXPECT_EQ(static_cast<bool>(objects_.Erase(key)), expected.erase(key) == 1);
    } else {
      Set(MakeWidget(key.name).InNamespace(key.ns).WithSize(i));
      expected[key] = i;
    }
    if (i % 2000 == 1) history.emplace_back(store_.Snapshot(), expected);
  }

  EXPECT_EQ(content(store_.Snapshot()), expected);
  for (const auto& [snapshot, content_then] : history) EXPECT_EQ(content(snapshot), content_then);
}

TEST_F(StoreTest, AReaderNeverSeesHalfOfAReplacedList) {
  const auto list_of_size = [](int size) {
    std::vector<AnyObject> list;
    for (int i = 0; i < 50; ++i) {
      list.push_back(Shared(MakeWidget(std::to_string(i)).WithSize(size)));
    }
    return list;
  };
  objects_.Replace(list_of_size(0));
  std::jthread writer([&](const std::stop_token& stop) {
    for (int i = 1; !stop.stop_requested(); ++i) objects_.Replace(list_of_size(i));
  });

  std::set<int> sizes;
  while (sizes.size() < 20) {
    const auto list = store_.List();
    ASSERT_EQ(list.size(), 50);
    const int size = list.front()->spec.size;
    for (const auto& widget : list) ASSERT_EQ(widget->spec.size, size);
    ASSERT_TRUE(sizes.empty() || size >= *sizes.rbegin());
    sizes.insert(size);
  }
}

TEST_F(StoreTest, AnIndexCanBeAddedWhileTheStoreChanges) {
  std::latch changing{100};
  std::jthread writer([&](const std::stop_token& stop) {
    for (int i = 0; i < 1000 || !stop.stop_requested(); ++i) {
      Set(MakeWidget(std::to_string(i % 1000)).WithSize(i % 10));
      if (i < 100) changing.count_down();
    }
  });

  changing.wait();
  objects_.AddIndex("size", IndexFuncOf<Widget>(SizeOf));
  writer.request_stop();
  writer.join();

  EXPECT_EQ(store_.ByIndex("size", "3").size(), 100);
}

}  // namespace
}  // namespace kopp::informer
