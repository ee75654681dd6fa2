#include "support/scratch_folder.hpp"

#include <chrono>
#include <functional>
#include <optional>
#include <regex>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <kopp/leader_election.hpp>

namespace kopp {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

/// Returns the message of the ConfigError that `call` throws.
std::string ConfigErrorOf(const std::function<void()>& call) {
  try {
    call();
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "no ConfigError";
}

std::string ErrorOf(const std::function<void(LeaderElectionOptions&)>& change) {
  LeaderElectionOptions options{.id = "web"};
  change(options);
  return ConfigErrorOf([&] { ValidateLeaderElection(options); });
}

TEST(LeaderElectionOptionsTest, TheDefaultsAreValidAndThoseOfClientGo) {
  const LeaderElectionOptions options{.id = "web"};

  EXPECT_NO_THROW(ValidateLeaderElection(options));
  EXPECT_EQ(options.lease_duration, 15s);
  EXPECT_EQ(options.renew_deadline, 10s);
  EXPECT_EQ(options.retry_period, 2s);
}

TEST(LeaderElectionOptionsTest, AnInvalidOptionIsRejectedWithItsFlagAndItsLimit) {
  EXPECT_THAT(ErrorOf([](auto& options) { options.id = ""; }), HasSubstr("--leader-election-id"));
  EXPECT_THAT(ErrorOf([](auto& options) { options.id = "my_operator"; }),
              HasSubstr("--leader-election-id is \"my_operator\", which is not a name"));
  EXPECT_THAT(ErrorOf([](auto& options) { options.retry_period = 0s; }),
              HasSubstr("--leader-election-retry-period is 0s: it must be longer than zero"));
  EXPECT_EQ(ErrorOf([](auto& options) { options.renew_deadline = 2400ms; }),
            "--leader-election-renew-deadline is 2.4s: it must be longer than 1.2 times "
            "--leader-election-retry-period, which is 2s");
  EXPECT_EQ(ErrorOf([](auto& options) { options.lease_duration = 10s; }),
            "--leader-election-lease-duration is 10s: it must be longer than "
            "--leader-election-renew-deadline, which is 10s");
  EXPECT_EQ(ErrorOf([](auto& options) {
              options.lease_duration = 900ms;
              options.renew_deadline = 800ms;
              options.retry_period = 100ms;
            }),
            "--leader-election-lease-duration is 0.9s: it must be at least 1s");
}

TEST(LeaderElectionOptionsTest, OptionsJustInsideTheLimitsAreValid) {
  EXPECT_EQ(ErrorOf([](auto& options) {
              options.lease_duration = 1s;
              options.renew_deadline = 999ms;
              options.retry_period = 800ms;
            }),
            "no ConfigError");
}

/// A service account folder and an environment with $POD_NAMESPACE.
class LeaderElectionNamespaceTest : public ::testing::Test {
 protected:
  [[nodiscard]] ConfigSources Sources() const {
    return {.getenv =
                [this](const std::string& name) {
                  return name == "POD_NAMESPACE" ? variable_ : std::nullopt;
                },
            .service_account = folder_ / "."};
  }
  void WriteNamespaceFile(const std::string& text) const { folder_.Write("namespace", text); }

  testing::ScratchFolder folder_;
  std::optional<std::string> variable_;
};

TEST_F(LeaderElectionNamespaceTest, TheOptionHasPrecedence) {
  WriteNamespaceFile("file");

  EXPECT_EQ(LeaderElectionNamespace({.ns = "option"}, Sources()), "option");
}

TEST_F(LeaderElectionNamespaceTest, TheServiceAccountHasPrecedenceOverTheEnvironment) {
  WriteNamespaceFile("file\n");
  variable_ = "variable";

  EXPECT_EQ(LeaderElectionNamespace({}, Sources()), "file");
}

TEST_F(LeaderElectionNamespaceTest, TheEnvironmentIsUsedWithoutAServiceAccount) {
  variable_ = "variable";

  EXPECT_EQ(LeaderElectionNamespace({}, Sources()), "variable");
}

TEST_F(LeaderElectionNamespaceTest, AnUnknownNamespaceIsAnErrorThatNamesTheFlag) {
  EXPECT_THAT(ConfigErrorOf([&] { (void)LeaderElectionNamespace({}, Sources()); }),
              HasSubstr("set --leader-election-namespace"));
}

TEST(LeaderElectionIdentityTest, TheDefaultIsTheHostNameAndAUuidThatIsNewEachTime) {
  std::string host(256, '\0');
  ASSERT_EQ(::gethostname(host.data(), host.size()), 0);
  host.resize(host.find('\0'));

  const std::string identity = LeaderElectionIdentity({});

  ASSERT_TRUE(identity.starts_with(host + '_')) << identity;
  const std::regex uuid("[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}");
  EXPECT_TRUE(std::regex_match(identity.substr(host.size() + 1), uuid)) << identity;
  EXPECT_NE(LeaderElectionIdentity({}), identity);
  EXPECT_EQ(LeaderElectionIdentity({.identity = "replica-1"}), "replica-1");
}

}  // namespace
}  // namespace kopp
