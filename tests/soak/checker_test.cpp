#include "checker.hpp"

#include <sstream>
#include <stdexcept>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kopp::soak {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr const char* kObjectA1 = R"(["ns","a","u1","1"])";
constexpr const char* kObjectA3 = R"(["ns","a","u1","3"])";
constexpr const char* kObjectB2 = R"(["ns","b","u2","2"])";

// a is created (1), b is created (2), a is changed (3), b is deleted (4), b is created again (5).
constexpr const char* kTruthLog = R"({"initial":[],"version":"0"}
{"type":"ADDED","object":["ns","a","u1","1"]}
{"type":"ADDED","object":["ns","b","u2","2"]}
{"type":"MODIFIED","object":["ns","a","u1","3"]}
{"type":"DELETED","object":["ns","b","u2","4"]}
{"type":"ADDED","object":["ns","b","u5","5"]}
{"final":[["ns","a","u1","3"],["ns","b","u5","5"]]}
)";

std::string Line(const std::string& entry, const std::string& fields) {
  return R"({"informer":"main","entry":")" + entry + "\"" + (fields.empty() ? "" : ",") + fields +
         "}\n";
}
std::string List(const std::string& version, const std::string& objects) {
  return Line("list", R"("version":")" + version + R"(","objects":[)" + objects + "]");
}
std::string Watch(const std::string& version) {
  return Line("watch", R"("version":")" + version + "\"");
}
std::string Bookmark(const std::string& version) {
  return Line("bookmark", R"("version":")" + version + "\"");
}
std::string Event(const std::string& type, const std::string& object) {
  return Line("event", R"("type":")" + type + R"(","object":)" + object);
}
std::string Call(const std::string& type, const std::string& object) {
  return Line("handler", R"("handler":"h","type":")" + type + R"(","object":)" + object);
}
std::string Synced() { return Line("synced", R"("handler":"h")"); }
std::string Snapshot(const std::string& objects) {
  return Line("snapshot", R"("objects":[)" + objects + "]");
}

// The end of a log that has no violation.
const std::string rest_of_log =
    Event("MODIFIED", kObjectA3) + Call("update", kObjectA3) +
    Event("DELETED", R"(["ns","b","u2","4"])") + Call("delete", R"(["ns","b","u2","4"])") +
    Bookmark("4") + Event("ADDED", R"(["ns","b","u5","5"])") +
    Call("add", R"(["ns","b","u5","5"])") +
    Line("final", R"("objects":[["ns","a","u1","3"],["ns","b","u5","5"]])");
const std::string start_of_log = List("1", kObjectA1) + Call("add", kObjectA1) + Synced() +
                                 Watch("1") + Snapshot(kObjectA1) + Event("ADDED", kObjectB2) +
                                 Call("add", kObjectB2);

/// Returns the violations, as "invariant text".
std::vector<std::string> Check(const std::string& cache_log,
                               const std::string& truth_log = kTruthLog) {
  std::istringstream truth(truth_log);
  std::istringstream log(cache_log);
  std::vector<std::string> texts;
  for (const Violation& each : FindViolations(ReadTruth(truth), log)) {
    texts.push_back(each.invariant + " " + each.text);
  }
  return texts;
}

TEST(SoakCheckerTest, ACorrectLogHasNoViolation) {
  EXPECT_THAT(Check(start_of_log + rest_of_log), IsEmpty());
}

TEST(SoakCheckerTest, AGapInAWatchViolatesC1) {
  const std::string log = start_of_log + Event("DELETED", R"(["ns","b","u2","4"])");
  EXPECT_THAT(Check(log), ::testing::Contains(HasSubstr("C1 the watch has omitted MODIFIED ns/a")));
}

TEST(SoakCheckerTest, ABookmarkBeforeAnOmittedEventViolatesC1) {
  EXPECT_THAT(Check(start_of_log + Bookmark("3")),
              ::testing::Contains(HasSubstr("C1 the watch has omitted MODIFIED ns/a")));
}

TEST(SoakCheckerTest, ARepeatedEventViolatesC1) {
  EXPECT_THAT(Check(start_of_log + Event("ADDED", kObjectB2) + rest_of_log),
              ElementsAre(HasSubstr("C1 repeated or outdated event ADDED ns/b")));
}

TEST(SoakCheckerTest, AnEventThatNeverHappenedViolatesC1) {
  EXPECT_THAT(Check(start_of_log + Event("MODIFIED", R"(["ns","b","u2","3"])")),
              ::testing::Contains(HasSubstr("C1 unknown event MODIFIED ns/b")));
}

TEST(SoakCheckerTest, AWatchThatStartsAfterTheReachedVersionViolatesC1) {
  EXPECT_THAT(Check(start_of_log + Watch("4")),
              ::testing::Contains(HasSubstr("C1 the watch starts at")));
}

TEST(SoakCheckerTest, AListThatIsNotTheStateAtItsVersionViolatesC1) {
  EXPECT_THAT(Check(start_of_log + List("3", kObjectA1) + Watch("2") + rest_of_log),
              ElementsAre(HasSubstr("C1 the list is not the state at its version: 2 objects")));
}

TEST(SoakCheckerTest, AStoreThatGoesBackViolatesC2) {
  EXPECT_THAT(Check(start_of_log + Snapshot(std::string(kObjectA3) + "," + kObjectB2) +
                    Snapshot(std::string(kObjectA1) + "," + kObjectB2) + rest_of_log),
              ElementsAre(HasSubstr("C2 the store is in no state")));
}

TEST(SoakCheckerTest, AnEmptyStoreViolatesC2OnlyAfterTheFirstList) {
  const std::string truth = R"({"initial":[["ns","a","u1","1"]],"version":"1"}
{"final":[["ns","a","u1","1"]]}
)";
  const std::string list = List("1", kObjectA1) + Call("add", kObjectA1) + Synced();
  const std::string final = Line("final", R"("objects":[["ns","a","u1","1"]])");
  EXPECT_THAT(Check(Snapshot("") + list + final, truth), IsEmpty());
  EXPECT_THAT(Check(list + Snapshot("") + final, truth),
              ElementsAre(HasSubstr("C2 the store is in no state")));
}

TEST(SoakCheckerTest, HalfAListInTheStoreViolatesC2) {
  EXPECT_THAT(Check(start_of_log + Snapshot(kObjectB2) + rest_of_log),
              ElementsAre(AllOf(HasSubstr("C2 the store is in no state"), HasSubstr("ns/a"))));
}

TEST(SoakCheckerTest, AMissingObjectAtTheEndViolatesC3) {
  const std::string log =
      start_of_log + rest_of_log + Line("final", R"("objects":[["ns","a","u1","3"]])");
  EXPECT_THAT(Check(log), ::testing::Contains(HasSubstr("C3 1 objects differ, first ns/b")));
}

TEST(SoakCheckerTest, ALogWithoutAFinalStateViolatesC3) {
  EXPECT_THAT(Check(start_of_log), ElementsAre("C3 the log has no final state"));
}

TEST(SoakCheckerTest, HandlerCallsInTheWrongOrderViolateC4) {
  const std::string delete_b = Call("delete", kObjectB2);
  EXPECT_THAT(Check(start_of_log + Call("add", kObjectB2) + rest_of_log),
              ElementsAre(HasSubstr("C4 a second add")));
  EXPECT_THAT(Check(start_of_log + Call("update", R"(["ns","b","u5","5"])")),
              ::testing::Contains(HasSubstr("C4 an update before the add")));
  EXPECT_THAT(Check(start_of_log + delete_b + Call("update", kObjectB2)),
              ::testing::Contains(HasSubstr("C4 an update after the delete")));
  EXPECT_THAT(Check(start_of_log + Call("add", R"(["ns","b","u5","5"])")),
              ::testing::Contains(HasSubstr("C4 an add while another uid with this key exists")));
  EXPECT_THAT(Check(start_of_log + Call("update", kObjectA3) + Call("update", kObjectA1)),
              ::testing::Contains(HasSubstr("C4 the version of the object goes back")));
}

TEST(SoakCheckerTest, AMissingHandlerCallViolatesC4) {
  const std::string without_call =
      Event("MODIFIED", kObjectA3) +
      rest_of_log.substr(rest_of_log.find(Event("DELETED", R"(["ns","b","u2","4"])")));
  EXPECT_THAT(Check(start_of_log + without_call),
              ElementsAre(AllOf(HasSubstr("C4 1 objects differ, first ns/a"),
                                HasSubstr("calls of the handler h applied to an empty map"))));
}

TEST(SoakCheckerTest, AnObjectThatHandlersGetAfterHasSyncedViolatesC6) {
  const std::string log = List("1", kObjectA1) + Synced() + Call("add", kObjectA1);
  EXPECT_THAT(Check(log),
              ::testing::Contains(HasSubstr("C6 no handler call for an object of the first list")));
}

TEST(SoakCheckerTest, AnObjectThatIsDeletedBeforeTheSyncNeedsNoHandlerCall) {
  const std::string truth = R"({"initial":[["ns","a","u1","1"]],"version":"1"}
{"type":"DELETED","object":["ns","a","u1","2"]}
{"final":[]}
)";
  const std::string log = List("1", kObjectA1) + Watch("1") +
                          Event("DELETED", R"(["ns","a","u1","2"])") + Synced() +
                          Line("final", R"("objects":[])");
  EXPECT_THAT(Check(log, truth), IsEmpty());
}

TEST(SoakCheckerTest, ATruthThatDoesNotLeadToTheFinalStateIsReported) {
  const std::string truth = R"({"initial":[],"version":"0"}
{"final":[["ns","a","u1","1"]]}
)";
  EXPECT_THAT(Check("", truth), ElementsAre(HasSubstr("recorder 1 objects differ")));
}

TEST(SoakCheckerTest, EachHandlerOfAnInformerIsCheckedAlone) {
  const std::string second = R"("handler":"second")";
  EXPECT_THAT(Check(List("1", kObjectA1) + Call("add", kObjectA1) + Synced() +
                    Line("handler", second + R"(,"type":"add","object":)" + kObjectA1) +
                    Line("synced", second) + Watch("1") + Snapshot(kObjectA1) +
                    Event("ADDED", kObjectB2) + Call("add", kObjectB2) + rest_of_log),
              ElementsAre(HasSubstr("C4 2 objects differ, first ns/a")));
  EXPECT_THAT(Check(List("1", kObjectA1) + Call("add", kObjectA1) + Line("synced", second)),
              ::testing::Contains(HasSubstr("C6 no handler call for an object of the first list")));
}

TEST(SoakCheckerTest, AHandlerThatIsNeverCalledViolatesC4) {
  EXPECT_THAT(Check(Line("added", R"("handler":"silent")") + start_of_log + rest_of_log),
              ElementsAre(AllOf(HasSubstr("C4 2 objects differ"), HasSubstr("handler silent"))));
}

TEST(SoakCheckerTest, AWriteThatTheRecorderHasMissedIsReported) {
  const std::string write_a = R"({"write":"ADDED","object":["ns","a","u1","1"]}
{"write":"MODIFIED","object":["ns","a","u1","2"]}
)";
  const std::string write_b = R"({"write":"ADDED","object":["ns","b","u2","2"]}
{"write":"DELETED","object":["ns","b","u2","2"]}
{"write":"ADDED","object":["ns","b","u5","5"]}
)";
  const std::string log = start_of_log + rest_of_log;
  EXPECT_THAT(Check(log, kTruthLog + write_b), IsEmpty());
  EXPECT_THAT(Check(log, kTruthLog + write_a),
              ElementsAre(HasSubstr("recorder the write MODIFIED ns/a uid u1 version 2 is missing "
                                    "before MODIFIED ns/a uid u1 version 3")));
  EXPECT_THAT(
      Check(log, kTruthLog + write_b + R"({"write":"DELETED","object":["ns","b","u5","5"]})"),
      ElementsAre(HasSubstr("recorder the write DELETED ns/b uid u5 version 5 is missing")));
}

TEST(SoakCheckerTest, AChangeWithoutAWriteIsReported) {
  const std::string write = R"({"write":"ADDED","object":["ns","a","u1","1"]})";
  EXPECT_THAT(Check(start_of_log + rest_of_log, kTruthLog + write),
              ElementsAre(HasSubstr("recorder no write caused MODIFIED ns/a")));
}

TEST(SoakCheckerTest, AMalformedLineIsAnErrorWithItsNumber) {
  std::istringstream in("{\"informer\":\"main\",\"entry\":\"synced\"}\n{\n");
  try {
    ForEachCacheLogLine(in, [](const CacheLogLine&) {});
    FAIL() << "the line was accepted";
  } catch (const std::runtime_error& error) {
    EXPECT_THAT(error.what(), HasSubstr("line 2: "));
  }
}

}  // namespace
}  // namespace kopp::soak
