#include "transport/credentials_provider.hpp"

#include "support/certificates.hpp"
#include "support/plugin_script.hpp"
#include "support/scratch_folder.hpp"

#include <chrono>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <kopp/testing/fake_clock.hpp>

namespace kopp::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using namespace std::chrono_literals;
using detail::Credentials;
using detail::CredentialsProvider;
using detail::RenewalGrace;

// FakeClock starts one minute before this time.
constexpr const char* kExpiration = "2001-09-09T01:47:40Z";

class CredentialsProviderTest : public ::testing::Test {
 protected:
  void CreateProvider(const RenewalGrace& grace) {
    config_.exec = {.api_version = "client.authentication.k8s.io/v1",
                    .command = plugin_.path().string()};
    config_.certificate_authority_file =
        folder_.Write("ca.crt", CertificateAuthority().certificate());
    provider_ = std::make_unique<CredentialsProvider>(
        config_, "server",
        TransportOptions{.clock = clock_,
                         .on_warning = [this](const auto& text) { warnings_.push_back(text); }},
        grace);
  }

  std::shared_ptr<const Credentials> Get() {
    return provider_->Get(SaturatingAdd(Clock::Real().Now(), 1h), {});
  }
  std::string Authorization() { return std::string(Get()->authorization.Reveal()); }

  ScratchFolder folder_;
  PluginScript plugin_{PrintToken("first", kExpiration)};
  FakeClock clock_;
  std::vector<std::string> warnings_;
  Config config_{.source = "a test"};
  std::unique_ptr<CredentialsProvider> provider_;
};

TEST_F(CredentialsProviderTest, RejectedTokenIsNotUsedWhileThePluginRuns) {
  CreateProvider({.files = 0s, .plugin = 60s});
  provider_->Invalidate(Get());
  plugin_.Replace("sleep 0.2\n" + PrintToken("second"));

  EXPECT_EQ(Authorization(), "Bearer second");
}

TEST_F(CredentialsProviderTest, RejectedTokenIsUsedAfterTheGraceOfThePlugin) {
  CreateProvider({.files = 60s, .plugin = 0s});
  provider_->Invalidate(Get());
  plugin_.Replace("sleep 1000");

  EXPECT_EQ(Authorization(), "Bearer first");
}

// Opening a FIFO for reading blocks until another process opens it for writing, as a file system
// that hangs does.
TEST_F(CredentialsProviderTest, FileThatHangsDoesNotDelayTheTokenOfThePlugin) {
  CreateProvider({.files = 0s, .plugin = 1h});
  EXPECT_EQ(Authorization(), "Bearer first");
  plugin_.Replace(PrintToken("second"));
  std::filesystem::remove(folder_ / "ca.crt");
  ASSERT_EQ(::mkfifo((folder_ / "ca.crt").c_str(), 0600), 0);
  clock_.Advance(60s);  // the token expires, and the file is due

  EXPECT_EQ(Authorization(), "Bearer second");

  // The thread that reads the file ends.
  int file = -1;
  while (file < 0) file = ::open((folder_ / "ca.crt").c_str(), O_WRONLY | O_NONBLOCK);
  ::close(file);
}

TEST_F(CredentialsProviderTest, PluginRunsAgainWhileAFileHangs) {
  CreateProvider({.files = 0s, .plugin = 60s});
  EXPECT_EQ(Authorization(), "Bearer first");
  plugin_.Replace(PrintToken("second", "2001-09-09T01:48:40Z"));
  std::filesystem::remove(folder_ / "ca.crt");
  ASSERT_EQ(::mkfifo((folder_ / "ca.crt").c_str(), 0600), 0);
  clock_.Advance(60s);  // the token expires, and the file is due
  EXPECT_EQ(Authorization(), "Bearer second");
  plugin_.Replace(PrintToken("third"));
  clock_.Advance(60s);  // the token expires again, while the file is still being read

  EXPECT_EQ(Authorization(), "Bearer third");

  // The thread that reads the file ends.
  int file = -1;
  while (file < 0) file = ::open((folder_ / "ca.crt").c_str(), O_WRONLY | O_NONBLOCK);
  ::close(file);
}

TEST_F(CredentialsProviderTest, ProblemOfThePluginIsReportedOnceAlthoughFilesAreReadBetween) {
  CreateProvider({.files = 60s, .plugin = 60s});
  plugin_.Replace(PrintToken("first"));
  static_cast<void>(Get());
  plugin_.Replace("exit 1");

  for (int i = 0; i < 2; ++i) {
    provider_->Invalidate(Get());
    static_cast<void>(Get());  // runs the plugin and reads the files
    clock_.Advance(60s);
    static_cast<void>(Get());  // reads the files
  }

  EXPECT_EQ(plugin_.Runs(), 3);
  EXPECT_THAT(warnings_, ElementsAre(HasSubstr("failed with exit code 1")));
}

TEST_F(CredentialsProviderTest, ProblemIsReportedAgainAfterASuccess) {
  CreateProvider({.files = 60s, .plugin = 60s});
  plugin_.Replace(PrintToken("first"));
  static_cast<void>(Get());

  for (const std::string& body :
       {std::string("exit 1"), PrintToken("second"), std::string("exit 1")}) {
    provider_->Invalidate(Get());
    plugin_.Replace(body);
    clock_.Advance(10s);
    static_cast<void>(Get());
  }

  EXPECT_THAT(warnings_, ElementsAre(HasSubstr("exit code 1"), HasSubstr("exit code 1")));
}

}  // namespace
}  // namespace kopp::testing
