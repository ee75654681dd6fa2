#include "conformance.hpp"

namespace kopp::conformance {
namespace {

using ::testing::ElementsAre;

/// Fixture of tests of the pages of a list of five ConfigMaps: a, b, c, d, e.
class PaginationTest : public ConformanceTest {
 protected:
  PaginationTest() {
    for (const char* name : {"a", "b", "c", "d", "e"}) Create(name);
  }

  JsonResponse Create(const std::string& name) {
    return Post(Path("configmaps"),
                {{"metadata", {{"name", name}, {"labels", {{"letter", name}}}}}});
  }
  JsonResponse List(const std::string& query) { return Get(Path("configmaps") + "?" + query); }

  static std::string ContinueToken(const JsonResponse& page) {
    return page.str("/metadata/continue");
  }
};

TEST_F(PaginationTest, FirstPageHasATokenAndTheRemainingItemCount) {
  const JsonResponse page = List("limit=2");

  EXPECT_THAT(ItemNames(page), ElementsAre("a", "b"));
  EXPECT_NE(ContinueToken(page), "");
  EXPECT_EQ(page.at("/metadata/remainingItemCount"), 3);
}

TEST_F(PaginationTest, NextPageContinuesAfterThePreviousPage) {
  const JsonResponse page = List("limit=2&continue=" + ContinueToken(List("limit=2")));

  EXPECT_THAT(ItemNames(page), ElementsAre("c", "d"));
  EXPECT_EQ(page.at("/metadata/remainingItemCount"), 1);
}

TEST_F(PaginationTest, LastPageHasNoContinueToken) {
  const JsonResponse page = List("limit=3&continue=" + ContinueToken(List("limit=2")));

  EXPECT_THAT(ItemNames(page), ElementsAre("c", "d", "e"));
  EXPECT_EQ(page.at("/metadata/continue"), nullptr);
  EXPECT_EQ(page.at("/metadata/remainingItemCount"), nullptr);
}

TEST_F(PaginationTest, LimitEqualToTheItemCountReturnsNoContinueToken) {
  const JsonResponse page = List("limit=5");

  EXPECT_EQ(page.at("/items").size(), 5);
  EXPECT_EQ(page.at("/metadata/continue"), nullptr);
}

TEST_F(PaginationTest, ContinueWithoutALimitReturnsTheRest) {
  EXPECT_THAT(ItemNames(List("continue=" + ContinueToken(List("limit=2")))),
              ElementsAre("c", "d", "e"));
}

TEST_F(PaginationTest, LimitMayChangeBetweenPages) {
  EXPECT_THAT(ItemNames(List("limit=1&continue=" + ContinueToken(List("limit=2")))),
              ElementsAre("c"));
}

TEST_F(PaginationTest, AllPagesShowTheVersionOfTheFirstPage) {
  const JsonResponse first = List("limit=2");
  Create("cc");
  Delete(Path("configmaps") + "/d");
  const JsonResponse second = List("continue=" + ContinueToken(first));

  EXPECT_THAT(ItemNames(second), ElementsAre("c", "d", "e"));
  EXPECT_EQ(second.resource_version(), first.resource_version());
}

TEST_F(PaginationTest, ContinueTokenCanBeUsedTwice) {
  const std::string token = ContinueToken(List("limit=2"));

  EXPECT_THAT(ItemNames(List("continue=" + token)), ElementsAre("c", "d", "e"));
  EXPECT_THAT(ItemNames(List("continue=" + token)), ElementsAre("c", "d", "e"));
}

TEST_F(PaginationTest, PageWithALabelSelectorHasNoRemainingItemCount) {
  const JsonResponse page = List("limit=2&labelSelector=letter");

  EXPECT_THAT(ItemNames(page), ElementsAre("a", "b"));
  EXPECT_NE(ContinueToken(page), "");
  EXPECT_EQ(page.at("/metadata/remainingItemCount"), nullptr);
}

TEST_F(PaginationTest, PagesWithALabelSelectorHoldOnlyMatchingItems) {
  const std::string selector = "labelSelector=letter+in+(a,c,e)";
  const JsonResponse first = List("limit=2&" + selector);
  const JsonResponse second = List("limit=2&" + selector + "&continue=" + ContinueToken(first));

  EXPECT_THAT(ItemNames(first), ElementsAre("a", "c"));
  EXPECT_THAT(ItemNames(second), ElementsAre("e"));
  EXPECT_EQ(second.at("/metadata/continue"), nullptr);
}

TEST_F(PaginationTest, PagesOfAllNamespacesContinueAcrossNamespaces) {
  const std::string label = UniqueName("label");
  const std::string other_namespace = UniqueName("a-conformance");
  Post("/api/v1/namespaces", {{"metadata", {{"name", other_namespace}}}});
  const json object{{"metadata", {{"name", "x"}, {"labels", {{label, ""}}}}}};
  Post("/api/v1/namespaces/" + other_namespace + "/configmaps", object);
  Post(Path("configmaps"), object);

  const std::string list = "/api/v1/configmaps?limit=1&labelSelector=" + label;
  const JsonResponse first = Get(list);
  const JsonResponse second = Get(list + "&continue=" + ContinueToken(first));

  EXPECT_EQ(first.str("/items/0/metadata/namespace"), other_namespace);
  EXPECT_EQ(second.str("/items/0/metadata/namespace"), ns());
}

TEST_F(PaginationTest, LimitIsIgnoredForResourceVersionZero) {
  // The cache of a real kube-apiserver may be stale. A list with a resourceVersion waits until the
  // cache has that version.
  List("resourceVersion=" + Create("f").resource_version());
  const JsonResponse list = List("limit=2&resourceVersion=0");

  EXPECT_EQ(list.at("/items").size(), 6);
  EXPECT_EQ(list.at("/metadata/continue"), nullptr);
}

TEST_F(PaginationTest, ContinueWithAResourceVersionIsABadRequest) {
  const JsonResponse first = List("limit=2");
  const JsonResponse page = List("limit=2&continue=" + ContinueToken(first) +
                                 "&resourceVersion=" + first.resource_version());

  EXPECT_EQ(page.status, 400);
  EXPECT_EQ(page.reason(), "BadRequest");
  EXPECT_EQ(page.message(), "specifying resource version is not allowed when using continue");
}

TEST_F(PaginationTest, ContinueWithResourceVersionZeroIsAccepted) {
  const JsonResponse page =
      List("limit=2&resourceVersion=0&continue=" + ContinueToken(List("limit=2")));

  EXPECT_EQ(page.status, 200);
  EXPECT_EQ(page.at("/items/0/metadata/name"), "c");
}

TEST_F(PaginationTest, InvalidContinueTokenIsABadRequest) {
  const JsonResponse page = List("limit=2&continue=AAAA");

  EXPECT_EQ(page.status, 400);
  EXPECT_EQ(page.reason(), "BadRequest");
  EXPECT_THAT(page.message(),
              ::testing::StartsWith("invalid continue token: continue key is not valid: "));
}

}  // namespace
}  // namespace kopp::conformance
