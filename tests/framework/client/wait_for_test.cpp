#include <chrono>
#include <future>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <kopp/kinds.hpp>
#include <kopp/testing/fake_clock.hpp>
#include <kopp/testing/scripted_transport.hpp>
#include <kopp/wait_for.hpp>

namespace kopp {
namespace {

using namespace std::chrono_literals;

constexpr const char* kPodsOfShop = "/api/v1/namespaces/shop/pods";

std::string WebPod(const std::string& version) {
  return R"({"kind":"Pod","apiVersion":"v1","metadata":{"name":"web","namespace":"shop",)"
         R"("resourceVersion":")" +
         version + "\"}}";
}

class WaitForTest : public ::testing::Test {
 protected:
  WaitForTest() { SetList(""); }
  void SetList(const std::string& items) {
    transport_.Respond(
        "GET", kPodsOfShop, 200,
        R"({"kind":"PodList","metadata":{"resourceVersion":"5"},"items":[)" + items + "]}");
  }
  void Send(const std::string& type, const std::string& version) {
    transport_.SendToWatch(kPodsOfShop,
                           R"({"type":")" + type + R"(","object":)" + WebPod(version) + "}\n");
  }
  /// Waits for `condition` in another thread.
  std::future<bool> Wait(std::function<bool(const Pod*)> condition,
                         Duration timeout = Duration::max()) {
    return std::async(std::launch::async, [=, this, condition = std::move(condition)] {
      return WaitFor<Pod>(client_, {"shop", "web"}, condition,
                          {.timeout = timeout, .clock = clock_});
    });
  }
  static bool Exists(const Pod* pod) { return pod != nullptr; }

  testing::FakeClock clock_;
  testing::ScriptedTransport transport_{clock_};
  Client client_{transport_};
};

TEST_F(WaitForTest, AConditionThatHoldsAlreadyNeedsNoWatch) {
  SetList(WebPod("5"));

  EXPECT_TRUE(Wait(Exists).get());

  ASSERT_EQ(transport_.Requests().size(), 1U);
  EXPECT_THAT(transport_.Requests()[0].target,
              ::testing::HasSubstr("fieldSelector=metadata.name%3Dweb"));
}

TEST_F(WaitForTest, EachChangeIsChecked) {
  std::vector<std::string> versions;
  auto done = Wait([&](const Pod* pod) {
    versions.push_back(pod == nullptr ? "none" : pod->metadata.resourceVersion);
    return versions.back() == "8";
  });
  transport_.Await("WATCH", kPodsOfShop);
  Send("ADDED", "6");
  Send("DELETED", "7");
  Send("ADDED", "8");

  EXPECT_TRUE(done.get());
  EXPECT_THAT(versions, ::testing::ElementsAre("none", "6", "none", "8"));
}

TEST_F(WaitForTest, TheTimeoutEndsTheWait) {
  auto done = Wait(Exists, 3s);
  transport_.Await("WATCH", kPodsOfShop);
  clock_.AwaitSleeperFor(3s);

  clock_.Advance(3s);

  EXPECT_FALSE(done.get());
}

TEST_F(WaitForTest, AnExpiredVersionIsListedAgain) {
  auto done = Wait(Exists);
  transport_.Await("WATCH", kPodsOfShop);
  SetList(WebPod("9"));
  transport_.SendToWatch(kPodsOfShop, R"({"type":"ERROR","object":{"kind":"Status","code":410,)"
                                      R"("reason":"Expired","message":"too old"}})"
                                      "\n");

  EXPECT_TRUE(done.get());
}

TEST_F(WaitForTest, ADeniedListIsThrown) {
  transport_.Respond("GET", kPodsOfShop, 403, R"({"kind":"Status","reason":"Forbidden"})");

  EXPECT_THROW(Wait(Exists).get(), ApiError);
}

}  // namespace
}  // namespace kopp
