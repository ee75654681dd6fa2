#include "client/written_object.hpp"

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <kopp/client.hpp>
#include <kopp/kinds.hpp>
#include <kopp/testing/fake_clock.hpp>
#include <kopp/testing/scripted_transport.hpp>

namespace kopp {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using State = WrittenObject::State;

constexpr const char* kWrittenPods = "/api/v1/namespaces/shop/pods";
constexpr const char* kWrittenPod = "/api/v1/namespaces/shop/pods/web";

std::string WrittenPodText(const std::string& metadata = "") {
  return R"({"kind":"Pod","apiVersion":"v1","metadata":{"name":"web","namespace":"shop","uid":"u1",)"
         R"("resourceVersion":"7")" +
         metadata + "}}";
}

/// A view that decodes nothing of the metadata.
struct PodWithoutMetadata {
  static constexpr Kind kKind = Pod::kKind;
  struct Spec {
    std::string nodeName = {};
  };
  ObjectMeta metadata = {};
  Spec spec = {};
};
KOPP_FIELDS(PodWithoutMetadata::Spec, nodeName)
KOPP_FIELDS(PodWithoutMetadata, KOPP_IGNORE(metadata), spec)

using Labels = std::map<std::string, std::string>;

WrittenObject WebIn(State state, const std::optional<Labels>& labels = Labels{}) {
  return {.key = {"shop", "web"},
          .uid = "u1",
          .resource_version = state == State::kExists ? "7" : "",
          .labels = labels,
          .state = state};
}

/// Records the writes of a client to a scripted API server.
class WriteObserverTest : public ::testing::Test, private WriteObserver {
 protected:
  WriteObserverTest() {
    for (const char* const method : {"PUT", "PATCH", "DELETE"}) {
      transport_.Respond(method, kWrittenPod, 200, WrittenPodText());
    }
    transport_.Respond("POST", kWrittenPods, 201, WrittenPodText());
  }

  void OnWrite(const Kind& kind, const WrittenObject& object) override {
    writes_.emplace_back(kind.plural, object);
  }
  static nlohmann::json Body() { return {{"metadata", {{"name", "web"}, {"namespace", "shop"}}}}; }

  testing::FakeClock clock_;
  testing::ScriptedTransport transport_{clock_};
  Client client_ = Client(transport_).WithWriteObserver(*this);
  std::vector<std::pair<std::string, WrittenObject>> writes_;
};

TEST_F(WriteObserverTest, EachTypeOfWriteIsReported) {
  client_.Create<Pod>(Body());
  client_.Update<Pod>(Body());
  client_.Patch<Pod>({"shop", "web"}, Patch::Merge({}));
  client_.Apply<Pod>(Body());
  client_.Delete<Pod>({"shop", "web"});

  const std::pair<std::string, WrittenObject> written{"pods", WebIn(State::kExists)};
  EXPECT_THAT(writes_, ElementsAre(written, written, written, written,
                                   std::pair(std::string("pods"), WebIn(State::kGone))));
}

TEST_F(WriteObserverTest, AWriteOfASubresourceIsReportedForItsObject) {
  transport_.Respond("PATCH", std::string(kWrittenPod) + "/status", 200, WrittenPodText());
  transport_.Respond("PUT", "/apis/apps/v1/namespaces/shop/deployments/web/scale", 200,
                     R"({"kind":"Scale","apiVersion":"autoscaling/v1","metadata":{"name":"web",)"
                     R"("namespace":"shop","uid":"u1","resourceVersion":"7"}})");

  client_.PatchStatus<Pod>({"shop", "web"}, Patch::Merge({}));
  client_.UpdateScale<Deployment>({.metadata = {.name = "web", .ns = "shop"}});

  EXPECT_THAT(writes_, ElementsAre(std::pair(std::string("pods"), WebIn(State::kExists)),
                                   std::pair(std::string("deployments"),
                                             WebIn(State::kExists, std::nullopt))));
}

TEST_F(WriteObserverTest, DryRunsAndFailedWritesAreNotReported) {
  client_.Create<Pod>(Body(), {.dry_run = true});
  client_.Delete<Pod>({"shop", "web"}, {.dry_run = true});
  client_.WithDryRun().Update<Pod>(Body());
  transport_.Respond("PUT", kWrittenPod, 409, R"({"reason":"Conflict"})");
  EXPECT_THROW(client_.Update<Pod>(Body()), ApiError);
  EXPECT_FALSE(client_.Delete<Pod>({"shop", "other"}));

  EXPECT_THAT(writes_, IsEmpty());
}

TEST_F(WriteObserverTest, TheObjectsOfADeletedCollectionAreReported) {
  transport_.Respond(
      "DELETE", kWrittenPods, 200,
      R"({"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"9"},"items":[)" +
          WrittenPodText() + "]}");

  client_.DeleteAllOf<Pod>({.ns = "shop"});

  EXPECT_THAT(writes_, ElementsAre(std::pair(std::string("pods"), WebIn(State::kDeleting))));
}

TEST_F(WriteObserverTest, AWriteWhoseResponseDoesNotFitTheViewIsReported) {
  transport_.Respond("POST", kWrittenPods, 201, WrittenPodText(R"(},"spec":{"nodeName":7)"));
  EXPECT_THROW(client_.Create<Pod>(Body()), DecodeError);
  EXPECT_THAT(writes_, ElementsAre(std::pair(std::string("pods"), WebIn(State::kExists))));
}

TEST_F(WriteObserverTest, AWriteIsReportedIfItsViewHasNoMetadata) {
  client_.Create<PodWithoutMetadata>(Body());
  EXPECT_THAT(writes_, ElementsAre(std::pair(std::string("pods"), WebIn(State::kExists))));
}

TEST_F(WriteObserverTest, AWriteThatRemovesTheLastFinalizerIsReportedAsADeletion) {
  transport_.Respond("PATCH", kWrittenPod, 200,
                     WrittenPodText(R"(,"deletionTimestamp":"2026-11-20T21:33:39Z")"));
  client_.Patch<Pod>({"shop", "web"}, Patch::Merge({}));
  EXPECT_THAT(writes_, ElementsAre(std::pair(std::string("pods"), WebIn(State::kGone))));
}

TEST_F(WriteObserverTest, TheLabelsOfAnObjectAreReported) {
  transport_.Respond("PATCH", kWrittenPod, 200, WrittenPodText(R"(,"labels":{"app":"web"})"));
  client_.Patch<Pod>({"shop", "web"}, Patch::Merge({}));
  EXPECT_THAT(writes_, ElementsAre(std::pair(std::string("pods"),
                                             WebIn(State::kExists, Labels{{"app", "web"}}))));
}

TEST_F(WriteObserverTest, AResponseThatCannotBeDecodedIsNotReported) {
  transport_.Respond("DELETE", kWrittenPod, 200, "");
  EXPECT_TRUE(client_.Delete<Pod>({"shop", "web"}));
  EXPECT_THAT(writes_, IsEmpty());
}

TEST(WrittenObjectTest, AResponseWithoutAVersionHasNoObject) {
  EXPECT_THAT(WrittenObjects(Pod::kKind, R"({"kind":"Status","metadata":{},"status":"Success"})"),
              IsEmpty());
}

TEST(WrittenObjectTest, TheWriteThatRemovesTheLastFinalizerDeletesTheObject) {
  const std::string marked = R"(,"deletionTimestamp":"2026-01-01T00:00:00Z")";
  const std::string waits = marked + R"(,"finalizers":["a/b"])";
  const std::string terminates = marked + R"(,"deletionGracePeriodSeconds":30)";

  EXPECT_THAT(WrittenObjects(Pod::kKind, WrittenPodText(marked)), ElementsAre(WebIn(State::kGone)));
  EXPECT_THAT(WrittenObjects(Pod::kKind, WrittenPodText(waits)),
              ElementsAre(WebIn(State::kExists)));
  EXPECT_THAT(WrittenObjects(Pod::kKind, WrittenPodText(terminates)),
              ElementsAre(WebIn(State::kExists)));
  EXPECT_THAT(WrittenObjects(Namespace::kKind, WrittenPodText(marked)),
              ElementsAre(WebIn(State::kExists)));
}

TEST(WrittenObjectTest, ADeletionWithoutFinalizersIsCompleteAndOneWithFinalizersIsNot) {
  const ObjectKey key{"shop", "web"};
  const std::string waits = R"(,"deletionTimestamp":"2026-01-01T00:00:00Z","finalizers":["a/b"])";

  EXPECT_THAT(DeletedObjects(Pod::kKind, key, WrittenPodText()), ElementsAre(WebIn(State::kGone)));
  EXPECT_THAT(DeletedObjects(Pod::kKind, key, WrittenPodText(waits)),
              ElementsAre(WebIn(State::kExists)));
  EXPECT_THAT(
      DeletedObjects(Pod::kKind, key, R"({"kind":"Status","metadata":{},"details":{"uid":"u1"}})"),
      ElementsAre(WebIn(State::kGone, std::nullopt)));
}

}  // namespace
}  // namespace kopp
