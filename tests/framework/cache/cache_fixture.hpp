#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <kopp/kinds.hpp>
#include <kopp/standalone_cache.hpp>
#include <kopp/testing/fake_clock.hpp>
#include <kopp/testing/scripted_transport.hpp>

namespace kopp::cache_test {

inline constexpr const char* kPodsOfAll = "/api/v1/pods";
inline constexpr const char* kPodsOfShop = "/api/v1/namespaces/shop/pods";
inline constexpr const char* kPodsOfWeb = "/api/v1/namespaces/web/pods";

inline std::string PodText(const std::string& ns, const std::string& name) {
  return R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":")" + name + R"(","namespace":")" +
         ns + R"(","uid":"u","resourceVersion":"5","annotations":{"a":"b"}},)" +
         R"("status":{"phase":"Running","message":"m"}})";
}

inline std::string PodListText(const std::string& items) {
  return R"({"kind":"PodList","metadata":{"resourceVersion":"5"},"items":[)" + items + "]}";
}

class CacheTest : public ::testing::Test {
 protected:
  CacheTest() {
    transport_.Respond("GET", kPodsOfAll, 200,
                       PodListText(PodText("shop", "a") + "," + PodText("web", "b")));
    transport_.Respond("GET", kPodsOfShop, 200, PodListText(PodText("shop", "a")));
    transport_.Respond("GET", kPodsOfWeb, 200, PodListText(PodText("web", "b")));
  }

  /// Creates the cache.
  StandaloneCache& Make(CacheOptions options = {}) {
    cache_ = std::make_unique<StandaloneCache>(transport_, std::move(options), log_, clock_);
    return *cache_;
  }
  /// Returns the names of the cached objects of the view `T`.
  template <ApiObject T>
  std::vector<std::string> Names(std::string_view ns = {}) {
    std::vector<std::string> names;
    for (const auto& object : cache_->List<T>(ns)) names.push_back(object->metadata.name);
    return names;
  }

  testing::FakeClock clock_;
  testing::ScriptedTransport transport_{clock_};
  Logger log_{{.write = [](std::string_view) {}}};
  std::unique_ptr<StandaloneCache> cache_;
};

}  // namespace kopp::cache_test
