#include "transport_fixture.hpp"

#include <atomic>
#include <map>
#include <vector>

#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netdb.h>

// Tests host names whose addresses change or that do not resolve in time.
namespace kopp::testing {
namespace {

using ::testing::HasSubstr;
using namespace std::chrono_literals;

// The results of lookups. The lookup of a name without addresses runs until the test calls
// FinishQuery.
struct ResolvedNames {
  std::map<std::string, std::vector<std::string>> addresses;
  gaicb* pending_query = nullptr;
};
ResolvedNames resolved_names;  // global because getaddrinfo_a below has no parameter for it
// The last result of these lookups, until it is freed. Atomic: all threads call freeaddrinfo.
std::atomic<addrinfo*> last_result;

addrinfo* MakeAddrinfo(const gaicb& query, const std::vector<std::string>& addresses) {
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

void FinishQuery(gaicb& query, const std::vector<std::string>& addresses) {
  query.ar_result = MakeAddrinfo(query, addresses);
  query.__return = 0;
  last_result = query.ar_result;
}

// Returns the function of glibc that the function NAME below replaces.
template <typename Function>
Function* RealFunction(const char* name) {
  return reinterpret_cast<Function*>(::dlsym(RTLD_NEXT, name));
}

}  // namespace
}  // namespace kopp::testing

// These functions replace those of glibc for the names of these tests.
extern "C" int getaddrinfo_a(int mode, gaicb* list[], int count, sigevent* event) {
  using kopp::testing::resolved_names;
  gaicb& query = *list[0];
  const auto name = resolved_names.addresses.find(query.ar_name);
  if (name == resolved_names.addresses.end()) {
    static const auto real = kopp::testing::RealFunction<decltype(getaddrinfo_a)>("getaddrinfo_a");
    return real(mode, list, count, event);
  }
  if (name->second.empty()) {
    query.__return = EAI_INPROGRESS;
    resolved_names.pending_query = &query;
  } else {
    kopp::testing::FinishQuery(query, name->second);
  }
  return 0;
}

// The thread of glibc stores the result of a lookup before it removes the lookup from its list.
extern "C" int gai_cancel(gaicb* query) {
  using kopp::testing::resolved_names;
  if (resolved_names.addresses.contains(query->ar_name)) return EAI_NOTCANCELED;
  static const auto real = kopp::testing::RealFunction<decltype(gai_cancel)>("gai_cancel");
  return real(query);
}

extern "C" void freeaddrinfo(addrinfo* result) {
  addrinfo* expected = result;
  kopp::testing::last_result.compare_exchange_strong(expected, nullptr);
  static const auto real = kopp::testing::RealFunction<decltype(freeaddrinfo)>("freeaddrinfo");
  real(result);
}

namespace kopp::testing {
namespace {

class TransportLookupTest : public TransportConformanceTest {
 protected:
  void SetUp() override {
#if defined(__SANITIZE_THREAD__)
    GTEST_SKIP() << "NameLookup does not use getaddrinfo_a under ThreadSanitizer";
#endif
  }
  ~TransportLookupTest() override { resolved_names = {}; }
};

INSTANTIATE_TEST_SUITE_P(, TransportLookupTest, ::testing::ValuesIn(TransportAdapters()),
                         [](const auto& adapter) { return AdapterName(adapter.param); });

TEST_P(TransportLookupTest, NewAddressOfServerIsUsedIfOldOneIsGone) {
  auto before =
      std::make_unique<RawServer>(std::vector<Script>{AlwaysRespond(MakeResponse(200, "before"))});
  const std::string url = before->Url("moving.test");
  const std::uint16_t port = before->port();
  resolved_names.addresses["moving.test"] = {"127.0.0.1"};
  const auto transport = TransportTo(url);
  EXPECT_EQ(transport->Call({.target = "/"}).body, "before");

  before.reset();
  RawServer after({AlwaysRespond(MakeResponse(201, "after"))}, std::nullopt, "127.0.0.2", port);
  resolved_names.addresses["moving.test"] = {"127.0.0.2"};

  EXPECT_EQ(transport->Call({.method = "POST", .target = "/", .body = "{}"}).body, "after");
}

TEST_P(TransportLookupTest, Ipv6AddressIsTriedIfIpv4ConnectionIsRefused) {
  std::unique_ptr<RawServer> server;
  try {
    server = std::make_unique<RawServer>(
        std::vector<Script>{AlwaysRespond(MakeResponse(201, "six"))}, std::nullopt, "::1");
  } catch (const std::runtime_error&) {
    GTEST_SKIP() << "this machine has no ::1";
  }
  resolved_names.addresses["both.test"] = {"127.0.0.1", "::1"};

  const auto transport = TransportTo(server->Url("both.test"));

  EXPECT_EQ(transport->Call({.method = "POST", .target = "/", .body = "{}"}).body, "six");
  EXPECT_EQ(server->Requests().size(), 1U);
}

TEST_P(TransportLookupTest, SecondAddressIsTriedIfFirstConnectionIsRefused) {
  RawServer server({AlwaysRespond(MakeResponse(201, "second"))}, std::nullopt, "127.0.0.2");
  resolved_names.addresses["two.test"] = {"127.0.0.1", "127.0.0.2"};

  EXPECT_EQ(TransportTo(server.Url("two.test"))->Call({.method = "POST", .target = "/"}).body,
            "second");
}

TEST_P(TransportLookupTest, ResultIsFreedEvenIfGlibcHasNotRemovedTheLookup) {
  RawServer server({AlwaysRespond(MakeResponse(200, "found"))});
  resolved_names.addresses["done.test"] = {"127.0.0.1"};

  EXPECT_EQ(TransportTo(server.Url("done.test"))->Call({.target = "/"}).body, "found");

  EXPECT_EQ(last_result, nullptr);
}

TEST_P(TransportLookupTest, ResultOfAbandonedLookupIsNotUsed) {
  RawServer server({AlwaysRespond(MakeResponse(200, "now"))}, std::nullopt, "127.0.0.2");
  resolved_names.addresses["slow.test"] = {};
  options_.connect_timeout = kTimeoutAfterWork;  // the second call must succeed
  const auto transport = TransportTo(server.Url("slow.test"));
  const auto failure = FailureOfCall(*transport, {.target = "/"});
  ASSERT_THAT(failure.message, HasSubstr("timed out while looking up slow.test"));
  ASSERT_NE(resolved_names.pending_query, nullptr);
  FinishQuery(*resolved_names.pending_query, {"127.0.0.1"});

  resolved_names.addresses["slow.test"] = {"127.0.0.2"};

  EXPECT_EQ(transport->Call({.target = "/"}).body, "now");
}

}  // namespace
}  // namespace kopp::testing
