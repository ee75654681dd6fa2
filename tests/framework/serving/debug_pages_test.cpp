#include "serving/debug_page.hpp"
#include "serving/debug_tables.hpp"

#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <kopp/serving/debug.hpp>
#include <kopp/testing/fake_clock.hpp>

namespace kopp {
namespace {

using namespace std::chrono_literals;
using nlohmann::json;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::Pair;

class DebugPagesTest : public ::testing::Test {
 protected:
  DebugPagesTest() {
    clock_.Advance(1h);
    source_.queues = [this] { return queues_; };
    source_.caches = [this] { return caches_; };
    source_.objects = [this](const informer::InformerStatus&, std::size_t) { return objects_; };
    source_.reconciles = [this] { return history_.Records(); };
  }
  HttpResponse Get(const std::string& path, const std::string& query = "") {
    return DebugPages(source_, clock_)({.method = "GET", .path = path, .query = query});
  }
  std::string Html(const std::string& path) { return Get(path).body; }
  json Json(const std::string& path) { return json::parse(Get(path, "format=json").body); }

  testing::FakeClock clock_;
  std::vector<DebugQueue> queues_;
  std::vector<informer::InformerStatus> caches_;
  std::vector<std::string> objects_;
  ReconcileHistory history_{3};
  DebugSource source_;
};

TEST_F(DebugPagesTest, QueuesShowItemsWithStateAgePriorityAndFailures) {
  const TimePoint now = clock_.Now();
  DebugQueue queue{.controller = "foo", .workers = 2};
  queue.snapshot = {.ready = {{.item = {"a", "ready"}, .priority = 7, .at = now - 2s}},
                    .waiting = {{.item = {"a", "waiting"}, .failures = 3, .at = now + 5s}},
                    .processing = {{.item = {"a", "running"}, .at = now - 90s, .dirty = true}},
                    .ready_count = 1,
                    .waiting_count = 1,
                    .processing_count = 1};
  queues_ = {queue};

  EXPECT_EQ(Json("/debug/queues"), json::parse(R"({
    "queues": [{"controller": "foo", "workers": 2, "ready": 1, "waiting": 1, "processing": 1,
                "longestRunningSeconds": 90.0}],
    "items": [
      {"controller": "foo", "item": "a/running", "state": "processing, added again",
       "seconds": 90.0, "priority": 0, "failures": 0, "reason": ""},
      {"controller": "foo", "item": "a/ready", "state": "ready", "seconds": 2.0, "priority": 7,
       "failures": 0, "reason": ""},
      {"controller": "foo", "item": "a/waiting", "state": "waiting", "seconds": 5.0,
       "priority": 0, "failures": 3, "reason": ""}]})"));
  EXPECT_THAT(Html("/debug/queues"),
              AllOf(HasSubstr("<td class=\"n warning\">for 1m30s</td>"),
                    HasSubstr(">in 5.0 s</td>"), HasSubstr("<td class=\"n warning\">3</td>")));
}

TEST_F(DebugPagesTest, ItemsThatAreLeftOutAreCounted) {
  DebugQueue queue{.controller = "foo"};
  queue.snapshot.ready = {{.item = {"a", "b"}}};
  queue.snapshot.ready_count = 5;
  queues_ = {queue};

  EXPECT_EQ(Json("/debug/queues")["itemsTotal"], 5);
  EXPECT_EQ(Json("/debug/queues")["items"][0]["seconds"], nullptr);
  EXPECT_THAT(Html("/debug/queues"), HasSubstr("The first 1 of 5 are shown."));
}

TEST_F(DebugPagesTest, CachesShowVersionAgeListsAndLastError) {
  caches_ = {{.name = "foo-pods",
              .kind = "Pod",
              .synced = true,
              .objects = 12,
              .resource_version = "4711",
              .resource_version_age = 6min,
              .lists = 2,
              .errors = 3,
              .consecutive_failures = 1,
              .last_error = "connection refused"}};

  EXPECT_EQ(Json("/debug/caches")["caches"], json::parse(R"([
    {"kind": "Pod", "name": "foo-pods", "synced": true, "objects": 12, "resourceVersion": "4711",
     "resourceVersionAgeSeconds": 360.0, "lists": 2, "errors": 3,
     "lastError": "connection refused"}])"));
  EXPECT_THAT(Html("/debug/caches"), AllOf(HasSubstr("<td class=\"n bad\">6m</td>"),
                                           HasSubstr("<a href=\"/debug/caches/0\">Pod</a>")));
}

TEST_F(DebugPagesTest, WatchesShowEventsEndsAndHandlers) {
  caches_ = {{.name = "pods.v1",
              .lists = 1,
              .skipped_objects = 2,
              .events = {{"added", 3}, {"updated", 5}},
              .watch_ends = {{"timeout", 1}},
              .handlers = {{.name = "foo", .synced = true, .queue_depth = 4, .calls = 8}}}};

  EXPECT_EQ(Json("/debug/watches"), json::parse(R"({
    "watches": [{"name": "pods.v1", "lists": 1, "events": {"added": 3, "updated": 5},
                 "watchEnds": {"timeout": 1}, "skippedObjects": 2, "driftedObjects": 0}],
    "handlers": [{"informer": "pods.v1", "name": "foo", "synced": true, "pending": 4,
                  "busySeconds": null, "calls": 8, "errors": 0}]})"));
  EXPECT_THAT(Html("/debug/watches"), HasSubstr("3 added, 5 updated"));
}

TEST_F(DebugPagesTest, ReasonsOfItemsAreShown) {
  DebugQueue queue{.controller = "foo"};
  queue.snapshot.ready = {{.item = {"a", "b"}, .payload = "Pod a/b updated"}};
  queues_ = {queue};

  EXPECT_EQ(Json("/debug/queues")["items"][0]["reason"], "Pod a/b updated");
}

TEST_F(DebugPagesTest, CacheWithoutVersionHasNoAge) {
  caches_ = {{.kind = "Pod"}};

  EXPECT_EQ(Json("/debug/caches")["caches"][0]["resourceVersionAgeSeconds"], nullptr);
}

TEST_F(DebugPagesTest, ObjectsOfACacheAreShown) {
  caches_ = {{.kind = "Pod"}, {.kind = "Foo", .objects = 1}};
  objects_ = {R"({"spec":{"replicas":2}})", "no JSON"};

  EXPECT_EQ(Json("/debug/caches/1")["objects"][0]["object"]["spec"]["replicas"], 2);
  EXPECT_THAT(Html("/debug/caches/1"), HasSubstr("Objects of Foo"));
  EXPECT_EQ(Get("/debug/caches/2").status, 404);
  EXPECT_EQ(Get("/debug/caches/").status, 404);
  EXPECT_EQ(Get("/debug/caches/1x").status, 404);
}

TEST_F(DebugPagesTest, ValuesOfSecretsAreRedacted) {
  caches_ = {{.kind = "Secret"}};
  objects_ = {R"({"metadata":{"name":"db","annotations":{
                   "kubectl.kubernetes.io/last-applied-configuration":"hunter2","a":"b"}},
                  "data":{"password":"hunter2"},"stringData":{"other":"hunter2"}})"};

  EXPECT_THAT(Html("/debug/caches/0"), Not(HasSubstr("hunter2")));
  const json object = Json("/debug/caches/0")["objects"][0]["object"];
  EXPECT_EQ(object["data"]["password"], "redacted (7 characters)");
  EXPECT_EQ(object["stringData"]["other"], "redacted (7 characters)");
  EXPECT_EQ(object["metadata"]["annotations"], json::parse(R"({"a":"b"})"));
}

TEST_F(DebugPagesTest, SecretInACacheOfAnotherKindIsRedactedByItsOwnKind) {
  nlohmann::ordered_json object{{"kind", "Secret"}, {"data", {{"password", "hunter2"}}}};
  debug::RedactSecret(object, "");
  EXPECT_THAT(object.dump(), Not(HasSubstr("hunter2")));

  nlohmann::ordered_json map{{"kind", "ConfigMap"}, {"data", {{"key", "shown"}}}};
  debug::RedactSecret(map, "ConfigMap");
  EXPECT_THAT(map.dump(), HasSubstr("shown"));
}

TEST_F(DebugPagesTest, LastReconcilesAreShownNewestFirst) {
  history_.Add({.controller = "foo",
                .key = {"a", "b"},
                .id = "0123456789",
                .reason = "added",
                .started = WallTime{1'000'000'000s},
                .queued = 3ms,
                .duration = 250ms,
                .result = "error",
                .error = "it broke"});
  history_.Add({.controller = "foo", .key = {"a", "c"}, .result = "success"});

  const json reconciles = Json("/debug/reconciles")["reconciles"];
  ASSERT_EQ(reconciles.size(), 2U);
  EXPECT_EQ(reconciles[0]["object"], "a/c");
  EXPECT_EQ(reconciles[1], json::parse(R"({
    "started": "2001-09-09T01:46:40Z", "controller": "foo", "object": "a/b", "reason": "added",
    "queuedSeconds": 0.003, "durationSeconds": 0.25, "result": "error", "error": "it broke",
    "reconcileID": "0123456789"})"));
  EXPECT_THAT(Html("/debug/reconciles"), AllOf(HasSubstr(">250 ms</td>"), HasSubstr(">3 ms</td>"),
                                               HasSubstr("<td class=\"bad\">error</td>"),
                                               HasSubstr("<td>01234567\xE2\x80\xA6</td>")));
}

TEST_F(DebugPagesTest, HistoryKeepsTheLastReconcilesUpToItsCapacity) {
  for (const char* name : {"1", "2", "3", "4"}) history_.Add({.key = {"", name}});
  std::vector<std::string> names;
  for (const ReconcileRecord& record : history_.Records()) names.push_back(record.key.name);
  EXPECT_THAT(names, ElementsAre("4", "3", "2"));

  history_.Add({.error = std::string(5000, 'x')});
  EXPECT_EQ(history_.Records().front().error.size(), 1024U);
  ReconcileHistory none(0);
  none.Add({});
  EXPECT_THAT(none.Records(), ElementsAre());
}

TEST_F(DebugPagesTest, LeadershipFlagsAndProgramAreShown) {
  source_.leadership = [] {
    return DebugLeadership{.enabled = true,
                           .is_leader = true,
                           .identity = "pod-1",
                           .holder = "pod-1",
                           .lease = "ns/foo",
                           .since_renewal = 1500ms};
  };
  source_.flags = [] { return debug::NamedValues{{"--kube-api-qps", "20"}}; };
  source_.program = [] { return debug::NamedValues{{"Version", "v1.2"}}; };

  EXPECT_EQ(Json("/debug/leadership")["leadership"], json::parse(R"([
    {"enabled": true, "leader": true, "identity": "pod-1", "holder": "pod-1", "lease": "ns/foo",
     "sinceRenewalSeconds": 1.5}])"));
  EXPECT_EQ(Json("/debug/flags")["flags"],
            json::parse(R"([{"name": "--kube-api-qps", "value": "20"}])"));
  EXPECT_EQ(Json("/debug/")["program"], json::parse(R"([{"name": "Version", "value": "v1.2"}])"));
  EXPECT_TRUE(Json("/debug").contains("leadership"));
}

TEST_F(DebugPagesTest, WebhooksShowTheirRequestsAndTheLastFailure) {
  source_.webhooks = [] {
    return std::vector<DebugWebhook>{{.path = "/mutate-v1-pod",
                                      .kind = "mutating Pod.v1",
                                      .in_flight = 1,
                                      .max_in_flight = 100,
                                      .requests = 9,
                                      .denied = 2,
                                      .failed = 1,
                                      .last_failure = "map::at"}};
  };

  EXPECT_EQ(Json("/debug/webhooks")["webhooks"], json::parse(R"([
    {"path": "/mutate-v1-pod", "kind": "mutating Pod.v1", "inFlight": 1, "maxInFlight": 100,
     "requests": 9, "denied": 2, "failed": 1, "lastFailure": "map::at"}])"));
  EXPECT_THAT(Html("/debug/webhooks"), HasSubstr("map::at"));
}

TEST_F(DebugPagesTest, PagesWithoutSourceAreLeftOut) {
  source_ = {};

  EXPECT_EQ(Get("/debug/").status, 200);
  for (const char* path :
       {"/debug/queues", "/debug/caches", "/debug/caches/0", "/debug/flags", "/debug/reconciles",
        "/debug/webhooks", "/debug/leadership", "/debug/unknown"}) {
    EXPECT_EQ(Get(path).status, 404) << path;
    EXPECT_THAT(Html("/debug/"), Not(HasSubstr("\"" + std::string(path) + "\""))) << path;
  }
}

TEST_F(DebugPagesTest, PathWithJsonSuffixReturnsJson) {
  const HttpResponse response = Get("/debug/queues.json");

  EXPECT_EQ(response.content_type, "application/json");
  EXPECT_EQ(response.body, Get("/debug/queues", "format=json").body);
  EXPECT_EQ(Get("/debug/queues").content_type, "text/html; charset=utf-8");
}

TEST_F(DebugPagesTest, ValuesAreEscapedAndThePageLoadsNothing) {
  const std::string attack = "<script>alert('\"&')</script>\xff";
  history_.Add({.controller = attack, .key = {attack, attack}, .reason = attack, .error = attack});
  caches_ = {{.name = attack, .kind = attack, .last_error = attack}};
  objects_ = {json{{"a", "<script>"}}.dump()};

  for (const char* path : {"/debug/", "/debug/caches", "/debug/reconciles", "/debug/caches/0"}) {
    const HttpResponse response = Get(path);
    EXPECT_THAT(response.body, Not(HasSubstr("<script"))) << path;
    EXPECT_THAT(response.body, AllOf(Not(HasSubstr("src=")), Not(HasSubstr("http")))) << path;
    EXPECT_THAT(response.headers,
                Contains(Pair("Content-Security-Policy", HasSubstr("default-src 'none'"))));
    EXPECT_THAT(response.headers, Contains(Pair("Cache-Control", "no-store")));
    EXPECT_NO_THROW((void)Json(path));
  }
  EXPECT_THAT(Html("/debug/reconciles"),
              HasSubstr("&lt;script&gt;alert(&#39;&quot;&amp;&#39;)&lt;/script&gt;\xEF\xBF\xBD"));
}

TEST_F(DebugPagesTest, CurrentPageIsMarkedInTheNavigation) {
  EXPECT_THAT(Html("/debug/queues"),
              AllOf(HasSubstr("<a href=\"/debug/queues\" class=\"current\">Queues</a>"),
                    HasSubstr("<a href=\"/debug/caches\">Caches</a>")));
}

}  // namespace
}  // namespace kopp
