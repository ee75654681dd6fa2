#include "decode_errors.hpp"

#include <chrono>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <kopp/http_source.hpp>
#include <kopp/informer/api_error.hpp>
#include <kopp/informer/metadata_only.hpp>
#include <kopp/kinds.hpp>
#include <kopp/testing/fake_clock.hpp>
#include <kopp/testing/scripted_transport.hpp>

namespace kopp {
namespace {

using namespace std::chrono_literals;
using informer::EventType;
using informer::WatchItem;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;
using Type = WatchItem::Type;

constexpr const char* kPodsPath = "/api/v1/pods";

std::string Event(const std::string& type, const std::string& name, const std::string& version,
                  const std::string& kind = "Pod") {
  return R"({"type":")" + type + R"(","object":{"kind":")" + kind +
         R"(","apiVersion":"v1","metadata":{"name":")" + name +
         R"(","namespace":"ns","resourceVersion":")" + version + "\"}}}\n";
}

class HttpSourceTest : public ::testing::Test {
 protected:
  informer::ListResult List(const informer::ListRequest& options = {}) {
    return source_.List(
        options, [this](const informer::AnyObject& pod) { names_.push_back(pod.metadata().name); },
        {});
  }
  std::unique_ptr<informer::WatchStream> Watch() {
    return source_.Watch({.resource_version = "7", .timeout = 300s}, {});
  }

  testing::FakeClock clock_;
  testing::ScriptedTransport transport_{clock_};
  AnyHttpSource source_{transport_, Pod::kKind, DecodeAny<Pod>};
  std::vector<std::string> names_;
};

TEST_F(HttpSourceTest, ListReturnsTheObjectsTheResourceVersionAndTheContinueToken) {
  transport_.Respond("GET", kPodsPath, 200, R"({"kind":"PodList","items":[{"metadata":{"name":"a"}},
      {"metadata":{"name":"b"}}],"metadata":{"resourceVersion":"9","continue":"more"}})");

  const auto result = List({.resource_version = "0", .limit = 500, .continue_token = "token"});

  EXPECT_THAT(names_, ElementsAre("a", "b"));
  EXPECT_EQ(result.resource_version, "9");
  EXPECT_EQ(result.continue_token, "more");
  EXPECT_EQ(transport_.Requests()[0].target,
            "/api/v1/pods?resourceVersion=0&limit=500&continue=token");
}

TEST_F(HttpSourceTest, AListOfAnExactVersionRequestsItOnTheFirstPageOnly) {
  transport_.Respond("GET", kPodsPath, 200, R"({"kind":"PodList","items":[],
      "metadata":{"resourceVersion":"9"}})");
  transport_.Respond("GET", kPodsPath, 200, R"({"kind":"PodList","items":[],
      "metadata":{"resourceVersion":"9"}})");

  List({.resource_version = "9", .limit = 500, .exact = true});
  List({.limit = 500, .continue_token = "token", .exact = true});

  EXPECT_EQ(transport_.Requests()[0].target,
            "/api/v1/pods?resourceVersion=9&resourceVersionMatch=Exact&limit=500");
  EXPECT_EQ(transport_.Requests()[1].target, "/api/v1/pods?limit=500&continue=token");
}

TEST_F(HttpSourceTest, AListOfOneObjectSelectsItsNameInItsNamespace) {
  const std::string path = "/api/v1/namespaces/ns/pods";
  const std::string empty = R"({"kind":"PodList","items":[],"metadata":{"resourceVersion":"9"}})";
  transport_.Respond("GET", path, 200, empty);
  transport_.Respond("GET", path, 200, empty);

  List({.limit = 1, .object = {"ns", "a"}});
  AnyHttpSource selective(transport_, Pod::kKind, DecodeAny<Pod>,
                          Selector{.fields = "status.phase=Running"});
  selective.List({.limit = 1, .object = {"ns", "a"}}, [](const informer::AnyObject&) {}, {});

  EXPECT_EQ(transport_.Requests()[0].target, path + "?fieldSelector=metadata.name%3Da&limit=1");
  EXPECT_EQ(transport_.Requests()[1].target,
            path + "?fieldSelector=status.phase%3DRunning%2Cmetadata.name%3Da&limit=1");
}

TEST_F(HttpSourceTest, ListSkipsAndNamesAnObjectThatDoesNotFitTheView) {
  transport_.Respond("GET", kPodsPath, 200, R"({"kind":"PodList","metadata":{"resourceVersion":"9"},
      "items":[{"metadata":{"name":"odd","namespace":"ns"},"status":{"phase":3}},
               {"metadata":{"name":"b"}}]})");

  const auto result = List();

  EXPECT_THAT(names_, ElementsAre("b"));
  ASSERT_EQ(result.skipped.size(), 1);
  EXPECT_EQ(result.skipped[0].key, (ObjectKey{"ns", "odd"}));
  EXPECT_EQ(result.skipped[0].problem,
            "skipped the Pod ns/odd, which does not fit its view: "
            "status.phase: expected a string, found a number");
}

TEST_F(HttpSourceTest, ListSkipsAnObjectWithoutAName) {
  transport_.Respond("GET", kPodsPath, 200, R"({"kind":"PodList","metadata":{"resourceVersion":"9"},
      "items":[{"metadata":{}},{"metadata":{"name":"b"}}]})");

  EXPECT_EQ(List().skipped[0].problem, "skipped a Pod without metadata.name");
  EXPECT_THAT(names_, ElementsAre("b"));
}

TEST_F(HttpSourceTest, ListSkipsAnItemThatIsNotValidJson) {
  transport_.Respond("GET", kPodsPath, 200, R"({"kind":"PodList","metadata":{"resourceVersion":"9"},
      "items":[{"metadata":{"name":"a","namespace":"ns","uid":nonsense}},{"nonsense"},
               {"metadata":{"name":"b"}}]})");

  const auto result = List();

  EXPECT_THAT(names_, ElementsAre("b"));
  ASSERT_EQ(result.skipped.size(), 2);
  EXPECT_EQ(result.skipped[0].key, (ObjectKey{"ns", "a"}));
  EXPECT_THAT(result.skipped[0].problem,
              HasSubstr("skipped the Pod ns/a, which is not valid JSON"));
  EXPECT_EQ(result.skipped[1].key, ObjectKey{});
  EXPECT_THAT(result.skipped[1].problem, HasSubstr("skipped the Pod with an unknown name"));
}

TEST_F(HttpSourceTest, ADeeplyNestedObjectIsListedAndWatchedLikeAnyOther) {
  const std::string deep = std::string(9'000, '[') + std::string(9'000, ']');
  const std::string pod = R"({"kind":"Pod","apiVersion":"v1","metadata":{"name":"a",
      "resourceVersion":"8"},"deep":)" +
                          deep + "}";
  transport_.Respond("GET", kPodsPath, 200,
                     R"({"kind":"PodList","metadata":{"resourceVersion":"9"},"items":[)" + pod +
                         R"(,{"metadata":{"name":"b"}}]})");
  EXPECT_THAT(List().skipped, ::testing::IsEmpty());
  EXPECT_THAT(names_, ElementsAre("a", "b"));

  const auto watch = Watch();
  transport_.SendToWatch(kPodsPath, R"({"type":"ADDED","object":)" + pod + "}\n");
  EXPECT_EQ(watch->Next(1s).object.key().name, "a");
}

TEST_F(HttpSourceTest, AListWhoseItemsAreNullIsEmpty) {
  transport_.Respond("GET", kPodsPath, 200,
                     R"({"kind":"PodList","metadata":{"resourceVersion":"9"},"items":null})");

  EXPECT_EQ(List().resource_version, "9");
  EXPECT_THAT(names_, ::testing::IsEmpty());
}

TEST_F(HttpSourceTest, ListAcceptsAnyListKind) {
  transport_.Respond("GET", kPodsPath, 200,
                     R"({"kind":"PodCollection","metadata":{"resourceVersion":"9"},"items":[]})");

  EXPECT_EQ(List().resource_version, "9");
}

TEST_F(HttpSourceTest, ADeletionIsReportedEvenIfItsObjectDoesNotFitTheView) {
  const auto watch = Watch();
  transport_.SendToWatch(kPodsPath, R"({"type":"DELETED","object":{"kind":"Pod","apiVersion":"v1",
      "metadata":{"name":"a","namespace":"ns","resourceVersion":"8"},"status":{"phase":3}}})");

  const auto item = watch->Next(1s);

  EXPECT_EQ(item.type, Type::kEvent);
  EXPECT_EQ(item.event_type, EventType::kDeleted);
  EXPECT_EQ(item.object.key(), (ObjectKey{"ns", "a"}));
  EXPECT_TRUE(item.metadata_only);
}

TEST_F(HttpSourceTest, ADeletionIsReportedEvenIfItsObjectCannotBeDecoded) {
  const AnyHttpSource::Decoder decode = [](const JsonObject&) -> informer::AnyObject {
    throw DecodeError(DecodeError::Kind::kTypeMismatch, "", "the transform threw");
  };
  AnyHttpSource source{transport_, Pod::kKind, decode, Selector{}, clock_};
  const auto watch = source.Watch({.resource_version = "7", .timeout = 5min}, {});
  transport_.SendToWatch("/api/v1/pods", R"({"type":"DELETED","object":{"kind":"Pod",
      "apiVersion":"v1","metadata":{"name":"a","namespace":"ns","resourceVersion":"8"}}})");

  const auto item = watch->Next(1s);

  EXPECT_EQ(item.event_type, EventType::kDeleted);
  EXPECT_EQ(item.object.key(), (ObjectKey{"ns", "a"}));
  EXPECT_TRUE(item.metadata_only);
}

TEST_F(HttpSourceTest, NextReturnsWithoutAnEventIfTheBytesContainNone) {
  const auto watch = Watch();
  transport_.SendToWatch(kPodsPath, "\n");

  EXPECT_EQ(watch->Next(1h).type, Type::kNoEvent);
}

TEST_F(HttpSourceTest, ListThrowsIfTheResponseIsNotACompleteList) {
  for (const std::string body :
       {"", "<html>", R"({"kind":"PodList","items":[{"metadata":{}})", R"({"kind":"Status"})",
        R"({"kind":"Pod","metadata":{"name":"a","resourceVersion":"9"}})",
        R"({"kind":"Table","rows":[]})",
        R"({"kind":"PodList","metadata":{"resourceVersion":"9","items":1}})"}) {
    transport_.Respond("GET", kPodsPath, 200, body);
    EXPECT_THROW(List(), DecodeError) << body;
  }
}

TEST_F(HttpSourceTest, AnErrorOfAListNamesItsRequest) {
  for (const char* body : {"", "null", R"({"kind":"PodList","items":[)"}) {
    transport_.Respond("GET", kPodsPath, 200, body);
    EXPECT_THAT(DecodeErrorOf([&] { List(); }), StartsWith("LIST /api/v1/pods: ")) << body;
  }
}

TEST_F(HttpSourceTest, ALoginPageIsNamedByAListAndAWatch) {
  const std::string problem =
      ": the response is not from a Kubernetes API server: it is an HTML page, \"Sign in\"; check";
  transport_.Respond("GET", kPodsPath, 200, "\n<html><title>Sign in</title>");
  EXPECT_THAT(DecodeErrorOf([&] { List(); }), StartsWith("LIST /api/v1/pods" + problem));

  const auto watch = Watch();
  transport_.SendToWatch(kPodsPath, "\n<html><title>Sign in</title>");
  const std::string error = DecodeErrorOf([&] { (void)watch->Next(1s); });
  EXPECT_THAT(error, AllOf(StartsWith("WATCH /api/v1/pods?"), HasSubstr(problem)));
}

TEST_F(HttpSourceTest, ListThrowsAnApiErrorForAnErrorStatus) {
  transport_.Respond("GET", kPodsPath, 410, R"({"reason":"Expired","message":"too old"})");

  try {
    List();
    FAIL() << "List or Next returned";
  } catch (const ApiError& error) {
    EXPECT_TRUE(error.IsGone());
    EXPECT_THAT(error.what(), HasSubstr("LIST /api/v1/pods: 410 Expired: too old"));
  }
}

TEST_F(HttpSourceTest, WatchRequestsBookmarksTheResourceVersionAndTheTimeout) {
  (void)Watch();

  EXPECT_EQ(
      transport_.Requests()[0].target,
      "/api/v1/pods?watch=true&allowWatchBookmarks=true&resourceVersion=7&timeoutSeconds=300");
}

TEST_F(HttpSourceTest, AStreamingListRequestsInitialEventsAndReportsTheirEnd) {
  const auto watch = source_.Watch({.timeout = 300s, .send_initial_events = true}, {});
  EXPECT_EQ(transport_.Requests()[0].target,
            "/api/v1/pods?watch=true&allowWatchBookmarks=true&sendInitialEvents=true"
            "&resourceVersionMatch=NotOlderThan&timeoutSeconds=300");

  transport_.SendToWatch(kPodsPath, Event("BOOKMARK", "", "8"));
  transport_.SendToWatch(kPodsPath, R"({"type":"BOOKMARK","object":{"kind":"Pod","apiVersion":"v1",
      "metadata":{"resourceVersion":"9","annotations":{"k8s.io/initial-events-end":"true"}}}})");

  EXPECT_FALSE(watch->Next(1s).initial_events_end);
  const WatchItem end = watch->Next(1s);
  EXPECT_EQ(end.type, Type::kBookmark);
  EXPECT_TRUE(end.initial_events_end);
  EXPECT_EQ(end.resource_version, "9");
}

TEST_F(HttpSourceTest, AnEventThatDoesNotFitTheViewHasTheKeyOfItsObject) {
  const auto watch = Watch();
  transport_.SendToWatch(kPodsPath, R"({"type":"ADDED","object":{"kind":"Pod","apiVersion":"v1",
      "metadata":{"name":"odd","namespace":"ns"},"status":{"phase":3}}})");

  const WatchItem item = watch->Next(1s);

  EXPECT_EQ(item.type, Type::kSkipped);
  EXPECT_EQ(item.skipped_key, (ObjectKey{"ns", "odd"}));
}

TEST_F(HttpSourceTest, WatchOfOneNamespaceUsesTheNamespacedPath) {
  AnyHttpSource source{transport_, Pod::kKind, DecodeAny<Pod>, "shop"};
  (void)source.Watch({.resource_version = "7", .timeout = 300s}, {});

  EXPECT_THAT(transport_.Requests()[0].target, HasSubstr("/api/v1/namespaces/shop/pods?"));
}

TEST_F(HttpSourceTest, AMetadataOnlySourceRequestsPartialObjectMetadata) {
  transport_.Respond("GET", kPodsPath, 200,
                     R"({"kind":"PartialObjectMetadataList","apiVersion":"meta.k8s.io/v1",
                         "metadata":{"resourceVersion":"9"},"items":[{"metadata":{"name":"a"}}]})");
  AnyHttpSource source{transport_, Pod::kKind, DecodeAny<MetadataOnly<Pod>>,
                       Selector{}, clock_,     ObjectForm::kMetadataOnly};
  source.List({}, [this](const informer::AnyObject& pod) { names_.push_back(pod.key().name); }, {});
  const auto watch = source.Watch({.resource_version = "7", .timeout = 300s}, {});

  EXPECT_THAT(names_, ElementsAre("a"));
  EXPECT_EQ(transport_.Requests()[0].accept,
            "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json");
  EXPECT_EQ(transport_.Requests()[1].accept,
            "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json");
}

TEST_F(HttpSourceTest, AListOfMetadataOnlyAlsoHasObjectsThatDoNotFitTheView) {
  transport_.Respond("GET", kPodsPath, 200,
                     R"({"kind":"PodList","metadata":{"resourceVersion":"9"},"items":[
                         {"metadata":{"name":"a"},"spec":"not the type of the view"}]})");

  const auto result = List({.metadata_only = true});

  EXPECT_TRUE(result.metadata_only);
  EXPECT_THAT(result.skipped, ::testing::IsEmpty());
  EXPECT_THAT(names_, ElementsAre("a"));
  EXPECT_EQ(transport_.Requests()[0].accept,
            "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json");
}

TEST_F(HttpSourceTest, AMetadataOnlyWatchAcceptsMetadataAndWholeObjectsOfItsKind) {
  AnyHttpSource source{transport_, Pod::kKind, DecodeAny<MetadataOnly<Pod>>,
                       Selector{}, clock_,     ObjectForm::kMetadataOnly};
  const auto watch = source.Watch({.resource_version = "7", .timeout = 300s}, {});
  transport_.SendToWatch(
      kPodsPath,
      R"({"type":"ADDED","object":{"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1",)"
      R"("metadata":{"name":"a","resourceVersion":"8"}}})"
      "\n" +
          Event("ADDED", "b", "9") + Event("ADDED", "c", "10", "Node"));

  EXPECT_EQ(watch->Next(1s).object.key().name, "a");
  EXPECT_EQ(watch->Next(1s).object.key().name, "b");
  EXPECT_EQ(watch->Next(1s).type, Type::kSkipped);
}

TEST_F(HttpSourceTest, EventsArriveInOrderEvenIfAnEventIsSplitBetweenReads) {
  const auto watch = Watch();
  const std::string text = Event("ADDED", "a", "8") + Event("MODIFIED", "a", "9") +
                           Event("DELETED", "a", "10") + Event("BOOKMARK", "", "12");
  transport_.SendToWatch(kPodsPath, text.substr(0, 100));
  transport_.SendToWatch(kPodsPath, text.substr(100));

  EXPECT_EQ(watch->Next(1s).type, Type::kNoEvent) << "no event is complete yet";
  auto item = watch->Next(1s);
  EXPECT_EQ(item.type, Type::kEvent);
  EXPECT_EQ(item.event_type, EventType::kAdded);
  EXPECT_EQ(item.object.metadata().name, "a");
  EXPECT_EQ(item.resource_version, "8");
  EXPECT_EQ(watch->Next(1s).event_type, EventType::kModified);
  EXPECT_EQ(watch->Next(1s).event_type, EventType::kDeleted);
  item = watch->Next(1s);
  EXPECT_EQ(item.type, Type::kBookmark);
  EXPECT_EQ(item.resource_version, "12");
}

TEST_F(HttpSourceTest, AnErrorEventIsThrownAsAnApiError) {
  const auto watch = Watch();
  transport_.SendToWatch(
      kPodsPath, R"({"type":"ERROR","object":{"kind":"Status","code":410,"reason":"Expired"}})");

  try {
    (void)watch->Next(1s);
    FAIL() << "List or Next returned";
  } catch (const ApiError& error) {
    EXPECT_TRUE(error.IsGone());
  }
}

TEST_F(HttpSourceTest, AnErrorEventWithoutAStatusThrowsADecodeError) {
  const auto watch = Watch();
  transport_.SendToWatch(kPodsPath, "{\"type\":\"ERROR\",\"object\":\"not a Status\"}\n");

  EXPECT_THROW((void)watch->Next(1s), DecodeError);
}

TEST_F(HttpSourceTest, EventsWithAnUnknownTypeADifferentKindOrNoNameAreSkippedWithAReason) {
  const auto watch = Watch();
  transport_.SendToWatch(kPodsPath, Event("RENAMED", "a", "8") + Event("ADDED", "a", "8", "Table") +
                                        Event("ADDED", "", "9"));

  EXPECT_THAT(watch->Next(1s).problem, HasSubstr("unknown type \"RENAMED\""));
  EXPECT_THAT(watch->Next(1s).problem, HasSubstr("about a v1 Table"));
  const auto item = watch->Next(1s);
  EXPECT_EQ(item.type, Type::kSkipped);
  EXPECT_THAT(item.problem, HasSubstr("without metadata.name"));
}

TEST_F(HttpSourceTest, AnEventWithoutMetadataIsSkipped) {
  const auto watch = Watch();
  transport_.SendToWatch(kPodsPath,
                         R"({"type":"ADDED","object":{"kind":"Pod","apiVersion":"v1"}})");

  EXPECT_EQ(watch->Next(1s).problem, "skipped a Pod without metadata.name");
}

TEST_F(HttpSourceTest, AnEventWithoutUidAndResourceVersionIsReported) {
  const auto watch = Watch();
  transport_.SendToWatch(kPodsPath, R"({"type":"ADDED","object":{"kind":"Pod","apiVersion":"v1",
      "metadata":{"name":"a"}}})");

  const auto item = watch->Next(1s);
  EXPECT_EQ(item.type, Type::kEvent);
  EXPECT_EQ(item.resource_version, "");
}

TEST_F(HttpSourceTest, EventsNeedNoLineEndBetweenThem) {
  const auto watch = Watch();
  std::string text = Event("ADDED", "a", "8") + Event("ADDED", "b", "9");
  std::erase(text, '\n');
  transport_.SendToWatch(kPodsPath, text);

  EXPECT_EQ(watch->Next(1s).object.key().name, "a");
  EXPECT_EQ(watch->Next(1s).object.key().name, "b");
}

TEST_F(HttpSourceTest, AMalformedEventThrowsADecodeError) {
  const auto watch = Watch();
  transport_.SendToWatch(kPodsPath, "{\"type\":\"ADDED\",nonsense}\n");

  EXPECT_THROW((void)watch->Next(1s), DecodeError);
}

TEST_F(HttpSourceTest, AWatchThatEndsInTheMiddleOfAnEventThrows) {
  auto watch = Watch();
  transport_.SendToWatch(kPodsPath, "{\"type\":");
  transport_.EndWatch(kPodsPath);
  EXPECT_EQ(watch->Next(1s).type, Type::kNoEvent);
  EXPECT_THROW((void)watch->Next(1s), DecodeError);

  watch = Watch();
  transport_.EndWatch(kPodsPath);
  EXPECT_EQ(watch->Next(1s).type, Type::kEnd);
}

TEST_F(HttpSourceTest, NextReturnsNoEventAfterItsTimeout) {
  const auto watch = Watch();

  EXPECT_EQ(watch->Next(0s).type, Type::kNoEvent);
}

}  // namespace
}  // namespace kopp
