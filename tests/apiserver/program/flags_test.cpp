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

std::string UsageErrorOf(const std::vector<const char*>& arguments) {
  const auto result = Parse(arguments);
  if (std::holds_alternative<Flags>(result)) return "no error";
  EXPECT_EQ(std::get<EarlyExit>(result).code, 2);
  return std::get<EarlyExit>(result).text;
}

TEST(ServerFlagsTest, DefaultIsHttpsOnLoopback) {
  const Flags flags = Parsed({});

  EXPECT_EQ(flags.listen.address, "127.0.0.1:0");
  EXPECT_TRUE(flags.listen.tls);
  EXPECT_THAT(flags.load, IsEmpty());
  EXPECT_THAT(flags.program, IsEmpty());
}

TEST(ServerFlagsTest, RepeatedFlagsAddValues) {
  const Flags flags =
      Parsed({"--load", "a.yaml", "--load=b.yaml", "--fault", "conflict,times=3", "--fault=gone"});

  EXPECT_THAT(flags.load, ElementsAre(path("a.yaml"), path("b.yaml")));
  ASSERT_EQ(flags.faults.size(), 2);
  EXPECT_EQ(flags.faults[0].type, testing::Fault::Type::kConflict);
  EXPECT_EQ(flags.faults[0].times, 3);
  EXPECT_EQ(flags.faults[1].type, testing::Fault::Type::kGone);
}

TEST(ServerFlagsTest, UserFlagsHaveANameAndAFile) {
  const Flags flags = Parsed({"--user", "alice=a.kubeconfig", "--user-certificate=bob=b"});

  ASSERT_EQ(flags.user_kubeconfigs.size(), 2);
  EXPECT_EQ(flags.user_kubeconfigs[0].user, "alice");
  EXPECT_EQ(flags.user_kubeconfigs[0].file, "a.kubeconfig");
  EXPECT_FALSE(flags.user_kubeconfigs[0].by_certificate);
  EXPECT_EQ(flags.user_kubeconfigs[1].user, "bob");
  EXPECT_TRUE(flags.user_kubeconfigs[1].by_certificate);
}

TEST(ServerFlagsTest, AuthorizationModeIsAlwaysAllowOrRbac) {
  EXPECT_EQ(Parsed({}).authorization, testing::AuthorizationMode::kAlwaysAllow);
  EXPECT_EQ(Parsed({"--authorization-mode", "RBAC"}).authorization,
            testing::AuthorizationMode::kRbac);
  EXPECT_THAT(UsageErrorOf({"--authorization-mode", "Webhook"}),
              HasSubstr("write AlwaysAllow or RBAC"));
  EXPECT_THAT(UsageErrorOf({"--plain", "--authorization-mode", "RBAC"}),
              HasSubstr("--authorization-mode=RBAC cannot be used with --plain"));
}

TEST(ServerFlagsTest, ResolveFlagsHaveAPortOfAServiceAndAnAddress) {
  const Flags flags =
      Parsed({"--resolve", "shop/webhooks:443=127.0.0.1:9443", "--resolve=a/b:8443=[::1]:1"});

  ASSERT_EQ(flags.resolve.size(), 2);
  EXPECT_EQ(flags.resolve[0].service, (ObjectKey{"shop", "webhooks"}));
  EXPECT_EQ(flags.resolve[0].port, 443);
  EXPECT_EQ(flags.resolve[0].address, "127.0.0.1:9443");
  EXPECT_EQ(flags.resolve[1].port, 8443);
  EXPECT_EQ(flags.resolve[1].address, "[::1]:1");
  for (const char* invalid : {"shop/webhooks=127.0.0.1:9443", "webhooks:443=127.0.0.1:9443",
                              "shop/webhooks:443=127.0.0.1", "shop/webhooks:443"}) {
    EXPECT_THAT(UsageErrorOf({"--resolve", invalid}),
                HasSubstr("such as shop/webhooks:443=127.0.0.1:9443"));
  }
}

TEST(ServerFlagsTest, ArgumentsAfterTwoDashesBelongToTheProgram) {
  const Flags flags = Parsed({"--demo", "--load", "x", "--", "web-operator", "-v", "--help"});

  EXPECT_THAT(flags.program, ElementsAre("web-operator", "-v", "--help"));
}

TEST(ServerFlagsTest, AUsageErrorIsOneLineWithTheCorrection) {
  EXPECT_EQ(UsageErrorOf({"--demo"}),
            "kopp-apiserver: --demo needs a program after \"--\", such as --demo -- "
            "sample-controller\n");
  EXPECT_THAT(UsageErrorOf({"--", "web"}), HasSubstr("program \"web\" needs --demo before \"--\""));
  EXPECT_THAT(UsageErrorOf({"--program-log", "x"}), HasSubstr("--program-log needs --demo"));
  EXPECT_THAT(UsageErrorOf({"--plain", "--demo", "--", "web"}),
              HasSubstr("--demo cannot be used with --plain, because all HTTP clients are "
                        "anonymous; remove --plain"));
  EXPECT_THAT(UsageErrorOf({"--plain", "--user", "a=b"}),
              HasSubstr("--user cannot be used with --plain"));
  EXPECT_THAT(UsageErrorOf({"--plain", "--user-certificate", "a=b"}),
              HasSubstr("--user-certificate cannot be used with --plain"));
  EXPECT_THAT(UsageErrorOf({"--user", "alice"}), HasSubstr("such as alice=alice.kubeconfig"));
  EXPECT_THAT(UsageErrorOf({"--user", "=file"}), HasSubstr("such as alice=alice.kubeconfig"));
  EXPECT_THAT(UsageErrorOf({"--bind-address", "8080"}), HasSubstr("write :8080"));
  EXPECT_THAT(UsageErrorOf({"--seed", "x"}), HasSubstr("\"x\" for --seed: write a number"));
  EXPECT_THAT(UsageErrorOf({"--fault", "earthquake"}), HasSubstr("for --fault: "));
  EXPECT_THAT(UsageErrorOf({"--write-kubeconfig", "k", "--user", "a=k"}),
              HasSubstr("two kubeconfigs have the same file \"k\": use a different file for each"));
  EXPECT_THAT(UsageErrorOf({"--laod", "x"}), HasSubstr("did you mean --load?"));
}

TEST(ServerFlagsTest, HelpShowsTheUsageOfADemo) {
  const auto result = Parse({"--help"});

  ASSERT_TRUE(std::holds_alternative<EarlyExit>(result));
  EXPECT_EQ(std::get<EarlyExit>(result).code, 0);
  EXPECT_THAT(std::get<EarlyExit>(result).text,
              HasSubstr("Usage: kopp-apiserver [flags] [--demo -- PROGRAM [ARGUMENT...]]\n"));
}

}  // namespace
}  // namespace kopp::apiserver
