#include "serving/certificate_watcher.hpp"

#include "support/certificates.hpp"
#include "support/scratch_folder.hpp"

#include <atomic>
#include <optional>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <kopp/config.hpp>
#include <kopp/testing/fake_clock.hpp>

namespace kopp {
namespace {

using namespace std::chrono_literals;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class CertificateWatcherTest : public ::testing::Test {
 protected:
  CertificateWatcherTest() { Write("certificate 1", "key 1"); }

  void Write(const std::string& certificate, const std::string& key) {
    folder_.Write("tls.crt", certificate);
    folder_.Write("tls.key", key);
  }
  CertificateWatcher::Options NewOptions() {
    return {.certificate = folder_ / "tls.crt",
            .key = folder_ / "tls.key",
            .client_ca = client_ca_,
            .log = Logger({.write = [this](std::string_view line) { log_ += line; }}),
            .clock = clock_,
            .on_read = [this](bool succeeded) { reads_.push_back(succeeded); }};
  }
  /// Starts a watcher whose Apply records the certificate, and throws `apply_error_` if it is set.
  void Start() {
    watcher_.emplace(NewOptions());
    watcher_->Start([this](const HttpServerTls& tls) {
      if (!apply_error_.empty()) throw ConfigError(apply_error_);
      const std::string client_ca = tls.client_ca ? "/" + *tls.client_ca : "";
      applied_.push_back(tls.certificate + "/" + tls.key + client_ca);
    });
    clock_.AwaitSleepers(1);
  }
  /// Blocks until the watcher has read the files again.
  void Poll() {
    clock_.Advance(10s);
    clock_.AwaitSleepers(1);
  }

  testing::ScratchFolder folder_;
  std::filesystem::path client_ca_;
  testing::FakeClock clock_;
  std::string log_;
  std::vector<bool> reads_;
  std::string apply_error_;
  std::vector<std::string> applied_;
  std::optional<CertificateWatcher> watcher_;
};

TEST_F(CertificateWatcherTest, FilesAreReadAtConstruction) {
  const CertificateWatcher watcher(NewOptions());

  EXPECT_EQ(watcher.initial().certificate, "certificate 1");
  EXPECT_EQ(watcher.initial().key, "key 1");
  EXPECT_THAT(reads_, ElementsAre(true));
}

TEST_F(CertificateWatcherTest, MissingFileAtConstructionIsAConfigErrorThatNamesIt) {
  std::filesystem::remove(folder_ / "tls.key");
  try {
    const CertificateWatcher watcher(NewOptions());
    FAIL() << "no exception";
  } catch (const ConfigError& error) {
    EXPECT_THAT(error.what(), AllOf(HasSubstr("tls.key"), HasSubstr("does not exist")));
  }
  EXPECT_THAT(reads_, ElementsAre(false));
}

TEST_F(CertificateWatcherTest, ChangedFilesAreAppliedWithinTenSeconds) {
  Start();
  Poll();
  EXPECT_THAT(applied_, IsEmpty());

  Write("certificate 2", "key 2");
  Poll();
  Poll();

  EXPECT_THAT(applied_, ElementsAre("certificate 2/key 2"));
  EXPECT_THAT(log_, HasSubstr("Updated current TLS certificate"));
  EXPECT_THAT(reads_, ElementsAre(true, true, true, true));
}

TEST_F(CertificateWatcherTest, AChangedClientCaIsApplied) {
  const testing::CertificateAuthority first;
  const testing::CertificateAuthority second;
  folder_.Write("ca.crt", first.certificate());
  client_ca_ = folder_ / "ca.crt";
  Start();
  EXPECT_EQ(watcher_->initial().client_ca, first.certificate());

  folder_.Write("ca.crt", second.certificate());
  Poll();

  EXPECT_THAT(applied_, ElementsAre("certificate 1/key 1/" + second.certificate()));
}

TEST_F(CertificateWatcherTest, AClientCaFileWithoutACertificateIsAnErrorThatNamesIt) {
  folder_.Write("ca.crt", "");
  client_ca_ = folder_ / "ca.crt";
  try {
    const CertificateWatcher watcher(NewOptions());
    FAIL() << "any client could connect";
  } catch (const ConfigError& error) {
    EXPECT_THAT(error.what(), HasSubstr("ca.crt has no certificate in PEM"));
  }
}

TEST_F(CertificateWatcherTest, FailedReadKeepsTheCertificateAndIsLoggedOnce) {
  Start();
  std::filesystem::remove(folder_ / "tls.crt");
  Poll();
  EXPECT_THAT(log_, AllOf(HasSubstr("Cannot reload the TLS certificate"), HasSubstr("tls.crt")));
  log_.clear();
  Poll();
  EXPECT_THAT(log_, IsEmpty());
  EXPECT_THAT(applied_, IsEmpty());
  EXPECT_THAT(reads_, ElementsAre(true, false, false));

  Write("certificate 2", "key 2");
  Poll();
  EXPECT_THAT(applied_, ElementsAre("certificate 2/key 2"));
}

TEST_F(CertificateWatcherTest, CertificateThatCannotBeUsedYetIsTriedAgain) {
  Start();
  apply_error_ = "the key does not belong to the certificate";
  Write("certificate 2", "key 1");
  Poll();
  EXPECT_THAT(log_, HasSubstr("the key does not belong"));

  apply_error_.clear();
  Poll();

  EXPECT_THAT(applied_, ElementsAre("certificate 2/key 1"));
  EXPECT_THAT(reads_, ElementsAre(true, false, true));
}

}  // namespace
}  // namespace kopp
