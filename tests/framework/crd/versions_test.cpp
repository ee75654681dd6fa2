#include "crd/lost_fields.hpp"
#include "definition_error.hpp"
#include "types.hpp"

#include <map>
#include <optional>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <kopp/crd.hpp>

namespace crd_kinds {

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
KOPP_CRD(Site, ShortNames("st"), Deprecated(), NotServed())
}  // namespace v1beta1

namespace v1 {
struct Site {
  static constexpr kopp::Kind kKind{"example.com/v1", "Site", "sites"};
  struct Spec {
    std::vector<std::string> hosts;
  };
  kopp::ObjectMeta metadata;
  Spec spec;
};
KOPP_FIELDS(Site::Spec, hosts)
KOPP_FIELDS(Site, metadata, spec)
KOPP_CRD(Site, ShortNames("si"), StorageVersion())
}  // namespace v1

namespace v1alpha1 {
struct Site {
  static constexpr kopp::Kind kKind{"example.com/v1alpha1", "Site", "sites"};
  struct Page {
    std::string path;
    std::optional<std::string> title;
  };
  struct Spec {
    std::vector<Page> pages;
    std::map<std::string, Page> named;
    kopp::RawJson extra;
    std::optional<Page> front;
    std::map<std::string, std::string> labels;
  };
  kopp::ObjectMeta metadata;
  Spec spec;
};
KOPP_FIELDS(Site::Page, path, title)
KOPP_FIELDS(Site::Spec, pages, named, extra, front, labels)
KOPP_FIELDS(Site, metadata, spec)
KOPP_CRD(Site, ShortNames("si"))
}  // namespace v1alpha1

namespace v1alpha2 {
struct Site {
  static constexpr kopp::Kind kKind{"example.com/v1alpha2", "Site", "sites"};
  struct Page {
    std::string path;
  };
  struct Spec {
    std::vector<Page> pages;
    std::map<std::string, Page> named;
    std::optional<Page> extra;
    kopp::RawJson front;
    std::optional<Page> labels;
  };
  kopp::ObjectMeta metadata;
  Spec spec;
};
KOPP_FIELDS(Site::Page, path)
KOPP_FIELDS(Site::Spec, pages, named, extra, front, labels)
KOPP_FIELDS(Site, metadata, spec)
KOPP_CRD(Site, ShortNames("si"), StorageVersion())
}  // namespace v1alpha2

namespace v1_view {
struct Site {
  static constexpr kopp::Kind kKind{"example.com/v1", "Site", "sites"};
  kopp::ObjectMeta metadata;
};
KOPP_FIELDS(Site, metadata)
KOPP_CRD(Site, ShortNames("si"))
}  // namespace v1_view

namespace v2 {
struct Site {
  static constexpr kopp::Kind kKind{"example.com/v2", "Site", "sites", kopp::Scope::kCluster};
  kopp::ObjectMeta metadata;
};
KOPP_FIELDS(Site, metadata)
KOPP_CRD(Site)
}  // namespace v2

}  // namespace crd_kinds

namespace {

using kopp::CustomResourceDefinitionOf;
using kopp::testing::ErrorOfDefinition;
using nlohmann::json;
using testing::ElementsAre;
using testing::HasSubstr;

TEST(CrdTest, VersionsOfOneKindAreMerged) {
  const auto definition =
      CustomResourceDefinitionOf<crd_kinds::v1::Site, crd_kinds::v1beta1::Site>();
  const json& spec = definition.object()["spec"];
  EXPECT_EQ(definition.name(), "sites.example.com");
  EXPECT_EQ(spec["names"]["shortNames"], json({"si", "st"}));
  ASSERT_EQ(spec["versions"].size(), 2U);
  EXPECT_EQ(spec["versions"][0]["name"], "v1");
  EXPECT_EQ(spec["versions"][0]["storage"], true);
  EXPECT_EQ(spec["versions"][1]["name"], "v1beta1");
  EXPECT_EQ(spec["versions"][1]["storage"], false);
  EXPECT_EQ(spec["versions"][1]["deprecated"], true);
  EXPECT_EQ(spec["versions"][0]["served"], true);
  EXPECT_EQ(spec["versions"][1]["served"], false);
  const char* properties = "/schema/openAPIV3Schema/properties/spec/properties";
  EXPECT_TRUE(spec["versions"][0].at(json::json_pointer(properties)).contains("hosts"));
  EXPECT_TRUE(spec["versions"][1].at(json::json_pointer(properties)).contains("host"));
}

TEST(CrdTest, FieldsThatVersionsDeleteAreFoundAtEachDepth) {
  EXPECT_THAT(
      kopp::DescribeLostFields(
          CustomResourceDefinitionOf<crd_kinds::v1alpha1::Site, crd_kinds::v1alpha2::Site>()),
      ElementsAre("Site (sites.example.com): a write through v1alpha1 deletes fields of v1alpha2: "
                  "spec.front.*",
                  "Site (sites.example.com): the storage version v1alpha2 does not store fields of "
                  "v1alpha1: spec.extra.*, spec.labels.*, spec.named.*.title, "
                  "spec.pages[*].title"));
}

TEST(CrdTest, AVersionThatIsNotServedDeletesNoFields) {
  EXPECT_THAT(kopp::DescribeLostFields(
                  CustomResourceDefinitionOf<crd_kinds::v1::Site, crd_kinds::v1beta1::Site>()),
              testing::IsEmpty());
}

TEST(CrdTest, OneVersionIsTheStorageVersionWithoutAMarker) {
  const auto definition = CustomResourceDefinitionOf<crd_kinds::v1beta1::Site>();
  EXPECT_EQ(definition.object()["spec"]["versions"][0]["storage"], true);
}

TEST(CrdTest, AVersionThatIsNamedTwiceCountsOnce) {
  EXPECT_EQ((ErrorOfDefinition<crd_kinds::v1beta1::Site, crd_kinds::v1beta1::Site>()),
            "valid: sites.example.com");
}

TEST(CrdTest, SeveralVersionsWithoutAStorageVersionAreRefused) {
  EXPECT_THAT((ErrorOfDefinition<crd_kinds::v1beta1::Site, crd_kinds::v1alpha1::Site>()),
              HasSubstr("StorageVersion()"));
}

TEST(CrdTest, VersionsOfSeveralKindsAreRefused) {
  EXPECT_THAT((ErrorOfDefinition<crd_types::Foo, crd_kinds::v1::Site>()),
              HasSubstr("needs versions of one kind"));
}

TEST(CrdTest, VersionsThatDisagreeAboutTheScopeAreRefused) {
  EXPECT_THAT((ErrorOfDefinition<crd_kinds::v1::Site, crd_kinds::v2::Site>()),
              HasSubstr("sites.example.com is not valid: its versions disagree"));
}

TEST(CrdTest, TwoTypesOfOneVersionAreRefused) {
  EXPECT_THAT((ErrorOfDefinition<crd_kinds::v1::Site, crd_kinds::v1_view::Site>()),
              HasSubstr("sites.example.com is not valid: two types describe its version v1"));
}

}  // namespace
