// Tests the patches of webhooks that set defaults.
#include "webhook/change_patch.hpp"

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

TEST(ChangePatchTest, ChangedPartsThatAreNotJsonCauseADecodeError) {
  EXPECT_THROW((void)ChangePatch(R"({"l":[1,}]})", R"({"l":[1]})", R"({"l":[2]})"), DecodeError);
  EXPECT_THROW((void)ChangePatch(R"({"l":)", R"({"l":[1]})", R"({"l":[2]})"), DecodeError);
}

}  // namespace
}  // namespace kopp
