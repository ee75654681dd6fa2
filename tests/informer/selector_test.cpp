#include <map>
#include <stdexcept>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <kopp/informer/selector.hpp>

// The conformance suite of the API server compares the parsers with kube-apiserver.
namespace kopp {
namespace {

using Labels = std::map<std::string, std::string>;
using ::testing::HasSubstr;

/// Returns the message of the std::invalid_argument that `function` throws, or "none".
template <typename F>
std::string InvalidArgumentOf(F function) {
  try {
    function();
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "none";
}

TEST(LabelSelectorTest, DefaultSelectorMatchesAllLabels) {
  const LabelSelector selector;

  EXPECT_TRUE(selector.empty());
  EXPECT_TRUE(selector.Matches({}));
  EXPECT_TRUE(selector.Matches({{"app", "web"}}));
  EXPECT_EQ(selector.ToString(), "");
}

TEST(LabelSelectorTest, SelectorOfLabelsMatchesObjectsWithAllOfThem) {
  const LabelSelector selector(Labels{{"app", "web"}, {"tier", "front"}});

  EXPECT_TRUE(selector.Matches({{"app", "web"}, {"tier", "front"}, {"other", "x"}}));
  EXPECT_FALSE(selector.Matches({{"app", "web"}}));
  EXPECT_EQ(selector.ToString(), "app=web,tier=front");
}

TEST(LabelSelectorTest, NotEqualsAndNotInMatchObjectsWithoutTheLabel) {
  EXPECT_TRUE(LabelSelector().NotEquals("app", "web").Matches({}));
  EXPECT_TRUE(LabelSelector().NotIn("app", {"web", "db"}).Matches({}));
  EXPECT_FALSE(LabelSelector().NotIn("app", {"web", "db"}).Matches({{"app", "db"}}));
}

TEST(LabelSelectorTest, EqualsAndInDoNotMatchObjectsWithoutTheLabel) {
  EXPECT_FALSE(LabelSelector().Equals("app", "").Matches({}));
  EXPECT_TRUE(LabelSelector().Equals("app", "").Matches({{"app", ""}}));
  EXPECT_FALSE(LabelSelector().In("app", {"web"}).Matches({}));
}

TEST(LabelSelectorTest, ExistsMatchesAnyValue) {
  EXPECT_TRUE(LabelSelector().Exists("app").Matches({{"app", ""}}));
  EXPECT_FALSE(LabelSelector().Exists("app").Matches({{"App", ""}}));
  EXPECT_FALSE(LabelSelector().DoesNotExist("app").Matches({{"app", ""}}));
}

TEST(LabelSelectorTest, GreaterThanAndLessThanMatchOnlyIntegers) {
  const auto selector = LabelSelector().GreaterThan("n", -1).LessThan("n", 10);

  EXPECT_TRUE(selector.Matches({{"n", "9"}}));
  EXPECT_FALSE(selector.Matches({{"n", "10"}}));
  EXPECT_FALSE(selector.Matches({{"n", "-1"}}));
  EXPECT_FALSE(selector.Matches({{"n", "5.0"}}));
  EXPECT_FALSE(selector.Matches({}));
}

TEST(LabelSelectorTest, TextOfEachOperatorIsParsedToTheSameSelector) {
  const auto selector = LabelSelector()
                            .Equals("a", "1")
                            .NotEquals("b", "2")
                            .In("c", {"3", "4", ""})
                            .NotIn("d", {"5", "6"})
                            .Exists("example.com/e")
                            .DoesNotExist("f")
                            .GreaterThan("g", -7)
                            .LessThan("h", 8);

  EXPECT_EQ(selector.ToString(), "a=1,b!=2,c in (3,4,),d notin (5,6),example.com/e,!f,g>-7,h<8");
  EXPECT_EQ(LabelSelector::Parse(selector.ToString()), selector);
}

TEST(LabelSelectorTest, ParseAcceptsSpacesAndBothSpellingsOfEquals) {
  EXPECT_EQ(LabelSelector::Parse(" a == 1 , b in ( 2 , 3 ) "),
            LabelSelector().Equals("a", "1").In("b", {"2", "3"}));
}

TEST(SelectorTest, ATextIsParsedWhereASelectorIsExpected) {
  const Selector selector{.labels = "app=web", .fields = std::string("metadata.name=a")};

  EXPECT_EQ(selector.labels, LabelSelector().Equals("app", "web"));
  EXPECT_EQ(selector.fields, FieldSelector().Equals("metadata.name", "a"));
  EXPECT_THROW((void)Selector{.labels = "a b"}, std::invalid_argument);
  EXPECT_THROW((void)Selector{.fields = "status.phase"}, std::invalid_argument);
}

TEST(LabelSelectorTest, ParseOfMalformedTextThrowsMessageOfKubeApiserver) {
  EXPECT_EQ(InvalidArgumentOf([] { (void)LabelSelector::Parse("a b"); }),
            "unable to parse requirement: found 'b', expected: in, notin, =, ==, !=, gt, lt");
  EXPECT_EQ(InvalidArgumentOf([] { (void)LabelSelector::Parse("a,"); }),
            "found '', expected: identifier after ','");
}

TEST(LabelSelectorTest, InvalidKeyOrValueOfARequirementThrows) {
  EXPECT_THAT(InvalidArgumentOf([] { (void)LabelSelector().Exists("no spaces"); }),
              HasSubstr("Invalid value: \"no spaces\": name part must consist of"));
  EXPECT_THAT(InvalidArgumentOf([] { (void)LabelSelector().Equals("a", "no spaces"); }),
              HasSubstr("values[0][a]: Invalid value: \"no spaces\": a valid label must be"));
  EXPECT_THAT(InvalidArgumentOf([] { (void)LabelSelector().In("a", {}); }),
              HasSubstr("a in () needs at least one value"));
  EXPECT_THAT(InvalidArgumentOf([] { (void)LabelSelector().NotIn("a", {}); }),
              HasSubstr("a notin () needs at least one value"));
}

/// Evaluates `selector` for an object with `fields`.
bool Matches(const FieldSelector& selector, const std::map<std::string, std::string>& fields) {
  return selector.Matches([&](const std::string& field) {
    const auto found = fields.find(field);
    return found == fields.end() ? nullptr : &found->second;
  });
}

TEST(FieldSelectorTest, ObjectMatchesIfItSatisfiesAllRequirements) {
  const auto selector =
      FieldSelector().Equals("metadata.name", "a").NotEquals("status.phase", "Failed");

  EXPECT_TRUE(Matches(selector, {{"metadata.name", "a"}, {"status.phase", "Running"}}));
  EXPECT_TRUE(Matches(selector, {{"metadata.name", "a"}}));
  EXPECT_FALSE(Matches(selector, {{"metadata.name", "a"}, {"status.phase", "Failed"}}));
  EXPECT_FALSE(Matches(selector, {{"status.phase", "Running"}}));
  EXPECT_TRUE(Matches(FieldSelector(), {}));
}

TEST(FieldSelectorTest, TextOfSpecialCharactersIsParsedToTheSameSelector) {
  const auto selector =
      FieldSelector().Equals("a", R"(=1,2\3=)").NotEquals("b", "").Equals("c", "");

  EXPECT_EQ(selector.ToString(), R"(a=\=1\,2\\3\=,b!=,c=)");
  EXPECT_EQ(FieldSelector::Parse(selector.ToString()), selector);
}

TEST(FieldSelectorTest, ParseAcceptsBothSpellingsOfEqualsAndEmptyTerms) {
  EXPECT_EQ(FieldSelector::Parse(",a==1,,b=2,"), FieldSelector().Equals("a", "1").Equals("b", "2"));
}

TEST(FieldSelectorTest, ParseOfMalformedTextThrowsMessageOfKubeApiserver) {
  const auto message = [](const char* text) {
    return InvalidArgumentOf([text] { (void)FieldSelector::Parse(text); });
  };

  EXPECT_EQ(message("a=1,b"), "invalid selector: 'a=1,b'; can't understand 'b'");
  EXPECT_EQ(message("a=1=2"), "invalid field selector: unescaped character in value: 61");
  EXPECT_EQ(message("a===1"), "invalid field selector: unescaped character in value: 61");
  EXPECT_EQ(message(R"(a=\x)"), R"(invalid field selector: invalid escape sequence: \x)");
  EXPECT_EQ(message(R"(a=\)"), R"(invalid field selector: invalid escape sequence: \)");
}

}  // namespace
}  // namespace kopp
