// Tests webhooks over HTTPS: a Manager that serves them.
#include "manager/served_manager.hpp"
#include "support/certificates.hpp"
#include "support/raw_client.hpp"
#include "support/scratch_folder.hpp"
#include "webhook_fixture.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <latch>
#include <memory>
#include <system_error>
#include <thread>
#include <vector>

#include <gmock/gmock.h>

#include <kopp/config.hpp>
#include <kopp/testing/in_memory_tracer.hpp>

namespace kopp {
namespace {

using nlohmann::json;
using namespace std::chrono_literals;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class WebhookServerTest : public ServedManagerTest {
 protected:
  WebhookServerTest() {
    WriteCertificate(authority_);
    options_.webhook = {
        .port = 0, .host = "127.0.0.1", .cert_path = (folder_ / "").string(), .shutdown_delay = 0s};
  }
  ~WebhookServerTest() override { StopServed(); }

  void WriteCertificate(const testing::CertificateAuthority& authority) {
    const auto issued = authority.IssueForLoopback();
    folder_.Write("tls.crt", issued.certificate);
    folder_.Write("tls.key", issued.key);
  }
  Manager& NewManager() { return served_.emplace(options_); }
  void StopServed() {
    manager_thread_.request_stop();
    if (manager_thread_.joinable()) manager_thread_.join();
  }
  /// Runs the manager in a thread, without waiting for a server.
  void StartManagerWithoutPort() {
    manager_thread_ =
        std::jthread([this](const std::stop_token& stop) { code_ = served_->Run(stop); });
  }
  /// Makes the server accept only clients with a certificate of `authority`.
  void RequireClientsOf(const testing::CertificateAuthority& authority) {
    folder_.Write("clients.crt", authority.certificate());
    options_.webhook.client_ca_name = "clients.crt";
  }
  /// Sends a review over HTTPS, to a server whose certificate `authority` has issued, as a client
  /// with a certificate, or without one.
  ApiResponse Send(const std::string& path, const std::string& body,
                   const testing::CertificateAuthority& authority,
                   const testing::CertificateAndKey& client = {}) const {
    Config config;
    config.server = "https://127.0.0.1:" + std::to_string(port_);
    config.certificate_authority = authority.certificate();
    config.client_certificate = client.certificate;
    config.client_key = client.key;
    return MakeTransport(config)->Call(
        {.method = "POST", .target = path, .body = body, .content_type = "application/json"});
  }
  ApiResponse Send(const std::string& path, const std::string& body) const {
    return Send(path, body, authority_);
  }
  /// Blocks until health checks are served, and returns their port.
  std::uint16_t HealthPort() {
    const std::string served = "Serving health checks";
    const std::string address = "127.0.0.1:";
    AwaitLog(served);
    const std::string log = LogText();
    return static_cast<std::uint16_t>(
        std::stoi(log.substr(log.find(address, log.find(served)) + address.size())));
  }
  /// Blocks until the server does not accept connections any more.
  void AwaitRefusedConnections() const {
    try {
      while (true) const testing::RawClient client(port_);
    } catch (const std::system_error&) {
    }
  }
  /// Returns the number of requests for `path` with this status in the metrics, or "".
  std::string CountOf(const std::string& path, int status) {
    const std::string series = "\ncontroller_runtime_webhook_requests_total{code=\"" +
                               std::to_string(status) + "\",webhook=\"" + path + "\"} ";
    const std::string text = served_->metrics().Text();
    const auto found = text.find(series);
    if (found == std::string::npos) return "";
    const auto begin = found + series.size();
    return text.substr(begin, text.find('\n', begin) - begin);
  }
  static std::string Review() {
    return R"({"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","request":
        {"uid":"u-1","operation":"CREATE","object":{"metadata":{"name":"w"}}}})";
  }

  const testing::ScratchFolder folder_;
  const testing::CertificateAuthority authority_;
  Options options_{
      .name = "test-operator", .log = RecordingLogger(), .transport = transport_, .clock = clock_};
};

TEST_F(WebhookServerTest, AManagerServesItsWebhooksOverHttps) {
  NewManager().AddWebhook<Widget>().Default([](Widget& widget) { widget.spec.replicas = 1; });
  StartManager();

  const ApiResponse response = Send("/mutate-shop-example-com-v1-widget", Review());

  EXPECT_EQ(response.status, 200);
  EXPECT_EQ(json::parse(response.body).at("/response/allowed"_json_pointer), true);
  EXPECT_THAT(LogText(), HasSubstr("Serving webhooks"));
}

// O11
TEST_F(WebhookServerTest, AReplicaThatIsNotTheLeaderServesWebhooks) {
  options_.leader_election = {.enabled = true, .id = "lease", .ns = "ns"};
  transport_->Respond("GET", "/apis/coordination.k8s.io/v1/namespaces/ns/leases/lease", 403, "{}");
  NewManager().AddWebhook("/all", [](const auto&, auto&) { return AdmissionResponse{}; });
  StartManager();

  EXPECT_EQ(Send("/all", Review()).status, 200);
}

// O2
TEST_F(WebhookServerTest, ABodyOfMoreThan7MiBIsRejectedWith413) {
  std::atomic<int> calls = 0;
  NewManager().AddWebhook<Widget>().Validate([&](const Widget&) { ++calls; });
  StartManager();
  const std::string path = "/validate-shop-example-com-v1-widget";
  std::string body = Review();
  body.resize(7 << 20, ' ');

  EXPECT_EQ(Send(path, body).status, 200);
  const ApiResponse rejected = Send(path, body + ' ');

  EXPECT_EQ(rejected.status, 413);
  EXPECT_EQ(rejected.body, "the body of a request is limited to 7340032 bytes\n");
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(CountOf(path, 413), "1");
}

// O2
TEST_F(WebhookServerTest, ABodyThatIsTooLargeDoesNotAffectOtherRequests) {
  std::latch entered{1};
  std::latch proceed{1};
  std::atomic<int> calls = 0;
  NewManager().AddWebhook("/slow",
                          [&](const AdmissionRequest&, AdmissionContext&) {
                            if (++calls == 1) {
                              entered.count_down();
                              proceed.wait();
                            }
                            return AdmissionResponse{};
                          },
                          {.threads = 2, .max_in_flight = 2});
  served_->AddWebhook("/fast", [](const auto&, auto&) { return AdmissionResponse{}; });
  StartManager();
  std::jthread first([&] { EXPECT_EQ(Send("/slow", Review()).status, 200); });
  entered.wait();

  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(Send("/slow", std::string((7 << 20) + 1, ' ')).status, 413) << "not in flight";
  }

  EXPECT_EQ(Send("/fast", Review()).status, 200);
  proceed.count_down();
  first.join();
  EXPECT_EQ(Send("/slow", Review()).status, 200);
}

// O11
TEST_F(WebhookServerTest, AHeadOfMoreThan1MiBIsRejectedWith431) {
  NewManager().AddWebhook("/all", [](const auto&, auto&) { return AdmissionResponse{}; });
  StartManager();

  EXPECT_EQ(Send("/all?x=" + std::string((1 << 20) - 1000, 'x'), Review()).status, 200);
  EXPECT_EQ(Send("/all?x=" + std::string(1 << 20, 'x'), Review()).status, 431);
}

TEST_F(WebhookServerTest, MoreRequestsInFlightThanTheLimitAreRejectedWith429) {
  std::latch entered{1};
  std::latch proceed{1};
  std::atomic<int> calls = 0;
  NewManager().AddWebhook("/slow",
                          [&](const AdmissionRequest&, AdmissionContext&) {
                            if (++calls == 1) {
                              entered.count_down();
                              proceed.wait();
                            }
                            return AdmissionResponse{};
                          },
                          {.threads = 2, .max_in_flight = 1});
  served_->AddWebhook("/fast", [](const auto&, auto&) { return AdmissionResponse{}; },
                      {.threads = 1, .max_in_flight = 1});
  StartManager();
  std::jthread first([&] { EXPECT_EQ(Send("/slow", Review()).status, 200); });
  entered.wait();

  const ApiResponse second = Send("/slow", Review());
  EXPECT_EQ(second.status, 429);
  EXPECT_EQ(second.retry_after, std::optional<Duration>(1s));
  EXPECT_EQ(Send("/fast", Review()).status, 200) << "other paths are not affected";
  EXPECT_EQ(CountOf("/slow", 429), "1");
  EXPECT_EQ(CountOf("/fast", 429), "");
  proceed.count_down();
  first.join();

  EXPECT_EQ(calls, 1);
  EXPECT_EQ(Send("/slow", Review()).status, 200);
}

TEST_F(WebhookServerTest, RequestsBelowTheLimitWaitForAThread) {
  std::latch entered{1};
  std::latch proceed{1};
  std::latch rejected{1};
  NewManager().AddWebhook("/slow",
                          [&](const AdmissionRequest&, AdmissionContext&) {
                            if (!entered.try_wait()) entered.count_down();
                            proceed.wait();
                            return AdmissionResponse{};
                          },
                          {.threads = 1, .max_in_flight = 2});
  StartManager();
  const std::jthread first([&] { EXPECT_EQ(Send("/slow", Review()).status, 200); });
  entered.wait();
  std::array<int, 2> codes{};
  {
    std::vector<std::jthread> others;
    for (int& code : codes) {
      others.emplace_back([&] {
        code = Send("/slow", Review()).status;
        if (code == 429) rejected.count_down();
      });
    }
    rejected.wait();
    proceed.count_down();
  }

  EXPECT_THAT(codes, ::testing::UnorderedElementsAre(200, 429));
}

TEST_F(WebhookServerTest, AReviewHasASpanOfTheTracerOfTheOptions) {
  const auto tracer = std::make_shared<testing::InMemoryTracer>(clock_);
  options_.tracer = tracer;
  NewManager().AddWebhook("/all", [](const auto&, auto&) { return AdmissionResponse{}; });
  StartManager();

  EXPECT_EQ(Send("/all", Review()).status, 200);

  StopServed();
  const auto spans = tracer->Await(0);
  EXPECT_EQ(std::ranges::count(spans, "webhook /all", &testing::RecordedSpan::name), 1);
}

TEST_F(WebhookServerTest, ASilentAndAHalfOpenClientDoNotDelayOthers) {
  NewManager().AddWebhook("/all", [](const auto&, auto&) { return AdmissionResponse{}; });
  StartManager();
  const testing::RawClient silent(port_);
  testing::RawClient half_open(port_);
  half_open.Send("\x16\x03\x01");  // the start of a TLS handshake

  EXPECT_EQ(Send("/all", Review()).status, 200);
}

TEST_F(WebhookServerTest, TheReadinessCheckFailsAfterTheServerHasStopped) {
  options_.health.bind_address = "127.0.0.1:0";
  std::latch proceed{1};
  NewManager().AddWebhook("/all", [](const auto&, auto&) { return AdmissionResponse{}; });
  served_->Add({.name = "last", .group = RunnableGroup::kServers},
               [&](const std::stop_token& stop) {
                 static_cast<void>(SleepUntil(clock_, TimePoint::max(), stop));
                 proceed.wait();
               });
  StartManager();
  const std::uint16_t health = HealthPort();
  EXPECT_EQ(testing::Get(health, "/readyz/webhook").status, 200);

  manager_thread_.request_stop();
  AwaitLog("All workers finished");
  while (testing::Get(health, "/readyz/webhook").status == 200) {
  }

  EXPECT_EQ(testing::Get(health, "/readyz/webhook").status, 500);
  proceed.count_down();
}

// O12
TEST_F(WebhookServerTest, ACertificateThatDoesNotMatchItsKeyIsNotUsed) {
  NewManager().AddWebhook("/all", [](const auto&, auto&) { return AdmissionResponse{}; });
  StartManager();
  const testing::CertificateAuthority second;
  const auto issued = second.IssueForLoopback();
  folder_.Write("tls.crt", issued.certificate);

  AdvanceUntilLogged("Cannot reload the TLS certificate, the last one stays in use");

  EXPECT_EQ(Send("/all", Review()).status, 200);
  EXPECT_THAT(served_->metrics().Text(),
              Not(HasSubstr("certwatcher_read_certificate_errors_total 0\n")));
  folder_.Write("tls.key", issued.key);
  AdvanceUntilLogged("Updated current TLS certificate");
  EXPECT_EQ(Send("/all", Review(), second).status, 200);
}

// O12
TEST_F(WebhookServerTest, ACertificateThatIsCutIsNotUsed) {
  NewManager().AddWebhook("/all", [](const auto&, auto&) { return AdmissionResponse{}; });
  StartManager();
  const auto issued = authority_.IssueForLoopback();
  folder_.Write("tls.crt", issued.certificate.substr(0, issued.certificate.size() / 2));

  AdvanceUntilLogged("Cannot reload the TLS certificate, the last one stays in use");

  EXPECT_EQ(Send("/all", Review()).status, 200);
}

TEST_F(WebhookServerTest, ReplacedCertificateFilesAreUsedWithoutRestart) {
  NewManager().AddWebhook("/all", [](const auto&, auto&) { return AdmissionResponse{}; });
  StartManager();
  const testing::CertificateAuthority second;
  WriteCertificate(second);

  AdvanceUntilLogged("Updated current TLS certificate");

  EXPECT_EQ(Send("/all", Review(), second).status, 200);
}

// O11
TEST_F(WebhookServerTest, AClientWithoutACertificateOfTheClientCaIsRejected) {
  const testing::CertificateAuthority clients;
  RequireClientsOf(clients);
  NewManager().AddWebhook("/all", [](const auto&, auto&) { return AdmissionResponse{}; });
  StartManager();

  EXPECT_THROW(Send("/all", Review()), TransportError);
  EXPECT_THROW(Send("/all", Review(), authority_, authority_.Issue({})), TransportError);
  EXPECT_EQ(Send("/all", Review(), authority_, clients.Issue({})).status, 200);
}

TEST_F(WebhookServerTest, AReplacedClientCaIsUsedWithoutRestart) {
  RequireClientsOf(testing::CertificateAuthority());
  NewManager().AddWebhook("/all", [](const auto&, auto&) { return AdmissionResponse{}; });
  StartManager();
  const testing::CertificateAuthority second;
  const testing::CertificateAndKey client = second.Issue({});
  EXPECT_THROW(Send("/all", Review(), authority_, client), TransportError);
  RequireClientsOf(second);

  AdvanceUntilLogged("Updated current TLS certificate");

  EXPECT_EQ(Send("/all", Review(), authority_, client).status, 200);
}

TEST_F(WebhookServerTest, AServerThatRequiresAClientCertificateIsReady) {
  RequireClientsOf(testing::CertificateAuthority());
  options_.health.bind_address = "127.0.0.1:0";
  NewManager().AddWebhook("/all", [](const auto&, auto&) { return AdmissionResponse{}; });
  StartManager();

  EXPECT_EQ(testing::Get(HealthPort(), "/readyz/webhook").status, 200);
}

TEST_F(WebhookServerTest, AClientCaWithoutACertificateIsAnErrorThatNamesTheFlag) {
  RequireClientsOf(authority_);
  folder_.Write("clients.crt", "no certificate");
  NewManager().AddWebhook("/all", [](const auto&, auto&) { return AdmissionResponse{}; });

  EXPECT_EQ(served_->Run({}), 1);
  EXPECT_THAT(LogText(), AllOf(HasSubstr("--webhook-cert-path: "),
                               HasSubstr("clients.crt has no certificate in PEM")));
}

TEST_F(WebhookServerTest, WebhooksWithoutACertificateAreAnErrorThatNamesTheFlag) {
  options_.webhook.cert_path = "";
  NewManager().AddWebhook("/all", [](const auto&, auto&) { return AdmissionResponse{}; });

  EXPECT_EQ(served_->Run({}), 1);
  EXPECT_THAT(LogText(), HasSubstr("set --webhook-cert-path to the folder"));
}

TEST_F(WebhookServerTest, TheServerServesForADelayAfterAStopRequest) {
  options_.webhook.shutdown_delay = 9s;
  NewManager().AddWebhook("/all", [](const auto&, auto&) { return AdmissionResponse{}; });
  StartManager();

  manager_thread_.request_stop();
  AwaitLog("All workers finished");
  clock_.Advance(8s);

  EXPECT_EQ(Send("/all", Review()).status, 200);
  clock_.Advance(1s);
  StopServed();
  EXPECT_THROW(Send("/all", Review()), TransportError);
  EXPECT_EQ(code_, 0);
}

TEST_F(WebhookServerTest, ARequestThatRunsAtTheStopGetsItsResponse) {
  std::latch entered{1};
  std::latch proceed{1};
  NewManager().AddWebhook("/slow", [&](const AdmissionRequest&, AdmissionContext& context) {
    entered.count_down();
    proceed.wait();
    EXPECT_FALSE(context.stop.stop_requested());
    return AdmissionResponse{};
  });
  StartManager();
  std::jthread client([&] { EXPECT_EQ(Send("/slow", Review()).status, 200); });
  entered.wait();
  manager_thread_.request_stop();
  AwaitRefusedConnections();

  proceed.count_down();

  client.join();
  StopServed();
  EXPECT_EQ(code_, 0);
}

TEST_F(WebhookServerTest, ADelayThatIsLongerThanTheShutdownIsCutShort) {
  options_.webhook.shutdown_delay = 1h;
  options_.graceful_shutdown_timeout = 20s;  // API calls are cancelled after 15 s
  NewManager().AddWebhook("/all", [](const auto&, auto&) { return AdmissionResponse{}; });
  StartManager();
  manager_thread_.request_stop();
  AwaitLog("All workers finished");  // the time limit runs

  clock_.Advance(13s);

  StopServed();
  EXPECT_EQ(code_, 0);
  EXPECT_THAT(LogText(), Not(HasSubstr("takes too long")));
}

TEST_F(WebhookServerTest, WithoutATimeLimitOfTheShutdownNoFunctionIsStopped) {
  options_.graceful_shutdown_timeout = -1s;
  std::latch entered{1};
  std::latch proceed{1};
  NewManager().AddWebhook("/slow", [&](const AdmissionRequest&, AdmissionContext& context) {
    entered.count_down();
    proceed.wait();
    return context.stop.stop_requested() ? AdmissionResponse::Denied("stopped")
                                         : AdmissionResponse{};
  });
  StartManager();
  std::string body;
  std::jthread client([&] { body = Send("/slow", Review()).body; });
  entered.wait();
  manager_thread_.request_stop();
  AwaitRefusedConnections();

  proceed.count_down();

  client.join();
  EXPECT_EQ(json::parse(body).at("/response/allowed"_json_pointer), true);
}

TEST_F(WebhookServerTest, AFunctionThatRunsLongerThanTheShutdownIsStopped) {
  options_.graceful_shutdown_timeout = 20s;  // API calls are cancelled after 15 s
  std::latch entered{1};
  NewManager().AddWebhook("/endless", [&](const AdmissionRequest&, AdmissionContext& context) {
    entered.count_down();
    SleepUntil(clock_, TimePoint::max(), context.stop);
    return AdmissionResponse{};
  });
  StartManager();
  std::jthread client([&] { static_cast<void>(Send("/endless", Review())); });
  entered.wait();
  manager_thread_.request_stop();

  AwaitLog("All workers finished");  // the time limit runs

  clock_.Advance(15s);

  AwaitLog("The shutdown takes too long");
  client.join();
  StopServed();
}

TEST_F(WebhookServerTest, AMissingCertificateOrABusyPortIsAnErrorThatNamesTheFlag) {
  options_.webhook.cert_path = "/does-not-exist";
  NewManager().AddWebhook("/all", [](const auto&, auto&) { return AdmissionResponse{}; });
  EXPECT_EQ(served_->Run({}), 1);
  EXPECT_THAT(LogText(),
              AllOf(HasSubstr("--webhook-cert-path: "), HasSubstr("/does-not-exist/tls.crt")));

  const HttpServer other({.address = "127.0.0.1:0"}, {});
  options_.webhook.cert_path = (folder_ / "").string();
  options_.webhook.port = other.port();
  NewManager().AddWebhook("/all", [](const auto&, auto&) { return AdmissionResponse{}; });
  EXPECT_EQ(served_->Run({}), 1);
  EXPECT_THAT(LogText(), AllOf(HasSubstr("--webhook-port: "), HasSubstr("another program")));
}

// O11
TEST_F(WebhookServerTest, AManagerWithoutWebhooksOrWithPortMinusOneServesNone) {
  options_.webhook.cert_path = "/does-not-exist";  // not read
  NewManager().Add({.name = "started"}, [this](const std::stop_token&) { RecordCall("started"); });
  StartManagerWithoutPort();
  AwaitCalls(1);
  StopServed();

  options_.webhook.port = -1;
  NewManager().AddWebhook("/all", [](const auto&, auto&) { return AdmissionResponse{}; });
  StartManagerWithoutPort();
  AwaitLog("Webhooks are not served");
  StopServed();
  EXPECT_EQ(code_, 0);
}

}  // namespace
}  // namespace kopp
