#include "demo_log.hpp"

#include <algorithm>
#include <sstream>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace kopp::apiserver {
namespace {

using nlohmann::json;
using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

constexpr const char* kProgram = "system:serviceaccount:default:web-operator";

json Entry(const std::string& verb, const std::string& resource, const std::string& name,
           int code = 200) {
  return {{"verb", verb},
          {"user", {{"username", kProgram}}},
          {"objectRef", {{"resource", resource}, {"namespace", "shop"}, {"name", name}}},
          {"responseStatus", {{"code", code}}},
          {"requestReceivedTimestamp", "2026-01-02T23:59:59.999900Z"},
          {"stageTimestamp", "2026-01-03T00:00:00.001400Z"}};
}

std::string LogLine(const json& entry) { return DemoLogLine(entry, 68); }

std::string PrintedText(const json& entry, bool use_colors = false) {
  std::ostringstream out;
  DemoLog demo_log(out, {.program_user = kProgram, .use_colors = use_colors});
  demo_log.Start();
  const auto heading_size = out.str().size();
  demo_log.LogRequest(entry.dump());
  return out.str().substr(heading_size);
}

TEST(DemoLogTest, LineOfAWriteHasUserVerbObjectAndDuration) {
  EXPECT_EQ(LogLine(Entry("create", "deployments", "web")),
            "web-operator       create  deployments shop/web              1.50 ms");
}

TEST(DemoLogTest, ASubresourceIsPrintedAfterTheResource) {
  json entry = Entry("patch", "webs", "a");
  entry["objectRef"]["subresource"] = "status";

  EXPECT_THAT(LogLine(entry), HasSubstr("patch   webs/status shop/a "));
}

TEST(DemoLogTest, NamespaceDefaultIsOmitted) {
  json entry = Entry("create", "webs", "a");
  entry["objectRef"]["namespace"] = "default";

  EXPECT_THAT(LogLine(entry), HasSubstr("create  webs a "));
}

TEST(DemoLogTest, APatchWithStatus201IsPrintedAsCreate) {
  EXPECT_THAT(LogLine(Entry("patch", "webs", "a", 201)), HasSubstr("create  webs shop/a "));
}

TEST(DemoLogTest, AGeneratedNameIsTakenFromTheResponse) {
  json entry = Entry("create", "pods", "");
  entry["responseObject"] = {{"metadata", {{"name", "web-x7k2p"}}}};

  EXPECT_THAT(LogLine(entry), HasSubstr("pods shop/web-x7k2p "));
}

TEST(DemoLogTest, AnEventIsPrintedWithItsReasonAndInvolvedObject) {
  json entry = Entry("create", "events", "a.18c");
  entry["responseObject"] = {
      {"reason", "Synced"},
      {"involvedObject", {{"kind", "Web"}, {"namespace", "shop"}, {"name", "a"}}}};

  EXPECT_THAT(LogLine(entry), HasSubstr("create  event Synced of Web shop/a "));
}

TEST(DemoLogTest, AFailedRequestIsPrintedWithStatusCodeAndReason) {
  json entry = Entry("update", "deployments", "web", 409);
  entry["responseStatus"]["reason"] = "Conflict";

  EXPECT_THAT(LogLine(entry), HasSubstr("update  409 Conflict: deployments shop"));
}

TEST(DemoLogTest, TheMessageOfAFailedRequestIsPrintedBelowIt) {
  json entry = Entry("create", "webs", "web", 422);
  entry["responseStatus"]["reason"] = "Invalid";
  entry["responseStatus"]["message"] =
      "Web.example.com \"web\" is invalid: spec.replicas: Invalid value: -1: spec.replicas in body "
      "should be greater than or equal to 0";

  EXPECT_THAT(PrintedText(entry), HasSubstr("create  422 Invalid: webs shop/web"));
  EXPECT_THAT(PrintedText(entry), EndsWith(R"( 1.50 ms
                              Web.example.com "web" is invalid: spec.replicas:
                              Invalid value: -1: spec.replicas in body should
                              be greater than or equal to 0
)"));
}

TEST(DemoLogTest, ALongMessageIsTruncatedAfterSixLinesThatFit80Columns) {
  json entry = Entry("create", "webs", "web", 422);
  entry["responseStatus"]["message"] = std::string(100, 'x') + "\n" + std::string(1000, 'y');
  const std::string text = PrintedText(entry);

  EXPECT_EQ(std::ranges::count(text, '\n'), 7);
  EXPECT_THAT(text, EndsWith("yy..\n"));
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 79);
}

TEST(DemoLogTest, OnlyWatchesAndFailedReadsArePrintedOfReads) {
  EXPECT_EQ(LogLine(Entry("get", "webs", "a")), "");
  EXPECT_EQ(LogLine(Entry("list", "webs", "")), "");
  EXPECT_EQ(LogLine(Entry("get", "webs", "a", 404)), "");
  EXPECT_THAT(LogLine(Entry("watch", "webs", "")), HasSubstr("watch   webs shop "));
  EXPECT_THAT(LogLine(Entry("list", "webs", "", 500)), HasSubstr("500"));
}

TEST(DemoLogTest, LeaseRenewalsAreOmitted) {
  EXPECT_THAT(LogLine(Entry("create", "leases", "leader")), HasSubstr("leases shop/leader"));
  EXPECT_EQ(LogLine(Entry("update", "leases", "leader")), "");
}

TEST(DemoLogTest, ALongNameIsTruncatedSoThatTheLineFits80Columns) {
  const std::string line = PrintedText(Entry("create", "deployments", std::string(200, 'n')));

  EXPECT_THAT(line, HasSubstr("nnn.. "));
  EXPECT_THAT(line, EndsWith(" 1.50 ms\n"));
  EXPECT_EQ(line.size(), 80);  // including the line break
}

TEST(DemoLogTest, ControlCharactersInNamesAreReplaced) {
  json entry = Entry("create", "pods", "a");
  entry["user"]["username"] = "evil\x1b[2J";

  EXPECT_THAT(PrintedText(entry), HasSubstr("evil?[2J"));
}

TEST(DemoLogTest, RequestsOfTheProgramAreGreenAndItsFailuresRedWithColors) {
  json others = Entry("create", "pods", "a");
  others["user"]["username"] = "system:admin";

  EXPECT_THAT(PrintedText(Entry("create", "pods", "a"), true), StartsWith("\x1b[32m"));
  EXPECT_THAT(PrintedText(Entry("create", "pods", "a", 500), true), StartsWith("\x1b[31m"));
  EXPECT_THAT(PrintedText(others, true), Not(HasSubstr("\x1b")));
  EXPECT_THAT(PrintedText(others, true), HasSubstr(" you "));
}

TEST(DemoLogTest, RequestsBeforeStartAreNotPrinted) {
  std::ostringstream out;
  DemoLog demo_log(out, {});

  demo_log.LogRequest(Entry("create", "pods", "a").dump());

  EXPECT_THAT(out.str(), IsEmpty());
}

TEST(DemoLogTest, RecordsWatchedResourcesAndTheFirstObjectOfTheProgram) {
  std::ostringstream out;
  DemoLog demo_log(out, {.program_user = kProgram});
  demo_log.Start();

  for (const json& entry :
       {Entry("watch", "webs", ""), Entry("watch", "pods", ""), Entry("watch", "webs", ""),
        Entry("create", "events", "e"), Entry("create", "pods", "p", 409),
        Entry("create", "deployments", "web"), Entry("create", "services", "s")}) {
    demo_log.LogRequest(entry.dump());
  }

  EXPECT_THAT(demo_log.watched_resources(), ElementsAre("webs", "pods"));
  EXPECT_EQ(demo_log.first_object()->resource, "deployments");
  EXPECT_EQ(demo_log.first_object()->ns, "shop");
  EXPECT_EQ(demo_log.first_object()->name, "web");
}

}  // namespace
}  // namespace kopp::apiserver
