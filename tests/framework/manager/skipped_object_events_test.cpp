#include "manager/skipped_object_events.hpp"

#include "manager_fixture.hpp"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <kopp/kinds.hpp>

namespace kopp {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::SizeIs;

constexpr const char* kEventsOfNs = "/api/v1/namespaces/ns/events";

class SkippedObjectEventsTest : public ManagerTest {
 protected:
  SkippedObjectEventsTest() {
    transport_->Respond("POST", kEventsOfNs, 201, "{}");
    manager_.AddController<Deployment>().Owns<Pod>().Cached().Reconcile(
        [](const Deployment&, Context&) { return Result{}; });
  }
  /// Returns a Pod, owned by a Deployment, that does not fit its view.
  static std::string BadPod(const std::string& version) {
    return R"({"kind":"Pod","apiVersion":"v1","metadata":{"name":"bad","namespace":"ns",
      "uid":"u-bad","labels":{"a":"b"},"resourceVersion":")" +
           version + R"(","ownerReferences":[{"apiVersion":"apps/v1","kind":"Deployment",
      "name":"web","uid":"u-web","controller":true}]},"spec":{"nodeName":7}})";
  }
  static std::string BadDeployment(const std::string& version) {
    return R"({"kind":"Deployment","apiVersion":"apps/v1","metadata":{"name":"web",
      "namespace":"ns","uid":"u-web","resourceVersion":")" +
           version + R"("},"spec":{"replicas":"three"}})";
  }
  json AwaitEvent(std::size_t number) {
    return json::parse(transport_->Await("POST", kEventsOfNs, number).at(number - 1).body);
  }
};

TEST_F(SkippedObjectEventsTest, AnObjectThatDoesNotFitItsViewHasAWarningEvent) {
  transport_->Respond("GET", kDeployments, 200,
                      R"({"kind":"DeploymentList","metadata":{"resourceVersion":"5"},"items":[)" +
                          BadDeployment("4") + "]}");
  Start();

  const json event = AwaitEvent(1);
  EXPECT_EQ(event["type"], "Warning");
  EXPECT_EQ(event["reason"], "DecodeError");
  EXPECT_EQ(event["involvedObject"]["kind"], "Deployment");
  EXPECT_EQ(event["involvedObject"]["name"], "web");
  EXPECT_EQ(event["involvedObject"]["uid"], "u-web");
  EXPECT_THAT(event["message"].get<std::string>(),
              HasSubstr("the Deployment ns/web, which does not fit its view"));
}

TEST_F(SkippedObjectEventsTest, AnOwnedObjectThatDoesNotFitHasAnEventOnItsOwner) {
  SetPods({BadPod("4")});
  Start();

  const json event = AwaitEvent(1);
  EXPECT_EQ(event["involvedObject"]["kind"], "Deployment");
  EXPECT_EQ(event["involvedObject"]["name"], "web");
  EXPECT_THAT(event["message"].get<std::string>(), HasSubstr("the Pod ns/bad"));
}

TEST_F(SkippedObjectEventsTest, EachVersionOfAnObjectHasOneEvent) {
  EventRecorder recorder(manager_.client(), "test", Logger({.verbosity = -1}), clock_);
  const OwningKind foo(Pod::kKind);
  SkippedObjectEvents events([&](std::string_view, std::string_view) { return &foo; });
  const ObjectMeta first{.name = "bad", .ns = "ns", .uid = "u", .resourceVersion = "4"};
  const ObjectMeta second{.name = "bad", .ns = "ns", .uid = "u", .resourceVersion = "5"};
  events.Start(recorder);
  events.OnSkipped({Pod::kKind, first, "first"});
  events.OnSkipped({Pod::kKind, first, "again"});
  events.OnSkipped({Pod::kKind, second, "second"});
  recorder.Stop();

  std::vector<std::string> messages;
  for (const ApiRequest& request : transport_->Requests()) {
    messages.push_back(json::parse(request.body)["message"]);
  }
  EXPECT_THAT(messages, ::testing::ElementsAre("first", "second"));
}

TEST_F(SkippedObjectEventsTest, EventsBeforeTheStartAreRecordedAtTheStartUpToALimit) {
  EventRecorder recorder(manager_.client(), "test", Logger({.verbosity = -1}), clock_);
  const OwningKind foo(Pod::kKind);
  SkippedObjectEvents events([&](std::string_view, std::string_view) { return &foo; });
  for (std::size_t i = 0; i < SkippedObjectEvents::kMaxPending + 5; ++i) {
    const std::string name = "bad-" + std::to_string(i);
    const ObjectMeta metadata{.name = name, .ns = "ns", .uid = name, .resourceVersion = "4"};
    events.OnSkipped({Pod::kKind, metadata, "problem"});
  }
  EXPECT_THAT(transport_->Requests(), SizeIs(0));
  events.Start(recorder);
  recorder.Stop();

  EXPECT_THAT(transport_->Requests(), SizeIs(SkippedObjectEvents::kMaxPending));
}

}  // namespace
}  // namespace kopp
