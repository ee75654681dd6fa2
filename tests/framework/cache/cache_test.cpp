#include "cache_fixture.hpp"

#include <chrono>
#include <exception>
#include <future>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <kopp/cache.hpp>
#include <kopp/informer/api_error.hpp>
#include <kopp/informer_set.hpp>
#include <kopp/kinds.hpp>
#include <kopp/workqueue/guarded.hpp>

namespace kopp::cache_test {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;
using ::testing::UnorderedElementsAre;

TEST_F(CacheTest, SeveralNamespacesAreWatchedSeparatelyAndReadTogether) {
  StandaloneCache& cache = Make({.namespaces = {{"shop", {}}, {"web", {}}}});
  cache.InformerFor<Pod>();
  cache.Start();
  ASSERT_TRUE(cache.WaitForSync({}));

  EXPECT_THAT(Names<Pod>(), UnorderedElementsAre("a", "b"));
  EXPECT_THAT(Names<Pod>("web"), ElementsAre("b"));
  EXPECT_EQ(cache.Get<Pod>({"shop", "a"})->metadata.name, "a");
  EXPECT_EQ(cache.Get<Pod>({"shop", "b"}), nullptr);
  EXPECT_EQ(cache.InformerFor<Pod>().Size(), 2);
  for (const ApiRequest& request : transport_.Requests()) {
    EXPECT_THAT(request.target, HasSubstr("/namespaces/"));
  }
}

TEST_F(CacheTest, ReadingANamespaceThatIsNotWatchedThrows) {
  StandaloneCache& cache = Make({.namespaces = {{"shop", {}}}});
  cache.InformerFor<Pod>();

  EXPECT_THROW((void)cache.List<Pod>("web"), std::logic_error);
  try {
    (void)cache.Get<Pod>({"web", "b"});
    FAIL() << "Get returned";
  } catch (const std::logic_error& error) {
    EXPECT_THAT(error.what(), HasSubstr("does not watch Pod objects in the namespace \"web\""));
  }
}

TEST_F(CacheTest, TheTransformOfAKindThatIsOnlyKnownAtRunTimeIsApplied) {
  const OwningKind kind(Pod::kKind);
  CacheOptions options;
  options.ByObject(kind, ObjectCacheOptions<Unstructured>{.transform = [](Unstructured& object) {
                     object.metadata.annotations.clear();
                   }});
  StandaloneCache& cache = Make(std::move(options));
  cache.InformerFor(kind);
  cache.Start();
  ASSERT_TRUE(cache.WaitForSync({}));

  const auto pod = cache.Get(kind, {"shop", "a"});
  ASSERT_NE(pod, nullptr);
  EXPECT_THAT(pod->metadata.annotations, IsEmpty());
}

TEST_F(CacheTest, TheErrorHandlerGetsTheExceptionOfAFailedList) {
  transport_.Respond("GET", kPodsOfAll, 403, R"({"reason":"Forbidden","message":"not for you"})");
  std::promise<informer::InformerError> failure;
  StandaloneCache& cache =
      Make({.on_error = [&](const informer::InformerError& error) { failure.set_value(error); }});
  cache.InformerFor<Pod>();
  cache.Start();

  const informer::InformerError error = failure.get_future().get();
  cache.Stop();  // before `failure` is destroyed

  EXPECT_EQ(error.informer, "pods.v1.");
  EXPECT_EQ(error.consecutive_failures, 1);
  try {
    std::rethrow_exception(error.error);
  } catch (const ApiError& forbidden) {
    EXPECT_EQ(forbidden.code(), 403);
  }
}

TEST_F(CacheTest, AHandlerIsCalledForTheObjectsOfAllNamespaces) {
  StandaloneCache& cache = Make({.namespaces = {{"shop", {}}, {"web", {}}}});
  detail::Guarded<std::vector<std::string>> added;
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
  StandaloneCache& cache = Make({.namespaces = {{"shop", {}}, {"web", {}}}});
  cache.AddIndex<Pod>("name",
                      [](const Pod& pod) { return std::vector<std::string>{pod.metadata.name}; });
  cache.AddOwnerIndex<Pod>();
  cache.Start();
  ASSERT_TRUE(cache.WaitForSync({}));

  const auto first = cache.List<Pod>("", {.order = {.limit = 2, .sort_by_name = true}});
  ASSERT_THAT(first, SizeIs(2));
  EXPECT_EQ(KeyOf(*first[0]), (ObjectKey{"shop", "a"}));
  EXPECT_EQ(KeyOf(*first[1]), (ObjectKey{"web", "a"}));
  EXPECT_THAT(cache.List<Pod>({.ns = "web"}, {.order = {.limit = 1}}), SizeIs(1));
  EXPECT_THAT(cache.List<Pod>({.labels = "app"}), IsEmpty());
  EXPECT_THAT(cache.ByIndex<Pod>("name", "a"), SizeIs(2));
  EXPECT_THAT(cache.OwnedBy<Pod>(Deployment{}), IsEmpty());
  EXPECT_THROW((void)cache.ByIndex<Pod>("node", "n"), std::logic_error);
}

TEST_F(CacheTest, SelectorsOfAViewAreSentToTheServer) {
  CacheOptions options{.selector = {.labels = "app=web"}};
  options.ByObject<MetadataOnly<Pod>>({.selector = {.fields = "status.phase=Running"}});
  StandaloneCache& cache = Make(options);
  cache.InformerFor<MetadataOnly<Pod>>();
  cache.Start();

  const auto list = transport_.Await("GET", kPodsOfAll);
  const auto watch = transport_.Await("WATCH", kPodsOfAll);

  for (const std::string& target : {list.target, watch.target}) {
    EXPECT_THAT(target, HasSubstr("labelSelector=app%3Dweb"));
    EXPECT_THAT(target, HasSubstr("fieldSelector=status.phase%3DRunning"));
  }
}

TEST_F(CacheTest, SelectorsOfAViewApplyToItsMetadataUnlessThatHasItsOwn) {
  CacheOptions options;
  options.ByObject<Pod>({.selector = {.labels = "app=web"},
                         .transform = [](Pod& pod) { pod.metadata.annotations.clear(); }});
  Make(options).InformerFor<MetadataOnly<Pod>>();
  cache_->Start();
  EXPECT_THAT(transport_.Await("GET", kPodsOfAll).target, HasSubstr("labelSelector=app%3Dweb"));
  ASSERT_TRUE(cache_->WaitForSync({}));
  EXPECT_EQ(cache_->Get<MetadataOnly<Pod>>({"shop", "a"})->metadata.annotations.size(), 1)
      << "the function changes Pods, not metadata";

  options.ByObject<MetadataOnly<Pod>>({.namespaces = {{"web", {}}}});
  Make(options).InformerFor<MetadataOnly<Pod>>();
  cache_->Start();

  EXPECT_THAT(transport_.Await("GET", kPodsOfWeb).target, Not(HasSubstr("labelSelector")));
}

TEST_F(CacheTest, AViewMayWatchASingleObject) {
  CacheOptions options;
  options.ByObject<Pod>({.namespaces = {{"shop", {.fields = "metadata.name=a"}}}});
  StandaloneCache& cache = Make(options);
  cache.InformerFor<Pod>();
  cache.Start();

  for (const char* verb : {"GET", "WATCH"}) {
    EXPECT_THAT(transport_.Await(verb, kPodsOfShop).target,
                HasSubstr("fieldSelector=metadata.name%3Da"));
  }
  ASSERT_TRUE(cache.WaitForSync({}));
  EXPECT_THAT(Names<Pod>(), ElementsAre("a"));
}

TEST_F(CacheTest, AConsistentStartListsTheNewestObjects) {
  StandaloneCache& cache = Make({.consistent_start = true});
  cache.InformerFor<Pod>();
  cache.Start();

  EXPECT_THAT(transport_.Await("GET", kPodsOfAll).target, Not(HasSubstr("resourceVersion")));
}

TEST_F(CacheTest, AWatchListRequestsTheExistingObjectsFromTheWatch) {
  StandaloneCache& cache = Make({.use_watch_list = true});
  cache.InformerFor<Pod>();
  cache.Start();

  EXPECT_THAT(transport_.Await("WATCH", kPodsOfAll).target, HasSubstr("sendInitialEvents=true"));
}

TEST_F(CacheTest, AnAuditListsTheVersionOfTheCacheAgain) {
  StandaloneCache& cache = Make({.audit_interval = 40s});
  cache.InformerFor<Pod>();
  cache.Start();
  transport_.Await("WATCH", kPodsOfAll);
  clock_.AwaitSleepers(1);

  clock_.Advance(60s);

  EXPECT_THAT(transport_.Await("GET", kPodsOfAll, 2)[1].target,
              HasSubstr("resourceVersionMatch=Exact"));
}

TEST_F(CacheTest, InformerForThrowsForAnInvalidNamespaceAndCanBeCalledAgain) {
  StandaloneCache& cache = Make({.namespaces = {{"a/b", {}}}});

  EXPECT_THROW(cache.InformerFor<Pod>(), std::invalid_argument);
  EXPECT_THROW(cache.InformerFor<Pod>(), std::invalid_argument);
  EXPECT_THAT(cache.Kinds(), IsEmpty());
}

TEST_F(CacheTest, EachFormOfAKindHasItsOwnInformer) {
  StandaloneCache& cache = Make();
  const OwningKind pods = Pod::kKind;
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
  StandaloneCache& cache = Make();
  cache.InformerFor<MetadataOnly<Pod>>();
  cache.Start();

  EXPECT_THAT(transport_.Await("GET", kPodsOfAll).accept, HasSubstr("as=PartialObjectMetadata"));
}

TEST_F(CacheTest, ATransformChangesEachObjectBeforeItIsStored) {
  CacheOptions options{.transform = [](ObjectMeta& metadata) { metadata.annotations.clear(); }};
  options.ByObject<Pod>({.transform = [](Pod& pod) { pod.status.phase = "changed"; }});
  StandaloneCache& cache = Make(options);
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
  StandaloneCache& cache = Make({.transform = [](ObjectMeta& metadata) { metadata = {}; }});
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
  StandaloneCache& cache = Make(options);
  cache.InformerFor<Pod>();
  cache.InformerFor<MetadataOnly<Pod>>();
  cache.Start();
  ASSERT_TRUE(cache.WaitForSync({}));

  EXPECT_THAT(Names<Pod>(), ElementsAre("b"));
  EXPECT_THAT(Names<MetadataOnly<Pod>>(), ElementsAre("b"));
}

}  // namespace
}  // namespace kopp::cache_test
