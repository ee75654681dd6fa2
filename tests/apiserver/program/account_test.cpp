#include "account.hpp"

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

std::string Line(const json& entry) { return AccountLine(entry, 68); }

std::string Told(const json& entry, bool colours = false) {
  std::ostringstream out;
  Account account(out, {.program = kProgram, .colours = colours});
  account.Begin();
  const auto head = out.str().size();
  account.Tell(entry.dump());
  return out.str().substr(head);
}

TEST(AccountTest, AWriteIsALineOfWhoDidWhatToWhichObjectAndHowLongItTook) {
  EXPECT_EQ(Line(Entry("create", "deployments", "web")),
            "web-operator       create  deployments shop/web              1.50 ms");
}

TEST(AccountTest, APartOfAnObjectIsNamed) {
  json entry = Entry("patch", "webs", "a");
  entry["objectRef"]["subresource"] = "status";

  EXPECT_THAT(Line(entry), HasSubstr("patch   webs/status shop/a "));
}

TEST(AccountTest, TheNamespaceDefaultGoesWithoutSaying) {
  json entry = Entry("create", "webs", "a");
  entry["objectRef"]["namespace"] = "default";

  EXPECT_THAT(Line(entry), HasSubstr("create  webs a "));
}

TEST(AccountTest, AnApplyThatMakesTheObjectIsACreation) {
  EXPECT_THAT(Line(Entry("patch", "webs", "a", 201)), HasSubstr("create  webs shop/a "));
}

TEST(AccountTest, AnObjectThatTheServerNamedHasThatName) {
  json entry = Entry("create", "pods", "");
  entry["responseObject"] = {{"metadata", {{"name", "web-x7k2p"}}}};

  EXPECT_THAT(Line(entry), HasSubstr("pods shop/web-x7k2p "));
}

TEST(AccountTest, AnEventIsNamedForWhatItIsAbout) {
  json entry = Entry("create", "events", "a.18c");
  entry["responseObject"] = {
      {"reason", "Synced"},
      {"involvedObject", {{"kind", "Web"}, {"namespace", "shop"}, {"name", "a"}}}};

  EXPECT_THAT(Line(entry), HasSubstr("create  event Synced of Web shop/a "));
}

TEST(AccountTest, WhatIsRefusedIsToldWithTheServersReason) {
  json entry = Entry("update", "deployments", "web", 409);
  entry["responseStatus"]["reason"] = "Conflict";

  EXPECT_THAT(Line(entry), HasSubstr("update  409 Conflict: deployments shop"));
}

TEST(AccountTest, OfReadsOnlyWatchesAreToldAndWhatIsRefused) {
  EXPECT_EQ(Line(Entry("get", "webs", "a")), "");
  EXPECT_EQ(Line(Entry("list", "webs", "")), "");
  EXPECT_EQ(Line(Entry("get", "webs", "a", 404)), "");
  EXPECT_THAT(Line(Entry("watch", "webs", "")), HasSubstr("watch   webs shop "));
  EXPECT_THAT(Line(Entry("list", "webs", "", 500)), HasSubstr("500"));
}

TEST(AccountTest, RenewingALeaseIsNotNews) {
  EXPECT_THAT(Line(Entry("create", "leases", "leader")), HasSubstr("leases shop/leader"));
  EXPECT_EQ(Line(Entry("update", "leases", "leader")), "");
}

TEST(AccountTest, ALongNameIsCutAndALineIsNeverLongerThanATerminal) {
  const std::string line = Told(Entry("create", "deployments", std::string(200, 'n')));

  EXPECT_THAT(line, HasSubstr("nnn.. "));
  EXPECT_THAT(line, EndsWith(" 1.50 ms\n"));
  EXPECT_EQ(line.size(), 80);  // with the end of the line
}

TEST(AccountTest, NoNameReachesTheTerminalAsACommand) {
  json entry = Entry("create", "pods", "a");
  entry["user"]["username"] = "evil\x1b[2J";

  EXPECT_THAT(Told(entry), HasSubstr("evil?[2J"));
}

TEST(AccountTest, TheProgramsDoingsStandOutWhereThereAreColours) {
  json others = Entry("create", "pods", "a");
  others["user"]["username"] = "system:admin";

  EXPECT_THAT(Told(Entry("create", "pods", "a"), true), StartsWith("\x1b[32m"));
  EXPECT_THAT(Told(Entry("create", "pods", "a", 500), true), StartsWith("\x1b[31m"));
  EXPECT_THAT(Told(others, true), Not(HasSubstr("\x1b")));
  EXPECT_THAT(Told(others, true), HasSubstr(" you "));
}

TEST(AccountTest, NothingIsToldBeforeItBegins) {
  std::ostringstream out;
  Account account(out, {});

  account.Tell(Entry("create", "pods", "a").dump());

  EXPECT_THAT(out.str(), IsEmpty());
}

TEST(AccountTest, WhatTheProgramWatchedAndWhatItMadeFirstIsRemembered) {
  std::ostringstream out;
  Account account(out, {.program = kProgram});
  account.Begin();

  for (const json& entry :
       {Entry("watch", "webs", ""), Entry("watch", "pods", ""), Entry("watch", "webs", ""),
        Entry("create", "events", "e"), Entry("create", "pods", "p", 409),
        Entry("create", "deployments", "web"), Entry("create", "services", "s")}) {
    account.Tell(entry.dump());
  }

  EXPECT_THAT(account.watched(), ElementsAre("webs", "pods"));
  EXPECT_EQ(account.made()->resource, "deployments");
  EXPECT_EQ(account.made()->ns, "shop");
  EXPECT_EQ(account.made()->name, "web");
}

}  // namespace
}  // namespace kopp::apiserver
