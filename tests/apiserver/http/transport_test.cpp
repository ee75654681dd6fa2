// Tests of the Beast and cpprestsdk transports with an API server over a socket.
#include "api_http_server_fixture.hpp"
#include "support/transport_adapters.hpp"

#include <tuple>

#include <nlohmann/json.hpp>

#include <kopp/client.hpp>
#include <kopp/dynamic_client.hpp>
#include <kopp/kinds.hpp>

namespace kopp {
namespace {

using Calls = TransportOptions::Calls;
using ::testing::HasSubstr;

/// Fixture with an API server and a Client. The parameters are the transport implementation and
/// whether it uses TLS.
class ApiHttpServerTransportTest : public ::testing::TestWithParam<std::tuple<Calls, bool>> {
 protected:
  testing::ApiServer server_;
  std::unique_ptr<Transport> transport_ = MakeTransport(
      server_.Listen({.tls = std::get<1>(GetParam())}), {.calls = std::get<0>(GetParam())});
  Client client_{*transport_};
};

std::string TransportParamName(const ::testing::TestParamInfo<std::tuple<Calls, bool>>& info) {
  const auto [calls, tls] = info.param;
  return testing::AdapterName(calls) + (tls ? "OverTls" : "");
}

INSTANTIATE_TEST_SUITE_P(Transports, ApiHttpServerTransportTest,
                         ::testing::Combine(::testing::ValuesIn(testing::TransportAdapters()),
                                            ::testing::Bool()),
                         TransportParamName);

nlohmann::json ConfigMapBody(const std::string& name, const std::string& value) {
  return {{"metadata", {{"name", name}, {"namespace", "default"}}}, {"data", {{"value", value}}}};
}

TEST_P(ApiHttpServerTransportTest, ClientCreatesReadsPatchesAndDeletesAnObject) {
  client_.Create<ConfigMap>(ConfigMapBody("a", "first"));
  client_.Patch<ConfigMap>({"default", "a"}, Patch::Merge({{"data", {{"value", "next"}}}}));
  EXPECT_EQ(client_.Dynamic(ConfigMap::kKind).Get({"default", "a"}).value().Json()["data"]["value"],
            "next");

  client_.Delete<ConfigMap>({"default", "a"});

  EXPECT_FALSE(client_.Get<ConfigMap>({"default", "a"}));
}

TEST_P(ApiHttpServerTransportTest, ErrorResponseHasStatusMessage) {
  const auto response = transport_->Call({.target = "/api/v1/namespaces/default/configmaps/none"});

  EXPECT_EQ(response.status, 404);
  EXPECT_THAT(response.body, HasSubstr(R"(configmaps \"none\" not found)"));
}

TEST_P(ApiHttpServerTransportTest, WatchReturnsAddedEvent) {
  const auto watch =
      transport_->Open({.target = "/api/v1/namespaces/default/configmaps?watch=true"});

  client_.Create<ConfigMap>(ConfigMapBody("a", "first"));

  EXPECT_THAT(std::string(watch->Read(testing::kHangTimeout).bytes),
              HasSubstr(R"("type":"ADDED")"));
}

TEST_P(ApiHttpServerTransportTest, RetryAfterHeaderIsReturned) {
  server_.Inject({.type = testing::Fault::Type::kTooManyRequests, .times = 1, .retry_after = 7s});

  const auto response = transport_->Call({.target = "/api/v1/pods"});

  EXPECT_EQ(response.status, 429);
  EXPECT_EQ(response.retry_after, 7s);
}

TEST_P(ApiHttpServerTransportTest, AuditLogContainsUserAndUserAgent) {
  client_.Create<ConfigMap>(ConfigMapBody("a", "first"));

  const auto requests = server_.Requests();

  ASSERT_EQ(requests.size(), 1U);
  EXPECT_EQ(requests[0]["user"]["username"],
            std::get<1>(GetParam()) ? "system:admin" : "system:anonymous");
  EXPECT_EQ(requests[0]["userAgent"], "kopp");
}

}  // namespace
}  // namespace kopp
