#include <stdexcept>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <kopp/cache_options.hpp>
#include <kopp/informer/owning_kind.hpp>
#include <kopp/informer/unstructured.hpp>
#include <kopp/kinds.hpp>

namespace kopp {
namespace {

using ::testing::ElementsAre;
using ::testing::Key;

/// Returns each selector for the view `T` as "namespace/labels/fields".
template <ApiObject T>
std::vector<std::string> SelectorTextsOf(const CacheOptions& options) {
  std::vector<std::string> texts;
  for (const Selector& selector :
       detail::SelectorsOf(options, detail::CacheKey::Of<T>(), T::kKind.scope)) {
    texts.push_back(selector.ns + "/" + selector.labels.ToString() + "/" +
                    selector.fields.ToString());
  }
  return texts;
}

TEST(CacheOptionsTest, ByDefaultAllNamespacesAreWatchedWithoutASelector) {
  EXPECT_THAT(SelectorTextsOf<Pod>({}), ElementsAre("//"));
}

TEST(CacheOptionsTest, EachNamespaceIsWatchedAlone) {
  EXPECT_THAT(SelectorTextsOf<Pod>({.namespaces = {{"shop", {}}, {"web", {}}}}),
              ElementsAre("shop//", "web//"));
}

TEST(CacheOptionsTest, NamespacesHaveNoEffectOnClusterScopedKinds) {
  EXPECT_THAT(SelectorTextsOf<Namespace>(
                  {.namespaces = {{"shop", {.labels = "a=b"}}}, .selector = {.labels = "c=d"}}),
              ElementsAre("/c=d/"));
}

TEST(CacheOptionsTest, ASelectorIsTakenFromTheMostSpecificOptionThatSetsIt) {
  CacheOptions options{.namespaces = {{"a", {.labels = "from=namespace"}}, {"b", {}}},
                       .selector = {"from=default", "metadata.name=default"}};
  EXPECT_THAT(SelectorTextsOf<Pod>(options), ElementsAre("a/from=namespace/metadata.name=default",
                                                         "b/from=default/metadata.name=default"));

  options.ByObject<Pod>({.selector = {.labels = "from=object"}});
  EXPECT_THAT(SelectorTextsOf<Pod>(options), ElementsAre("a/from=object/metadata.name=default",
                                                         "b/from=object/metadata.name=default"));

  options.ByObject<Pod>({.namespaces = {{"a", {.labels = "from=both"}}, {"c", {}}},
                         .selector = {.labels = "from=object", .fields = ""}});
  EXPECT_THAT(SelectorTextsOf<Pod>(options), ElementsAre("a/from=both/", "c/from=object/"));
  EXPECT_THAT(
      SelectorTextsOf<Service>(options),
      ElementsAre("a/from=namespace/metadata.name=default", "b/from=default/metadata.name=default"))
      << "options for Pods changed those of Services";
}

TEST(CacheOptionsTest, AKindThatIsOnlyKnownAtRunTimeHasOptionsForEachForm) {
  const OwningKind kind(Pod::kKind);
  CacheOptions options;
  options.ByObject(kind, ObjectCacheOptions<Unstructured>{.selector = {.labels = "a=b"}});
  options.ByObject(kind, ObjectCacheOptions<PartialObjectMetadata>{.namespaces = {{"shop", {}}}});
  const auto selectors_of = [&](ObjectForm form) {
    return detail::SelectorsOf(options, detail::CacheKey::Of(kind, form), kind.scope);
  };

  ASSERT_EQ(selectors_of(ObjectForm::kComplete).size(), 1);
  EXPECT_EQ(selectors_of(ObjectForm::kComplete)[0].labels, LabelSelector("a=b"));
  EXPECT_EQ(selectors_of(ObjectForm::kComplete)[0].ns, "");
  EXPECT_EQ(selectors_of(ObjectForm::kMetadataOnly)[0].ns, "shop");
  EXPECT_EQ(selectors_of(ObjectForm::kMetadataOnly)[0].labels, LabelSelector());
  EXPECT_THAT(SelectorTextsOf<Pod>(options), ElementsAre("//"))
      << "the view has options of its own";
}

TEST(CacheOptionsTest, TheEmptyNamespaceMeansAllNamespacesThatAreNotNamed) {
  EXPECT_THAT(SelectorTextsOf<Pod>(
                  {.namespaces = {{"", {.fields = "status.phase=Running"}}, {"shop", {}}}}),
              ElementsAre("//status.phase=Running,metadata.namespace!=shop", "shop//"));
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
  CacheOptions options{.namespaces = {{"shop", {.labels = "app=shop"}},
                                      {"web", {.labels = "app=web"}},
                                      {"", {.labels = "app=any"}}}};
  RestrictNamespaces(options, "");
  EXPECT_EQ(options.namespaces.size(), 3);

  RestrictNamespaces(options, "shop,other");

  EXPECT_THAT(SelectorTextsOf<Pod>(options), ElementsAre("other/app=any/", "shop/app=shop/"));
}

}  // namespace
}  // namespace kopp
