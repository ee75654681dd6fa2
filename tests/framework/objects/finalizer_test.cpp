#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <kopp/client.hpp>
#include <kopp/finalizer.hpp>
#include <kopp/kinds.hpp>
#include <kopp/testing/fake_clock.hpp>
#include <kopp/testing/scripted_transport.hpp>

namespace kopp {
namespace {

using nlohmann::json;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr const char* kMapPath = "/api/v1/namespaces/shop/configmaps/settings";
constexpr const char* kFinalizer = "example.com/bucket";

class FinalizerTest : public ::testing::Test {
 protected:
  FinalizerTest() {
    map_.metadata.name = "settings";
    map_.metadata.ns = "shop";
    map_.metadata.uid = "u1";
    transport_.Respond("PATCH", kMapPath, 200, TextWith(R"(["example.com/bucket"])", "8"));
  }
  static std::string TextWith(const std::string& finalizers, const std::string& version) {
    return R"({"metadata":{"name":"settings","namespace":"shop","uid":"u1","resourceVersion":")" +
           version + R"(","finalizers":)" + finalizers + "}}";
  }
  json SentPatch() { return json::parse(transport_.Requests().at(0).body); }

  ConfigMap map_;
  testing::FakeClock clock_;
  testing::ScriptedTransport transport_{clock_};
  Client client_{transport_};
};

TEST_F(FinalizerTest, TheFirstFinalizerIsAddedIfTheObjectStillHasNone) {
  EXPECT_TRUE(AddFinalizer(client_, map_, kFinalizer));

  EXPECT_EQ(transport_.Requests().at(0).content_type, "application/json-patch+json");
  EXPECT_EQ(SentPatch(), json::parse(R"([
      {"op":"test","path":"/metadata/uid","value":"u1"},
      {"op":"test","path":"/metadata/finalizers","value":null},
      {"op":"add","path":"/metadata/finalizers","value":["example.com/bucket"]}])"));
}

TEST_F(FinalizerTest, AFurtherFinalizerIsAddedIfTheListIsUnchanged) {
  map_.metadata.finalizers = {"other.com/a"};

  EXPECT_TRUE(AddFinalizer(client_, map_, kFinalizer));

  EXPECT_EQ(SentPatch()[1], json::parse(R"({"op":"test","path":"/metadata/finalizers",
                                            "value":["other.com/a"]})"));
  EXPECT_EQ(SentPatch()[2], json::parse(R"({"op":"add","path":"/metadata/finalizers/-",
                                            "value":"example.com/bucket"})"));
}

TEST_F(FinalizerTest, AFinalizerIsRemovedByItsPositionAfterATestOfItsName) {
  map_.metadata.finalizers = {"other.com/a", kFinalizer};

  EXPECT_TRUE(RemoveFinalizer(client_, map_, kFinalizer));

  EXPECT_EQ(SentPatch(), json::parse(R"([
      {"op":"test","path":"/metadata/uid","value":"u1"},
      {"op":"test","path":"/metadata/finalizers/1","value":"example.com/bucket"},
      {"op":"remove","path":"/metadata/finalizers/1"}])"));
}

TEST_F(FinalizerTest, NothingIsSentIfTheObjectHasTheFinalizerAlreadyOrNoMore) {
  EXPECT_FALSE(RemoveFinalizer(client_, map_, kFinalizer));
  map_.metadata.finalizers = {kFinalizer};
  EXPECT_FALSE(AddFinalizer(client_, map_, kFinalizer));

  EXPECT_THAT(transport_.Requests(), IsEmpty());
}

TEST_F(FinalizerTest, MetadataIsSetToTheStoredObject) {
  AddFinalizer(client_, ConfigMap::kKind, map_.metadata, kFinalizer);

  EXPECT_EQ(map_.metadata.resourceVersion, "8");
  EXPECT_TRUE(HasFinalizer(map_.metadata, kFinalizer));
}

TEST_F(FinalizerTest, ARejectionForAnotherReasonIsThrownWithoutARetry) {
  transport_.Respond("PATCH", kMapPath, 422, R"({"reason":"Invalid"})");
  transport_.Respond("GET", kMapPath, 200, TextWith("[]", "8"));

  EXPECT_THROW(AddFinalizer(client_, map_, kFinalizer), ApiError);

  EXPECT_THAT(transport_.Requests(), SizeIs(2)) << "one PATCH and one GET";
}

TEST_F(FinalizerTest, AFinalizerThatOthersChangeAllTheTimeIsGivenUpAfterFivePatches) {
  int version = 0;
  transport_.Respond("PATCH", kMapPath, 422, R"({"reason":"Invalid"})");
  transport_.On("GET", kMapPath, [&](const ApiRequest&) -> ApiResponse {
    return {.status = 200,
            .body = TextWith("[\"other.com/" + std::to_string(++version) + "\"]", "9")};
  });

  EXPECT_THROW(AddFinalizer(client_, map_, kFinalizer), ApiError);

  EXPECT_EQ(version, 4);
}

TEST_F(FinalizerTest, AFinalizerOfAnObjectThatIsGoneOrNewIsNotRemoved) {
  map_.metadata.finalizers = {kFinalizer};
  transport_.Respond("PATCH", kMapPath, 404, R"({"reason":"NotFound"})");
  EXPECT_FALSE(RemoveFinalizer(client_, map_, kFinalizer)) << "gone";

  map_.metadata.uid = "u0";
  transport_.Respond("PATCH", kMapPath, 422, R"({"reason":"Invalid"})");
  transport_.Respond("GET", kMapPath, 200, TextWith(R"(["example.com/bucket"])", "8"));
  EXPECT_FALSE(RemoveFinalizer(client_, map_, kFinalizer)) << "created again";
}

TEST(JsonFinalizerTest, AFinalizerIsAddedToAndRemovedFromAJsonObject) {
  json object{{"metadata", {{"name", "settings"}}}};

  EXPECT_TRUE(AddFinalizer(object, kFinalizer));
  EXPECT_FALSE(AddFinalizer(object, kFinalizer));
  EXPECT_TRUE(AddFinalizer(object, "other.com/a"));
  EXPECT_TRUE(RemoveFinalizer(object, kFinalizer));
  EXPECT_FALSE(RemoveFinalizer(object, kFinalizer));

  EXPECT_TRUE(HasFinalizer(object, "other.com/a"));
  EXPECT_EQ(object["metadata"]["finalizers"], json::array({"other.com/a"}));
}

}  // namespace
}  // namespace kopp
