#include "config_fixture.hpp"

#include <ostream>
#include <string>

#include <gtest/gtest.h>

#include <kopp/config.hpp>

// Tests the proxies that LoadConfig takes from the environment.
namespace kopp {
namespace {

class ProxyEnvironmentTest : public ConfigFixture {
 protected:
  std::string ProxyOf(const std::string& server) {
    return std::string(Load({.master = server}).proxy_url.Reveal());
  }
};

TEST_F(ProxyEnvironmentTest, WithoutVariablesServersAreReachedDirectly) {
  EXPECT_EQ(ProxyOf("https://10.0.0.1"), "");
}

TEST_F(ProxyEnvironmentTest, HttpsProxyIsForHttpsServersAndHttpProxyForHttpServers) {
  variables_["HTTPS_PROXY"] = "http://secure:3128";
  variables_["HTTP_PROXY"] = "http://plain:3128";

  EXPECT_EQ(ProxyOf("https://10.0.0.1"), "http://secure:3128");
  EXPECT_EQ(ProxyOf("http://10.0.0.1"), "http://plain:3128");
}

TEST_F(ProxyEnvironmentTest, VariableInLowerCaseIsUsedIfThatInUpperCaseIsEmpty) {
  variables_["https_proxy"] = "http://lower:3128";
  variables_["HTTPS_PROXY"] = "";
  EXPECT_EQ(ProxyOf("https://10.0.0.1"), "http://lower:3128");

  variables_["HTTPS_PROXY"] = "http://upper:3128";
  EXPECT_EQ(ProxyOf("https://10.0.0.1"), "http://upper:3128");

  variables_["no_proxy"] = "10.0.0.1";
  EXPECT_EQ(ProxyOf("https://10.0.0.1"), "");

  variables_["NO_PROXY"] = "10.0.0.2";
  EXPECT_EQ(ProxyOf("https://10.0.0.1"), "http://upper:3128");
}

TEST_F(ProxyEnvironmentTest, ProxyWithoutASchemeIsAnHttpProxy) {
  variables_["HTTPS_PROXY"] = "proxy:3128";
  EXPECT_EQ(ProxyOf("https://10.0.0.1"), "http://proxy:3128");

  variables_["HTTPS_PROXY"] = " me:hunter2@proxy:3128 ";
  EXPECT_EQ(ProxyOf("https://10.0.0.1"), "http://me:hunter2@proxy:3128");
}

TEST_F(ProxyEnvironmentTest, ProxyMayHaveAnHttpsUrl) {
  variables_["HTTPS_PROXY"] = "https://me:hunter2@proxy";
  EXPECT_EQ(ProxyOf("https://10.0.0.1"), "https://me:hunter2@proxy");

  variables_["HTTP_PROXY"] = "https://proxy:3129";
  EXPECT_EQ(ProxyOf("http://10.0.0.1"), "https://proxy:3129");
}

TEST_F(ProxyEnvironmentTest, HttpProxyIsIgnoredInACgiProgram) {
  variables_["HTTP_PROXY"] = "http://attacker:3128";
  variables_["HTTPS_PROXY"] = "http://proxy:3128";
  variables_["REQUEST_METHOD"] = "GET";

  EXPECT_EQ(ProxyOf("http://10.0.0.1"), "");
  EXPECT_EQ(ProxyOf("https://10.0.0.1"), "http://proxy:3128");
}

TEST_F(ProxyEnvironmentTest, ProxyUrlOfTheClusterHasPrecedenceAndIgnoresNoProxy) {
  variables_["HTTPS_PROXY"] = "http://environment:3128";
  variables_["NO_PROXY"] = "*";

  EXPECT_EQ(LoadText(KubeconfigBuilder().ClusterField("proxy-url: http://cluster:3128")).proxy_url,
            "http://cluster:3128");
}

TEST_F(ProxyEnvironmentTest, EnvironmentAppliesToKubeconfigsAndServiceAccounts) {
  variables_["HTTPS_PROXY"] = "http://proxy:3128";
  EXPECT_EQ(LoadText(KubeconfigBuilder()).proxy_url, "http://proxy:3128");

  SimulatePod();
  EXPECT_EQ(Load().proxy_url, "http://proxy:3128");

  variables_["NO_PROXY"] = "10.96.0.0/12";
  EXPECT_EQ(Load().proxy_url, "");
}

TEST_F(ProxyEnvironmentTest, ErrorForInvalidProxyNamesTheVariableAndDoesNotRepeatThePassword) {
  struct InvalidUrl {
    std::string url;
    std::string reason;
  };
  const std::string host = "its host or port is missing or not valid";
  const std::string encoding = "its user or password is not correctly encoded, or is too long";
  const std::vector<InvalidUrl> urls{
      {"http://me:hunter2", host},
      {"http://me:hunter2@", host},
      {"http://me:1/hunter2@x", "its user or password has a /, ? or # that is not encoded"},
      {"ftp://h:hunter2@x", "it does not start with http://, https://, socks5:// or socks5h://"},
      {"http://me:hunter2%zz@proxy", encoding},
      {"http://hunter2%4:x@proxy", encoding}};
  for (const auto& [url, reason] : urls) {
    variables_["https_proxy"] = url;
    EXPECT_EQ(LoadError({.master = "https://10.0.0.1"}),
              "$HTTPS_PROXY: the proxy URL is not valid: " + reason +
                  "; write it as http://[USER:PASSWORD@]HOST:PORT, with special characters of the "
                  "password percent-encoded")
        << url;
  }
}

// A server and a NO_PROXY, and whether Go reaches the server directly.
struct NoProxyCase {
  std::string server;
  std::string no_proxy;
  bool direct = false;
};

void PrintTo(const NoProxyCase& tested, std::ostream* out) {
  *out << tested.server << " with NO_PROXY=" << tested.no_proxy;
}

class NoProxyTest : public ProxyEnvironmentTest,
                    public ::testing::WithParamInterface<NoProxyCase> {};

TEST_P(NoProxyTest, MatchesServersAsInGo) {
  variables_["HTTPS_PROXY"] = "http://proxy:3128";
  variables_["HTTP_PROXY"] = "http://proxy:3128";
  variables_["NO_PROXY"] = GetParam().no_proxy;

  EXPECT_EQ(ProxyOf(GetParam().server), GetParam().direct ? "" : "http://proxy:3128");
}

INSTANTIATE_TEST_SUITE_P(Loopback, NoProxyTest,
                         ::testing::Values(NoProxyCase{"https://localhost:6443", "", true},
                                           NoProxyCase{"http://localhost", "", true},
                                           NoProxyCase{"https://127.1.2.3:6443", "", true},
                                           NoProxyCase{"https://[::1]:6443", "", true},
                                           NoProxyCase{"https://[::ffff:127.0.0.1]", "", true},
                                           NoProxyCase{"https://localhost.example.com", "", false},
                                           NoProxyCase{"https://[::2]", "", false}));

INSTANTIATE_TEST_SUITE_P(
    Names, NoProxyTest,
    ::testing::Values(NoProxyCase{"https://api.example.com", "example.com", true},
                      NoProxyCase{"https://example.com", "example.com", true},
                      NoProxyCase{"https://badexample.com", "example.com", false},
                      NoProxyCase{"https://example.com.evil", "example.com", false},
                      NoProxyCase{"https://api.example.com", ".example.com", true},
                      NoProxyCase{"https://example.com", ".example.com", false},
                      NoProxyCase{"https://api.example.com", "*.example.com", true},
                      NoProxyCase{"https://example.com", "*.example.com", false},
                      NoProxyCase{"https://API.Example.com", "eXample.COM", true},
                      NoProxyCase{"https://api.example.com", "a.b, ,  example.com\t,c", true},
                      NoProxyCase{"https://api.example.com", "*", true},
                      NoProxyCase{"https://10.0.0.1", "a.b,*", true},
                      NoProxyCase{"https://api.example.com", "*example.com", false},
                      NoProxyCase{"https://api.example.com", ",,", false}));

INSTANTIATE_TEST_SUITE_P(
    Ports, NoProxyTest,
    ::testing::Values(NoProxyCase{"https://api.example.com:6443", "example.com:6443", true},
                      NoProxyCase{"https://api.example.com:6443", "example.com:443", false},
                      NoProxyCase{"https://api.example.com", "example.com:443", true},
                      NoProxyCase{"http://api.example.com", "example.com:80", true},
                      NoProxyCase{"https://10.0.0.1:6443", "10.0.0.1:6443", true},
                      NoProxyCase{"https://10.0.0.1:6443", "10.0.0.1:443", false},
                      NoProxyCase{"https://[fd00::1]:6443", "[fd00::1]:6443", true},
                      NoProxyCase{"https://[fd00::1]:6443", "[fd00::1]:443", false},
                      NoProxyCase{"https://api.example.com", ":443", false}));

INSTANTIATE_TEST_SUITE_P(
    Addresses, NoProxyTest,
    ::testing::Values(NoProxyCase{"https://10.0.0.1:6443", "10.0.0.1", true},
                      NoProxyCase{"https://10.0.0.10", "10.0.0.1", false},
                      NoProxyCase{"https://10.0.0.1", "0.0.1", false},
                      NoProxyCase{"https://10.1.2.3", "10.0.0.0/8", true},
                      NoProxyCase{"https://11.1.2.3", "10.0.0.0/8", false},
                      NoProxyCase{"https://10.96.0.1", "10.64.0.0/10", true},
                      NoProxyCase{"https://10.128.0.1", "10.64.0.0/10", false},
                      NoProxyCase{"https://10.1.2.3", "0.0.0.0/0", true},
                      NoProxyCase{"https://10.1.2.3", "::/0", false},
                      NoProxyCase{"https://10.1.2.3", "10.0.0.0/33", false},
                      NoProxyCase{"https://10.1.2.3", "10.0.0.0/-8", false},
                      NoProxyCase{"https://10.1.2.3", "10.0.0.0/", false},
                      NoProxyCase{"https://[fd00::1]", "fd00::1", true},
                      NoProxyCase{"https://[fd00:0::1]", "fd00::0:1", true},
                      NoProxyCase{"https://[fd00::1]", "fd00::/8", true},
                      NoProxyCase{"https://[fe00::1]", "fd00::/8", false},
                      NoProxyCase{"https://[::ffff:10.0.0.1]", "10.0.0.1", true},
                      NoProxyCase{"https://ten.example.com", "10.0.0.0/8", false}));

}  // namespace
}  // namespace kopp
