// The requests of writes of objects that an owner controls. owned_writes_with_server_test.cpp
// tests what an API server does with them.
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <kopp/client.hpp>
#include <kopp/kinds.hpp>
#include <kopp/owner.hpp>
#include <kopp/testing/fake_clock.hpp>
#include <kopp/testing/scripted_transport.hpp>

namespace kopp {
namespace {

using nlohmann::json;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr const char* kOwnedMap = "/api/v1/namespaces/shop/configmaps/settings";
constexpr const char* kConflict = R"({"kind":"Status","reason":"Conflict","code":409})";
constexpr const char* kOtherUid = R"({"kind":"Status","reason":"Invalid","code":422,"details":
    {"causes":[{"field":"metadata.uid"}]}})";

/// Returns a ConfigMap at the API server.
std::string OwnedMapText(const std::string& uid, const std::string& owner_uid = "u-parent",
                         const std::string& owner = "parent", const std::string& label = "") {
  json metadata{{"name", "settings"}, {"namespace", "shop"}, {"uid", uid}};
  if (!owner_uid.empty()) {
    metadata["ownerReferences"] = {{{"apiVersion", "v1"},
                                    {"kind", "Secret"},
                                    {"name", owner},
                                    {"uid", owner_uid},
                                    {"controller", true}}};
  }
  if (!label.empty()) metadata["labels"] = {{kAdoptLabel, label}};
  return json{{"apiVersion", "v1"}, {"kind", "ConfigMap"}, {"metadata", metadata}}.dump();
}

class OwnedWritesTest : public ::testing::Test, private WriteObserver {
 protected:
  OwnedWritesTest() {
    transport_.Respond("GET", kOwnedMap, 404,
                       R"({"kind":"Status","reason":"NotFound","code":404})");
    transport_.Respond("PATCH", kOwnedMap, 201, OwnedMapText("u1"));
  }

  static Secret Parent() {
    return {.metadata = {.name = "parent", .ns = "shop", .uid = "u-parent"}};
  }
  static ConfigMap Child() {
    // Contains what looks like metadata, before and in the metadata of the object.
    return {.metadata = OwnedBy(Parent(), "settings"), .data = {{"a", R"("metadata":{)"}}};
  }
  /// Returns the requests since the last call: the method, and the precondition in the body.
  std::vector<std::string> Requests() {
    std::vector<std::string> texts;
    const auto requests = transport_.Requests();
    for (; seen_ < requests.size(); ++seen_) {
      const ApiRequest& request = requests[seen_];
      std::string text = request.method;
      if (!request.body.empty()) {
        const json metadata = json::parse(request.body).at("metadata");
        if (metadata.contains("uid")) text += " uid " + metadata["uid"].get<std::string>();
        if (metadata.contains("resourceVersion")) {
          text += " version " + metadata["resourceVersion"].get<std::string>();
        }
      }
      texts.push_back(text);
    }
    return texts;
  }
  /// Returns the message of the ForeignObjectError that `write` throws.
  static std::string ErrorOf(const std::function<void()>& write) {
    try {
      write();
    } catch (const ForeignObjectError& error) {
      return error.what();
    }
    return "no ForeignObjectError";
  }

  Client Observed() { return client_.WithWriteObserver(*this); }
  std::optional<std::string> known_uid_;      // what the observer returns
  mutable std::vector<std::string> lookups_;  // the arguments of each call of FindOwned

  testing::FakeClock clock_;
  testing::ScriptedTransport transport_{clock_};
  Client client_{transport_};

 private:
  void OnWrite(const Kind&, const WrittenObject&) override {}
  std::optional<std::string> FindOwned(const Kind& kind, const ObjectKey& key,
                                       std::string_view owner_uid) const override {
    lookups_.push_back(std::string(kind.kind) + ' ' + key.ToString() + ' ' +
                       std::string(owner_uid));
    return known_uid_;
  }

  std::size_t seen_ = 0;
};

TEST_F(OwnedWritesTest, AnUnknownObjectIsReadOnceAndThenWrittenWithOneRequest) {
  client_.Apply(Child());
  EXPECT_THAT(Requests(), ElementsAre("GET", "PATCH version 1"));
  EXPECT_THAT(transport_.Requests()[0].accept, HasSubstr("as=PartialObjectMetadata"));

  client_.Apply(Child());
  client_.WithFieldManager("other").Apply(Child());
  client_.Apply<ConfigMap>(json::parse(Encode(Child())));
  client_.InNamespace("shop").Apply(Child());
  EXPECT_THAT(Requests(),
              ElementsAre("PATCH uid u1", "PATCH uid u1", "PATCH uid u1", "PATCH uid u1"));
}

TEST_F(OwnedWritesTest, AnExistingObjectOfTheOwnerIsWrittenWithItsUid) {
  transport_.Respond("GET", kOwnedMap, 200, OwnedMapText("u0"));

  client_.Apply(Child());

  EXPECT_THAT(Requests(), ElementsAre("GET", "PATCH uid u0"));
}

TEST_F(OwnedWritesTest, AnObjectThatTheObserverKnowsIsNotRead) {
  known_uid_ = "u7";
  Observed().Apply(Child());
  known_uid_ = "";
  Observed().Apply(Child());

  EXPECT_THAT(Requests(), ElementsAre("PATCH uid u7", "PATCH version 1"));
  EXPECT_THAT(lookups_,
              ElementsAre("ConfigMap shop/settings u-parent", "ConfigMap shop/settings u-parent"));

  known_uid_.reset();
  Observed().Apply(Child());
  EXPECT_THAT(Requests(), ElementsAre("GET", "PATCH version 1"))
      << "the client does not keep what the observer knows";
}

TEST_F(OwnedWritesTest, AnObjectOfAFormerOwnerIsNotWritten) {
  client_.Apply(Child());
  Requests();
  ConfigMap of_other = Child();
  of_other.metadata.ownerReferences.Mutable()[0].uid = "u-other";
  transport_.Respond("GET", kOwnedMap, 200, OwnedMapText("u1"));

  EXPECT_THAT(ErrorOf([&] { client_.Apply(of_other); }), HasSubstr("belongs to a former Secret"));
  EXPECT_THAT(Requests(), ElementsAre("GET"));
}

TEST_F(OwnedWritesTest, AnObjectWithoutAnOwnerIsNotWritten) {
  transport_.Respond("GET", kOwnedMap, 200, OwnedMapText("u0", ""));

  EXPECT_THAT(
      ErrorOf([&] { client_.Apply(Child()); }),
      AllOf(HasSubstr("ConfigMap shop/settings already exists and is not controlled by Secret "
                      "parent: delete it"),
            HasSubstr("label kopp/adopt=true"), HasSubstr("{.adopt = true}")));
  EXPECT_THAT(ErrorOf([&] { client_.Replace(Child()); }), HasSubstr("already exists"));
  EXPECT_THAT(ErrorOf([&] { client_.Apply(Child(), {.dry_run = true}); }),
              HasSubstr("already exists"));
  EXPECT_THAT(Requests(), ElementsAre("GET", "GET", "GET"));
}

TEST_F(OwnedWritesTest, AnObjectOfAnotherControllerIsNotWrittenEvenWithTheLabel) {
  transport_.Respond("GET", kOwnedMap, 200, OwnedMapText("u0", "u-other", "other", "true"));

  try {
    client_.Apply(Child());
    FAIL() << "no exception";
  } catch (const ForeignObjectError& error) {
    EXPECT_EQ(std::string(error.what()),
              "ConfigMap shop/settings already exists and is controlled by Secret other, not by "
              "Secret parent: delete one of the two, or choose another name");
    ASSERT_TRUE(error.controller());
    EXPECT_EQ(error.controller()->uid, "u-other");
  }
}

TEST_F(OwnedWritesTest, TheLabelAllowsToTakeOverAnObjectWithoutAController) {
  transport_.Respond("GET", kOwnedMap, 200, OwnedMapText("u0", "", "", "false"));
  EXPECT_THAT(ErrorOf([&] { client_.Apply(Child()); }), HasSubstr("already exists"));
  Requests();

  for (const std::string owner_uid : {"", "u-former-parent"}) {
    transport_.Respond("GET", kOwnedMap, 200, OwnedMapText("u0", owner_uid, "parent", "true"));
    Client(transport_).Apply(Child());
    EXPECT_THAT(Requests(), ElementsAre("GET", "PATCH uid u0"));
  }
}

TEST_F(OwnedWritesTest, AdoptSendsNeitherAReadNorAPrecondition) {
  transport_.Respond("PUT", kOwnedMap, 200, OwnedMapText("u1"));

  client_.Apply(Child(), {.adopt = true});
  client_.Replace(Child(), {.adopt = true});

  EXPECT_THAT(Requests(), ElementsAre("PATCH", "PUT"));
}

TEST_F(OwnedWritesTest, OnlyWholeObjectsWithAControllerAreChecked) {
  transport_.Respond("PATCH", std::string(kOwnedMap) + "/status", 200, "{}");
  transport_.Respond("PUT", kOwnedMap, 200, "{}");
  ConfigMap child{.metadata = {.name = "settings", .ns = "shop"}};
  client_.Apply(child);
  SetOwnerReference(Parent(), child.metadata);
  client_.Apply(child);
  client_.Apply(Child(), {.subresource = "status"});
  EXPECT_THAT(Requests(), ElementsAre("PATCH", "PATCH", "PATCH"));

  ConfigMap read = Child();
  read.metadata.uid = "u5";
  client_.Apply(read);
  read.metadata.uid.clear();
  read.metadata.resourceVersion = "5";
  client_.Replace(read);
  EXPECT_THAT(Requests(), ElementsAre("PATCH uid u5", "PUT version 5"))
      << "the caller has named the object";
}

TEST_F(OwnedWritesTest, AnObjectThatWasReplacedIsReadAgain) {
  client_.Apply(Child());
  Requests();
  transport_.On("PATCH", kOwnedMap, [](const ApiRequest& request) {
    return request.body.find(R"("uid":"u1")") != std::string::npos
               ? ApiResponse{.status = 422, .body = kOtherUid}
               : ApiResponse{.status = 200, .body = OwnedMapText("u2")};
  });
  transport_.Respond("GET", kOwnedMap, 200, OwnedMapText("u2"));

  client_.Apply(Child());
  client_.Apply(Child());

  EXPECT_THAT(Requests(), ElementsAre("PATCH uid u1", "GET", "PATCH uid u2", "PATCH uid u2"));
}

TEST_F(OwnedWritesTest, AnObjectThatAnotherClientCreatesMeanwhileIsNotTakenOver) {
  transport_.On("PATCH", kOwnedMap, [this](const ApiRequest&) {
    transport_.Respond("GET", kOwnedMap, 200, OwnedMapText("u0", ""));
    return ApiResponse{.status = 409, .body = kConflict};
  });

  EXPECT_THAT(ErrorOf([&] { client_.Apply(Child()); }), HasSubstr("already exists"));
  EXPECT_THAT(Requests(), ElementsAre("GET", "PATCH version 1", "GET"));
}

TEST_F(OwnedWritesTest, AConflictOfAnotherReasonIsThrown) {
  transport_.Respond("GET", kOwnedMap, 200, OwnedMapText("u0"));
  transport_.Respond("PATCH", kOwnedMap, 409, kConflict);
  EXPECT_THROW(client_.Apply(Child()), ApiError);
  EXPECT_THAT(Requests(), ElementsAre("GET", "PATCH uid u0", "GET"));

  transport_.Respond("PATCH", kOwnedMap, 409,
                     R"({"kind":"Status","reason":"Conflict","code":409,"details":
                         {"causes":[{"reason":"FieldManagerConflict"}]}})");
  EXPECT_THROW(client_.Apply(Child(), {.force = false}), ApiError);
  EXPECT_THAT(Requests(), ElementsAre("GET", "PATCH uid u0"));
}

TEST_F(OwnedWritesTest, AnObjectThatIsCreatedAndDeletedAgainAndAgainEndsInTheConflict) {
  int uid = 0;
  transport_.On("GET", kOwnedMap, [&](const ApiRequest&) {
    return ApiResponse{.status = 200, .body = OwnedMapText(std::to_string(++uid))};
  });
  transport_.Respond("PATCH", kOwnedMap, 409, kConflict);

  EXPECT_THROW(client_.Apply(Child()), ApiError);
  EXPECT_EQ(Requests().size(), 8U);
}

TEST_F(OwnedWritesTest, ADryRunThatCreatesIsNotKept) {
  client_.Apply(Child(), {.dry_run = true});
  client_.WithDryRun().Apply(Child());

  EXPECT_THAT(Requests(), ElementsAre("GET", "PATCH version 1", "GET", "PATCH version 1"));
}

TEST_F(OwnedWritesTest, AReadThatIsForbiddenSaysWhatToDo) {
  transport_.Respond("GET", kOwnedMap, 403,
                     R"({"kind":"Status","reason":"Forbidden","code":403,"message":
                         "configmaps \"settings\" is forbidden: User \"x\" cannot get resource",
                         "details":{"kind":"configmaps","name":"settings"}})");
  try {
    client_.Apply(Child());
    FAIL() << "no exception";
  } catch (const ApiError& error) {
    EXPECT_TRUE(error.IsForbidden());
    EXPECT_THAT(error.what(), AllOf(HasSubstr("grant verb get on configmaps"),
                                    HasSubstr("it could belong to others")));
  }
}

}  // namespace
}  // namespace kopp
