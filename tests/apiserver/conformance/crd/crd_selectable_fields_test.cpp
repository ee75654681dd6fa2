#include "custom_resources.hpp"

namespace kopp::conformance {
namespace {

using ::testing::ElementsAre;

/// Fixture of tests of a CRD with the selectable fields .spec.color and .spec.size, and three
/// Widgets.
class CrdSelectableFieldsTest : public CrdPerTest {
 protected:
  CrdSelectableFieldsTest() {
    CreateCrd(ObjectSchema({{"spec", ObjectSchema({{"color", {{"type", "string"}}},
                                                   {"size", {{"type", "integer"}}}})}}),
              {{"selectableFields",
                json::array({{{"jsonPath", ".spec.color"}}, {{"jsonPath", ".spec.size"}}})}});
    Post(Widgets(), MakeWidget("a", {{"color", "red"}, {"size", 1}}));
    Post(Widgets(), MakeWidget("b", {{"color", "blue"}, {"size", 1}}));
    Post(Widgets(), MakeWidget("c", {{"size", 2}}));
  }

  std::vector<std::string> SelectedNames(const std::string& selector) {
    return ItemNames(Get(Widgets() + "?fieldSelector=" + selector));
  }
};

TEST_F(CrdSelectableFieldsTest, StringFieldSelectsByEqualityAndInequality) {
  EXPECT_THAT(SelectedNames("spec.color%3Dred"), ElementsAre("a"));
  EXPECT_THAT(SelectedNames("spec.color!%3Dred"), ElementsAre("b", "c"));
}

TEST_F(CrdSelectableFieldsTest, IntegerFieldSelectsByEquality) {
  EXPECT_THAT(SelectedNames("spec.size%3D1"), ElementsAre("a", "b"));
}

TEST_F(CrdSelectableFieldsTest, MissingFieldMatchesTheEmptyString) {
  EXPECT_THAT(SelectedNames("spec.color%3D"), ElementsAre("c"));
}

TEST_F(CrdSelectableFieldsTest, SelectorUsesTheNewFieldValueAfterAPatch) {
  MergePatch(Widgets() + "/b", {{"spec", {{"color", "red"}}}});

  EXPECT_THAT(SelectedNames("spec.color%3Dred,metadata.name!%3Da"), ElementsAre("b"));
}

TEST_F(CrdSelectableFieldsTest, SelectorOnAFieldThatIsNotSelectableIsABadRequest) {
  const JsonResponse response = Get(Widgets() + "?fieldSelector=spec.shape%3Dround");

  EXPECT_EQ(response.status, 400);
  EXPECT_EQ(response.message(), "field label not supported: spec.shape");
}

}  // namespace
}  // namespace kopp::conformance
