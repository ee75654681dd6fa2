#include "flags.hpp"

#include <string>
#include <variant>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kopp::apiserver {
namespace {

using std::filesystem::path;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::variant<Flags, EarlyExit> Parse(std::vector<const char*> arguments) {
  arguments.insert(arguments.begin(), "/usr/bin/kopp-apiserver");
  return ParseFlags(static_cast<int>(arguments.size()), arguments.data());
}

Flags Parsed(const std::vector<const char*>& arguments) {
  const auto result = Parse(arguments);
  if (const auto* early = std::get_if<EarlyExit>(&result)) ADD_FAILURE() << early->text;
  return std::get<Flags>(result);
}

std::string Complaint(const std::vector<const char*>& arguments) {
  const auto result = Parse(arguments);
  if (std::holds_alternative<Flags>(result)) return "no complaint";
  EXPECT_EQ(std::get<EarlyExit>(result).code, 2);
  return std::get<EarlyExit>(result).text;
}

TEST(ServerFlagsTest, WithoutAnyItServesHttpsOnLoopback) {
  const Flags flags = Parsed({});

  EXPECT_EQ(flags.listen.address, "127.0.0.1:0");
  EXPECT_TRUE(flags.listen.tls);
  EXPECT_THAT(flags.load, IsEmpty());
  EXPECT_THAT(flags.program, IsEmpty());
}

TEST(ServerFlagsTest, WhatMayBeRepeatedAddsUp) {
  const Flags flags =
      Parsed({"--load", "a.yaml", "--load=b.yaml", "--fault", "conflict,times=3", "--fault=gone"});

  EXPECT_THAT(flags.load, ElementsAre(path("a.yaml"), path("b.yaml")));
  ASSERT_EQ(flags.faults.size(), 2);
  EXPECT_EQ(flags.faults[0].what, testing::Fault::What::kConflict);
  EXPECT_EQ(flags.faults[0].times, 3);
  EXPECT_EQ(flags.faults[1].what, testing::Fault::What::kGone);
}

TEST(ServerFlagsTest, AUserIsANameAndAFile) {
  const Flags flags = Parsed({"--user", "alice=a.kubeconfig", "--user-certificate=bob=b"});

  ASSERT_EQ(flags.guests.size(), 2);
  EXPECT_EQ(flags.guests[0].user, "alice");
  EXPECT_EQ(flags.guests[0].file, "a.kubeconfig");
  EXPECT_FALSE(flags.guests[0].by_certificate);
  EXPECT_EQ(flags.guests[1].user, "bob");
  EXPECT_TRUE(flags.guests[1].by_certificate);
}

TEST(ServerFlagsTest, BehindTwoDashesStandsTheProgramWithItsOwnFlags) {
  const Flags flags = Parsed({"--demo", "--load", "x", "--", "web-operator", "-v", "--help"});

  EXPECT_THAT(flags.program, ElementsAre("web-operator", "-v", "--help"));
}

TEST(ServerFlagsTest, EachMistakeIsOneLineThatSaysWhatToWrite) {
  EXPECT_EQ(Complaint({"--demo"}),
            "kopp-apiserver: --demo needs a program behind \"--\", such as --demo -- "
            "sample-controller\n");
  EXPECT_THAT(Complaint({"--", "web"}), HasSubstr("\"web\", is run with --demo only"));
  EXPECT_THAT(Complaint({"--program-log", "x"}), HasSubstr("--program-log goes with --demo"));
  EXPECT_THAT(Complaint({"--plain", "--demo", "--", "web"}),
              HasSubstr("--demo does not go with --plain: over HTTP everyone is anonymous; leave "
                        "--plain out"));
  EXPECT_THAT(Complaint({"--plain", "--user", "a=b"}),
              HasSubstr("--user does not go with --plain"));
  EXPECT_THAT(Complaint({"--plain", "--user-certificate", "a=b"}),
              HasSubstr("--user-certificate does not go with --plain"));
  EXPECT_THAT(Complaint({"--user", "alice"}), HasSubstr("such as alice=alice.kubeconfig"));
  EXPECT_THAT(Complaint({"--user", "=file"}), HasSubstr("such as alice=alice.kubeconfig"));
  EXPECT_THAT(Complaint({"--bind-address", "8080"}), HasSubstr("write :8080"));
  EXPECT_THAT(Complaint({"--seed", "x"}), HasSubstr("--seed \"x\": write a number"));
  EXPECT_THAT(Complaint({"--fault", "earthquake"}), HasSubstr("--fault: "));
  EXPECT_THAT(Complaint({"--write-kubeconfig", "k", "--user", "a=k"}),
              HasSubstr("two kubeconfigs are to be written to \"k\": give each a file of its own"));
  EXPECT_THAT(Complaint({"--laod", "x"}), HasSubstr("did you mean --load?"));
}

TEST(ServerFlagsTest, HelpShowsHowADemoIsRun) {
  const auto result = Parse({"--help"});

  ASSERT_TRUE(std::holds_alternative<EarlyExit>(result));
  EXPECT_EQ(std::get<EarlyExit>(result).code, 0);
  EXPECT_THAT(std::get<EarlyExit>(result).text,
              HasSubstr("Usage: kopp-apiserver [flags] [--demo -- PROGRAM [ARGUMENT...]]\n"));
}

}  // namespace
}  // namespace kopp::apiserver
