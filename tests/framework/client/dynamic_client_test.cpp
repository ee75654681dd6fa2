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

constexpr const char* kSites = "/apis/example.com/v1/namespaces/shop/webs";
constexpr const char* kSite = "/apis/example.com/v1/namespaces/shop/webs/a";
constexpr const char* kSiteObject =
    R"({"apiVersion":"example.com/v1","kind":"Web","metadata":{"name":"a","namespace":"shop","managedFields":[{"manager":"m"}]},"spec":{"size":3}})";

/// Returns a kind whose strings exist only in the result.
OwningKind WebKind() {
  OwningKind kind;
  kind.api_version = std::string("example.com") + "/v1";
  kind.kind = std::string("W") + "eb";
  kind.plural = std::string("w") + "ebs";
  return kind;
}

class DynamicClientTest : public ::testing::Test {
 protected:
  testing::FakeClock clock_;
  testing::ScriptedTransport transport_{clock_};
  DynamicClient webs_ = Client(transport_, "me").Dynamic(WebKind());
};

TEST_F(DynamicClientTest, GetReturnsAllFields) {
  transport_.Respond("GET", kSite, 200, kSiteObject);
  const auto web = webs_.Get({"shop", "a"});
  ASSERT_TRUE(web);
  EXPECT_EQ(web->metadata.name, "a");
  EXPECT_EQ(web->At("/spec/size"), 3);
  EXPECT_EQ(web->Json(), json::parse(kSiteObject)) << "also managedFields";
}

TEST_F(DynamicClientTest, GetOfAMissingObjectReturnsNothing) {
  EXPECT_FALSE(webs_.Get({"shop", "a"}));
}

TEST_F(DynamicClientTest, TheObjectsOfAListHaveTheirType) {
  transport_.Respond("GET", kSites, 200,
                     R"({"metadata":{},"items":[{"metadata":{"name":"a"}},{}]})");
  std::vector<json> objects;
  for (const Unstructured& web : webs_.List({.ns = "shop"})) objects.push_back(web.Json());
  const json type{{"apiVersion", "example.com/v1"}, {"kind", "Web"}};
  json with_name = type;
  with_name["metadata"]["name"] = "a";
  EXPECT_THAT(objects, ElementsAre(with_name, type));
}

TEST_F(DynamicClientTest, EachWriteIsSentAndItsResponseIsReturned) {
  for (const std::string& path : {std::string(kSite), std::string(kSite) + "/status"}) {
    for (const char* method : {"PUT", "PATCH"}) transport_.Respond(method, path, 200, kSiteObject);
  }
  transport_.Respond("POST", kSites, 201, kSiteObject);
  transport_.Respond("DELETE", kSite, 200, kSiteObject);
  const json object{{"metadata", {{"name", "a"}, {"namespace", "shop"}}}};
  const Patch patch = Patch::Merge(json::object());

  std::vector<json> results;
  for (const Unstructured& written :
       {webs_.Create(object), webs_.Update(object), webs_.UpdateStatus(object),
        webs_.Patch({"shop", "a"}, patch), webs_.PatchStatus({"shop", "a"}, patch),
        webs_.Apply(object)}) {
    results.push_back(written.Json());
  }
  EXPECT_TRUE(webs_.Delete({"shop", "a"}));

  EXPECT_THAT(results, ::testing::Each(json::parse(kSiteObject)));
  std::vector<std::string> requests;
  for (const ApiRequest& request : transport_.Requests()) {
    requests.push_back(request.method + ' ' +
                       request.target.substr(0, request.target.find('?'))
                           .substr(std::string("/apis/example.com/v1/namespaces").size()));
  }
  EXPECT_THAT(requests,
              ElementsAre("POST /shop/webs", "PUT /shop/webs/a", "PUT /shop/webs/a/status",
                          "PATCH /shop/webs/a", "PATCH /shop/webs/a/status", "PATCH /shop/webs/a",
                          "DELETE /shop/webs/a"));
}

TEST_F(DynamicClientTest, AWatcherOutlivesTheStringsOfItsKind) {
  auto watcher = Client(transport_)
                     .Dynamic(WebKind())
                     .Watch({.ns = "shop"}, {.resource_version = "7", .clock = clock_});
  transport_.SendToWatch(kSites, std::string(R"({"type":"ADDED","object":)") + kSiteObject + "}\n");
  const auto event = watcher.Next();
  ASSERT_TRUE(event);
  EXPECT_EQ(event->object.Json(), json::parse(kSiteObject));
}

TEST_F(DynamicClientTest, AListIsReadInPages) {
  transport_.On("GET", kSites, [](const ApiRequest& request) -> ApiResponse {
    const bool is_first = request.target.find("continue=") == std::string::npos;
    return {.status = 200,
            .body = is_first ? R"({"metadata":{"continue":"next","remainingItemCount":1,)"
                               R"("resourceVersion":"9"},"items":[{"metadata":{"name":"a"}}]})"
                             : R"({"metadata":{},"items":[{"metadata":{"name":"b"}}]})"};
  });

  const ListPage<Unstructured> page = webs_.ListPage({.ns = "shop"}, {.limit = 1});
  std::vector<std::string> names;
  webs_.ForEach({.ns = "shop"},
                [&](const Unstructured& web) { names.push_back(web.metadata.name); }, {.limit = 1});

  ASSERT_EQ(page.objects.size(), 1U);
  EXPECT_EQ(page.objects.front().At("/kind"), "Web");
  EXPECT_EQ(page.continue_token, "next");
  EXPECT_EQ(page.remaining, 1);
  EXPECT_EQ(page.resource_version, "9");
  EXPECT_THAT(names, ElementsAre("a", "b"));
}

TEST_F(DynamicClientTest, DeleteAllOfDeletesTheSelectedObjectsWithOneRequest) {
  transport_.Respond("DELETE", kSites, 200, "{}");

  webs_.DeleteAllOf({.ns = "shop", .labels = "app=web"});

  ASSERT_EQ(transport_.Requests().size(), 1U);
  EXPECT_THAT(transport_.Requests().front().target, HasSubstr("labelSelector=app%3Dweb"));
}

TEST_F(DynamicClientTest, AScaleIsReadAndWritten) {
  const std::string path = std::string(kSite) + "/scale";
  transport_.Respond("GET", path, 200, R"({"metadata":{"name":"a"},"spec":{"replicas":2}})");
  transport_.Respond("PUT", path, 200, R"({"metadata":{"name":"a"},"spec":{"replicas":5}})");

  auto scale = webs_.GetScale({"shop", "a"});
  ASSERT_TRUE(scale);
  EXPECT_EQ(scale->spec.replicas, 2);
  scale->metadata.ns = "shop";
  scale->spec.replicas = 5;

  EXPECT_EQ(webs_.UpdateScale(*scale).spec.replicas, 5);
  EXPECT_EQ(json::parse(transport_.Requests().back().body).at("spec").at("replicas"), 5);
}

TEST_F(DynamicClientTest, AWatchReportsEventsAndBookmarks) {
  auto watcher = webs_.Watch({.ns = "shop"}, {.resource_version = "7", .clock = clock_});
  transport_.SendToWatch(kSites,
                         std::string(R"({"type":"DELETED","object":)") + kSiteObject + "}\n" +
                             R"({"type":"BOOKMARK","object":{"apiVersion":"example.com/v1",)" +
                             R"("kind":"Web","metadata":{"resourceVersion":"12"}}})" + "\n");

  const auto deletion = watcher.Next();
  const auto bookmark = watcher.Next();

  ASSERT_TRUE(deletion);
  EXPECT_EQ(deletion->type, WatchEventType::kDeleted);
  EXPECT_EQ(deletion->object.metadata.name, "a");
  ASSERT_TRUE(bookmark);
  EXPECT_EQ(bookmark->type, WatchEventType::kBookmark);
  EXPECT_EQ(watcher.resource_version(), "12");
}

TEST_F(DynamicClientTest, AWriteIsReportedToTheObserver) {
  struct Observer : WriteObserver {
    void OnWrite(const Kind& kind, const WrittenObject& object) override {
      writes.push_back(std::string(kind.kind) + ' ' + object.key.ToString() + ' ' +
                       object.resource_version);
    }
    std::vector<std::string> writes;
  } observer;
  transport_.Respond("PATCH", kSite, 200,
                     R"({"apiVersion":"example.com/v1","kind":"Web","metadata":{)"
                     R"("name":"a","namespace":"shop","uid":"u","resourceVersion":"9"}})");

  Client(transport_)
      .WithWriteObserver(observer)
      .Dynamic(WebKind())
      .Apply({{"metadata", {{"name", "a"}, {"namespace", "shop"}}}});

  EXPECT_THAT(observer.writes, ElementsAre("Web shop/a 9"));
}

TEST_F(DynamicClientTest, ApplyUsesTheFieldManagerOfTheClient) {
  transport_.Respond("PATCH", kSite, 200, kSiteObject);

  webs_.Apply({{"metadata", {{"name", "a"}, {"namespace", "shop"}}}});

  EXPECT_THAT(transport_.Requests().back().target, HasSubstr("fieldManager=me"));
  EXPECT_EQ(json::parse(transport_.Requests().back().body),
            json::parse(R"({"apiVersion":"example.com/v1","kind":"Web",
                            "metadata":{"name":"a","namespace":"shop"}})"));
}

}  // namespace
}  // namespace kopp
