// The code of the section "Several versions" of docs/crds.md.
#include <optional>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <kopp/crd.hpp>
#include <kopp/dynamic_client.hpp>
#include <kopp/manager.hpp>
#include <kopp/testing/environment.hpp>

namespace {

using nlohmann::json;
using testing::HasSubstr;

}  // namespace

namespace v1beta1 {
struct Site {
  static constexpr kopp::Kind kKind{"example.com/v1beta1", "Site", "sites"};
  struct Spec {
    std::string host;
  };
  kopp::ObjectMeta metadata;
  Spec spec;
};
KOPP_FIELDS(Site::Spec, host)
KOPP_FIELDS(Site, metadata, spec)
KOPP_CRD(Site, Deprecated("use v1"))
}  // namespace v1beta1

namespace v1 {
struct Site {
  static constexpr kopp::Kind kKind{"example.com/v1", "Site", "sites"};
  struct Spec {
    std::string host;
    std::optional<std::string> color;  // new in v1
  };
  kopp::ObjectMeta metadata;
  Spec spec;
};
KOPP_FIELDS(Site::Spec, host, color)
KOPP_FIELDS(Site, metadata, spec)
KOPP_CRD(Site, StorageVersion())
}  // namespace v1

// Versions that lose nothing.
namespace same::v1beta1 {
struct Site {
  static constexpr kopp::Kind kKind{"example.com/v1beta1", "Site", "sites"};
  kopp::ObjectMeta metadata;
  v1::Site::Spec spec;
};
KOPP_FIELDS(Site, metadata, spec)
KOPP_CRD(Site, Deprecated("use v1"))
}  // namespace same::v1beta1

namespace open {
struct Site {
  static constexpr kopp::Kind kKind{"example.com/v1beta1", "Site", "sites"};
  struct Spec {
    std::string host;
  };
  kopp::ObjectMeta metadata;
  Spec spec;
};
KOPP_FIELDS(Site::Spec, host)
KOPP_FIELDS(Site, metadata, KOPP_FIELD(spec, PreserveUnknownFields()))
KOPP_CRD(Site, Deprecated("use v1"))
}  // namespace open

namespace {

template <typename Old>
class Sites {
 public:
  Sites() {
    env_.InstallObject(kopp::CustomResourceDefinitionOf<v1::Site, Old>().object());
    env_.client().Create(v1::Site{.metadata = {.name = "blog", .ns = "default"},
                                  .spec = {.host = "a.example.com", .color = "blue"}});
  }
  const kopp::Client& client() { return env_.client(); }
  std::optional<std::string> Color() {
    return client().template Get<v1::Site>({"default", "blog"})->spec.color;
  }

 private:
  kopp::testing::Environment env_;
};

const kopp::ObjectKey blog_key{"default", "blog"};

TEST(VersionsPageTest, AnUpdateThroughTheOldVersionDeletesTheNewField) {
  Sites<v1beta1::Site> sites;
  const kopp::Client& client = sites.client();
  json site = client.Dynamic(v1beta1::Site::kKind).Get({"default", "blog"}).value().Json();
  site["spec"]["host"] = "b.example.com";
  client.Update<v1beta1::Site>(site);

  const auto stored = client.Get<v1::Site>({"default", "blog"}).value();
  EXPECT_EQ(stored.spec.color, std::nullopt);  // was "blue"
  EXPECT_EQ(stored.spec.host, "b.example.com");
}

TEST(VersionsPageTest, APatchThroughTheOldVersionDeletesTheNewField) {
  Sites<v1beta1::Site> sites;
  sites.client().Patch<v1beta1::Site>(
      blog_key, kopp::Patch::Merge({{"metadata", {{"labels", {{"a", "b"}}}}}}));
  EXPECT_EQ(sites.Color(), std::nullopt);
}

TEST(VersionsPageTest, AWriteThroughTheNewVersionKeepsIt) {
  Sites<v1beta1::Site> sites;
  sites.client().Patch<v1::Site>(blog_key,
                                 kopp::Patch::Merge({{"spec", {{"host", "c.example.com"}}}}));
  EXPECT_EQ(sites.Color(), "blue");
  json site = sites.client().Dynamic(v1::Site::kKind).Get(blog_key).value().Json();
  site["spec"]["host"] = "b.example.com";
  sites.client().Update<v1::Site>(site);
  EXPECT_EQ(sites.Color(), "blue");
}

TEST(VersionsPageTest, AWriteThroughAVersionWithTheSameSchemaKeepsIt) {
  Sites<same::v1beta1::Site> sites;
  json site = sites.client().Dynamic(same::v1beta1::Site::kKind).Get(blog_key).value().Json();
  site["spec"]["host"] = "b.example.com";
  sites.client().Update<same::v1beta1::Site>(site);
  EXPECT_EQ(sites.Color(), "blue");
}

TEST(VersionsPageTest, AWriteThroughAVersionThatPreservesUnknownFieldsKeepsIt) {
  Sites<open::Site> sites;
  json site = sites.client().Dynamic(open::Site::kKind).Get(blog_key).value().Json();
  site["spec"]["host"] = "b.example.com";
  sites.client().Update<open::Site>(site);
  EXPECT_EQ(sites.Color(), "blue");
}

/// Runs --print-crd of a program with two versions of Site. Returns standard error; standard output
/// must be the definition.
template <typename Old>
std::string WarningsOfPrintCrd() {
  kopp::Manager manager({.action = kopp::Options::Action::kPrintCrd});
  manager.AddCrd<v1::Site>();
  manager.AddCrd<Old>();
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  EXPECT_EQ(manager.Run(std::stop_token()), 0);
  EXPECT_EQ(testing::internal::GetCapturedStdout(),
            (kopp::CustomResourceDefinitionOf<v1::Site, Old>().ToYaml()));
  return testing::internal::GetCapturedStderr();
}

TEST(VersionsPageTest, PrintCrdWarnsAboutFieldsThatAVersionDeletes) {
  EXPECT_EQ(WarningsOfPrintCrd<v1beta1::Site>(),
            "Warning: Site (sites.example.com): a write through v1beta1 deletes fields of v1: "
            "spec.color\n");
  EXPECT_EQ(WarningsOfPrintCrd<same::v1beta1::Site>(), "");
  EXPECT_EQ(WarningsOfPrintCrd<open::Site>(), "");
}

}  // namespace
