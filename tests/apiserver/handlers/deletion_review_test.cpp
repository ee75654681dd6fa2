// Tests the calls of webhooks for deletions.
#include "admission/in_process_webhooks.hpp"

#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>

namespace kopp {
namespace {

using nlohmann::json;
using namespace std::chrono_literals;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class DeletionReviewTest : public testing::InProcessWebhooks {
 protected:
  /// Records the requests of deletions, and allows those of objects without labels.
  void InstallForDeletions() {
    respond_ = [this](const json& request) {
      if (request.at("operation") != "DELETE") return Allowed();
      requests_.push_back(request);
      return request.at("/oldObject/metadata"_json_pointer).contains("labels") ? Denied()
                                                                               : Allowed();
    };
    Install("validatingwebhookconfigurations", {{{"name", "a.example.com"}}});
  }
  bool Exists(const std::string& name) {
    return client_.Get<ConfigMap>({"default", name}).has_value();
  }

  std::vector<json> requests_;
};

// A8
TEST_F(DeletionReviewTest, AnObjectThatChangesDuringTheReviewIsReviewedAgain) {
  CreateMap("m");
  InstallForDeletions();
  bool changed = false;
  on_call_ = [&](const testing::WebhookCall&) {
    if (std::exchange(changed, true)) return;
    client_.Patch<ConfigMap>({"default", "m"},
                             Patch::Merge({{"metadata", {{"labels", {{"keep", "yes"}}}}}}));
  };

  EXPECT_THROW(client_.Delete<ConfigMap>({"default", "m"}), ApiError);

  ASSERT_THAT(requests_, SizeIs(2));
  EXPECT_FALSE(requests_[0].at("/oldObject/metadata"_json_pointer).contains("labels"));
  EXPECT_TRUE(Exists("m"));
}

// A36
TEST_F(DeletionReviewTest, AllCallsForACollectionHaveTheTimeLimitOfOneRequest) {
  for (const char* name : {"a", "b", "c", "d", "e"}) CreateMap(name);
  InstallForDeletions();
  on_call_ = [this](const testing::WebhookCall&) { clock_.Advance(25s); };

  const ApiResponse deleted = server_.transport().Call(
      {.method = "DELETE", .target = "/api/v1/namespaces/default/configmaps"});

  EXPECT_EQ(deleted.status, 504) << deleted.body;
  EXPECT_THAT(requests_, SizeIs(3)) << "after 0, 25 and 50 of 60 seconds";
  EXPECT_TRUE(Exists("d"));
}

// A8
TEST_F(DeletionReviewTest, ADeletionWithAWrongUidIsNotReviewed) {
  CreateMap("m");
  InstallForDeletions();

  const ApiResponse deleted =
      server_.transport().Call({.method = "DELETE",
                                .target = "/api/v1/namespaces/default/configmaps/m",
                                .body = R"({"preconditions": {"uid": "other"}})"});

  EXPECT_EQ(deleted.status, 409);
  EXPECT_THAT(requests_, IsEmpty());
}

}  // namespace
}  // namespace kopp
