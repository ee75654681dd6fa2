// Tests webhooks over HTTPS: a Manager that serves them.
#include "webhook_server_fixture.hpp"

#include <algorithm>
#include <memory>

#include <kopp/testing/in_memory_tracer.hpp>

namespace kopp {
namespace {

using nlohmann::json;
using ::testing::AllOf;
using ::testing::HasSubstr;

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
