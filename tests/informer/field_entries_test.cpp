#include <cstdio>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <kopp/informer/fields.hpp>

namespace depot {

/// Markers: entries find them in the namespace of the list, too.
struct AtLeast {
  int value;
};
struct Text {
  const char* value;
};
template <typename Member>
constexpr bool Check(const AtLeast& marker) {
  static_assert(std::is_integral_v<Member>);
  return marker.value >= 0;
}
template <typename Member>
constexpr bool Check(const Text& /*marker*/, const AtLeast& marker) {
  return Check<Member>(marker);
}

struct Shelf {
  int width = 1;
  int height = 2;
  std::string ns;
  int buffer[4] = {};
  std::function<void()> on_change;
  std::unique_ptr<int> owned;
};
KOPP_FIELDS(Shelf, KOPP_FIELD(width, AtLeast{0}), KOPP_FIELD(height, "h", Text{"tall"}, AtLeast{1}),
            KOPP_FIELD(ns, "namespace"), KOPP_IGNORE(buffer), KOPP_IGNORE(on_change),
            KOPP_IGNORE(owned))

struct Nothing {};
KOPP_FIELDS(Nothing)

struct Tree {
  std::string name;
  std::vector<Tree> children;
};
KOPP_FIELDS(Tree, name, children)

struct Drawer : Nothing {
  int depth = 3;
};
KOPP_FIELDS(Drawer, depth)

struct Split {
  std::string name;
  std::optional<Tree> tree;
};
KOPP_DECLARE_FIELDS(Split)

/// An amount in grams, written as a string with a unit or as a number.
struct Weight {
  int grams = 0;
};
void KoppDecode(std::string_view json, Weight& weight) {
  const std::string text =
      json.front() == '"' ? kopp::detail::DecodeString(json) : std::string(json);
  if (std::sscanf(text.c_str(), "%d", &weight.grams) == 1) return;
  throw kopp::DecodeError(kopp::DecodeError::Kind::kTypeMismatch, "", "expected a weight");
}
std::string KoppEncode(const Weight& weight) {
  return kopp::detail::EncodeString(std::to_string(weight.grams) + "g");
}
bool KoppIsEmpty(const Weight& weight) { return weight.grams == 0; }

struct Parcel {
  Weight net;
  std::optional<Weight> gross;
  std::vector<Weight> parts;
};
KOPP_FIELDS(Parcel, net, gross, parts)

KOPP_DEFINE_FIELDS(Split, KOPP_FIELD(name, "title"), tree)

#define DEPOT_TEN(x) x##0, x##1, x##2, x##3, x##4, x##5, x##6, x##7, x##8, x##9
struct Long {
  int DEPOT_TEN(a), DEPOT_TEN(b), DEPOT_TEN(c), DEPOT_TEN(d);
};
KOPP_FIELDS(Long, DEPOT_TEN(a), DEPOT_TEN(b), DEPOT_TEN(c), DEPOT_TEN(d))
#undef DEPOT_TEN

}  // namespace depot

namespace kopp {
namespace {

/// Writes down each field: its name, its value and the number of its markers.
struct FieldRecorder {
  const depot::Shelf& shelf;
  std::vector<std::string> fields = {};

  template <typename Class, auto kMember, typename... Markers>
  void Visit(std::string_view name, const Markers&... /*markers*/) {
    std::string value;
    detail::Encoder encoder{value};
    detail::EncodeMember(shelf.*kMember, encoder);
    fields.push_back(std::string(name) + " " + value + " " + std::to_string(sizeof...(Markers)));
  }
};

TEST(FieldEntriesTest, AVisitorSeesTheNameAndMarkersOfEachFieldInOrder) {
  const depot::Shelf shelf;
  FieldRecorder recorder{shelf};

  KoppVisitFields(&shelf, recorder);

  EXPECT_THAT(recorder.fields, ::testing::ElementsAre("width 1 1", "h 2 2", R"(namespace "" 0)"));
}

TEST(FieldEntriesTest, IgnoredMembersOfAnyTypeAreNoFields) {
  EXPECT_EQ(Encode(depot::Shelf{}), R"({"width":1,"h":2})");
  EXPECT_EQ(Decode<depot::Shelf>(R"({"h":7,"owned":1,"buffer":[1]})").height, 7);
}

TEST(FieldEntriesTest, AStructWithoutMembersIsAnEmptyObject) {
  EXPECT_EQ(Encode(depot::Nothing{}), "{}");
  EXPECT_NO_THROW((void)Decode<depot::Nothing>(R"({"a":1})"));
}

TEST(FieldEntriesTest, AStructMayHaveAListOfItself) {
  const std::string text = R"({"name":"a","children":[{"name":"b","children":[{"name":"c"}]}]})";

  EXPECT_EQ(Encode(Decode<depot::Tree>(text)), text);
}

TEST(FieldEntriesTest, AStructWithABaseClassMayListItsOwnMembers) {
  EXPECT_EQ(Encode(depot::Drawer{}), R"({"depth":3})");
}

TEST(FieldEntriesTest, ADeclaredListIsUsedBeforeItsDefinition) {
  const std::string text = R"({"title":"t","tree":{"name":"a"}})";

  EXPECT_EQ(Encode(Decode<depot::Split>(text)), text);
}

TEST(FieldEntriesTest, ATypeWithAJsonFormOfItsOwnIsAField) {
  const auto parcel = Decode<depot::Parcel>(R"({"net":"5g","gross":6,"parts":["\u0037"]})");

  EXPECT_EQ(parcel.net.grams, 5);
  EXPECT_EQ(parcel.gross.value_or(depot::Weight{}).grams, 6);
  EXPECT_EQ(Encode(parcel), R"({"net":"5g","gross":"6g","parts":["7g"]})");
  EXPECT_EQ(Encode(depot::Parcel{}), "{}");
}

TEST(FieldEntriesTest, AnErrorInAJsonFormIsReportedWithThePathOfTheField) {
  try {
    (void)Decode<depot::Parcel>(R"({"parts":[1,"heavy"]})");
    ADD_FAILURE() << "no exception";
  } catch (const DecodeError& error) {
    EXPECT_STREQ(error.what(), "parts[1]: expected a weight");
  }
}

TEST(FieldEntriesTest, DecodeStringRejectsAValueThatIsNoString) {
  EXPECT_EQ(detail::DecodeString(R"("a\"b")"), "a\"b");
  EXPECT_THROW((void)detail::DecodeString("12"), DecodeError);
  EXPECT_THROW((void)detail::DecodeString("{}"), DecodeError);
}

TEST(FieldEntriesTest, AListOfFortyFieldsHasThemInOrder) {
  const detail::Fields fields = KoppFields(static_cast<const depot::Long*>(nullptr));

  ASSERT_EQ(fields.size(), 40);
  EXPECT_EQ(fields[15].name, "b5");
  EXPECT_EQ(fields[16].name, "b6");
  EXPECT_EQ(fields[39].name, "d9");
}

}  // namespace
}  // namespace kopp
