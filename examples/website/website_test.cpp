// Tests the operator for Websites on an API server in memory.
#include "reconciler.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <kopp/testing/environment.hpp>

namespace website {
namespace {

using kopp::ConfigMap;
using kopp::Deployment;
using kopp::Service;
using testing::_;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;

const kopp::ObjectKey blog_key{"default", "blog"};

class WebsiteTest : public testing::Test {
 protected:
  WebsiteTest() {
    env_.InstallObject(kopp::CustomResourceDefinitionOf<v1::Website, v1beta1::Website>().object());
    AddController(env_.manager(), dns_);
    env_.Start();
    env_.client().Create(v1::Website{.metadata = {.name = "blog", .ns = "default"},
                                     .spec = {.host = "blog.example.com", .page = "blog-page"}});
  }
  ~WebsiteTest() override { env_.Stop(); }

  void WritePage(const std::string& text) {
    env_.client().Apply(ConfigMap{.metadata = {.name = "blog-page", .ns = "default"},
                                  .data = {{"index.html", text}}});
  }
  /// Blocks until the condition Ready has this reason.
  bool AwaitReason(const std::string& reason) {
    return static_cast<bool>(env_.Eventually<v1::Website>(blog_key, [&](const v1::Website& site) {
      const auto* ready = kopp::FindCondition(site.status.conditions, "Ready");
      return ready != nullptr && ready->reason == reason;
    }));
  }

  Dns dns_;
  kopp::testing::Environment env_{{.enforce_permissions = true}};
};

TEST_F(WebsiteTest, AWebsiteWaitsForItsPageAndIsServedThen) {
  ASSERT_TRUE(AwaitReason("PageMissing"));
  EXPECT_FALSE(env_.client().Get<Deployment>(blog_key));

  WritePage("Hello");

  ASSERT_TRUE(AwaitReason("Starting"));
  EXPECT_TRUE(env_.client().Get<Service>(blog_key));
  EXPECT_THAT(dns_.Records(), ElementsAre(Pair(_, "blog.example.com")));
  const Deployment available{.status = {.availableReplicas = 1, .readyReplicas = 1, .replicas = 1}};
  env_.client().PatchStatus<Deployment>(blog_key,
                                        kopp::Patch::Merge(available));  // as a cluster does
  EXPECT_TRUE(AwaitReason("Serving"));
}

TEST_F(WebsiteTest, AChangedPageReplacesThePods) {
  WritePage("Hello");
  ASSERT_TRUE(env_.Eventually<Deployment>(blog_key));
  const auto version = [](const Deployment& deployment) {
    return deployment.spec.template_.metadata.annotations.at("example.com/page-version");
  };
  const std::string before = version(*env_.client().Get<Deployment>(blog_key));

  WritePage("Good bye");

  EXPECT_TRUE(env_.Eventually<Deployment>(
      blog_key, [&](const Deployment& deployment) { return version(deployment) != before; }));
}

TEST_F(WebsiteTest, ADeletedWebsiteIsGoneAfterItsRecordInDns) {
  WritePage("Hello");
  ASSERT_TRUE(AwaitReason("Starting"));

  env_.client().Delete<v1::Website>(blog_key);

  EXPECT_TRUE(env_.EventuallyGone<v1::Website>(blog_key));
  EXPECT_THAT(dns_.Records(), IsEmpty());
}

TEST_F(WebsiteTest, AWriteThroughTheOldVersionKeepsAllFields) {
  const v1beta1::Website change{.spec = {.replicas = 2}};
  env_.client().Patch<v1beta1::Website>(blog_key, kopp::Patch::Merge(change));
  WritePage("Hello");

  EXPECT_TRUE(env_.Eventually<Deployment>(
      blog_key, [](const Deployment& deployment) { return deployment.spec.replicas == 2; }));
  EXPECT_EQ(env_.client().Get<v1::Website>(blog_key)->spec.host, "blog.example.com");
}

}  // namespace
}  // namespace website
