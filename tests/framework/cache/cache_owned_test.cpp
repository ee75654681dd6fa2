// What a cache knows about objects that an owner controls.
#include "cache/cache_fixture.hpp"

#include <future>
#include <optional>
#include <string>
#include <utility>

#include <gtest/gtest.h>

namespace kopp::cache_test {
namespace {

using Answer = std::optional<std::string>;

/// Tests of a cache of Pods, of which "shop/owned" belongs to the owner "o".
class OwnedObjectsTest : public CacheTest {
 protected:
  OwnedObjectsTest() {
    const auto pod = [](const std::string& name, const std::string& owners) {
      return R"({"metadata":{"name":")" + name + R"(","namespace":"shop","uid":"u-)" + name +
             R"(","resourceVersion":"5","ownerReferences":[)" + owners + "]}}";
    };
    const auto owner = [](const std::string& uid, const std::string& controller) {
      return R"({"uid":")" + uid + R"(","controller":)" + controller + "}";
    };
    transport_.Respond(
        "GET", kPodsOfAll, 200,
        PodListText(pod("owned", owner("o", "true")) + "," + pod("shared", owner("o", "false")) +
                    "," + pod("controlled", owner("o", "false") + "," + owner("p", "true")) + "," +
                    pod("foreign", "")));
  }
  void Start(CacheOptions options = {}) {
    Make(std::move(options)).InformerFor<Pod>();
    cache_->Start();
    ASSERT_TRUE(cache_->WaitForSync({}));
  }
  Answer Find(const std::string& name, const std::string& owner = "o") {
    return cache_->write_observer().FindOwned(Pod::kKind, {"shop", name}, owner);
  }
};

TEST_F(OwnedObjectsTest, AnObjectIsKnownIfTheOwnerOwnsItAndNobodyElseControlsIt) {
  Start();

  EXPECT_EQ(Find("owned"), "u-owned");
  EXPECT_EQ(Find("owned", "p"), std::nullopt);
  EXPECT_EQ(Find("shared"), "u-shared");
  EXPECT_EQ(Find("controlled"), std::nullopt);
  EXPECT_EQ(Find("controlled", "p"), "u-controlled");
  EXPECT_EQ(Find("foreign"), std::nullopt);
  EXPECT_EQ(Find("missing"), "") << "it does not exist";
}

TEST_F(OwnedObjectsTest, TheLastOwnWriteIsKnownBeforeTheWatchHasDeliveredIt) {
  Start();
  WrittenObject written{.key = {"shop", "new"},
                        .uid = "u-new",
                        .resource_version = "9",
                        .labels = StringMap{},
                        .controller = "o"};
  cache_->write_observer().OnWrite(Pod::kKind, written);

  EXPECT_EQ(Find("new"), "u-new");
  EXPECT_EQ(Find("new", "p"), std::nullopt) << "it exists, but does not belong to this owner";

  written.state = WrittenObject::State::kGone;
  cache_->write_observer().OnWrite(Pod::kKind, written);
  EXPECT_EQ(Find("new"), std::nullopt);
}

TEST_F(OwnedObjectsTest, AWrittenObjectThatAnotherClientDeletedIsKnownToBeAbsent) {
  std::promise<void> deleted;
  Make().InformerFor<Pod>().AddHandler(
      informer::EventHandler<Pod>{.on_delete = [&](const auto&, bool) { deleted.set_value(); }},
      {.delivery = informer::Delivery::kInformerThread});
  cache_->Start();
  ASSERT_TRUE(cache_->WaitForSync({}));
  const auto send = [this](const std::string& type, const std::string& version) {
    transport_.SendToWatch(
        kPodsOfAll, R"({"type":")" + type +
                        R"(","object":{"apiVersion":"v1","kind":"Pod","metadata":{"name":"new",)" +
                        R"("namespace":"shop","uid":"u-new","resourceVersion":")" + version +
                        "\"}}}\n");
  };
  cache_->write_observer().OnWrite(Pod::kKind, {.key = {"shop", "new"},
                                                .uid = "u-new",
                                                .resource_version = "9",
                                                .labels = StringMap{},
                                                .controller = "o"});
  EXPECT_EQ(Find("new"), "u-new");

  send("ADDED", "9");
  send("DELETED", "10");
  deleted.get_future().wait();

  EXPECT_EQ(Find("new"), "") << "a write with the uid of the deleted object would be rejected";
}

TEST_F(OwnedObjectsTest, AnObjectThatTheCacheDoesNotWatchIsUnknown) {
  Make().InformerFor<Pod>();
  EXPECT_EQ(Find("missing"), std::nullopt) << "there was no list";

  Start({.selector = {.labels = "app=web"}});
  EXPECT_EQ(Find("owned"), "u-owned");
  EXPECT_EQ(Find("missing"), std::nullopt) << "it may exist without the label";
  EXPECT_EQ(cache_->write_observer().FindOwned(Deployment::kKind, {"shop", "a"}, "o"),
            std::nullopt);

  Start({.namespaces = {{"web", {}}}});
  EXPECT_EQ(Find("owned"), std::nullopt);
}

}  // namespace
}  // namespace kopp::cache_test
