#include <stdexcept>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <kopp/create_or_update.hpp>
#include <kopp/kinds.hpp>
#include <kopp/testing/fake_clock.hpp>
#include <kopp/testing/scripted_transport.hpp>

namespace kopp {
namespace {

using nlohmann::json;

constexpr const char* kMaps = "/api/v1/namespaces/shop/configmaps";
constexpr const char* kSettings = "/api/v1/namespaces/shop/configmaps/settings";
constexpr const char* kSettingsText = R"({"apiVersion":"v1","kind":"ConfigMap","metadata":
    {"name":"settings","namespace":"shop","resourceVersion":"7"},"data":{"color":"red"}})";

/// Returns a Mutate that sets data.color.
Mutate SetColor(const std::string& color) {
  return [color](json& object) { object["data"]["color"] = color; };
}

class CreateOrUpdateTest : public ::testing::Test {
 protected:
  ApiRequest LastRequest() { return transport_.Requests().back(); }

  const ObjectKey settings_{"shop", "settings"};
  testing::FakeClock clock_;
  testing::ScriptedTransport transport_{clock_};
  Client client_{transport_, "shop-operator"};
};

TEST_F(CreateOrUpdateTest, AMissingObjectIsCreatedInItsDesiredState) {
  transport_.Respond("POST", kMaps, 201, kSettingsText);

  const auto outcome = CreateOrUpdate<ConfigMap>(client_, settings_, SetColor("red"));

  EXPECT_EQ(outcome.result, OperationResult::kCreated);
  EXPECT_EQ(outcome.object.metadata.resourceVersion, "7");
  EXPECT_EQ(json::parse(LastRequest().body),
            json::parse(R"({"apiVersion":"v1","kind":"ConfigMap","data":{"color":"red"},
                            "metadata":{"name":"settings","namespace":"shop"}})"));
}

TEST_F(CreateOrUpdateTest, AnObjectInItsDesiredStateIsNotWritten) {
  transport_.Respond("GET", kSettings, 200, kSettingsText);

  const auto outcome = CreateOrUpdate<ConfigMap>(client_, settings_, SetColor("red"));

  EXPECT_EQ(outcome.result, OperationResult::kUnchanged);
  EXPECT_EQ(outcome.object.data.at("color"), "red");
  EXPECT_EQ(CreateOrPatch(client_, ConfigMap::kKind, settings_, SetColor("red")).result,
            OperationResult::kUnchanged);
  EXPECT_EQ(transport_.Requests().size(), 2) << "one GET for each";
}

TEST_F(CreateOrUpdateTest, AFieldThatIsSetToNullAndDoesNotExistIsNoChange) {
  transport_.Respond("GET", kSettings, 200, kSettingsText);

  const auto outcome = CreateOrUpdate(client_, ConfigMap::kKind, settings_,
                                      [](json& object) { object["data"]["size"] = nullptr; });

  EXPECT_EQ(outcome.result, OperationResult::kUnchanged);
}

TEST_F(CreateOrUpdateTest, AChangedObjectIsPutWithItsResourceVersion) {
  transport_.Respond("GET", kSettings, 200, kSettingsText);
  transport_.Respond("PUT", kSettings, 200, kSettingsText);

  const auto outcome =
      CreateOrUpdate(client_, ConfigMap::kKind, settings_, SetColor("blue"), {.dry_run = true});

  EXPECT_EQ(outcome.result, OperationResult::kUpdated);
  EXPECT_EQ(outcome.object, json::parse(kSettingsText)) << "as the server has returned it";
  const json body = json::parse(LastRequest().body);
  EXPECT_EQ(body.at("metadata").at("resourceVersion"), "7");
  EXPECT_EQ(body.at("data").at("color"), "blue");
  EXPECT_EQ(LastRequest().target,
            std::string(kSettings) + "?fieldManager=shop-operator&dryRun=All");
}

TEST_F(CreateOrUpdateTest, CreateOrPatchSendsTheChangedFieldsOnly) {
  transport_.Respond("GET", kSettings, 200, kSettingsText);
  transport_.Respond("PATCH", kSettings, 200, kSettingsText);

  const auto outcome = CreateOrPatch<ConfigMap>(client_, settings_, SetColor("blue"));

  EXPECT_EQ(outcome.result, OperationResult::kUpdated);
  EXPECT_EQ(LastRequest().content_type, "application/merge-patch+json");
  EXPECT_EQ(LastRequest().body, R"({"data":{"color":"blue"}})");
}

TEST_F(CreateOrUpdateTest, AnotherNameOrNamespaceIsRejectedBeforeTheWrite) {
  const auto rename = [](json& object) { object["metadata"]["name"] = "other"; };
  const auto move = [](json& object) { object["metadata"]["namespace"] = "other"; };
  const auto clear = [](json& object) { object.erase("metadata"); };

  for (const Mutate& mutate : {Mutate(rename), Mutate(move), Mutate(clear)}) {
    EXPECT_THROW(CreateOrUpdate(client_, ConfigMap::kKind, settings_, mutate),
                 std::invalid_argument);
    EXPECT_THROW(CreateOrPatch(client_, ConfigMap::kKind, settings_, mutate),
                 std::invalid_argument);
  }
  for (const ApiRequest& request : transport_.Requests()) EXPECT_EQ(request.method, "GET");
}

TEST_F(CreateOrUpdateTest, AnObjectThatAnotherClientCreatesMeanwhileIsThrownAsAlreadyExists) {
  transport_.Respond("POST", kMaps, 409, R"({"reason":"AlreadyExists"})");

  try {
    CreateOrUpdate(client_, ConfigMap::kKind, settings_, SetColor("red"));
    FAIL() << "CreateOrUpdate returned";
  } catch (const ApiError& error) {
    EXPECT_TRUE(error.IsAlreadyExists());
  }
}

TEST_F(CreateOrUpdateTest, ASubresourceIsRejectedBeforeARequestIsSent) {
  EXPECT_THROW(CreateOrUpdate(client_, ConfigMap::kKind, settings_, SetColor("red"),
                              {.subresource = "status"}),
               std::invalid_argument);
  EXPECT_THROW(CreateOrPatch(client_, ConfigMap::kKind, settings_, SetColor("red"),
                             {.subresource = "status"}),
               std::invalid_argument);

  EXPECT_TRUE(transport_.Requests().empty());
}

TEST_F(CreateOrUpdateTest, AnExceptionOfMutateIsRethrownAndNothingIsWritten) {
  EXPECT_THROW(CreateOrUpdate(client_, ConfigMap::kKind, settings_,
                              [](json&) { throw std::runtime_error("not ready"); }),
               std::runtime_error);
  EXPECT_EQ(transport_.Requests().size(), 1);
}

}  // namespace
}  // namespace kopp
