#include "cache/cache_impl.hpp"
#include "cache_fixture.hpp"

#include <atomic>
#include <chrono>
#include <future>
#include <stdexcept>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <kopp/cache.hpp>
#include <kopp/client.hpp>
#include <kopp/informer_set.hpp>
#include <kopp/kinds.hpp>

namespace kopp::cache_test {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;
using ::testing::ThrowsMessage;

TEST_F(CacheTest, ReadingAViewThatIsNotWatchedThrowsAndNamesTheRemedies) {
  StandaloneCache& cache = Make();
  cache.Start();

  EXPECT_THAT(
      [&] {
        (void)cache.Get<Pod>({"shop", "a"});
      },
      ThrowsMessage<std::logic_error>(
          HasSubstr("does not watch this view of Pod: add .Owns<…>().Cached()")));
  cache.InformerFor(Pod::kKind, ObjectForm::kMetadataOnly);
  EXPECT_THAT([&] { (void)cache.List(Pod::kKind); },
              ThrowsMessage<std::logic_error>(
                  HasSubstr("does not watch complete Pod objects: add .Owns(kind).Cached()")));
  EXPECT_THAT([&] { (void)cache.ListMetadata(Service::kKind); },
              ThrowsMessage<std::logic_error>(
                  HasSubstr("does not watch the metadata of Service objects: add .Owns(kind)")));
}

TEST_F(CacheTest, AReadStartsTheInformerAndWaitsForItsListIfAllowed) {
  StandaloneCache& cache = Make({.start_informers_on_read = true});
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
  StandaloneCache& cache = Make({.start_informers_on_read = true});

  EXPECT_THROW((void)cache.List<Pod>(), std::logic_error);
  EXPECT_THAT(cache.Kinds(), IsEmpty());
}

TEST_F(CacheTest, AReadThatStartsAnInformerFailsAfterTheSyncTimeout) {
  transport_.Respond("GET", kPodsOfAll, 403, R"({"kind":"Status","reason":"Forbidden"})");
  StandaloneCache& cache = Make({.start_informers_on_read = true, .sync_timeout = 30s});
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
  StandaloneCache& cache = Make({.start_informers_on_read = true, .sync_timeout = 0s});
  cache.Start();
  auto read = std::async(std::launch::async, [&] { (void)cache.List<Pod>(); });
  transport_.Await("GET", kPodsOfAll);

  cache.Stop();

  EXPECT_THROW(read.get(), std::runtime_error);
}

TEST_F(CacheTest, AnInformerThatIsAddedAfterStartRuns) {
  StandaloneCache& cache = Make();
  cache.Start();

  EXPECT_TRUE(cache.InformerFor<Pod>().WaitForSync({}));
  EXPECT_THAT(Names<Pod>(), SizeIs(2));
}

TEST_F(CacheTest, ARemovedViewIsNotWatchedAnyMoreAndCanBeAddedAgain) {
  StandaloneCache& cache = Make();
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
void WritePod(StandaloneCache& cache) {
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
informer::EventHandler<Pod> ReadingHandler(const StandaloneCache& cache,
                                           std::atomic<bool>& returned) {
  return {.on_add = [&](const auto&, bool in_initial_list) {
    if (in_initial_list) return;
    EXPECT_THROW((void)cache.List<Pod>("", {.await_own_writes = true}), StaleCacheError);
    returned = true;
  }};
}

TEST_F(CacheTest, RemoveWaitsForTheHandlersOfTheView) {
  StandaloneCache& cache = Make();
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
  StandaloneCache& cache = Make();
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
  StandaloneCache& cache = Make({.start_informers_on_read = true, .sync_timeout = 0s});
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
  StandaloneCache& cache = Make({.start_informers_on_read = true, .sync_timeout = 0s});
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
  StandaloneCache& cache = Make({.namespaces = {{"shop", {}}, {"web", {}}}, .sync_timeout = 30s});
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
  StandaloneCache& cache = Make({.wait_if_missing = true, .sync_timeout = 30s});
  cache.InformerFor<Pod>();
  cache.Start();
  auto synced = std::async(std::launch::async, [&] { return cache.WaitForSync({}); });
  clock_.AwaitSleepers(2);  // WaitForSync, and the back-off after the 404
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
  StandaloneCache& cache = Make(options);
  cache.InformerFor<Pod>();
  cache.InformerFor<Service>();

  EXPECT_THAT(Cache::Impl::Of(cache).RequiredKinds(), ElementsAre(OwningKind(Service::kKind)));
}

}  // namespace
}  // namespace kopp::cache_test
