#include "client/write_loop_detector.hpp"

#include <chrono>
#include <optional>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <kopp/testing/fake_clock.hpp>
#include <kopp/testing/scripted_transport.hpp>

namespace kopp::detail {
namespace {

using namespace std::chrono_literals;
using nlohmann::json;
using ::testing::ElementsAre;

constexpr const char* kWeb = "/apis/example.com/v1/namespaces/shop/foos/web";

class WriteLoopDetectorTest : public ::testing::Test {
 protected:
  /// A write by `manager`, after which the object has these members.
  std::optional<WriteLoop> Write(const std::string& manager, const json& members,
                                 const std::string& subresource = "") {
    json object{{"apiVersion", "example.com/v1"},
                {"kind", "Foo"},
                {"metadata",
                 {{"namespace", "shop"},
                  {"name", "web"},
                  {"uid", "u1"},
                  {"generation", 7},
                  {"resourceVersion", std::to_string(++version_)}}}};
    object.merge_patch(members);
    return detector_.OnWrite(kWeb + subresource + "?fieldManager=" + manager, object.dump());
  }
  /// `count` writes, by two managers in turn. Returns the first loop.
  std::optional<WriteLoop> WriteInTurn(int count, const json& first, const json& second) {
    std::optional<WriteLoop> loop;
    for (int i = 0; i < count; ++i) {
      auto found = i % 2 == 0 ? Write("op%2Fcert", first) : Write("op%2Fdns", second);
      if (!loop) loop = std::move(found);
    }
    return loop;
  }

  testing::FakeClock clock_;
  WriteLoopDetector detector_{clock_};
  int version_ = 0;
};

TEST_F(WriteLoopDetectorTest, ALoopNamesTheObjectTheFieldAndBothWriters) {
  const auto loop = WriteInTurn(20, {{"spec", {{"replicas", 1}}}}, {{"spec", {{"replicas", 2}}}});

  ASSERT_TRUE(loop);
  EXPECT_EQ(loop->kind.kind, "Foo");
  EXPECT_EQ(loop->kind.api_version, "example.com/v1");
  EXPECT_EQ(loop->key, (ObjectKey{"shop", "web"}));
  EXPECT_EQ(loop->uid, "u1");
  EXPECT_THAT(loop->fields, ElementsAre("spec.replicas"));
  EXPECT_THAT(loop->writers, ElementsAre("op/cert", "op/dns"));
}

TEST_F(WriteLoopDetectorTest, OnlyTheOutermostFieldsAreNamed) {
  const json both{{"data", {{"a", {{"c", 1}, {"d", {{"e", 1}}}}}, {"a-b", 1}}}};
  const json none{{"data", json::object()}};
  const auto loop = WriteInTurn(20, both, none);

  ASSERT_TRUE(loop);
  EXPECT_THAT(loop->fields, ElementsAre("data.a", "data.a-b"));
}

TEST_F(WriteLoopDetectorTest, AListOfManyFieldsIsShortened) {
  WriteLoop loop;
  loop.fields = {"a", "b", "c", "d", "e", "f", "g"};
  EXPECT_EQ(loop.FieldList(), "a, b, c, d, e and 2 more");
}

TEST_F(WriteLoopDetectorTest, ConditionsThatReplaceEachOtherAreALoopAlsoIfTheirTimesDiffer) {
  std::optional<WriteLoop> loop;
  for (int i = 0; i < 20 && !loop; ++i) {
    const std::string type = i % 2 == 0 ? "Dns" : "Cert";
    loop = Write(
        type,
        {{"status",
          {{"conditions",
            {{{"type", type}, {"status", "True"}, {"lastTransitionTime", std::to_string(i)}}}}}}},
        "/status");
  }

  ASSERT_TRUE(loop);
  EXPECT_THAT(loop->fields,
              ElementsAre("status.conditions[type=Cert]", "status.conditions[type=Dns]"));
}

TEST_F(WriteLoopDetectorTest, OneWriterThatChangesAFieldBackAndForthIsALoop) {
  std::optional<WriteLoop> loop;
  for (int i = 0; i < 20 && !loop; ++i) loop = Write("op", {{"spec", {{"on", i % 2 == 0}}}});

  ASSERT_TRUE(loop);
  EXPECT_THAT(loop->writers, ElementsAre("op", "op"));
}

TEST_F(WriteLoopDetectorTest, ALabelThatIsAddedAndRemovedIsALoop) {
  const auto loop = WriteInTurn(20, {{"metadata", {{"labels", {{"a", "b"}}}}}}, json::object());

  ASSERT_TRUE(loop);
  EXPECT_THAT(loop->fields, ElementsAre("metadata.labels"));
}

TEST_F(WriteLoopDetectorTest, ProgressIsNoLoop) {
  for (int i = 0; i < 50; ++i) {
    EXPECT_FALSE(Write("op", {{"status", {{"done", i}, {"phase", "Running"}}}}));
  }
}

TEST_F(WriteLoopDetectorTest, WritesThatChangeNothingAreNoLoop) {
  for (int i = 0; i < 50; ++i) EXPECT_FALSE(Write("op", {{"spec", {{"on", true}}}}));
}

TEST_F(WriteLoopDetectorTest, AFieldThatReturnsAFewTimesIsNoLoop) {
  for (int i = 0; i < 40; ++i) {  // each value stays for a while
    EXPECT_FALSE(Write("op", {{"spec", {{"on", i % 8 < 4}, {"step", i}}}}));
  }
}

TEST_F(WriteLoopDetectorTest, RareChangesAreNoLoop) {
  for (int i = 0; i < 100; ++i) {
    EXPECT_FALSE(Write("op", {{"spec", {{"on", i % 2 == 0}}}}));
    clock_.Advance(15s);
  }
}

TEST_F(WriteLoopDetectorTest, WritesOfASubresourceWithItsOwnKindAreNotCompared) {
  for (int i = 0; i < 30; ++i) {
    EXPECT_FALSE(Write("op", {{"spec", {{"on", i % 2 == 0}}}}, "/scale"));
  }
}

TEST_F(WriteLoopDetectorTest, ADryRunIsNoWrite) {
  for (int i = 0; i < 30; ++i) {
    const json object{{"metadata", {{"name", "web"}}}, {"on", i % 2 == 0}};
    EXPECT_FALSE(detector_.OnWrite(std::string(kWeb) + "?dryRun=All", object.dump()));
  }
}

TEST_F(WriteLoopDetectorTest, ALoopIsReportedOnceInTenMinutes) {
  const json on{{"spec", {{"on", true}}}};
  const json off{{"spec", {{"on", false}}}};
  EXPECT_TRUE(WriteInTurn(20, on, off));
  EXPECT_FALSE(WriteInTurn(20, on, off));

  clock_.Advance(10min);

  EXPECT_TRUE(WriteInTurn(20, on, off));
}

TEST_F(WriteLoopDetectorTest, AResponseThatIsNoObjectIsIgnored) {
  for (int i = 0; i < 30; ++i) EXPECT_FALSE(detector_.OnWrite(kWeb, i % 2 == 0 ? "" : "[1]"));
}

TEST_F(WriteLoopDetectorTest, TheTransportReportsSuccessfulUpdatesOnly) {
  testing::ScriptedTransport server(clock_);
  int status = 409;
  int calls = 0;
  const auto respond = [&](const ApiRequest&) -> ApiResponse {
    const json object{{"metadata", {{"name", "web"}}}, {"on", ++calls % 2 == 0}};
    return {.status = status, .body = object.dump()};
  };
  server.On("PUT", kWeb, respond);
  server.On("GET", kWeb, respond);
  int loops = 0;
  const auto transport = WithWriteLoopDetection({std::shared_ptr<void>(), &server}, clock_,
                                                [&](const WriteLoop&) { ++loops; });
  const auto call = [&](const std::string& method) {
    for (int i = 0; i < 20; ++i) (void)transport->Call({.method = method, .target = kWeb}, {});
  };
  call("PUT");
  EXPECT_EQ(loops, 0) << "conflicts";
  status = 200;
  call("GET");
  EXPECT_EQ(loops, 0) << "reads";

  call("PUT");

  EXPECT_EQ(loops, 1);
}

}  // namespace
}  // namespace kopp::detail
