#include "controller/own_events.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <kopp/kinds.hpp>

namespace kopp {
namespace {

using informer::AnyObject;
using informer::KeyEvent;
using nlohmann::json;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using Verb = ClientWrite::Verb;

const ObjectKey pod_key{"ns", "a"};

/// Returns the Pod ns/a in a version. `change` changes its metadata further.
AnyObject PodIn(const std::string& version,
                const std::function<void(ObjectMeta&)>& change = nullptr) {
  Pod pod;
  pod.metadata.name = "a";
  pod.metadata.ns = "ns";
  pod.metadata.uid = "u-a";
  pod.metadata.resourceVersion = version;
  pod.metadata.generation = 1;
  if (change) change(pod.metadata);
  return std::make_shared<const Pod>(std::move(pod));
}

/// Returns the response to a write of the Pod ns/a by the field manager "me".
std::string ResponseIn(const std::string& version, const std::string& subresource = "status",
                       const std::string& uid = "u-a") {
  return json{{"metadata",
               {{"name", "a"},
                {"namespace", "ns"},
                {"uid", uid},
                {"resourceVersion", version},
                {"managedFields", json::array({{{"manager", "me"},
                                                {"operation", "Update"},
                                                {"subresource", subresource},
                                                {"time", "2026-11-29T14:00:00Z"}}})}}}}
      .dump();
}

/// Tests of the events of the key ns/a, which is the Pod ns/a. Each event has a number, and the
/// tests see which numbers were added to the queue.
class OwnEventsTest : public ::testing::Test {
 protected:
  /// Delivers an event as the handlers of a controller do.
  void Deliver(int number, const KeyEvent& event, const std::string& kind = "Pod") {
    if (!events_.Handle(pod_key, kind, event, {.priority = number})) added_.push_back(number);
  }
  void DeliverUpdate(int number, const AnyObject& before, const AnyObject& after,
                     bool is_watch_event = true, const std::string& kind = "Pod") {
    Deliver(number,
            {.type = KeyEvent::Type::kUpdate,
             .object = after,
             .before = &before,
             .is_watch_event = is_watch_event},
            kind);
  }
  /// Delivers the update of the status from one version to the next.
  void DeliverStatus(int number, const std::string& before, const std::string& after) {
    DeliverUpdate(number, PodIn(before), PodIn(after));
  }
  void DeliverAdd(int number, const AnyObject& object) {
    Deliver(number, {.object = object, .is_watch_event = true});
  }
  void DeliverDelete(int number, const AnyObject& object, const std::string& kind = "Pod",
                     bool is_watch_event = true) {
    Deliver(number,
            {.type = KeyEvent::Type::kDelete, .object = object, .is_watch_event = is_watch_event},
            kind);
  }

  /// A write of the status of the Pod with a body of its own.
  ClientWrite StatusWrite(std::optional<std::size_t> body = {}) {
    return {.kind = Pod::kKind,
            .key = pod_key,
            .subresource = "status",
            .field_manager = "me",
            .path_hash = 1,
            .body_hash = body.value_or(++last_body_)};
  }
  ClientWrite SpecWrite() {
    ClientWrite write = StatusWrite();
    write.subresource = "";
    write.path_hash = 2;
    return write;
  }
  static ClientWrite Deletion(Verb verb = Verb::kDelete) {
    return {.verb = verb, .kind = Pod::kKind, .key = pod_key};
  }
  static void Write(OwnEvents::Scope& attempt, ClientWrite write, const std::string& response,
                    bool created = false) {
    const auto listener = attempt.listener();
    listener->OnWriteEnded(listener->OnWriteStarted(std::move(write)), created, response);
  }
  /// Lets a reconcile write, and fail.
  void FailAfter(ClientWrite write, const std::string& response, bool created = false) {
    OwnEvents::Scope attempt(events_, pod_key);
    Write(attempt, std::move(write), response, created);
    attempt.End(/*succeeded=*/false);
  }

  std::vector<int> added_;
  std::size_t last_body_ = 0;
  OwnEvents events_{Pod::kKind, [this](const ObjectKey& key, OwnEvents::AddOptions options) {
                      EXPECT_EQ(key, pod_key);
                      added_.push_back(*options.priority);
                    }};
};

TEST_F(OwnEventsTest, WithoutWritesEachEventIsForeign) {
  DeliverStatus(1, "1", "2");
  OwnEvents::Scope attempt(events_, pod_key);
  DeliverStatus(2, "2", "3");
  attempt.End(true);

  EXPECT_THAT(added_, ElementsAre(1, 2));
  EXPECT_EQ(events_.size(), 0);
}

TEST_F(OwnEventsTest, WritesToAnotherKindWithTheSameNameDelayNoEvent) {
  OwnEvents::Scope scope(events_, pod_key);
  ClientWrite secret = StatusWrite();
  secret.kind = Secret::kKind;
  Write(scope, secret, ResponseIn("2"));
  const auto listener = scope.listener();
  const std::uint64_t without_response = listener->OnWriteStarted(std::move(secret));
  DeliverStatus(1, "1", "2");
  EXPECT_THAT(added_, ElementsAre(1));
  listener->OnWriteEnded(without_response, false, "");
  scope.End(false);
}

TEST_F(OwnEventsTest, AnOwnEventDuringAReconcileThatFailsIsDropped) {
  OwnEvents::Scope attempt(events_, pod_key);
  Write(attempt, StatusWrite(), ResponseIn("2"));
  DeliverStatus(1, "1", "2");
  attempt.End(false);

  EXPECT_THAT(added_, IsEmpty());
}

TEST_F(OwnEventsTest, AnOwnEventDuringAReconcileThatSucceedsIsAddedAtItsEnd) {
  OwnEvents::Scope attempt(events_, pod_key);
  Write(attempt, StatusWrite(), ResponseIn("2"));
  DeliverStatus(1, "1", "2");
  EXPECT_THAT(added_, IsEmpty());
  attempt.End(true);

  EXPECT_THAT(added_, ElementsAre(1));
  EXPECT_EQ(events_.size(), 0) << "a healthy key costs nothing";
}

TEST_F(OwnEventsTest, AForeignEventDuringAReconcileIsAddedAtOnce) {
  OwnEvents::Scope attempt(events_, pod_key);
  Write(attempt, StatusWrite(), ResponseIn("3"));
  DeliverStatus(1, "1", "2");

  EXPECT_THAT(added_, ElementsAre(1));
}

TEST_F(OwnEventsTest, AfterAFailureOwnEventsAreDroppedAndForeignOnesAdded) {
  FailAfter(StatusWrite(), ResponseIn("2"));
  DeliverStatus(1, "1", "2");
  DeliverStatus(2, "2", "3");
  DeliverStatus(3, "1", "2");  // to another handler

  EXPECT_THAT(added_, ElementsAre(2));
}

TEST_F(OwnEventsTest, AfterASuccessTheEventsOfEarlierWritesAreForeign) {
  FailAfter(StatusWrite(), ResponseIn("2"));
  OwnEvents::Scope attempt(events_, pod_key);
  DeliverStatus(1, "1", "2");
  EXPECT_THAT(added_, IsEmpty()) << "the result of the reconcile is not known";
  attempt.End(true);
  EXPECT_THAT(added_, ElementsAre(1));

  DeliverStatus(2, "1", "2");
  EXPECT_THAT(added_, ElementsAre(1, 2));
}

TEST_F(OwnEventsTest, AnAttemptThatDoesNotEndHasFailed) {
  {
    OwnEvents::Scope attempt(events_, pod_key);
    Write(attempt, StatusWrite(), ResponseIn("2"));
  }
  DeliverStatus(1, "1", "2");
  EXPECT_THAT(added_, IsEmpty());
}

TEST_F(OwnEventsTest, AnEventBeforeTheResponseWaitsForIt) {
  OwnEvents::Scope attempt(events_, pod_key);
  const auto listener = attempt.listener();
  const auto id = listener->OnWriteStarted(StatusWrite());
  DeliverStatus(1, "1", "2");
  DeliverStatus(2, "2", "3");
  EXPECT_THAT(added_, IsEmpty());

  listener->OnWriteEnded(id, false, ResponseIn("3"));
  EXPECT_THAT(added_, ElementsAre(1)) << "the write has made version 3";
  attempt.End(false);
  EXPECT_THAT(added_, ElementsAre(1));
}

TEST_F(OwnEventsTest, AnEventOfAWriteWithoutAResponseIsForeign) {
  OwnEvents::Scope attempt(events_, pod_key);
  const auto listener = attempt.listener();
  const auto id = listener->OnWriteStarted(StatusWrite());
  DeliverStatus(1, "1", "2");
  listener->OnWriteEnded(id, false, "");

  EXPECT_THAT(added_, ElementsAre(1));
}

TEST_F(OwnEventsTest, AnEventOfAnotherObjectDoesNotWaitForAResponse) {
  OwnEvents::Scope attempt(events_, pod_key);
  static_cast<void>(attempt.listener()->OnWriteStarted(StatusWrite()));
  const AnyObject before = PodIn("1");
  const AnyObject after = PodIn("2");
  Deliver(
      1,
      {.type = KeyEvent::Type::kUpdate, .object = after, .before = &before, .is_watch_event = true},
      "Deployment");
  DeliverUpdate(2, PodIn("1", [](ObjectMeta& pod) { pod.name = "b"; }),
                PodIn("2", [](ObjectMeta& pod) { pod.name = "b"; }));

  EXPECT_THAT(added_, ElementsAre(1, 2));
}

TEST_F(OwnEventsTest, AWriteOfAnObjectWhoseNameTheServerChoosesIsRecognized) {
  OwnEvents::Scope attempt(events_, pod_key);
  const auto listener = attempt.listener();
  ClientWrite creation = SpecWrite();
  creation.key.name.clear();
  const auto id = listener->OnWriteStarted(std::move(creation));
  DeliverAdd(1, PodIn("2"));
  listener->OnWriteEnded(id, /*created=*/true, ResponseIn("2", ""));
  attempt.End(false);

  EXPECT_THAT(added_, IsEmpty());
}

TEST_F(OwnEventsTest, AMergedEventIsForeign) {
  FailAfter(StatusWrite(), ResponseIn("3"));
  DeliverUpdate(1, PodIn("1"), PodIn("3"), /*is_watch_event=*/false);

  EXPECT_THAT(added_, ElementsAre(1)) << "it may contain a foreign change in version 2";
}

TEST_F(OwnEventsTest, AVersionThatAWriteOfAnotherTypeHasMadeIsForeign) {
  const auto generation2 = [](ObjectMeta& pod) { pod.generation = 2; };
  const auto labelled = [](ObjectMeta& pod) { pod.labels = {{"a", "b"}}; };
  const auto annotated = [](ObjectMeta& pod) { pod.annotations = {{"a", "b"}}; };
  const auto marked = [](ObjectMeta& pod) { pod.deletionTimestamp = "2026-11-29T14:00:00Z"; };
  FailAfter(StatusWrite(), ResponseIn("2"));
  DeliverUpdate(1, PodIn("1"), PodIn("2", generation2));
  DeliverUpdate(2, PodIn("1"), PodIn("2", labelled));
  DeliverUpdate(3, PodIn("1"), PodIn("2", annotated));
  DeliverUpdate(4, PodIn("1"), PodIn("2", marked));
  EXPECT_THAT(added_, ElementsAre(1, 2, 3, 4)) << "the status write had changed nothing";

  FailAfter(SpecWrite(), ResponseIn("5", ""));
  DeliverUpdate(5, PodIn("4"), PodIn("5", generation2));
  DeliverUpdate(6, PodIn("4"), PodIn("5", labelled));
  EXPECT_THAT(added_, ElementsAre(1, 2, 3, 4)) << "own changes";
  DeliverStatus(7, "4", "5");
  EXPECT_THAT(added_, ElementsAre(1, 2, 3, 4, 7)) << "a status: the write had changed nothing";
}

TEST_F(OwnEventsTest, AnUpdateOfAKindWithoutAGenerationIsOwn) {
  const auto no_generation = [](ObjectMeta& map) { map.generation.reset(); };
  FailAfter(SpecWrite(), ResponseIn("2", ""));
  DeliverUpdate(1, PodIn("1", no_generation), PodIn("2", no_generation));
  EXPECT_THAT(added_, IsEmpty());
}

TEST_F(OwnEventsTest, ARepeatedWriteHasChangedNothingSoItsVersionIsForeign) {
  FailAfter(StatusWrite(7), ResponseIn("2"));
  FailAfter(StatusWrite(7), ResponseIn("3"));
  DeliverStatus(1, "2", "3");
  EXPECT_THAT(added_, ElementsAre(1));

  FailAfter(StatusWrite(8), ResponseIn("4"));
  FailAfter(StatusWrite(7), ResponseIn("5"));
  DeliverStatus(2, "3", "4");
  DeliverStatus(3, "4", "5");
  EXPECT_THAT(added_, ElementsAre(1)) << "both have changed the status";
}

TEST_F(OwnEventsTest, OnlyTheAddOfAnObjectThatTheWriteHasCreatedIsOwn) {
  FailAfter(SpecWrite(), ResponseIn("2", ""), /*created=*/true);
  FailAfter(SpecWrite(), ResponseIn("3", ""), /*created=*/false);
  DeliverAdd(1, PodIn("2"));
  DeliverAdd(2, PodIn("3"));

  EXPECT_THAT(added_, ElementsAre(2)) << "it has entered the view, perhaps with foreign changes";
}

TEST_F(OwnEventsTest, AnObjectThatWasCreatedAgainIsForeign) {
  FailAfter(StatusWrite(), ResponseIn("2"));
  const auto other = [](ObjectMeta& pod) { pod.uid = "u-b"; };
  DeliverUpdate(1, PodIn("1", other), PodIn("2", other));

  EXPECT_THAT(added_, ElementsAre(1));
}

TEST_F(OwnEventsTest, TheDeletionOfAChildIsOwnAndThatOfTheReconciledObjectIsNot) {
  FailAfter(Deletion(), R"({"kind":"Status","details":{"uid":"u-a"}})");
  DeliverDelete(1, PodIn("2"), "Deployment");
  DeliverDelete(2, PodIn("2"), "Deployment", /*is_watch_event=*/false);
  EXPECT_THAT(added_, IsEmpty()) << "a removal leaves nothing of the changes before it";
  DeliverDelete(3, PodIn("2"));
  EXPECT_THAT(added_, ElementsAre(3)) << "there is nothing left to retry";
}

TEST_F(OwnEventsTest, AnObjectThatLeavesTheViewByALaterWriteIsForeign) {
  FailAfter(StatusWrite(), ResponseIn("2"));
  DeliverDelete(1, PodIn("2"), "Deployment");
  EXPECT_THAT(added_, ElementsAre(1));
}

TEST_F(OwnEventsTest, OnlyTheMarkOfADeletionIsOwnIfTheObjectHasFinalizers) {
  const auto marked = [](ObjectMeta& pod) { pod.deletionTimestamp = "2026-11-29T14:00:00Z"; };
  FailAfter(Deletion(Verb::kDeleteCollection),
            R"({"kind":"PodList","metadata":{},"items":[{"metadata":{"uid":"u-a"}}]})");
  DeliverUpdate(1, PodIn("1"), PodIn("2", marked), true, "Deployment");
  EXPECT_THAT(added_, IsEmpty());
  DeliverUpdate(2, PodIn("2", marked), PodIn("3", marked), true, "Deployment");
  DeliverDelete(3, PodIn("4", marked), "Deployment");
  EXPECT_THAT(added_, ElementsAre(2, 3)) << "a finalizer was removed by another client";
  DeliverDelete(4, PodIn("2"), "Deployment");
  EXPECT_THAT(added_, ElementsAre(2, 3)) << "it was removed at once";
}

TEST_F(OwnEventsTest, TheDeletionRequestOfTheReconciledObjectIsForeignSoThatFinalizersRun) {
  const auto marked = [](ObjectMeta& pod) { pod.deletionTimestamp = "2026-11-29T14:00:00Z"; };
  FailAfter(Deletion(), R"({"metadata":{"name":"a","namespace":"ns","uid":"u-a",)"
                        R"("resourceVersion":"2","deletionTimestamp":"2026-11-29T14:00:00Z"}})");
  DeliverUpdate(1, PodIn("1"), PodIn("2", marked));
  EXPECT_THAT(added_, ElementsAre(1));
}

TEST_F(OwnEventsTest, TheEventsOfManyLargeResponsesAreStillOwn) {
  OwnEvents::Scope attempt(events_, pod_key);
  const std::string padding(std::size_t{300} << 10, 'x');
  for (const char* const version : {"2", "3", "4", "5", "6"}) {
    json response = json::parse(ResponseIn(version));
    response["metadata"]["annotations"] = {{"padding", padding}};
    Write(attempt, StatusWrite(), response.dump());
  }
  attempt.End(false);
  for (int version = 1; version < 6; ++version) {
    DeliverStatus(version, std::to_string(version), std::to_string(version + 1));
  }
  EXPECT_THAT(added_, IsEmpty());
}

TEST_F(OwnEventsTest, AWriteOfAnotherKeyIsForeign) {
  OwnEvents::Scope other(events_, {"ns", "b"});
  Write(other, StatusWrite(), ResponseIn("2"));
  DeliverStatus(1, "1", "2");
  EXPECT_THAT(added_, ElementsAre(1));
}

TEST_F(OwnEventsTest, AWriteThatEndsAfterAFailedReconcileIsStillKnown) {
  std::shared_ptr<WriteListener> listener;
  std::uint64_t id = 0;
  {
    OwnEvents::Scope attempt(events_, pod_key);
    listener = attempt.listener();
    id = listener->OnWriteStarted(StatusWrite());
    attempt.End(false);
  }
  DeliverStatus(1, "1", "2");
  listener->OnWriteEnded(id, false, ResponseIn("2"));
  DeliverStatus(2, "2", "3");
  EXPECT_THAT(added_, ElementsAre(2));

  const auto late = listener->OnWriteStarted(StatusWrite());
  listener->OnWriteEnded(late, false, ResponseIn("4"));
  DeliverStatus(3, "3", "4");
  EXPECT_THAT(added_, ElementsAre(2)) << "the key is still retried";
}

TEST_F(OwnEventsTest, AWriteAfterASuccessfulReconcileIsNotKept) {
  std::shared_ptr<WriteListener> listener;
  std::uint64_t id = 0;
  {
    OwnEvents::Scope attempt(events_, pod_key);
    listener = attempt.listener();
    id = listener->OnWriteStarted(StatusWrite());
    DeliverStatus(1, "1", "2");
    attempt.End(true);
  }
  EXPECT_THAT(added_, ElementsAre(1));
  listener->OnWriteEnded(id, false, ResponseIn("2"));
  listener->OnWriteEnded(listener->OnWriteStarted(StatusWrite()), false, ResponseIn("3"));
  EXPECT_EQ(events_.size(), 0);
}

TEST_F(OwnEventsTest, TheWritesOfManyThreadsAreKnown) {
  OwnEvents::Scope attempt(events_, pod_key);
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < 4; ++i) {
    threads.emplace_back([&, write = StatusWrite(), i]() mutable {
      Write(attempt, std::move(write), ResponseIn(std::to_string(i + 2)));
    });
  }
  for (std::thread& thread : threads) thread.join();
  attempt.End(false);
  for (int i = 0; i < 4; ++i) DeliverStatus(i, std::to_string(i + 1), std::to_string(i + 2));

  EXPECT_THAT(added_, IsEmpty());
}

TEST_F(OwnEventsTest, OnlyTheLatestWritesAreKept) {
  OwnEvents::Scope attempt(events_, pod_key);
  constexpr int kWrites = 1000;
  for (int i = 1; i <= kWrites; ++i) {
    Write(attempt, StatusWrite(), ResponseIn(std::to_string(i)));
  }
  attempt.End(false);
  DeliverStatus(1, "0", "1");
  DeliverStatus(2, "999", "1000");

  EXPECT_THAT(added_, ElementsAre(1));
}

TEST_F(OwnEventsTest, ForgottenWritesAreForeignAndTheirEventsThatWaitAreAdded) {
  FailAfter(StatusWrite(), ResponseIn("2"));
  events_.Forget(pod_key);
  DeliverStatus(1, "1", "2");
  EXPECT_THAT(added_, ElementsAre(1));

  OwnEvents::Scope attempt(events_, pod_key);
  static_cast<void>(attempt.listener()->OnWriteStarted(StatusWrite()));
  DeliverStatus(2, "2", "3");
  events_.Clear();
  EXPECT_THAT(added_, ElementsAre(1, 2));
  EXPECT_EQ(events_.size(), 0);
}

}  // namespace
}  // namespace kopp
