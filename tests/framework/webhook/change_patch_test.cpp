// Tests the patches of webhooks that set defaults.
#include "webhook/change_patch.hpp"

#include <stdexcept>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <kopp/informer/decode_error.hpp>

namespace kopp {
namespace {

using nlohmann::json;

json PatchFor(const char* object, const char* before, const char* after) {
  const std::string patch = ChangePatch(object, before, after);
  return patch.empty() ? json::array() : json::parse(patch);
}

TEST(ChangePatchTest, AnEqualStructHasNoPatch) {
  EXPECT_EQ(ChangePatch(R"({"a":1,"b":[2]})", R"({"a":1})", R"({"a":1})"), "");
}

TEST(ChangePatchTest, AFieldIsAddedReplacedOrRemovedAtItsOwnPath) {
  EXPECT_EQ(PatchFor(R"({"spec":{"other":{},"size":1,"old":"x"}})",
                     R"({"spec":{"size":1,"old":"x"}})", R"({"spec":{"size":2,"new":{"a":true}}})"),
            json::parse(R"([{"op":"remove","path":"/spec/old"},
                            {"op":"add","path":"/spec/new","value":{"a":true}},
                            {"op":"replace","path":"/spec/size","value":2}])"));
}

TEST(ChangePatchTest, NamesWithSlashesAndTildesAreEscaped) {
  EXPECT_EQ(PatchFor(R"({"labels":{"a/b~c":"1"}})", R"({"labels":{"a/b~c":"1"}})",
                     R"({"labels":{"a/b~c":"2","\"":"3"}})"),
            json::parse(R"([{"op":"add","path":"/labels/\"","value":"3"},
                            {"op":"replace","path":"/labels/a~1b~0c","value":"2"}])"));
}

TEST(ChangePatchTest, AnUnchangedFieldThatTheObjectLacksIsNotAdded) {
  EXPECT_EQ(PatchFor(R"({"other":1})", R"({"size":0,"on":false})", R"({"size":0,"on":true})"),
            json::parse(R"([{"op":"add","path":"/on","value":true}])"));
}

TEST(ChangePatchTest, ARemovedFieldThatTheObjectLacksIsIgnored) {
  EXPECT_EQ(ChangePatch(R"({"other":1})", R"({"size":0})", "{}"), "");
}

TEST(ChangePatchTest, AFieldThatTheStructOmittedHasAPatchOnlyIfItsValueIsNew) {
  EXPECT_EQ(ChangePatch(R"({"size":0})", "{}", R"({"size":0})"), "");
  EXPECT_EQ(PatchFor(R"({"size":1})", "{}", R"({"size":0})"),
            json::parse(R"([{"op":"replace","path":"/size","value":0}])"));
}

TEST(ChangePatchTest, AValueOfAnotherTypeIsReplaced) {
  EXPECT_EQ(PatchFor(R"({"spec":null})", "{}", R"({"spec":{"size":1}})"),
            json::parse(R"([{"op":"replace","path":"/spec","value":{"size":1}}])"));
}

TEST(ChangePatchTest, ItemsOfListsKeepTheFieldsThatTheStructDoesNotHave) {
  const json object = json::parse(R"({"l":[{"name":"a","x":1},{"name":"b","x":2}],"m":[1]})");

  const json patch = PatchFor(object.dump().c_str(), R"({"l":[{"name":"a"},{"name":"b"}]})",
                              R"({"l":[{"name":"b","y":3}]})");

  EXPECT_EQ(object.patch(patch), json::parse(R"({"l":[{"name":"b","x":2,"y":3}],"m":[1]})"));
}

/// Returns `object` with the patch for the change of its field `l`.
json Patched(const char* object, const char* before, const char* after) {
  return json::parse(object).patch(PatchFor(object, before, after));
}

TEST(ChangePatchTest, AnItemThatGetsANameKeepsItsOtherFields) {
  for (const char* before : {R"({"l":[{}]})", R"({"l":[{"name":"","port":0}]})"}) {
    EXPECT_EQ(Patched(R"({"l":[{"x":1}]})", before, R"({"l":[{"name":"a","port":80}]})"),
              json::parse(R"({"l":[{"x":1,"name":"a","port":80}]})"))
        << before;
  }
}

TEST(ChangePatchTest, AnItemThatLosesItsNameKeepsItsOtherFields) {
  EXPECT_EQ(Patched(R"({"l":[{"name":"a","x":1}]})", R"({"l":[{"name":"a"}]})", R"({"l":[{}]})"),
            json::parse(R"({"l":[{"x":1}]})"));
}

TEST(ChangePatchTest, AnItemWithAnotherNameIsANewItem) {
  EXPECT_EQ(Patched(R"({"l":[{"name":"a","x":1},{"name":"b","x":2}]})",
                    R"({"l":[{"name":"a"},{"name":"b"}]})", R"({"l":[{"name":"c"},{"name":"b"}]})"),
            json::parse(R"({"l":[{"name":"c"},{"name":"b","x":2}]})"));
}

TEST(ChangePatchTest, AnItemWithoutANameThatIsChangedBesideAnAddedOneIsAnErrorIfItWouldLoseFields) {
  const char* const before = R"({"l":[{"from":"a"}]})";
  for (const char* after : {R"({"l":[{"from":"b"},{"from":"c"}]})",
                            R"({"l":[{"from":"b","name":"n"},{"name":"m"}]})"}) {
    EXPECT_THROW((void)PatchFor(R"({"l":[{"from":"a","x":1}]})", before, after), std::logic_error)
        << after;
    EXPECT_EQ(Patched(R"({"l":[{"from":"a"}]})", before, after), json::parse(after));
  }
}

TEST(ChangePatchTest, AnItemWithoutANameIsRemovedWithItsOtherFields) {
  EXPECT_EQ(Patched(R"({"l":[{"from":"a","x":1},{"from":"b","x":2}]})",
                    R"({"l":[{"from":"a"},{"from":"b"}]})", R"({"l":[{"from":"b"}]})"),
            json::parse(R"({"l":[{"from":"b","x":2}]})"));
}

TEST(ChangePatchTest, TheRemovalOfOneOfTwoEqualItemsIsAnErrorIfTheirOtherFieldsDiffer) {
  const char* const before = R"({"l":[{"from":"a"},{"from":"a"}]})";
  const char* const after = R"({"l":[{"from":"a"}]})";

  EXPECT_THROW((void)PatchFor(R"({"l":[{"from":"a","x":1},{"from":"a","x":2}]})", before, after),
               std::logic_error);
  EXPECT_EQ(Patched(R"({"l":[{"from":"a","x":1},{"from":"a","x":1}]})", before, after),
            json::parse(R"({"l":[{"from":"a","x":1}]})"));
}

TEST(ChangePatchTest, ChangedPartsThatAreNotJsonCauseADecodeError) {
  EXPECT_THROW((void)ChangePatch(R"({"l":[1,}]})", R"({"l":[1]})", R"({"l":[2]})"), DecodeError);
  EXPECT_THROW((void)ChangePatch(R"({"l":)", R"({"l":[1]})", R"({"l":[2]})"), DecodeError);
}

}  // namespace
}  // namespace kopp
