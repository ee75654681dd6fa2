// kopp's own clients over a socket, in both forms.
#include "front_fixture.hpp"

#include <tuple>

#include <nlohmann/json.hpp>

#include <kopp/client.hpp>
#include <kopp/kinds.hpp>

namespace kopp {
namespace {

using Calls = TransportOptions::Calls;
using ::testing::HasSubstr;

/// A whole server by kopp::Client, over plain HTTP or TLS.
class FrontTransportTest : public ::testing::TestWithParam<std::tuple<Calls, bool>> {
 protected:
  testing::ApiServer server_;
  std::unique_ptr<Transport> transport_ = MakeTransport(
      server_.Listen({.tls = std::get<1>(GetParam())}), {.calls = std::get<0>(GetParam())});
  Client client_{*transport_};
};

std::string NameOf(const ::testing::TestParamInfo<std::tuple<Calls, bool>>& info) {
  const auto [calls, tls] = info.param;
  return std::string(calls == Calls::kBeast ? "Beast" : "CppRest") + (tls ? "OverTls" : "");
}

INSTANTIATE_TEST_SUITE_P(By, FrontTransportTest,
                         ::testing::Combine(::testing::Values(Calls::kCppRest, Calls::kBeast),
                                            ::testing::Bool()),
                         NameOf);

nlohmann::json AMap(const std::string& name, const std::string& value) {
  return {{"metadata", {{"name", name}, {"namespace", "default"}}}, {"data", {{"value", value}}}};
}

TEST_P(FrontTransportTest, AnObjectIsMadeReadChangedAndDeleted) {
  client_.Create(ConfigMap::kKind, AMap("a", "first"));
  client_.Patch(ConfigMap::kKind, {"default", "a"}, Patch::Merge({{"data", {{"value", "next"}}}}));
  EXPECT_EQ((*client_.Get(ConfigMap::kKind, {"default", "a"}))["data"]["value"], "next");

  client_.Delete(ConfigMap::kKind, {"default", "a"});

  EXPECT_FALSE(client_.Get(ConfigMap::kKind, {"default", "a"}));
}

TEST_P(FrontTransportTest, ARefusalSaysWhy) {
  const auto answer = transport_->Call({.target = "/api/v1/namespaces/default/configmaps/none"});

  EXPECT_EQ(answer.status, 404);
  EXPECT_THAT(answer.body, HasSubstr(R"(configmaps \"none\" not found)"));
}

TEST_P(FrontTransportTest, AWatchSeesWhatHappens) {
  const auto watch =
      transport_->Open({.target = "/api/v1/namespaces/default/configmaps?watch=true"});

  client_.Create(ConfigMap::kKind, AMap("a", "first"));

  EXPECT_THAT(std::string(watch->Read(5s).bytes), HasSubstr(R"("type":"ADDED")"));
}

TEST_P(FrontTransportTest, TheTimeToWaitArrives) {
  server_.Inject({.what = testing::Fault::What::kTooManyRequests, .times = 1, .retry_after = 7s});

  const auto answer = transport_->Call({.target = "/api/v1/pods"});

  EXPECT_EQ(answer.status, 429);
  EXPECT_EQ(answer.retry_after, 7s);
}

TEST_P(FrontTransportTest, TheLogSaysWhoAsked) {
  client_.Create(ConfigMap::kKind, AMap("a", "first"));

  const auto asked = server_.Requests();

  ASSERT_EQ(asked.size(), 1U);
  EXPECT_EQ(asked[0]["user"]["username"],
            std::get<1>(GetParam()) ? "system:admin" : "system:anonymous");
  EXPECT_EQ(asked[0]["userAgent"], "kopp");
}

}  // namespace
}  // namespace kopp
