// Tests of the size of the chunks that a watch produces.
#include "support/hang_timeout.hpp"

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

class ResourceWatchTest : public ::testing::Test {
 protected:
  /// Creates ConfigMaps with a total size of 4 MB.
  void CreateConfigMaps() {
    for (std::size_t i = 0; i < kCount; ++i) {
      client_.Create<ConfigMap>(
          {{"metadata", {{"name", "a" + std::to_string(i)}, {"namespace", "default"}}},
           {"data", {{"k", std::string(700'000, 'x')}}}});
    }
  }
  std::unique_ptr<Stream> Watch(const std::string& query) {
    return server_.transport().Open(
        {.target = "/api/v1/namespaces/default/configmaps?watch=true" + query});
  }
  static std::size_t CountLines(const std::string& text) {
    return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
  }
  static void ExpectBoundedChunks(Stream& watch) {
    std::size_t events = 0;
    while (events < kCount) {
      const Stream::Chunk chunk = watch.Read(testing::kHangTimeout);
      ASSERT_EQ(chunk.state, Stream::State::kBytes);
      EXPECT_LT(chunk.bytes.size(), 2'000'000U);
      events += CountLines(std::string(chunk.bytes));
    }
    EXPECT_EQ(events, kCount);
  }

  testing::ApiServer server_;
  Client client_{server_.transport()};
};

TEST_F(ResourceWatchTest, InitialEventsArriveInBoundedChunks) {
  CreateConfigMaps();

  const auto watch = Watch("");

  ExpectBoundedChunks(*watch);
}

TEST_F(ResourceWatchTest, EventsOfChangesArriveInBoundedChunks) {
  const auto watch = Watch("&resourceVersion=1");

  CreateConfigMaps();

  ExpectBoundedChunks(*watch);
}

TEST_F(ResourceWatchTest, TheInitialEventsEndBookmarkFollowsAllInitialEvents) {
  CreateConfigMaps();

  const auto watch =
      Watch("&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true");

  std::string all;
  while (CountLines(all) < kCount + 1) all += watch->Read(testing::kHangTimeout).bytes;
  const std::string last = all.substr(all.rfind('\n', all.size() - 2) + 1);
  EXPECT_EQ(json::parse(last)["type"], "BOOKMARK");
}

}  // namespace
}  // namespace kopp
