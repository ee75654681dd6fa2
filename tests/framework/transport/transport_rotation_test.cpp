#include "support/scratch_folder.hpp"
#include "transport/credentials_provider.hpp"
#include "transport_fixture.hpp"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <kopp/testing/fake_clock.hpp>

// Tests files with credentials that change while a transport is used. The suite is instantiated in
// transport_conformance_test.cpp.
namespace kopp::testing {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using namespace std::chrono_literals;

class TransportRotationTest : public TransportConformanceTest {
 protected:
  TransportRotationTest() {
    options_.on_warning = [this](const std::string& problem) { warnings_.push_back(problem); };
  }

  std::unique_ptr<Transport> TransportWithClock(const RawServer& server) {
    config_.server = server.Url();
    return MakeTransport(config_, {.calls = GetParam(),
                                   .call_timeout = kHangTimeout,
                                   .clock = clock_,
                                   .on_warning = options_.on_warning});
  }

  // Writes a client certificate for `common_name` and its key, and makes `config_` use them.
  void WriteClientCertificate(const std::string& common_name) {
    const auto own = authority_.Issue({.common_name = common_name});
    config_.client_certificate_file = folder_.Write("tls.crt", own.certificate);
    config_.client_key_file = folder_.Write("tls.key", own.key);
  }

  // A server that requires a client certificate, and which the CA file of `config_` trusts.
  RawServer::Tls MutualTls() {
    config_.certificate_authority_file = folder_.Write("ca.crt", authority_.certificate());
    return {.identity = authority_.IssueForLoopback(),
            .client_authority = authority_.certificate()};
  }

  ScratchFolder folder_;
  FakeClock clock_;
  std::vector<std::string> warnings_;
};

INSTANTIATE_TEST_SUITE_P(, TransportRotationTest, ::testing::ValuesIn(TransportAdapters()),
                         [](const auto& adapter) { return AdapterName(adapter.param); });

TEST_P(TransportRotationTest, TokenFileBehindReplacedSymlinkIsReadAgain) {
  // The kubelet replaces the link ..data, which all files of a volume refer to.
  std::filesystem::create_directory(folder_ / "first");
  std::filesystem::create_directory(folder_ / "second");
  folder_.Write("first/token", "first");
  folder_.Write("second/token", "second");
  std::filesystem::create_symlink("first", folder_ / "..data");
  std::filesystem::create_symlink("..data/token", folder_ / "token");
  RawServer server({AlwaysRespond(MakeResponse(200, ""))});
  config_.token_file = folder_ / "token";
  const auto transport = TransportWithClock(server);
  static_cast<void>(transport->Call({.target = "/"}));

  std::filesystem::create_symlink("second", folder_ / "..data_tmp");
  std::filesystem::rename(folder_ / "..data_tmp", folder_ / "..data");
  clock_.Advance(60s);
  static_cast<void>(transport->Call({.target = "/"}));

  EXPECT_EQ(Header(server.Requests().at(0).head, "Authorization"), "Bearer first");
  EXPECT_EQ(Header(server.Requests().at(1).head, "Authorization"), "Bearer second");
}

TEST_P(TransportRotationTest, NewConnectionsUseRotatedClientCertificateAfterOneMinute) {
  RawServer server({AlwaysRespond(MakeResponse(200, ""))}, MutualTls());
  WriteClientCertificate("first");
  const auto transport = TransportWithClock(server);
  static_cast<void>(transport->Call({.target = "/"}));
  WriteClientCertificate("second");

  clock_.Advance(59s);
  static_cast<void>(transport->Call({.target = "/"}));
  clock_.Advance(1s);
  static_cast<void>(transport->Call({.target = "/"}));
  static_cast<void>(transport->Open({.target = "/"}));
  server.WaitForClosedConnections(1);

  EXPECT_EQ(server.Requests().at(1).client, "first");
  EXPECT_EQ(server.Requests().at(2).client, "second");
  EXPECT_EQ(server.Requests().at(3).client, "second");
}

TEST_P(TransportRotationTest, ConnectionIsKeptIfFilesHaveNotChanged) {
  RawServer server({AlwaysRespond(MakeResponse(200, ""))}, MutualTls());
  WriteClientCertificate("first");
  const auto transport = TransportWithClock(server);
  static_cast<void>(transport->Call({.target = "/"}));

  clock_.Advance(60s);
  static_cast<void>(transport->Call({.target = "/"}));

  EXPECT_EQ(server.Connections(), 1U);
}

TEST_P(TransportRotationTest, RotatedClientCertificateIsUsedAtOnceAfter401) {
  RawServer server({AlwaysRespond(MakeResponse(401, ""))}, MutualTls());
  WriteClientCertificate("first");
  const auto transport = TransportWithClock(server);
  WriteClientCertificate("second");

  static_cast<void>(transport->Call({.target = "/"}));
  static_cast<void>(transport->Call({.target = "/"}));

  EXPECT_EQ(server.Requests().at(0).client, "first");
  EXPECT_EQ(server.Requests().at(1).client, "second");
}

TEST_P(TransportRotationTest, RotatedAuthorityIsUsedAtOnceAfterTrustFailure) {
  RawServer server({AlwaysRespond(MakeResponse(200, "safe"))}, TrustedTls());
  config_.certificate_authority_file =
      folder_.Write("ca.crt", CertificateAuthority().certificate());
  const auto transport = TransportWithClock(server);
  EXPECT_EQ(FailureOfCall(*transport, {.target = "/"}).kind, Kind::kUntrusted);

  folder_.Write("ca.crt", authority_.certificate());

  EXPECT_EQ(FailureOfCall(*transport, {.target = "/"}).kind, std::nullopt);
}

TEST_P(TransportRotationTest, RotatedAuthorityIsUsedByStreamsAfterTrustFailure) {
  RawServer server({AlwaysRespond(MakeResponse(200, "safe"))}, TrustedTls());
  config_.certificate_authority_file =
      folder_.Write("ca.crt", CertificateAuthority().certificate());
  const auto transport = TransportWithClock(server);
  const auto open = [&] { static_cast<void>(transport->Open({.target = "/"})); };
  EXPECT_EQ(FailureOf(open).kind, Kind::kUntrusted);

  folder_.Write("ca.crt", authority_.certificate());

  EXPECT_EQ(FailureOf(open).kind, std::nullopt);
}

TEST_P(TransportRotationTest, RemovedAuthorityIsNoLongerTrustedByNewConnections) {
  RawServer server({AlwaysRespond(MakeResponse(200, ""))}, MutualTls());
  WriteClientCertificate("first");
  const auto transport = TransportWithClock(server);
  static_cast<void>(transport->Call({.target = "/"}));

  folder_.Write("ca.crt", CertificateAuthority().certificate());
  clock_.Advance(60s);

  EXPECT_EQ(FailureOfCall(*transport, {.target = "/"}).kind, Kind::kUntrusted);
}

TEST_P(TransportRotationTest, HalfWrittenPairKeepsThePreviousPairUntilItIsComplete) {
  RawServer server({AlwaysRespond(MakeResponse(200, ""))}, MutualTls());
  WriteClientCertificate("first");
  const auto transport = TransportWithClock(server);
  static_cast<void>(transport->Call({.target = "/"}));
  const auto next = authority_.Issue({.common_name = "second"});

  folder_.Write("tls.crt", next.certificate);
  clock_.Advance(60s);
  static_cast<void>(transport->Call({.target = "/"}));
  EXPECT_EQ(server.Connections(), 1U);
  folder_.Write("tls.key", next.key);
  clock_.Advance(60s);
  static_cast<void>(transport->Call({.target = "/"}));

  EXPECT_EQ(server.Requests().at(1).client, "first");
  EXPECT_EQ(server.Requests().at(2).client, "second");
  EXPECT_THAT(warnings_, ElementsAre(HasSubstr("client-key does not match client-certificate")));
}

TEST_P(TransportRotationTest, DamagedOrMissingFileKeepsThePreviousCredentialsAndWarnsOnce) {
  RawServer server({AlwaysRespond(MakeResponse(200, ""))}, MutualTls());
  WriteClientCertificate("first");
  const auto transport = TransportWithClock(server);
  static_cast<void>(transport->Call({.target = "/"}));

  folder_.Write("tls.crt", "-----BEGIN CERTIFICATE-----\nMII");
  for (int i = 0; i < 3; ++i) {
    clock_.Advance(60s);
    static_cast<void>(transport->Call({.target = "/"}));
  }
  std::filesystem::remove(folder_ / "ca.crt");
  clock_.Advance(60s);
  static_cast<void>(transport->Call({.target = "/"}));

  EXPECT_EQ(server.Connections(), 1U);
  EXPECT_THAT(warnings_,
              ElementsAre(AllOf(HasSubstr("tls.crt"), HasSubstr("not a PEM certificate")),
                          AllOf(HasSubstr("ca.crt"), HasSubstr("does not exist"))));
}

TEST_P(TransportRotationTest, OpenStreamContinuesAfterRotation) {
  RawServer server({{ReadRequest(), Send(ChunkedResponseHead() + Chunk("one")), WaitForProceed(),
                     Send(Chunk("two")), Stall()},
                    AlwaysRespond(MakeResponse(200, ""))},
                   MutualTls());
  WriteClientCertificate("first");
  const auto transport = TransportWithClock(server);
  const auto stream = transport->Open({.target = "/watch"});
  EXPECT_EQ(stream->Read(kHangTimeout).bytes, "one");

  WriteClientCertificate("second");
  clock_.Advance(60s);
  static_cast<void>(transport->Call({.target = "/"}));
  server.Proceed();

  EXPECT_EQ(stream->Read(kHangTimeout).bytes, "two");
  EXPECT_EQ(server.Requests().at(1).client, "second");
}

TEST_P(TransportRotationTest, MissingFileAtTheStartIsAConfigError) {
  config_.client_certificate_file = folder_ / "tls.crt";
  config_.client_key_file = folder_ / "tls.key";

  EXPECT_THROW(static_cast<void>(TransportTo("https://10.0.0.1")), ConfigError);
}

// Opening a FIFO for reading blocks until another process opens it for writing, as a file system
// that hangs does.
TEST_P(TransportRotationTest, FileThatCannotBeReadDoesNotBlockCalls) {
  RawServer server({AlwaysRespond(MakeResponse(200, ""))});
  config_.token_file = folder_.Write("token", "first");
  auto transport = TransportWithClock(server);
  std::filesystem::remove(folder_ / "token");
  ASSERT_EQ(::mkfifo((folder_ / "token").c_str(), 0600), 0);
  clock_.Advance(60s);

  {
    std::vector<std::jthread> callers;
    for (int i = 0; i < 4; ++i) {
      callers.emplace_back([&] { static_cast<void>(transport->Call({.target = "/"})); });
    }
  }
  Duration fastest = Duration::max();
  for (int i = 0; i < 10; ++i) {
    const TimePoint before = Clock::Real().Now();
    static_cast<void>(transport->Call({.target = "/"}));
    fastest = std::min(fastest, Clock::Real().Now() - before);
  }
  EXPECT_LT(fastest, detail::RenewalGrace().files) << "only the first calls may wait for the file";

  EXPECT_EQ(server.Requests().size(), 14U);
  for (const auto& request : server.Requests()) {
    EXPECT_EQ(Header(request.head, "Authorization"), "Bearer first");
  }
  transport.reset();
  ::close(::open((folder_ / "token").c_str(), O_WRONLY | O_NONBLOCK));  // ends the blocked thread
}

}  // namespace
}  // namespace kopp::testing
