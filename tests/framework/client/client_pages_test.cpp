#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <kopp/client.hpp>
#include <kopp/dynamic_client.hpp>
#include <kopp/kinds.hpp>
#include <kopp/testing/fake_clock.hpp>
#include <kopp/testing/scripted_transport.hpp>

namespace kopp {
namespace {

using nlohmann::json;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr const char* kShopPods = "/api/v1/namespaces/shop/pods";

/// Fixture with a list of two pages: the Pods "a" and "b", then "c".
class ClientPagesTest : public ::testing::Test {
 protected:
  ClientPagesTest() {
    transport_.On("GET", kShopPods, [this](const ApiRequest& request) {
      const bool second = request.target.find("continue=next") != std::string::npos;
      if (second && expired_) return ApiResponse{.status = 410, .body = R"({"reason":"Expired"})"};
      return ApiResponse{.status = 200,
                         .body = second ? R"({"metadata":{"resourceVersion":"9"},
                                           "items":[{"metadata":{"name":"c"}}]})"
                                        : R"({"metadata":{"resourceVersion":"9","continue":"next",
                                                       "remainingItemCount":1},
                                           "items":[{"metadata":{"name":"a"}},
                                                    {"metadata":{"name":"b"}}]})"};
    });
  }
  std::vector<std::string> Targets() {
    std::vector<std::string> targets;
    for (const ApiRequest& request : transport_.Requests()) {
      targets.push_back(request.target.substr(std::string(kShopPods).size()));
    }
    return targets;
  }

  bool expired_ = false;
  testing::FakeClock clock_;
  testing::ScriptedTransport transport_{clock_};
  Client client_{transport_};
};

TEST_F(ClientPagesTest, ListPageReturnsObjectsContinueTokenRemainingCountAndResourceVersion) {
  const auto first = client_.ListPage<Pod>({.ns = "shop"}, {.limit = 2});

  ASSERT_EQ(first.objects.size(), 2);
  EXPECT_EQ(first.objects[1].metadata.name, "b");
  EXPECT_EQ(first.continue_token, "next");
  EXPECT_EQ(first.remaining, 1);
  EXPECT_EQ(first.resource_version, "9");

  const auto second =
      client_.ListPage<Pod>({.ns = "shop"}, {.limit = 2, .continue_token = first.continue_token});

  ASSERT_EQ(second.objects.size(), 1);
  EXPECT_EQ(second.continue_token, "");
  EXPECT_EQ(second.remaining, std::nullopt);
  EXPECT_THAT(Targets(), ElementsAre("?limit=2", "?limit=2&continue=next"));
}

TEST_F(ClientPagesTest, ListPageByKindReturnsWholeObjectsWithTheirType) {
  const auto page = client_.Dynamic(Pod::kKind).ListPage({.ns = "shop"});

  ASSERT_EQ(page.objects.size(), 2);
  EXPECT_EQ(page.objects[0].Json(),
            json::parse(R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"a"}})"));
  EXPECT_EQ(page.continue_token, "next");
}

TEST_F(ClientPagesTest, ListByKindReturnsObjectsWithTheirType) {
  EXPECT_EQ(client_.Dynamic(Pod::kKind).List({.ns = "shop"}).back().Json(),
            json::parse(R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"c"}})"));
}

TEST_F(ClientPagesTest, ForEachVisitsTheObjectsOfAPageBeforeItReadsTheNext) {
  std::vector<std::string> visits;

  client_.ForEach<Pod>({.ns = "shop"}, [&](const Pod& pod) {
    visits.push_back(pod.metadata.name + " after request " +
                     std::to_string(transport_.Requests().size()));
  });

  EXPECT_THAT(visits, ElementsAre("a after request 1", "b after request 1", "c after request 2"));
}

TEST_F(ClientPagesTest, ForEachByKindVisitsWholeObjects) {
  std::vector<json> objects;

  client_.Dynamic(Pod::kKind).ForEach({.ns = "shop"}, [&](const Unstructured& object) {
    objects.push_back(object.Json());
  });

  ASSERT_EQ(objects.size(), 3);
  EXPECT_EQ(objects[2].at("kind"), "Pod");
}

TEST_F(ClientPagesTest, ForEachThrowsIfTheListExpiresBetweenTwoPages) {
  expired_ = true;
  std::vector<std::string> names;
  const auto visit = [&](const Pod& pod) { names.push_back(pod.metadata.name); };

  try {
    client_.ForEach<Pod>({.ns = "shop"}, visit);
    FAIL() << "ForEach returned";
  } catch (const ApiError& error) {
    EXPECT_TRUE(error.IsGone());
  }
  EXPECT_THAT(names, ElementsAre("a", "b")) << "no object must be visited twice";
}

TEST_F(ClientPagesTest, ListFromAContinueTokenIsNotRestartedIfItExpires) {
  expired_ = true;

  EXPECT_THROW((void)client_.List<Pod>({.ns = "shop"}, {.continue_token = "next"}), ApiError);

  EXPECT_EQ(transport_.Requests().size(), 1);
}

TEST_F(ClientPagesTest, ResourceVersionAndItsMatchAreSentWithTheFirstPageOnly) {
  (void)client_.List<Pod>({.ns = "shop"},
                          {.limit = 2,
                           .resource_version = "7",
                           .resource_version_match = ResourceVersionMatch::kNotOlderThan});

  EXPECT_THAT(Targets(), ElementsAre("?limit=2&resourceVersion=7&resourceVersionMatch=NotOlderThan",
                                     "?limit=2&continue=next"));
}

TEST_F(ClientPagesTest, WithoutALimitNoLimitIsSent) {
  (void)client_.ListPage<Pod>({.ns = "shop"},
                              {.limit = 0,
                               .resource_version = "7",
                               .resource_version_match = ResourceVersionMatch::kExact});

  EXPECT_THAT(Targets(), ElementsAre("?resourceVersion=7&resourceVersionMatch=Exact"));
}

TEST_F(ClientPagesTest, AnUnlimitedPageThatIsTooLargeIsReadInPages) {
  transport_.On("GET", kShopPods, [](const ApiRequest& request) -> ApiResponse {
    if (request.target.find("limit=") == std::string::npos) {
      throw TransportError(TransportError::Kind::kTooLarge, "too large");
    }
    return {.status = 200, .body = R"({"metadata":{},"items":[]})"};
  });

  (void)client_.ListPage<Pod>({.ns = "shop"}, {.limit = 0});

  EXPECT_THAT(Targets(), ElementsAre("", "?limit=500"));
}

}  // namespace
}  // namespace kopp
