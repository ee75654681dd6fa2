// Tests of continue tokens at a compacted version. They are not in the conformance suite, because a
// real server compacts only after minutes.
#include <chrono>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <kopp/testing/api_server.hpp>
#include <kopp/testing/fake_clock.hpp>

namespace kopp {
namespace {

using nlohmann::json;
using ::testing::ElementsAre;
using ::testing::StartsWith;

class ExpiredPagesTest : public ::testing::Test {
 protected:
  ExpiredPagesTest() {
    for (const char* name : {"a", "b", "c"}) Create(name);
  }

  void Create(const std::string& name) {
    server_.transport().Call(
        {.method = "POST", .target = path, .body = json{{"metadata", {{"name", name}}}}.dump()});
  }
  ApiResponse List(const std::string& query) {
    return server_.transport().Call({.target = path + "?" + query});
  }
  static std::string Token(const ApiResponse& page) {
    return json::parse(page.body)["metadata"].value("continue", "");
  }
  static std::vector<std::string> Names(const ApiResponse& list) {
    std::vector<std::string> names;
    const json body = json::parse(list.body);
    for (const json& item : body.at("items")) names.push_back(item["metadata"]["name"]);
    return names;
  }

  static inline const std::string path = "/api/v1/namespaces/default/configmaps";
  testing::ApiServer server_;
};

TEST_F(ExpiredPagesTest, AContinueTokenBeforeACompactionIs410Expired) {
  const ApiResponse page = List("limit=1");
  Create("d");
  server_.Compact();

  const ApiResponse next = List("limit=1&continue=" + Token(page));

  EXPECT_EQ(next.status, 410);
  EXPECT_EQ(json::parse(next.body)["reason"], "Expired");
  EXPECT_THAT(json::parse(next.body)["message"].get<std::string>(),
              StartsWith("The provided continue parameter is too old"));
}

TEST_F(ExpiredPagesTest, AContinueTokenExpiresAfterTheHistoryWithoutFurtherWrites) {
  testing::FakeClock clock;
  testing::ApiServer server{{.clock = clock, .history = std::chrono::minutes(5)}};
  const auto list = [&](const std::string& query) {
    return server.transport().Call({.target = "/api/v1/namespaces?" + query});
  };
  const ApiResponse page = list("limit=1");
  server.transport().Call({.method = "POST",
                           .target = "/api/v1/namespaces",
                           .body = R"({"metadata":{"name":"later"}})"});

  clock.Advance(std::chrono::minutes(6));

  EXPECT_EQ(list("limit=1&continue=" + Token(page)).status, 410);
}

TEST_F(ExpiredPagesTest, TheTokenInA410ResponseContinuesWithTheCurrentObjects) {
  const ApiResponse page = List("limit=1");
  Create("aa");
  server_.Compact();
  const ApiResponse next = List("limit=1&continue=" + Token(page));

  EXPECT_THAT(Names(List("continue=" + Token(next))), ElementsAre("aa", "b", "c"));
}

}  // namespace
}  // namespace kopp
