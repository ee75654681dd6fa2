#include <atomic>
#include <chrono>
#include <future>
#include <memory>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <kopp/cache.hpp>
#include <kopp/client.hpp>
#include <kopp/kinds.hpp>
#include <kopp/testing/fake_clock.hpp>
#include <kopp/testing/scripted_transport.hpp>
#include <kopp/workqueue/guarded.hpp>

namespace kopp {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;
using ::testing::ThrowsMessage;
using ::testing::UnorderedElementsAre;

constexpr const char* kPodsOfAll = "/api/v1/pods";
constexpr const char* kPodsOfShop = "/api/v1/namespaces/shop/pods";
constexpr const char* kPodsOfWeb = "/api/v1/namespaces/web/pods";

std::string PodText(const std::string& ns, const std::string& name) {
  return R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":")" + name + R"(","namespace":")" +
         ns + R"(","uid":"u","resourceVersion":"5","annotations":{"a":"b"}},)" +
         R"("status":{"phase":"Running","message":"m"}})";
}

std::string PodListText(const std::string& items) {
  return R"({"kind":"PodList","metadata":{"resourceVersion":"5"},"items":[)" + items + "]}";
}

class CacheTest : public ::testing::Test {
 protected:
  CacheTest() {
    transport_.Respond("GET", kPodsOfAll, 200,
                       PodListText(PodText("shop", "a") + "," + PodText("web", "b")));
    transport_.Respond("GET", kPodsOfShop, 200, PodListText(PodText("shop", "a")));
    transport_.Respond("GET", kPodsOfWeb, 200, PodListText(PodText("web", "b")));
  }

  /// Creates the cache.
  Cache& Make(CacheOptions options = {}) {
    cache_ = std::make_unique<Cache>(transport_, std::move(options), log_, clock_);
    return *cache_;
  }
  /// Returns the names of the cached objects of the view `T`.
  template <Object T>
  std::vector<std::string> Names(std::string_view ns = {}) {
    std::vector<std::string> names;
    for (const auto& object : cache_->List<T>(ns)) names.push_back(object->metadata.name);
    return names;
  }

  testing::FakeClock clock_;
  testing::ScriptedTransport transport_{clock_};
  Logger log_{{.write = [](std::string_view) {}}};
  std::unique_ptr<Cache> cache_;
};

TEST_F(CacheTest, SeveralNamespacesAreWatchedSeparatelyAndReadTogether) {
  Cache& cache = Make({.namespaces = {{"shop", {}}, {"web", {}}}});
  cache.InformerFor<Pod>();
  cache.Start();
  ASSERT_TRUE(cache.WaitForSync({}));

  EXPECT_THAT(Names<Pod>(), UnorderedElementsAre("a", "b"));
  EXPECT_THAT(Names<Pod>("web"), ElementsAre("b"));
  EXPECT_EQ(cache.Get<Pod>({"shop", "a"})->metadata.name, "a");
  EXPECT_EQ(cache.Get<Pod>({"shop", "b"}), nullptr);
  EXPECT_EQ(cache.InformerFor<Pod>().Size(), 2);
  for (const Request& request : transport_.Requests()) {
    EXPECT_THAT(request.target, HasSubstr("/namespaces/"));
  }
}

TEST_F(CacheTest, ReadingANamespaceThatIsNotWatchedThrows) {
  Cache& cache = Make({.namespaces = {{"shop", {}}}});
  cache.InformerFor<Pod>();

  EXPECT_THROW((void)cache.List<Pod>("web"), std::logic_error);
  try {
    (void)cache.Get<Pod>({"web", "b"});
    FAIL() << "Get returned";
  } catch (const std::logic_error& error) {
    EXPECT_THAT(error.what(), HasSubstr("does not watch Pod objects in the namespace \"web\""));
  }
}

TEST_F(CacheTest, AHandlerIsCalledForTheObjectsOfAllNamespaces) {
  Cache& cache = Make({.namespaces = {{"shop", {}}, {"web", {}}}});
  Guarded<std::vector<std::string>> added;
  cache.InformerFor<Pod>().AddHandler(
      {.on_add = [&](const informer::AnyObject& pod,
                     bool) { added.Lock()->push_back(pod.metadata().name); }},
      {.delivery = informer::Delivery::kInformerThread});
  cache.Start();
  ASSERT_TRUE(cache.WaitForSync({}));
  cache.Stop();

  EXPECT_THAT(*added.Lock(), UnorderedElementsAre("a", "b"));
}

TEST_F(CacheTest, ListOptionsAndIndexesApplyToTheObjectsOfAllNamespaces) {
  transport_.Respond("GET", kPodsOfWeb, 200,
                     PodListText(PodText("web", "b") + "," + PodText("web", "a")));
  Cache& cache = Make({.namespaces = {{"shop", {}}, {"web", {}}}});
  cache.AddIndex<Pod>("name",
                      [](const Pod& pod) { return std::vector<std::string>{pod.metadata.name}; });
  cache.AddOwnerIndex<Pod>();
  cache.Start();
  ASSERT_TRUE(cache.WaitForSync({}));

  const auto first = cache.List<Pod>({.limit = 2, .sort_by_name = true});
  ASSERT_THAT(first, SizeIs(2));
  EXPECT_EQ(KeyOf(*first[0]), (ObjectKey{"shop", "a"}));
  EXPECT_EQ(KeyOf(*first[1]), (ObjectKey{"web", "a"}));
  EXPECT_THAT(cache.List<Pod>({.ns = "web", .limit = 1}), SizeIs(1));
  EXPECT_THAT(cache.List<Pod>({.selector = LabelSelector().Exists("app")}), IsEmpty());
  EXPECT_THAT(cache.ByIndex<Pod>("name", "a"), SizeIs(2));
  EXPECT_THAT(cache.OwnedBy<Pod>(Deployment{}), IsEmpty());
  EXPECT_THROW((void)cache.ByIndex<Pod>("node", "n"), std::logic_error);
}

TEST_F(CacheTest, SelectorsOfAViewAreSentToTheServer) {
  CacheOptions options{.selector = {.label_selector = "app=web"}};
  options.ByObject<MetadataOnly<Pod>>({.selector = {.field_selector = "status.phase=Running"}});
  Cache& cache = Make(options);
  cache.InformerFor<MetadataOnly<Pod>>();
  cache.Start();

  const auto list = transport_.Await("GET", kPodsOfAll);
  const auto watch = transport_.Await("WATCH", kPodsOfAll);

  for (const std::string& target : {list.target, watch.target}) {
    EXPECT_THAT(target, HasSubstr("labelSelector=app%3Dweb"));
    EXPECT_THAT(target, HasSubstr("fieldSelector=status.phase%3DRunning"));
  }
}

TEST_F(CacheTest, AConsistentStartListsTheNewestObjects) {
  Cache& cache = Make({.consistent_start = true});
  cache.InformerFor<Pod>();
  cache.Start();

  EXPECT_THAT(transport_.Await("GET", kPodsOfAll).target, Not(HasSubstr("resourceVersion")));
}

TEST_F(CacheTest, AWatchListRequestsTheExistingObjectsFromTheWatch) {
  Cache& cache = Make({.use_watch_list = true});
  cache.InformerFor<Pod>();
  cache.Start();

  EXPECT_THAT(transport_.Await("WATCH", kPodsOfAll).target, HasSubstr("sendInitialEvents=true"));
}

TEST_F(CacheTest, AnAuditListsTheVersionOfTheCacheAgain) {
  Cache& cache = Make({.audit_interval = 40s});
  cache.InformerFor<Pod>();
  cache.Start();
  transport_.Await("WATCH", kPodsOfAll);
  clock_.AwaitSleepers(1);

  clock_.Advance(60s);

  EXPECT_THAT(transport_.Await("GET", kPodsOfAll, 2)[1].target,
              HasSubstr("resourceVersionMatch=Exact"));
}

TEST_F(CacheTest, InformerForThrowsForAnInvalidSelectorAndCanBeCalledAgain) {
  Cache& cache = Make({.selector = {.label_selector = "a in b"}});

  EXPECT_THROW(cache.InformerFor<Pod>(), std::invalid_argument);
  EXPECT_THROW(cache.InformerFor<Pod>(), std::invalid_argument);
  EXPECT_THAT(cache.Kinds(), IsEmpty());
}

TEST_F(CacheTest, EachFormOfAKindHasItsOwnInformer) {
  Cache& cache = Make();
  const KindRef pods = Pod::kKind;
  cache.InformerFor<Pod>();
  cache.InformerFor<Whole<Pod>>();
  cache.InformerFor<MetadataOnly<Pod>>();
  cache.InformerFor(pods);
  cache.InformerFor(pods, ObjectForm::kMetadataOnly);
  EXPECT_NE(&cache.InformerFor(pods), &cache.InformerFor(Deployment::kKind));
  EXPECT_THAT(cache.Kinds(), SizeIs(6));
  cache.Remove(Deployment::kKind);
  cache.Start();
  ASSERT_TRUE(cache.WaitForSync({}));

  const ObjectKey key{"shop", "a"};
  EXPECT_EQ(cache.Get<Pod>(key)->status.phase, "Running");
  EXPECT_EQ(cache.Get<Whole<Pod>>(key)->At("/status/message"), "m");
  EXPECT_EQ(cache.Get<MetadataOnly<Pod>>(key)->metadata.annotations.at("a"), "b");
  EXPECT_EQ(cache.Get(pods, key)->At("/kind"), "Pod");
  EXPECT_THAT(cache.List(pods, "web"), SizeIs(1));
  EXPECT_EQ(cache.GetMetadata(pods, key)->metadata.name, "a");
  EXPECT_THAT(cache.ListMetadata(pods), SizeIs(2));
}

TEST_F(CacheTest, OnlyMetadataIsRequestedForAMetadataOnlyView) {
  Cache& cache = Make();
  cache.InformerFor<MetadataOnly<Pod>>();
  cache.Start();

  EXPECT_THAT(transport_.Await("GET", kPodsOfAll).accept, HasSubstr("as=PartialObjectMetadata"));
}

TEST_F(CacheTest, ATransformChangesEachObjectBeforeItIsStored) {
  CacheOptions options{.transform = [](ObjectMeta& metadata) { metadata.annotations.clear(); }};
  options.ByObject<Pod>({.transform = [](Pod& pod) { pod.status.phase = "changed"; }});
  Cache& cache = Make(options);
  cache.InformerFor<Pod>();
  cache.InformerFor<Whole<Pod>>();
  cache.Start();
  ASSERT_TRUE(cache.WaitForSync({}));

  const ObjectKey key{"shop", "a"};
  EXPECT_EQ(cache.Get<Pod>(key)->status.phase, "changed");
  EXPECT_THAT(cache.Get<Pod>(key)->metadata.annotations, SizeIs(1))
      << "the transform of a view replaces the default";
  EXPECT_THAT(cache.Get<Whole<Pod>>(key)->metadata.annotations, IsEmpty());
}

TEST_F(CacheTest, ATransformCannotChangeTheIdentityAndVersionOfAnObject) {
  Cache& cache = Make({.transform = [](ObjectMeta& metadata) { metadata = {}; }});
  cache.InformerFor<Pod>();
  cache.Start();
  ASSERT_TRUE(cache.WaitForSync({}));

  const auto pod = cache.Get<Pod>({"shop", "a"});
  ASSERT_TRUE(pod);
  EXPECT_EQ(pod->metadata.uid, "u");
  EXPECT_EQ(pod->metadata.resourceVersion, "5");
  EXPECT_THAT(pod->metadata.annotations, IsEmpty());
}

TEST_F(CacheTest, AnObjectWhoseTransformThrowsIsSkipped) {
  CacheOptions options;
  options.ByObject<Pod>({.transform = [](const Pod& pod) {
    if (pod.metadata.name == "a") throw std::runtime_error("not this one");
  }});
  options.ByObject<MetadataOnly<Pod>>({.transform = [](const MetadataOnly<Pod>& pod) {
    if (pod.metadata.name == "a") throw 1;
  }});
  Cache& cache = Make(options);
  cache.InformerFor<Pod>();
  cache.InformerFor<MetadataOnly<Pod>>();
  cache.Start();
  ASSERT_TRUE(cache.WaitForSync({}));

  EXPECT_THAT(Names<Pod>(), ElementsAre("b"));
  EXPECT_THAT(Names<MetadataOnly<Pod>>(), ElementsAre("b"));
}

TEST_F(CacheTest, ReadingAViewThatIsNotWatchedThrowsAndNamesTheRemedies) {
  Cache& cache = Make();
  cache.Start();

  EXPECT_THAT(
      [&] {
        (void)cache.Get<Pod>({"shop", "a"});
      },
      ThrowsMessage<std::logic_error>(
          HasSubstr("does not watch this view of Pod: add .Owns<…>()")));
  cache.InformerFor(Pod::kKind, ObjectForm::kMetadataOnly);
  EXPECT_THAT([&] { (void)cache.List(Pod::kKind); },
              ThrowsMessage<std::logic_error>(HasSubstr(
                  "does not watch complete Pod objects: add .Owns(kind, ObjectForm::kComplete)")));
  EXPECT_THAT([&] { (void)cache.ListMetadata(Service::kKind); },
              ThrowsMessage<std::logic_error>(
                  HasSubstr("does not watch the metadata of Service objects: add .Owns(kind)")));
}

TEST_F(CacheTest, AReadStartsTheInformerAndWaitsForItsListIfAllowed) {
  Cache& cache = Make({.start_informers_on_read = true});
  cache.Start();
  std::vector<std::future<std::size_t>> reads;
  reads.reserve(4);
  for (int i = 0; i < 4; ++i) {
    reads.push_back(std::async(std::launch::async, [&] { return cache.List<Pod>().size(); }));
  }
  for (auto& read : reads) EXPECT_EQ(read.get(), 2);

  EXPECT_THAT(transport_.Await("GET", kPodsOfAll).target, Not(HasSubstr("resourceVersion")))
      << "writes from before the first read may be missing";
  EXPECT_NE(cache.GetMetadata(Pod::kKind, {"web", "b"}), nullptr);
  EXPECT_THAT(transport_.Await("GET", kPodsOfAll, 1), SizeIs(2)) << "each form lists once";
}

TEST_F(CacheTest, AReadDoesNotStartAnInformerBeforeTheCacheRuns) {
  Cache& cache = Make({.start_informers_on_read = true});

  EXPECT_THROW((void)cache.List<Pod>(), std::logic_error);
  EXPECT_THAT(cache.Kinds(), IsEmpty());
}

TEST_F(CacheTest, AReadThatStartsAnInformerFailsAfterTheSyncTimeout) {
  transport_.Respond("GET", kPodsOfAll, 403, R"({"kind":"Status","reason":"Forbidden"})");
  Cache& cache = Make({.start_informers_on_read = true, .sync_timeout = 30s});
  cache.Start();
  auto read = std::async(std::launch::async, [&]() -> std::string {
    try {
      (void)cache.Get<Pod>({"shop", "a"});
      return "Get returned";
    } catch (const std::runtime_error& error) {
      return error.what();
    }
  });
  transport_.Await("GET", kPodsOfAll);
  clock_.AwaitSleepers(2);  // the back-off and the time limit

  clock_.Advance(30s);

  EXPECT_THAT(read.get(),
              HasSubstr("no complete list of Pod objects after 30 s: Pod: LIST /api/v1/pods"));
}

TEST_F(CacheTest, StopEndsAReadThatWaitsForAList) {
  transport_.Respond("GET", kPodsOfAll, 500, "{}");
  Cache& cache = Make({.start_informers_on_read = true, .sync_timeout = 0s});
  cache.Start();
  auto read = std::async(std::launch::async, [&] { (void)cache.List<Pod>(); });
  transport_.Await("GET", kPodsOfAll);

  cache.Stop();

  EXPECT_THROW(read.get(), std::runtime_error);
}

TEST_F(CacheTest, AnInformerThatIsAddedAfterStartRuns) {
  Cache& cache = Make();
  cache.Start();

  EXPECT_TRUE(cache.InformerFor<Pod>().WaitForSync({}));
  EXPECT_THAT(Names<Pod>(), SizeIs(2));
}

TEST_F(CacheTest, ARemovedViewIsNotWatchedAnyMoreAndCanBeAddedAgain) {
  Cache& cache = Make();
  cache.InformerFor<Pod>();
  cache.Start();
  transport_.Await("WATCH", kPodsOfAll);
  const auto pod = cache.Get<Pod>({"shop", "a"});

  EXPECT_TRUE(cache.Remove<Pod>());

  EXPECT_EQ(pod->metadata.name, "a") << "an object outlives its informer";
  EXPECT_THROW((void)cache.Get<Pod>({"shop", "a"}), std::logic_error);
  EXPECT_FALSE(cache.Remove<Pod>());
  EXPECT_TRUE(cache.InformerFor<Pod>().WaitForSync({}));
  EXPECT_THAT(transport_.Await("GET", kPodsOfAll, 2), SizeIs(2));
}

/// Reports a write of the Pod shop/a to `cache` that the watch never delivers.
void WritePod(Cache& cache) {
  testing::FakeClock clock;
  testing::ScriptedTransport transport{clock};
  transport.Respond("PATCH", std::string(kPodsOfShop) + "/a", 200,
                    R"({"kind":"Pod","metadata":{"name":"a","namespace":"shop","uid":"u",)"
                    R"("resourceVersion":"7"}})");
  Client(transport)
      .WithWriteObserver(cache.write_observer())
      .Patch<Pod>({"shop", "a"}, Patch::Merge({}));
}

/// Returns a handler that, for a new Pod, waits for own writes in a read and sets `returned`.
informer::EventHandler<Pod> ReadingHandler(const Cache& cache, std::atomic<bool>& returned) {
  return {.on_add = [&](const auto&, bool in_initial_list) {
    if (in_initial_list) return;
    EXPECT_THROW((void)cache.List<Pod>("", {.await_own_writes = true}), StaleCacheError);
    returned = true;
  }};
}

TEST_F(CacheTest, RemoveWaitsForTheHandlersOfTheView) {
  Cache& cache = Make();
  std::atomic<bool> returned{false};
  cache.InformerFor<Pod>().AddHandler(ReadingHandler(cache, returned));
  cache.Start();
  transport_.Await("WATCH", kPodsOfAll);
  WritePod(cache);
  transport_.SendToWatch(kPodsOfAll, R"({"type":"ADDED","object":)" + PodText("shop", "c") + "}\n");
  clock_.AwaitSleeperFor(5s);  // the read

  EXPECT_TRUE(cache.Remove<Pod>());

  EXPECT_TRUE(returned);
}

TEST_F(CacheTest, TheDestructorWaitsForHandlersThatReadTheCache) {
  Cache& cache = Make();
  std::atomic<bool> returned{false};
  cache.InformerFor<Pod>().AddHandler(ReadingHandler(cache, returned));
  cache.Start();
  transport_.Await("WATCH", kPodsOfAll);
  WritePod(cache);
  transport_.SendToWatch(kPodsOfAll, R"({"type":"ADDED","object":)" + PodText("shop", "c") + "}\n");
  clock_.AwaitSleeperFor(5s);  // the read

  cache_.reset();

  EXPECT_TRUE(returned);
}

TEST_F(CacheTest, AStopEndsTheReadsOfHandlersOnTheThreadsOfAllInformers) {
  Cache& cache = Make({.start_informers_on_read = true, .sync_timeout = 0s});
  transport_.Respond("GET", "/api/v1/services", 500, "{}");
  cache.InformerFor<Pod>().AddHandler(
      informer::EventHandler<Pod>{
          .on_add = [&](const auto&, bool) { (void)cache.List<Service>(); }},
      {.delivery = informer::Delivery::kInformerThread});
  cache.Start();
  transport_.Await("GET", "/api/v1/services");

  cache.Stop();

  EXPECT_FALSE(cache.InformerFor<Service>().HasSynced());
}

TEST_F(CacheTest, RemovingAViewEndsTheReadsThatWaitForItsList) {
  transport_.Respond("GET", kPodsOfAll, 500, "{}");
  Cache& cache = Make({.start_informers_on_read = true, .sync_timeout = 0s});
  cache.Start();
  auto read = std::async(std::launch::async, [&] { (void)cache.List<Pod>(); });
  transport_.Await("GET", kPodsOfAll);

  EXPECT_TRUE(cache.Remove<Pod>());

  EXPECT_THROW(read.get(), std::runtime_error);
}

TEST_F(CacheTest, WaitForSyncEndsAfterItsTimeLimitAndNotSyncedNamesTheKindsAndTheirErrors) {
  transport_.Respond(
      "GET", kPodsOfWeb, 403,
      R"({"kind":"Status","reason":"Forbidden","message":"pods is forbidden: User \"u\" cannot list resource \"pods\" in API group \"\" in the namespace \"web\""})");
  Cache& cache = Make({.namespaces = {{"shop", {}}, {"web", {}}}, .sync_timeout = 30s});
  cache.InformerFor<Pod>();
  cache.Start();
  auto synced = std::async(std::launch::async, [&] { return cache.WaitForSync({}); });
  transport_.Await("WATCH", kPodsOfShop);
  transport_.Await("GET", kPodsOfWeb);
  clock_.AwaitSleepers(3);  // the watch, the back-off and the time limit

  clock_.Advance(30s);

  EXPECT_FALSE(synced.get());
  const auto unsynced = cache.NotSynced();
  ASSERT_THAT(unsynced, SizeIs(1));
  EXPECT_EQ(unsynced[0].kind.kind, "Pod");
  EXPECT_EQ(unsynced[0].ns, "web");
  EXPECT_THAT(
      unsynced[0].problem,
      HasSubstr(
          "grant verbs list and watch on pods in the core API group with a Role in namespace web"));
}

TEST_F(CacheTest, WaitForSyncWaitsLongerThanItsTimeLimitOnlyForMissingKinds) {
  transport_.Respond("GET", kPodsOfAll, 404, "{}");
  Cache& cache = Make({.wait_if_missing = true, .sync_timeout = 30s});
  cache.InformerFor<Pod>();
  cache.Start();
  auto synced = std::async(std::launch::async, [&] { return cache.WaitForSync({}); });
  transport_.Await("GET", kPodsOfAll);
  clock_.AwaitSleeperFor(30s);

  clock_.Advance(30s);

  clock_.AwaitSleeperFor(30s);
  ASSERT_THAT(cache.NotSynced(), SizeIs(1));
  EXPECT_TRUE(cache.NotSynced()[0].missing);

  transport_.Respond("GET", kPodsOfAll, 403, R"({"kind":"Status","reason":"Forbidden"})");
  while (synced.wait_for(0s) != std::future_status::ready) clock_.Advance(1s);

  EXPECT_FALSE(synced.get());
  EXPECT_FALSE(cache.NotSynced()[0].missing);
}

TEST_F(CacheTest, ARequiredKindIsOneThatTheCacheDoesNotWaitFor) {
  CacheOptions options{.wait_if_missing = true};
  options.ByObject<Service>({.wait_if_missing = false});
  Cache& cache = Make(options);
  cache.InformerFor<Pod>();
  cache.InformerFor<Service>();

  EXPECT_THAT(cache.RequiredKinds(), ElementsAre(KindRef(Service::kKind)));
}

}  // namespace
}  // namespace kopp
