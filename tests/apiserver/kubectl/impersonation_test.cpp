// Impersonation in an ApiServer in memory. The conformance suite tests its rules.
#include "all_extensions.hpp"
#include "environment/extended_api_server.hpp"
#include "support/raw_client.hpp"

#include <cstdint>
#include <string>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <kopp/transport.hpp>

namespace kopp::apiserver {
namespace {

using nlohmann::json;

TEST(ImpersonationTest, AuditLogContainsTheImpersonatedUser) {
  testing::ExtendedApiServer server(AllExtensions());
  Config config = server.Listen({.tls = true});
  config.impersonate = {.user = "bob", .groups = {"devs"}};

  MakeTransport(config)->Call({.target = "/api/v1/pods"});

  const json entry = server.Requests().back();
  EXPECT_EQ(entry["user"]["username"], "system:admin");
  EXPECT_EQ(entry["impersonatedUser"],
            json({{"username", "bob"}, {"groups", {"devs", "system:authenticated"}}}));
}

TEST(ImpersonationTest, TheNameOfAnImpersonatedUserThatIsNotUtf8IsReplaced) {
  testing::ExtendedApiServer server(AllExtensions());
  const std::string url = server.Listen().server;
  testing::RawClient client(static_cast<std::uint16_t>(std::stoi(url.substr(url.rfind(':') + 1))));

  client.Send(
      "POST /apis/authentication.k8s.io/v1/selfsubjectreviews HTTP/1.1\r\nHost: a\r\n"
      "Impersonate-User: \xff\r\nContent-Length: 2\r\n\r\n{}");
  const auto response = client.Read();

  EXPECT_EQ(response.status, 201);
  EXPECT_EQ(json::parse(response.body)["status"]["userInfo"]["username"], "\uFFFD");
}

}  // namespace
}  // namespace kopp::apiserver
