// The code of docs/cache.md.
#include "foo.hpp"

#include <iostream>
#include <string>
#include <string_view>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <kopp/framework.hpp>
#include <kopp/standalone_cache.hpp>
#include <kopp/testing/environment.hpp>

namespace cache_page {
namespace {

using kopp::ConfigMap;
using kopp::Deployment;
using kopp::Pod;
using nlohmann::json;
using sample::Foo;

// An API server with the namespace "shop", which has a ConfigMap, a Deployment and a Foo.
class CachePageTest : public testing::Test {
 protected:
  CachePageTest() {
    env_.Install(MANIFESTS "/crd.yaml");
    const auto& client = env_.client();
    client.Create<kopp::Namespace>({{"metadata", {{"name", "shop"}}}});
    client.Create<ConfigMap>({{"metadata", {{"name", "settings"}, {"namespace", "shop"}}}});
    client.Create<Deployment>(json::parse(R"({"metadata":{"name":"web","namespace":"shop"},
            "spec":{"replicas":2,"selector":{"matchLabels":{"app":"web"}},
                    "template":{"metadata":{"labels":{"app":"web"}},
                                "spec":{"containers":[{"name":"main","image":"web:1"}]}}}})"));
  }

  kopp::testing::Environment env_;
  kopp::Logger log_{{.write = [](std::string_view) {}}};
};

TEST_F(CachePageTest, AReadAfterAWrite) {
  kopp::StandaloneCache cache(env_.server().transport(), kopp::CacheOptions{}, log_,
                              kopp::Clock::Real());
  cache.InformerFor<ConfigMap>();
  cache.Start();
  ASSERT_TRUE(cache.WaitForSync({}));

  const kopp::Client client = env_.client().WithWriteObserver(cache.write_observer());
  client.Patch<ConfigMap>({"shop", "settings"}, kopp::Patch::Merge({{"data", {{"color", "red"}}}}));
  const auto settings = cache.Get<ConfigMap>({"shop", "settings"});  // has the color
  const auto at_once = cache.Get<ConfigMap>({"shop", "settings"}, {.await_own_writes = false});

  EXPECT_EQ(settings->data.at("color"), "red");
  EXPECT_NE(at_once, nullptr);
}

TEST_F(CachePageTest, ListsAndIndexes) {
  env_.client().Create<Pod>(json::parse(R"({"metadata":{"name":"web-1","namespace":"shop",
      "labels":{"app":"web"}},"spec":{"nodeName":"node-1",
      "containers":[{"name":"main","image":"web:1"}]}})"));
  kopp::StandaloneCache cache(env_.server().transport(),
                              {.namespaces = kopp::ParseNamespaces("shop")}, log_,
                              kopp::Clock::Real());

  cache.AddIndex<Pod>("node", [](const Pod& pod) { return std::vector{pod.spec.nodeName}; });
  cache.AddOwnerIndex<Pod>();
  cache.Start();
  cache.WaitForSync({});
  const auto web =
      cache.List<Pod>({.ns = "shop", .labels = "app=web"}, {.order = {.sort_by_name = true}});
  const auto on_node = cache.ByIndex<Pod>("node", "node-1");
  const auto children = cache.OwnedBy<Pod>(*web.front());  // by the uid in the owner references

  EXPECT_EQ(web, on_node);
  EXPECT_EQ(children.size(), 0);
}

TEST_F(CachePageTest, NamespacesSelectorsAndTransforms) {
  kopp::CacheOptions cache{.namespaces = {{"shop", {}}, {"web", {}}}};
  cache.ByObject<Deployment>({.selector = {.labels = "app=web"}});
  cache.ByObject<ConfigMap>(
      {.transform = [](ConfigMap& map) { map.metadata.annotations.clear(); }});

  kopp::StandaloneCache started(env_.server().transport(), cache, log_, kopp::Clock::Real());
  started.InformerFor<Deployment>();
  started.InformerFor<ConfigMap>();
  started.Start();
  ASSERT_TRUE(started.WaitForSync({}));
  EXPECT_EQ(started.List<Deployment>().size(), 0) << "it does not have the label";
  EXPECT_NE(started.Get<ConfigMap>({"shop", "settings"}), nullptr);
}

TEST_F(CachePageTest, FormsInAController) {
  const auto reconcile = [](const kopp::ObjectKey& key, kopp::Context& context) {
    context.log.Info("called", {{"key", key}});
    return kopp::Result{};
  };
  env_.manager()
      .AddController<Foo>()
      .Owns<kopp::MetadataOnly<ConfigMap>>()
      .Watches<kopp::Whole<Deployment>>([](const kopp::Whole<Deployment>& deployment) {
        const json image = deployment.At("/spec/template/spec/containers/0/image");
        std::vector<kopp::ObjectKey> foos;
        if (image == "web:1") foos.push_back({"shop", "foo"});
        return foos;
      })
      .Reconcile(reconcile);

  env_.Start();
  EXPECT_TRUE(
      env_.Eventually([&] { return env_.Log().find("key=\"shop/foo\"") != std::string::npos; }));
}

TEST_F(CachePageTest, AKindThatIsOnlyKnownAtRunTime) {
  kopp::RestMapper mapper(env_.server().transport());
  kopp::StandaloneCache cache(env_.server().transport(),
                              {.namespaces = kopp::ParseNamespaces("shop")}, log_,
                              kopp::Clock::Real());

  const kopp::OwningKind deployments = mapper.ForResource("deployments.apps").kind;
  cache.InformerFor(deployments);
  cache.InformerFor(deployments, kopp::ObjectForm::kMetadataOnly);
  cache.Start();
  cache.WaitForSync({});
  const auto web = cache.Get(deployments, {"shop", "web"});
  std::cout << web->At("/spec/replicas") << ' ' << cache.ListMetadata(deployments).size() << '\n';

  EXPECT_EQ(web->At("/spec/replicas"), 2);
}

TEST_F(CachePageTest, AReadThatStartsToWatch) {
  kopp::StandaloneCache cache(env_.server().transport(),
                              kopp::CacheOptions{.start_informers_on_read = true}, log_,
                              kopp::Clock::Real());
  cache.Start();
  const auto settings = cache.Get<ConfigMap>({"shop", "settings"});  // lists all ConfigMaps
  cache.Remove<ConfigMap>();

  EXPECT_EQ(settings->metadata.name, "settings");
}

}  // namespace
}  // namespace cache_page
