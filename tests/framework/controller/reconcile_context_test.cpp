#include "controller/controller_queue.hpp"
#include "controller/standalone_controller.hpp"

#include <chrono>
#include <map>
#include <new>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <kopp/foreign_object_error.hpp>
#include <kopp/informer/api_error.hpp>
#include <kopp/informer/decode_error.hpp>
#include <kopp/kinds.hpp>
#include <kopp/not_leader_error.hpp>

namespace kopp {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::MatchesRegex;
using ::testing::Not;

class ReconcileContextTest : public StandaloneControllerTest {};

TEST_F(ReconcileContextTest, RetriesAndTheLastErrorAreKnownUntilASuccess) {
  std::vector<std::string> seen;
  NewController([&](const ObjectKey&, Context& context) -> Result {
    seen.push_back(std::to_string(context.retries) + ' ' + context.last_error);
    if (seen.size() == 1) throw std::runtime_error("disk full");
    if (seen.size() == 2) return {.backoff = true};
    return {};
  });
  for (int i = 0; i < 4; ++i) ReconcileOnce();

  EXPECT_THAT(seen, ElementsAre("0 ", "1 disk full", "2 ", "0 "));
}

TEST_F(ReconcileContextTest, ANegativeRequeueAfterIsASuccessWithoutRetriesAndLastError) {
  std::vector<std::string> seen;
  NewController([&](const ObjectKey&, Context& context) -> Result {
    seen.push_back(std::to_string(context.retries) + ' ' + context.last_error);
    if (seen.size() == 1) throw std::runtime_error("disk full");
    return {.requeue_after = -1s};
  });
  for (int i = 0; i < 3; ++i) ReconcileOnce();

  EXPECT_THAT(seen, ElementsAre("0 ", "1 disk full", "0 "));
}

TEST_F(ReconcileContextTest, ATerminalErrorStartsANewSequenceOfTries) {
  std::vector<int> retries;
  NewController([&](const ObjectKey&, Context& context) -> Result {
    retries.push_back(context.retries);
    if (retries.size() == 1) throw std::runtime_error("disk full");
    throw TerminalError("invalid spec");
  });
  for (int i = 0; i < 3; ++i) ReconcileOnce();

  EXPECT_THAT(retries, ElementsAre(0, 1, 0));
}

TEST_F(ReconcileContextTest, EachReconcileHasAUuid) {
  std::set<std::string> ids;
  NewController([&](const ObjectKey&, Context& context) {
    ids.insert(context.reconcile_id);
    return Result{};
  });
  for (int i = 0; i < 20; ++i) ReconcileOnce();

  EXPECT_EQ(ids.size(), 20);
  EXPECT_THAT(*ids.begin(),
              MatchesRegex("[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}"));
  EXPECT_TRUE(ids.contains(AwaitEvents(20).front().id));
}

TEST_F(ReconcileContextTest, TheQueueWaitIsTheTimeFromTheAddToTheReconcile) {
  std::optional<Duration> wait;
  NewController([&](const ObjectKey&, Context& context) {
    wait = context.queue_wait;
    EXPECT_EQ(&context.clock, &clock_);
    return Result{};
  });
  controller_->queue().Add(key_);
  clock_.Advance(3s);
  Start();
  AwaitEvents(1);

  EXPECT_EQ(wait, 3s);
}

TEST_F(ReconcileContextTest, LogLinesHaveTheKeysOfControllerRuntime) {
  std::string id;
  NewController([&](const ObjectKey&, Context& context) {
    id = context.reconcile_id;
    context.log.Info("Scaled");
    return Result{};
  });
  ReconcileOnce();

  EXPECT_THAT(LogText(), HasSubstr("\"Starting workers\" controller=\"pod\" controllerGroup=\"\" "
                                   "controllerKind=\"Pod\" \"worker count\"=1"));
  EXPECT_THAT(LogText(),
              HasSubstr("\"Scaled\" controller=\"pod\" controllerGroup=\"\" "
                        "controllerKind=\"Pod\" Pod=\"ns/a\" namespace=\"ns\" name=\"a\" "
                        "reconcileID=\"" +
                        id + '"'));
}

TEST_F(ReconcileContextTest, JsonLinesHaveTheObjectUnderTheNameOfItsKind) {
  std::string text;
  const Logger json_log{
      {.format = LogFormat::kJson, .write = [&](std::string_view line) { text += line; }}};
  NewController(
      [&](const ObjectKey&, Context& context) {
        context.log.Info("Scaled");
        return Result{};
      },
      {.log = json_log});
  ReconcileOnce();

  EXPECT_THAT(text, HasSubstr(R"("Pod":{"name":"a","namespace":"ns"},"namespace":"ns")"));
}

TEST_F(ReconcileContextTest, StartAndEndOfAReconcileAreLoggedAtVerbosity5And4) {
  std::string quiet;
  const Logger at_4{{.verbosity = 4, .write = [&](std::string_view line) { quiet += line; }}};
  NewController(
      [&](const ObjectKey&, Context&) {
        clock_.Advance(250ms);
        return Result{.requeue_after = 90s};
      },
      {.log = at_4});
  ReconcileOnce();

  EXPECT_THAT(quiet, HasSubstr("\"Reconcile done, requeueing\""));
  EXPECT_THAT(quiet, HasSubstr("result=\"requeue_after\" requeueAfterSeconds=90.0 "
                               "durationSeconds=0.25"));
  EXPECT_THAT(quiet, Not(HasSubstr("\"Reconciling\"")));
  EXPECT_THAT(LogText(), Not(HasSubstr("Reconcile done"))) << "the controller has its own logger";

  NewController([&](const ObjectKey&, Context&) { return Result{}; });
  ReconcileOnce();
  EXPECT_THAT(LogText(), HasSubstr("\"Reconciling\""));
  EXPECT_THAT(LogText(), HasSubstr("\"Reconcile successful\""));
}

TEST_F(ReconcileContextTest, ExpectedErrorsAreRetriedAndLoggedAtInfo) {
  int calls = 0;
  NewController([&](const ObjectKey&, Context&) -> Result {
    if (++calls == 1) throw ApiError::FromBody("PUT /x", 409, R"({"reason":"Conflict"})");
    throw StaleCacheError("the write has not arrived");
  });
  ReconcileOnce();
  ReconcileOnce();

  EXPECT_THAT(LogText(), HasSubstr("\"Reconcile failed with an expected error, retrying\""));
  EXPECT_THAT(LogText(), HasSubstr("the write has not arrived"));
  EXPECT_THAT(LogText(), Not(HasSubstr("Reconciler error")));
  EXPECT_EQ(controller_->queue().NumRequeues(key_), 2);
  EXPECT_EQ(Total("error"), "2");
}

TEST_F(ReconcileContextTest, ANamespaceThatIsBeingDeletedIsNoErrorLine) {
  NewController([&](const ObjectKey&, Context&) -> Result {
    throw ApiError::FromBody("POST /x", 403, R"({"reason": "Forbidden", "details": {"causes": [
        {"reason": "NamespaceTerminating", "field": "metadata.namespace"}]}})");
  });
  ReconcileOnce();

  EXPECT_THAT(LogText(), HasSubstr("\"Reconcile failed with an expected error, retrying\""));
  EXPECT_THAT(LogText(), Not(HasSubstr("Reconciler error")));
  EXPECT_EQ(controller_->queue().NumRequeues(key_), 1);
}

TEST_F(ReconcileContextTest, TheChildOfAFormerOwnerIsAnErrorLineOnlyAfterManyRetries) {
  const OwnerReference owner{
      .apiVersion = "v1", .kind = "Pod", .name = "a", .uid = "new", .controller = true};
  OwnerReference former = owner;
  former.uid = "old";
  NewController([&](const ObjectKey& key, Context&) -> Result {
    throw ForeignObjectError(ConfigMap::kKind, key, owner, former);
  });
  ReconcileOnce();
  EXPECT_THAT(LogText(), HasSubstr("\"Reconcile failed with an expected error, retrying\""));
  EXPECT_THAT(LogText(), Not(HasSubstr("Reconciler error")));

  for (int retry = 1; retry <= 12; ++retry) ReconcileOnce();
  EXPECT_THAT(LogText(), HasSubstr("Reconciler error"));
}

TEST_F(ReconcileContextTest, AWriteOfAFormerLeaderIsNoErrorLine) {
  NewController([&](const ObjectKey&, Context&) -> Result {
    throw NotLeaderError("PUT /x: not sent", false);
  });
  ReconcileOnce();

  EXPECT_THAT(LogText(), HasSubstr("\"Reconcile failed with an expected error, retrying\""));
  EXPECT_THAT(LogText(), Not(HasSubstr("Reconciler error")));
}

TEST_F(ReconcileContextTest, AForbiddenWriteIsLoggedAsAnError) {
  NewController([&](const ObjectKey&, Context&) -> Result {
    throw ApiError::FromBody("POST /x", 403, R"({"reason": "Forbidden"})");
  });
  ReconcileOnce();

  EXPECT_THAT(LogText(), HasSubstr("Reconciler error"));
}

TEST_F(ReconcileContextTest, AConflictOfFieldManagersIsLoggedAsAnError) {
  NewController([](const ObjectKey&, Context&) -> Result {
    throw ApiError::FromBody("PATCH /x", 409, R"({"kind":"Status","reason":"Conflict",
        "details":{"causes":[{"reason":"FieldManagerConflict","field":".spec.replicas"}]}})");
  });
  ReconcileOnce();

  EXPECT_THAT(LogText(), HasSubstr("\"Reconciler error\""));
}

TEST_F(ReconcileContextTest, TheLogNamesTheTypeOfAnException) {
  ReconcileError seen;
  NewController(
      [](const ObjectKey&, Context&) -> Result {
        const std::map<std::string, int> empty;
        return {.requeue_after = std::chrono::seconds(empty.at("absent"))};
      },
      {.on_error = [&](const ReconcileError& error, Context&) { seen = error; }});
  ReconcileOnce();

  EXPECT_THAT(LogText(), HasSubstr("err=\"std::out_of_range: map::at\""));
  EXPECT_EQ(seen.type, "std::out_of_range");
  EXPECT_EQ(seen.message, "map::at");
}

TEST_F(ReconcileContextTest, TheLogOmitsATypeThatAddsNothingToTheText) {
  int calls = 0;
  NewController([&](const ObjectKey&, Context&) -> Result {
    if (++calls == 1) throw std::runtime_error("disk full");
    if (calls == 2) throw DecodeError(DecodeError::Kind::kMalformed, "spec", "is a number");
    throw std::bad_alloc();
  });
  for (int i = 0; i < 3; ++i) ReconcileOnce();

  EXPECT_THAT(LogText(), HasSubstr("err=\"disk full\""));
  EXPECT_THAT(LogText(), HasSubstr("err=\"spec: is a number\""));
  EXPECT_THAT(LogText(), HasSubstr("err=\"std::bad_alloc\""));
}

TEST_F(ReconcileContextTest, TheErrorHookGetsTheErrorAndAContext) {
  std::string seen;
  NewController([](const ObjectKey&, Context&) -> Result { throw std::runtime_error("disk full"); },
                {.on_error = [&](const ReconcileError& error, Context& context) {
                  seen += context.key.ToString() + ": " + error.message + ' ' +
                          std::to_string(error.retries) + '\n';
                }});
  ReconcileOnce();
  ReconcileOnce();

  EXPECT_EQ(seen, "ns/a: disk full 0\nns/a: disk full 1\n");
}

TEST_F(ReconcileContextTest, ExceptionsOfTheErrorHookAreLoggedAndTheReconcileIsRetried) {
  int calls = 0;
  NewController([](const ObjectKey&, Context&) -> Result { throw std::runtime_error("disk full"); },
                {.on_error = [&](const ReconcileError&, Context&) {
                  if (++calls == 1) throw std::runtime_error("no status");
                  throw 42;  // NOLINT: not a std::exception
                }});
  ReconcileOnce();
  EXPECT_EQ(ReconcileOnce().waiting.at(0).failures, 2);

  EXPECT_THAT(LogText(), HasSubstr("err=\"no status\""));
  EXPECT_THAT(LogText(), HasSubstr("err=\"an object that is not a std::exception\""));
}

TEST_F(ReconcileContextTest, TheErrorHookIsNotCalledForAnExpectedErrorOrSuccess) {
  int calls = 0;
  bool called = false;
  NewController(
      [&](const ObjectKey&, Context&) -> Result {
        if (++calls == 1) throw StaleCacheError("late");
        return {};
      },
      {.on_error = [&](const ReconcileError&, Context&) { called = true; }});
  ReconcileOnce();
  ReconcileOnce();

  EXPECT_FALSE(called);
}

}  // namespace
}  // namespace kopp
