#include <chrono>
#include <stdexcept>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <kopp/client.hpp>
#include <kopp/conditions.hpp>
#include <kopp/testing/fake_clock.hpp>
#include <kopp/testing/scripted_transport.hpp>

namespace kopp {
namespace {

using namespace std::chrono_literals;
using nlohmann::json;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class SetConditionTest : public ::testing::Test {
 protected:
  bool Set(const std::string& status, const std::string& reason, const std::string& message = "",
           std::int64_t generation = 1) {
    return SetCondition(conditions_,
                        {.type = "Ready",
                         .status = status,
                         .observedGeneration = generation,
                         .reason = reason,
                         .message = message},
                        clock_);
  }
  static bool IsValid(const Condition& condition) {
    std::vector<Condition> conditions;
    try {
      SetCondition(conditions, condition);
      return true;
    } catch (const std::invalid_argument&) {
      EXPECT_THAT(conditions, IsEmpty());
      return false;
    }
  }

  testing::FakeClock clock_{WallTime{1'700'000'000s}};
  std::vector<Condition> conditions_;
};

TEST_F(SetConditionTest, ANewConditionHasTheCurrentTimeAndAllRequiredFields) {
  EXPECT_TRUE(Set("True", "BucketCreated"));

  ASSERT_THAT(conditions_, SizeIs(1));
  EXPECT_EQ(json(conditions_[0]),
            json::parse(R"({"type":"Ready","status":"True","observedGeneration":1,
                "lastTransitionTime":"2023-11-14T22:13:20Z","reason":"BucketCreated",
                "message":""})"));
}

TEST_F(SetConditionTest, LastTransitionTimeChangesOnlyWithTheStatus) {
  Set("False", "Pending");
  clock_.Advance(60s);
  EXPECT_TRUE(Set("False", "Failed", "no answer", 2)) << "reason, message and generation changed";
  EXPECT_EQ(conditions_[0].lastTransitionTime, "2023-11-14T22:13:20Z");
  EXPECT_EQ(conditions_[0].reason, "Failed");
  EXPECT_EQ(conditions_[0].observedGeneration, 2);

  EXPECT_TRUE(Set("True", "BucketCreated", "", 2));
  EXPECT_EQ(conditions_[0].lastTransitionTime, "2023-11-14T22:14:20Z");
  EXPECT_THAT(conditions_, SizeIs(1));
}

TEST_F(SetConditionTest, AnEqualConditionIsNoChange) {
  Set("True", "BucketCreated", "done");
  clock_.Advance(60s);

  EXPECT_FALSE(Set("True", "BucketCreated", "done"));
}

TEST_F(SetConditionTest, AGivenTransitionTimeIsUsedIfTheStatusChanges) {
  Set("False", "Pending");
  Condition ready{.type = "Ready", .status = "True", .reason = "Done"};
  ready.lastTransitionTime = "2020-01-01T00:00:00Z";

  SetCondition(conditions_, ready, clock_);

  EXPECT_EQ(conditions_[0].lastTransitionTime, "2020-01-01T00:00:00Z");
}

TEST_F(SetConditionTest, AnInvalidTypeStatusReasonOrGenerationIsRejected) {
  const Condition valid{.type = "Ready", .status = "True", .reason = "Done"};
  EXPECT_TRUE(IsValid(valid));
  for (const char* type : {"example.com/Ready", "a-b.c/Bucket_Ready", "R", "Ready.1"}) {
    Condition condition = valid;
    condition.type = type;
    EXPECT_TRUE(IsValid(condition)) << type;
  }
  for (const std::string type : {"", "is ready", "-Ready", "Ready.", "Ex.com/Ready", "/Ready",
                                 "a..b/Ready", "-a/Ready", "a/b/Ready", "a/"}) {
    Condition condition = valid;
    condition.type = type;
    EXPECT_FALSE(IsValid(condition)) << type;
  }
  for (const std::string reason : {"", "not ready", "1Reason", "Reason:", "Reas-on"}) {
    Condition condition = valid;
    condition.reason = reason;
    EXPECT_FALSE(IsValid(condition)) << reason;
  }
  Condition condition = valid;
  condition.status = "true";
  EXPECT_FALSE(IsValid(condition));
  condition = valid;
  condition.observedGeneration = -1;
  EXPECT_FALSE(IsValid(condition));
  condition = valid;
  condition.type = std::string(317, 'x');
  EXPECT_FALSE(IsValid(condition));
}

TEST_F(SetConditionTest, ALongMessageIsCutBetweenTwoCharacters) {
  Set("False", "Failed", std::string(32767, 'x') + "é and more");

  EXPECT_EQ(conditions_[0].message, std::string(32767, 'x'));
}

TEST_F(SetConditionTest, ConditionsAreFoundAndRemovedByTheirType) {
  Set("True", "Done");
  SetCondition(conditions_, {.type = "Degraded", .status = "False", .reason = "AllWell"}, clock_);

  EXPECT_EQ(FindCondition(conditions_, "Degraded")->reason, "AllWell");
  EXPECT_EQ(FindCondition(conditions_, "Missing"), nullptr);
  EXPECT_TRUE(IsConditionTrue(conditions_, "Ready"));
  EXPECT_FALSE(IsConditionTrue(conditions_, "Degraded"));
  EXPECT_TRUE(IsConditionFalse(conditions_, "Degraded"));
  EXPECT_FALSE(IsConditionFalse(conditions_, "Missing"));
  EXPECT_TRUE(RemoveCondition(conditions_, "Ready"));
  EXPECT_FALSE(RemoveCondition(conditions_, "Ready"));
  EXPECT_THAT(conditions_, SizeIs(1));
}

struct Bucket {
  static constexpr Kind kKind{"example.com/v1", "Bucket", "buckets"};
  struct Status {
    std::vector<Condition> conditions = {};
    std::string url = {};
  };
  ObjectMeta metadata = {};
  Status status = {};
};
KOPP_FIELDS(Bucket::Status, conditions, url)
KOPP_FIELDS(Bucket, metadata, status)

class ApplyStatusIfChangedTest : public ::testing::Test {
 protected:
  ApplyStatusIfChangedTest() {
    transport_.Respond("PATCH", "/apis/example.com/v1/namespaces/shop/buckets/photos/status", 200,
                       R"({"metadata":{"name":"photos"}})");
    bucket_.metadata.name = "photos";
    bucket_.metadata.ns = "shop";
  }
  /// Writes the own condition Ready, as a reconcile does. Returns whether it was written.
  bool Apply(const std::string& ready, const std::string& url) {
    Bucket::Status status{.conditions = SelectConditions(bucket_.status.conditions, {"Ready"}),
                          .url = url};
    SetCondition(status.conditions, {.type = "Ready", .status = ready, .reason = "Done"}, clock_);
    return ApplyStatusIfChanged(client_, bucket_, status);
  }

  testing::FakeClock clock_;
  testing::ScriptedTransport transport_{clock_};
  Client client_{transport_};
  Bucket bucket_;
};

TEST_F(ApplyStatusIfChangedTest, AnUnchangedStatusIsNotWritten) {
  EXPECT_TRUE(Apply("True", "s3://photos"));
  bucket_.status.url = "s3://photos";
  SetCondition(bucket_.status.conditions, {.type = "Ready", .status = "True", .reason = "Done"},
               clock_);
  clock_.Advance(std::chrono::seconds(10));

  EXPECT_FALSE(Apply("True", "s3://photos"));

  EXPECT_THAT(transport_.Requests(), SizeIs(1));
}

TEST_F(ApplyStatusIfChangedTest, AConditionOfAnotherWriterIsNoDifferenceAndIsNotWritten) {
  SetCondition(bucket_.status.conditions, {.type = "Foreign", .status = "True", .reason = "Other"},
               clock_);
  SetCondition(bucket_.status.conditions, {.type = "Ready", .status = "True", .reason = "Done"},
               clock_);

  EXPECT_FALSE(Apply("True", ""));
  EXPECT_TRUE(Apply("False", ""));

  ASSERT_THAT(transport_.Requests(), SizeIs(1));
  EXPECT_EQ(transport_.Requests()[0].body.find("Foreign"), std::string::npos);
}

TEST_F(ApplyStatusIfChangedTest, AFieldThatIsMissingInTheNewStatusIsWritten) {
  SetCondition(bucket_.status.conditions, {.type = "Ready", .status = "True", .reason = "Done"},
               clock_);
  bucket_.status.url = "s3://photos";

  EXPECT_TRUE(Apply("True", ""));
}

}  // namespace
}  // namespace kopp
