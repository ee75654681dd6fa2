#include <stdexcept>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <kopp/cache_options.hpp>
#include <kopp/informer/kind_ref.hpp>
#include <kopp/informer/unstructured.hpp>
#include <kopp/kinds.hpp>

namespace kopp {
namespace {

using ::testing::ElementsAre;
using ::testing::Key;

/// Returns each filter for the view `T` as "namespace/labels/fields".
template <Object T>
std::vector<std::string> FiltersOf(const CacheOptions& options) {
  std::vector<std::string> texts;
  for (const ListFilter& filter :
       detail::CacheFilters(options, detail::CacheKey::Of<T>(), T::kKind.scope)) {
    texts.push_back(filter.ns + "/" + filter.label_selector + "/" + filter.field_selector);
  }
  return texts;
}

TEST(CacheOptionsTest, ByDefaultAllNamespacesAreWatchedWithoutASelector) {
  EXPECT_THAT(FiltersOf<Pod>({}), ElementsAre("//"));
}

TEST(CacheOptionsTest, EachNamespaceIsWatchedAlone) {
  EXPECT_THAT(FiltersOf<Pod>({.namespaces = {{"shop", {}}, {"web", {}}}}),
              ElementsAre("shop//", "web//"));
}

TEST(CacheOptionsTest, NamespacesHaveNoEffectOnClusterScopedKinds) {
  EXPECT_THAT(FiltersOf<Namespace>({.namespaces = {{"shop", {.label_selector = "a=b"}}},
                                    .selector = {.label_selector = "c=d"}}),
              ElementsAre("/c=d/"));
}

TEST(CacheOptionsTest, ASelectorIsTakenFromTheMostSpecificOptionThatSetsIt) {
  CacheOptions options{.namespaces = {{"a", {.label_selector = "from=namespace"}}, {"b", {}}},
                       .selector = {"from=default", "metadata.name=default"}};
  EXPECT_THAT(FiltersOf<Pod>(options), ElementsAre("a/from=namespace/metadata.name=default",
                                                   "b/from=default/metadata.name=default"));

  options.ByObject<Pod>({.selector = {.label_selector = "from=object"}});
  EXPECT_THAT(FiltersOf<Pod>(options), ElementsAre("a/from=object/metadata.name=default",
                                                   "b/from=object/metadata.name=default"));

  options.ByObject<Pod>({.namespaces = {{"a", {.label_selector = "from=both"}}, {"c", {}}},
                         .selector = {.label_selector = "from=object", .field_selector = ""}});
  EXPECT_THAT(FiltersOf<Pod>(options), ElementsAre("a/from=both/", "c/from=object/"));
  EXPECT_THAT(FiltersOf<Service>(options), ElementsAre("a/from=namespace/metadata.name=default",
                                                       "b/from=default/metadata.name=default"))
      << "options for Pods changed those of Services";
}

TEST(CacheOptionsTest, AKindThatIsOnlyKnownAtRunTimeHasOptionsForEachForm) {
  const KindRef kind(Pod::kKind);
  CacheOptions options;
  options.ByObject(kind, ObjectCacheOptions<Unstructured>{.selector = {.label_selector = "a=b"}});
  options.ByObject(kind, ObjectCacheOptions<PartialObjectMetadata>{.namespaces = {{"shop", {}}}});
  const auto filters_of = [&](ObjectForm form) {
    return detail::CacheFilters(options, detail::CacheKey::Of(kind, form), kind.scope);
  };

  ASSERT_EQ(filters_of(ObjectForm::kComplete).size(), 1);
  EXPECT_EQ(filters_of(ObjectForm::kComplete)[0].label_selector, "a=b");
  EXPECT_EQ(filters_of(ObjectForm::kComplete)[0].ns, "");
  EXPECT_EQ(filters_of(ObjectForm::kMetadataOnly)[0].ns, "shop");
  EXPECT_EQ(filters_of(ObjectForm::kMetadataOnly)[0].label_selector, "");
  EXPECT_THAT(FiltersOf<Pod>(options), ElementsAre("//")) << "the view has options of its own";
}

TEST(CacheOptionsTest, TheEmptyNamespaceMeansAllNamespacesThatAreNotNamed) {
  EXPECT_THAT(FiltersOf<Pod>(
                  {.namespaces = {{"", {.field_selector = "status.phase=Running"}}, {"shop", {}}}}),
              ElementsAre("//status.phase=Running,metadata.namespace!=shop", "shop//"));
}

TEST(CacheOptionsTest, AnInvalidSelectorIsRejected) {
  EXPECT_THROW((void)FiltersOf<Pod>({.selector = {.label_selector = "a in b"}}),
               std::invalid_argument);
  EXPECT_THROW((void)FiltersOf<Pod>({.selector = {.field_selector = "status.phase"}}),
               std::invalid_argument);
}

TEST(CacheOptionsTest, ParseNamespacesReadsACommaSeparatedListOfNames) {
  EXPECT_THAT(ParseNamespaces(""), ElementsAre());
  EXPECT_THAT(ParseNamespaces("web"), ElementsAre(Key("web")));
  EXPECT_THAT(ParseNamespaces("web,shop-2"), ElementsAre(Key("shop-2"), Key("web")));
  for (const char* invalid : {",", "web,", ",web", "web, shop", "Web", "-web", "web/x", "web%2f"}) {
    EXPECT_THROW((void)ParseNamespaces(invalid), std::invalid_argument) << invalid;
  }
}

TEST(CacheOptionsTest, RestrictedNamespacesKeepTheirSelectors) {
  CacheOptions options{.namespaces = {{"shop", {.label_selector = "app=shop"}},
                                      {"web", {.label_selector = "app=web"}},
                                      {"", {.label_selector = "app=any"}}}};
  RestrictNamespaces(options, "");
  EXPECT_EQ(options.namespaces.size(), 3);

  RestrictNamespaces(options, "shop,other");

  EXPECT_THAT(FiltersOf<Pod>(options), ElementsAre("other/app=any/", "shop/app=shop/"));
}

}  // namespace
}  // namespace kopp
