#include "transport_fixture.hpp"

#include <map>
#include <vector>

#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netdb.h>

// Names whose addresses change: the same suite as in transport_conformance_test.cpp.
namespace kopp::testing {
namespace {

using ::testing::HasSubstr;
using namespace std::chrono_literals;

// What look-ups find. Without an address for a name, its look-up goes on until Finish.
struct Names {
  std::map<std::string, std::vector<std::string>> addresses;
  gaicb* unanswered = nullptr;
};
Names names;  // of getaddrinfo_a below, which can be given none

addrinfo* Found(const gaicb& query, const std::vector<std::string>& addresses) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV;
  addrinfo* first = nullptr;
  addrinfo** end = &first;
  for (const std::string& address : addresses) {
    EXPECT_EQ(::getaddrinfo(address.c_str(), query.ar_service, &hints, end), 0);
    end = &(*end)->ai_next;
  }
  return first;
}

void Finish(gaicb& query, const std::vector<std::string>& addresses) {
  query.ar_result = Found(query, addresses);
  query.__return = 0;
}

}  // namespace
}  // namespace kopp::testing

// Instead of glibc's, for the names of these tests.
extern "C" int getaddrinfo_a(int mode, gaicb* list[], int count, sigevent* event) {
  using kopp::testing::names;
  gaicb& query = *list[0];
  const auto name = names.addresses.find(query.ar_name);
  if (name == names.addresses.end()) {
    static const auto real =
        reinterpret_cast<decltype(&getaddrinfo_a)>(::dlsym(RTLD_NEXT, "getaddrinfo_a"));
    return real(mode, list, count, event);
  }
  if (name->second.empty()) {
    query.__return = EAI_INPROGRESS;
    names.unanswered = &query;
  } else {
    kopp::testing::Finish(query, name->second);
  }
  return 0;
}

namespace kopp::testing {
namespace {

class TransportLookupTest : public TransportConformanceTest {
 protected:
  void SetUp() override {
#if defined(__SANITIZE_THREAD__)
    GTEST_SKIP() << "under ThreadSanitizer look-ups go another way";
#endif
  }
  ~TransportLookupTest() override { names = {}; }
};

INSTANTIATE_TEST_SUITE_P(, TransportLookupTest,
                         ::testing::Values(TransportOptions::Calls::kCppRest,
                                           TransportOptions::Calls::kBeast),
                         [](const auto& adapter) {
                           return adapter.param == TransportOptions::Calls::kCppRest ? "CppRest"
                                                                                     : "Beast";
                         });

TEST_P(TransportLookupTest, AServerThatMovesIsFollowedToItsNewAddress) {
  auto before = std::make_unique<RawServer>(std::vector<Script>{Always(Answer(200, "before"))});
  const std::string url = before->Url("moving.test");
  const std::uint16_t port = before->port();
  names.addresses["moving.test"] = {"127.0.0.1"};
  const auto transport = To(url);
  EXPECT_EQ(transport->Call({.target = "/"}).body, "before");

  before.reset();
  RawServer after({Always(Answer(201, "after"))}, std::nullopt, "127.0.0.2", port);
  names.addresses["moving.test"] = {"127.0.0.2"};

  EXPECT_EQ(transport->Call({.method = "POST", .target = "/", .body = "{}"}).body, "after");
}

TEST_P(TransportLookupTest, AnIpv6AddressIsTriedWhenTheIpv4OneIsRefused) {
  std::unique_ptr<RawServer> server;
  try {
    server = std::make_unique<RawServer>(std::vector<Script>{Always(Answer(201, "six"))},
                                         std::nullopt, "::1");
  } catch (const std::runtime_error&) {
    GTEST_SKIP() << "this machine has no ::1";
  }
  names.addresses["both.test"] = {"127.0.0.1", "::1"};

  const auto transport = To(server->Url("both.test"));

  EXPECT_EQ(transport->Call({.method = "POST", .target = "/", .body = "{}"}).body, "six");
  EXPECT_EQ(server->Requests().size(), 1U);
}

TEST_P(TransportLookupTest, AnotherAddressIsTriedWhenTheFirstIsRefused) {
  RawServer server({Always(Answer(201, "second"))}, std::nullopt, "127.0.0.2");
  names.addresses["two.test"] = {"127.0.0.1", "127.0.0.2"};

  EXPECT_EQ(To(server.Url("two.test"))->Call({.method = "POST", .target = "/"}).body, "second");
}

TEST_P(TransportLookupTest, TheAnswerToALookUpThatNobodyAwaitsAnyMoreIsNotUsed) {
  RawServer server({Always(Answer(200, "now"))}, std::nullopt, "127.0.0.2");
  names.addresses["slow.test"] = {};
  options_.connect_timeout = 50ms;
  const auto transport = To(server.Url("slow.test"));
  const auto failure = FailureOfCall(*transport, {.target = "/"});
  ASSERT_THAT(failure.what, HasSubstr("the look-up of slow.test took too long"));
  ASSERT_NE(names.unanswered, nullptr);
  Finish(*names.unanswered, {"127.0.0.1"});

  names.addresses["slow.test"] = {"127.0.0.2"};

  EXPECT_EQ(transport->Call({.target = "/"}).body, "now");
}

}  // namespace
}  // namespace kopp::testing
