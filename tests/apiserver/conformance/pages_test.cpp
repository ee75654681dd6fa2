#include "conformance.hpp"

namespace kopp::conformance {
namespace {

using ::testing::ElementsAre;

/// Pages of a list of five: a, b, c, d, e.
class PagesTest : public ConformanceTest {
 protected:
  PagesTest() {
    for (const char* name : {"a", "b", "c", "d", "e"}) Create(name);
  }

  Answer Create(const std::string& name) {
    return Post(Path("configmaps"),
                {{"metadata", {{"name", name}, {"labels", {{"letter", name}}}}}});
  }
  Answer List(const std::string& query) { return Get(Path("configmaps") + "?" + query); }

  static std::string Token(const Answer& page) { return page.str("/metadata/continue"); }
};

TEST_F(PagesTest, TheFirstTellsHowManyAreLeft) {
  const Answer page = List("limit=2");

  EXPECT_THAT(Names(page), ElementsAre("a", "b"));
  EXPECT_NE(Token(page), "");
  EXPECT_EQ(page.at("/metadata/remainingItemCount"), 3);
}

TEST_F(PagesTest, TheNextBeginsWhereTheOneBeforeEnded) {
  const Answer page = List("limit=2&continue=" + Token(List("limit=2")));

  EXPECT_THAT(Names(page), ElementsAre("c", "d"));
  EXPECT_EQ(page.at("/metadata/remainingItemCount"), 1);
}

TEST_F(PagesTest, TheLastHasNoToken) {
  const Answer page = List("limit=3&continue=" + Token(List("limit=2")));

  EXPECT_THAT(Names(page), ElementsAre("c", "d", "e"));
  EXPECT_EQ(page.at("/metadata/continue"), nullptr);
  EXPECT_EQ(page.at("/metadata/remainingItemCount"), nullptr);
}

TEST_F(PagesTest, ALimitThatHoldsAllGivesNoToken) {
  const Answer page = List("limit=5");

  EXPECT_EQ(page.at("/items").size(), 5);
  EXPECT_EQ(page.at("/metadata/continue"), nullptr);
}

TEST_F(PagesTest, WithoutALimitTheNextIsTheRest) {
  EXPECT_THAT(Names(List("continue=" + Token(List("limit=2")))), ElementsAre("c", "d", "e"));
}

TEST_F(PagesTest, TheLimitMayChangeFromPageToPage) {
  EXPECT_THAT(Names(List("limit=1&continue=" + Token(List("limit=2")))), ElementsAre("c"));
}

TEST_F(PagesTest, AllAreOfTheTimeOfTheFirst) {
  const Answer first = List("limit=2");
  Create("cc");
  Delete(Path("configmaps") + "/d");
  const Answer second = List("continue=" + Token(first));

  EXPECT_THAT(Names(second), ElementsAre("c", "d", "e"));
  EXPECT_EQ(second.version(), first.version());
}

TEST_F(PagesTest, ATokenMayBeUsedTwice) {
  const std::string token = Token(List("limit=2"));

  EXPECT_THAT(Names(List("continue=" + token)), ElementsAre("c", "d", "e"));
  EXPECT_THAT(Names(List("continue=" + token)), ElementsAre("c", "d", "e"));
}

TEST_F(PagesTest, WithALabelSelectorNobodyKnowsHowManyAreLeft) {
  const Answer page = List("limit=2&labelSelector=letter");

  EXPECT_THAT(Names(page), ElementsAre("a", "b"));
  EXPECT_NE(Token(page), "");
  EXPECT_EQ(page.at("/metadata/remainingItemCount"), nullptr);
}

TEST_F(PagesTest, ThePagesOfASelectorHoldWhatItSelects) {
  const std::string selector = "labelSelector=letter+in+(a,c,e)";
  const Answer first = List("limit=2&" + selector);
  const Answer second = List("limit=2&" + selector + "&continue=" + Token(first));

  EXPECT_THAT(Names(first), ElementsAre("a", "c"));
  EXPECT_THAT(Names(second), ElementsAre("e"));
  EXPECT_EQ(second.at("/metadata/continue"), nullptr);
}

TEST_F(PagesTest, OfAllNamespacesGoOnAcrossThem) {
  const std::string label = Unique("label");
  const std::string other = Unique("a-conformance");
  Post("/api/v1/namespaces", {{"metadata", {{"name", other}}}});
  const json object{{"metadata", {{"name", "x"}, {"labels", {{label, ""}}}}}};
  Post("/api/v1/namespaces/" + other + "/configmaps", object);
  Post(Path("configmaps"), object);

  const std::string list = "/api/v1/configmaps?limit=1&labelSelector=" + label;
  const Answer first = Get(list);
  const Answer second = Get(list + "&continue=" + Token(first));

  EXPECT_EQ(first.str("/items/0/metadata/namespace"), other);
  EXPECT_EQ(second.str("/items/0/metadata/namespace"), ns());
}

TEST_F(PagesTest, FromTheCacheThereAreNone) {
  // The real server's cache may be behind; it waits for the version that is asked of it.
  List("resourceVersion=" + Create("f").version());
  const Answer list = List("limit=2&resourceVersion=0");

  EXPECT_EQ(list.at("/items").size(), 6);
  EXPECT_EQ(list.at("/metadata/continue"), nullptr);
}

TEST_F(PagesTest, ATokenAndAVersionAreABadRequest) {
  const Answer first = List("limit=2");
  const Answer page =
      List("limit=2&continue=" + Token(first) + "&resourceVersion=" + first.version());

  EXPECT_EQ(page.status, 400);
  EXPECT_EQ(page.reason(), "BadRequest");
  EXPECT_EQ(page.message(), "specifying resource version is not allowed when using continue");
}

TEST_F(PagesTest, ATokenAndVersionZeroAreTaken) {
  const Answer page = List("limit=2&resourceVersion=0&continue=" + Token(List("limit=2")));

  EXPECT_EQ(page.status, 200);
  EXPECT_EQ(page.at("/items/0/metadata/name"), "c");
}

TEST_F(PagesTest, ATokenThatIsNotTheServersIsABadRequest) {
  const Answer page = List("limit=2&continue=AAAA");

  EXPECT_EQ(page.status, 400);
  EXPECT_EQ(page.reason(), "BadRequest");
  EXPECT_THAT(page.message(),
              ::testing::StartsWith("invalid continue token: continue key is not valid: "));
}

}  // namespace
}  // namespace kopp::conformance
