// How much of a watch is made at a time.
#include <algorithm>
#include <chrono>
#include <memory>
#include <string>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <kopp/client.hpp>
#include <kopp/kinds.hpp>
#include <kopp/testing/api_server.hpp>

namespace kopp {
namespace {

using namespace std::chrono_literals;
using nlohmann::json;

constexpr std::size_t kCount = 6;

class WatchFeedTest : public ::testing::Test {
 protected:
  /// Of 4 MB in all.
  void MakeConfigMaps() {
    for (std::size_t i = 0; i < kCount; ++i) {
      client_.Create(ConfigMap::kKind,
                     {{"metadata", {{"name", "a" + std::to_string(i)}, {"namespace", "default"}}},
                      {"data", {{"k", std::string(700'000, 'x')}}}});
    }
  }
  std::unique_ptr<Stream> Watch(const std::string& query) {
    return server_.transport().Open(
        {.target = "/api/v1/namespaces/default/configmaps?watch=true" + query});
  }
  static std::size_t Lines(const std::string& text) {
    return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
  }
  static void ExpectLittleAtATime(Stream& watch) {
    std::size_t events = 0;
    while (events < kCount) {
      const Stream::Chunk chunk = watch.Read(10s);
      ASSERT_EQ(chunk.state, Stream::State::kBytes);
      EXPECT_LT(chunk.bytes.size(), 2'000'000U);
      events += Lines(std::string(chunk.bytes));
    }
    EXPECT_EQ(events, kCount);
  }

  testing::ApiServer server_;
  Client client_{server_.transport()};
};

TEST_F(WatchFeedTest, WhatIsThereIsToldALittleAtATime) {
  MakeConfigMaps();

  const auto watch = Watch("");

  ExpectLittleAtATime(*watch);
}

TEST_F(WatchFeedTest, WhatHappenedMeanwhileIsToldALittleAtATime) {
  const auto watch = Watch("&resourceVersion=1");

  MakeConfigMaps();

  ExpectLittleAtATime(*watch);
}

TEST_F(WatchFeedTest, TheBookmarkComesBehindAllThatIsThere) {
  MakeConfigMaps();

  const auto watch =
      Watch("&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true");

  std::string all;
  while (Lines(all) < kCount + 1) all += watch->Read(10s).bytes;
  const std::string last = all.substr(all.rfind('\n', all.size() - 2) + 1);
  EXPECT_EQ(json::parse(last)["type"], "BOOKMARK");
}

}  // namespace
}  // namespace kopp
