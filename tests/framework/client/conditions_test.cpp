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
  };
  ObjectMeta metadata = {};
  Status status = {};
};
KOPP_FIELDS(Bucket::Status, conditions)
KOPP_FIELDS(Bucket, metadata, status)

TEST(ApplyStatusIfChangedTest, AnUnchangedStatusIsNotWritten) {
  constexpr const char* kStatusPath = "/apis/example.com/v1/namespaces/shop/buckets/photos/status";
  testing::FakeClock clock;
  testing::ScriptedTransport transport(clock);
  transport.Respond("PATCH", kStatusPath, 200, R"({"metadata":{"name":"photos"}})");
  const Client client(transport);
  Bucket bucket;
  bucket.metadata.name = "photos";
  bucket.metadata.ns = "shop";

  auto status = bucket.status;
  SetCondition(status.conditions, {.type = "Ready", .status = "True", .reason = "Done"}, clock);
  EXPECT_TRUE(ApplyStatusIfChanged(client, bucket, status));
  bucket.status = status;
  SetCondition(status.conditions, {.type = "Ready", .status = "True", .reason = "Done"}, clock);
  EXPECT_FALSE(ApplyStatusIfChanged(client, bucket, status));

  EXPECT_THAT(transport.Requests(), SizeIs(1));
}

}  // namespace
}  // namespace kopp
