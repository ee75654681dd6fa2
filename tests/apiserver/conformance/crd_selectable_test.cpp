#include "custom_resources.hpp"

namespace kopp::conformance {
namespace {

using ::testing::ElementsAre;

class CrdSelectableTest : public DefinitionTest {
 protected:
  CrdSelectableTest() {
    Define(AnObject({{"spec", AnObject({{"color", {{"type", "string"}}},
                                        {"size", {{"type", "integer"}}}})}}),
           {{"selectableFields",
             json::array({{{"jsonPath", ".spec.color"}}, {{"jsonPath", ".spec.size"}}})}});
    Post(Widgets(), AWidget("a", {{"color", "red"}, {"size", 1}}));
    Post(Widgets(), AWidget("b", {{"color", "blue"}, {"size", 1}}));
    Post(Widgets(), AWidget("c", {{"size", 2}}));
  }

  std::vector<std::string> Selected(const std::string& selector) {
    return Names(Get(Widgets() + "?fieldSelector=" + selector));
  }
};

TEST_F(CrdSelectableTest, AFieldOfTextSelects) {
  EXPECT_THAT(Selected("spec.color%3Dred"), ElementsAre("a"));
  EXPECT_THAT(Selected("spec.color!%3Dred"), ElementsAre("b", "c"));
}

TEST_F(CrdSelectableTest, ANumberSelects) {
  EXPECT_THAT(Selected("spec.size%3D1"), ElementsAre("a", "b"));
}

TEST_F(CrdSelectableTest, WhatIsNotThereIsEmpty) {
  EXPECT_THAT(Selected("spec.color%3D"), ElementsAre("c"));
}

TEST_F(CrdSelectableTest, AChangeSelectsAnew) {
  MergePatch(Widgets() + "/b", {{"spec", {{"color", "red"}}}});

  EXPECT_THAT(Selected("spec.color%3Dred,metadata.name!%3Da"), ElementsAre("b"));
}

TEST_F(CrdSelectableTest, NoOtherFieldSelects) {
  const Answer answer = Get(Widgets() + "?fieldSelector=spec.shape%3Dround");

  EXPECT_EQ(answer.status, 400);
  EXPECT_EQ(answer.message(), "field label not supported: spec.shape");
}

}  // namespace
}  // namespace kopp::conformance
