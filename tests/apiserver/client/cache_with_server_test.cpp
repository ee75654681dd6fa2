// Tests of Cache against an API server.
#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <kopp/client.hpp>
#include <kopp/dynamic_client.hpp>
#include <kopp/informer_set.hpp>
#include <kopp/kinds.hpp>
#include <kopp/standalone_cache.hpp>
#include <kopp/testing/api_server.hpp>
#include <kopp/testing/fake_clock.hpp>

namespace kopp {
namespace {

using namespace std::chrono_literals;
using nlohmann::json;
using ::testing::ElementsAre;
using ::testing::SizeIs;

constexpr Kind kCrdKind{"apiextensions.k8s.io/v1", "CustomResourceDefinition",
                        "customresourcedefinitions", Scope::kCluster};
constexpr Kind kGadgets{"example.com/v1", "Gadget", "gadgets"};

class CacheWithServerTest : public ::testing::Test {
 protected:
  ~CacheWithServerTest() override { cache_.Stop(); }

  json CreateMap(const std::string& name) {
    return client_.Dynamic(ConfigMap::kKind)
        .Create({{"metadata",
                  {{"name", name}, {"namespace", "default"}, {"annotations", {{"note", "n"}}}}},
                 {"data", {{"key", "value"}}}})
        .Json();
  }
  void CreateCrd() {
    client_.Dynamic(kCrdKind).Create(json::parse(R"({"metadata":{"name":"gadgets.example.com"},
        "spec":{"group":"example.com","scope":"Namespaced",
                "names":{"kind":"Gadget","plural":"gadgets"},
                "versions":[{"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":
                  {"type":"object","x-kubernetes-preserve-unknown-fields":true}}}]}})"));
  }
  void DeleteCrd() {
    client_.Dynamic(kCrdKind).Delete({"", "gadgets.example.com"});
    AdvanceUntil([&] {
      return !client_.Dynamic(kCrdKind).Get({"", "gadgets.example.com"}).has_value();
    });
  }
  /// Advances the clock until `done` returns true, up to one hour.
  void AdvanceUntil(const std::function<bool()>& done) {
    for (int second = 0; second < 3600 && !done(); ++second) {
      clock_.AwaitSleepers(1);
      clock_.Advance(1s);
    }
    EXPECT_TRUE(done());
  }
  std::vector<std::string> GadgetNames() {
    std::vector<std::string> names;
    for (const auto& gadget : cache_.List(kGadgets)) names.push_back(gadget->metadata.name);
    return names;
  }
  void CreateGadget(const std::string& name) {
    AdvanceUntil([&] {
      try {
        client_.Dynamic(kGadgets).Create(
            {{"metadata", {{"name", name}, {"namespace", "default"}}}});
        return true;
      } catch (const ApiError&) {  // not served yet
        return client_.Dynamic(kGadgets).Get({"default", name}).has_value();
      }
    });
  }

  testing::FakeClock clock_;
  testing::ApiServer server_{{.clock = clock_}};
  Client client_{server_.transport()};
  std::unique_ptr<Transport> transport_ = server_.TransportAs("operator");
  StandaloneCache cache_{*transport_, CacheOptions{.sync_timeout = 0s},
                         Logger({.write = [](auto) {}}), clock_};
};

TEST_F(CacheWithServerTest, TheFormsOfAKindAreListedAndWatched) {
  using MapMetadata = MetadataOnly<ConfigMap>;
  using WholeMap = Whole<ConfigMap>;
  CreateMap("listed");
  cache_.InformerFor<MapMetadata>();
  cache_.InformerFor<WholeMap>();
  cache_.Start();
  ASSERT_TRUE(cache_.WaitForSync({}));

  const json created = CreateMap("watched");
  AdvanceUntil([&] {
    return cache_.Get<MapMetadata>({"default", "watched"}) &&
           cache_.Get<WholeMap>({"default", "watched"});
  });

  for (const char* name : {"listed", "watched"}) {
    const auto metadata = cache_.Get<MapMetadata>({"default", name});
    const auto whole = cache_.Get<WholeMap>({"default", name});
    EXPECT_EQ(metadata->metadata.annotations.at("note"), "n");
    EXPECT_EQ(whole->metadata, metadata->metadata);
    EXPECT_EQ(whole->At("/data/key"), "value");
    EXPECT_EQ(whole->At("/kind"), "ConfigMap");
  }
  json expected = created;
  expected["metadata"].erase("managedFields");
  EXPECT_EQ(cache_.Get<WholeMap>({"default", "watched"})->Json(), expected);
}

TEST_F(CacheWithServerTest, AMetadataOnlySourceReceivesOnlyMetadata) {
  CreateMap("a");
  std::vector<std::string> received;
  const auto decode = [&](const JsonObject& object) {
    received.emplace_back(object.text());
    return DecodeAny<MetadataOnly<ConfigMap>>(object);
  };
  AnyHttpSource source(*transport_, ConfigMap::kKind, decode, Selector{.ns = "default"}, clock_,
                       ObjectForm::kMetadataOnly);
  const auto list = source.List({}, [](const informer::AnyObject&) {}, {});
  const auto watch = source.Watch({.resource_version = list.resource_version, .timeout = 300s}, {});
  CreateMap("b");
  EXPECT_EQ(watch->Next(0s).object.key().name, "b");

  ASSERT_THAT(received, SizeIs(2));
  for (const std::string& text : received) EXPECT_FALSE(json::parse(text).contains("data")) << text;
}

TEST_F(CacheWithServerTest, AKindIsCachedOnceItsDefinitionIsInstalled) {
  cache_.InformerFor(kGadgets);
  cache_.Start();
  AdvanceUntil(
      [&] { return !cache_.NotSynced().empty() && !cache_.NotSynced()[0].problem.empty(); });

  CreateCrd();
  CreateGadget("a");

  AdvanceUntil([&] { return cache_.NotSynced().empty() && !GadgetNames().empty(); });
  EXPECT_THAT(GadgetNames(), ElementsAre("a"));
}

TEST_F(CacheWithServerTest, TheCacheConvergesAfterADefinitionWasDeletedAndCreatedAgain) {
  CreateCrd();
  CreateGadget("old");
  cache_.InformerFor(kGadgets);
  std::atomic<int> deletions{0};
  cache_.InformerFor(kGadgets).AddHandler(
      {.on_delete = [&](const informer::AnyObject&, bool) { ++deletions; }},
      {.delivery = informer::Delivery::kInformerThread});
  cache_.Start();
  ASSERT_TRUE(cache_.WaitForSync({}));
  EXPECT_THAT(GadgetNames(), ElementsAre("old"));

  DeleteCrd();
  CreateCrd();
  CreateGadget("new");

  AdvanceUntil([&] { return GadgetNames() == std::vector<std::string>{"new"}; });
  AdvanceUntil([&] { return deletions == 1; });
}

}  // namespace
}  // namespace kopp
