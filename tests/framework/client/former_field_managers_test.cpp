#include <cstddef>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <kopp/client.hpp>
#include <kopp/kinds.hpp>
#include <kopp/testing/fake_clock.hpp>
#include <kopp/testing/scripted_transport.hpp>

namespace kopp {
namespace {

using nlohmann::json;
using ::testing::ElementsAre;

constexpr const char* kMap = "/api/v1/namespaces/shop/configmaps/a";

/// Counts the reported writes.
class CountingObserver final : public WriteObserver {
 public:
  void OnWrite(const Kind&, const WrittenObject& object) override {
    versions.push_back(object.resource_version);
  }
  std::vector<std::string> versions;
};

/// Fixture with a client that takes over what "shop" has applied. The tests check what it sends.
class FormerFieldManagersTest : public ::testing::Test {
 protected:
  static json Map() { return {{"metadata", {{"name", "a"}, {"namespace", "shop"}}}}; }
  static std::string Entry(const std::string& manager, const std::string& operation,
                           const std::string& subresource = "") {
    json entry{{"manager", manager}, {"operation", operation}, {"apiVersion", "v1"}};
    if (!subresource.empty()) entry["subresource"] = subresource;
    return entry.dump();
  }
  /// Makes each PATCH of the ConfigMap return an object with these managedFields.
  void RespondWith(const std::string& entries, const std::string& path = kMap) {
    transport_.Respond("PATCH", path, 200,
                       R"({"metadata":{"name":"a","namespace":"shop","uid":"u-1",)"
                       R"("resourceVersion":"7","managedFields":[)" +
                           entries + "]}}");
  }
  std::vector<std::string> Targets() {
    std::vector<std::string> targets;
    for (const ApiRequest& request : transport_.Requests()) targets.push_back(request.target);
    return targets;
  }

  testing::FakeClock clock_;
  testing::ScriptedTransport transport_{clock_};
  Client client_ = Client(transport_).WithFieldManager("shop/foo", {"shop"});
};

TEST_F(FormerFieldManagersTest, AnApplyMakesTheFormerManagerApplyNothing) {
  RespondWith(Entry("shop", "Apply") + ',' + Entry("shop/foo", "Apply"));

  client_.Apply<ConfigMap>(Map());

  EXPECT_THAT(Targets(), ElementsAre(std::string(kMap) + "?fieldManager=shop%2Ffoo&force=true",
                                     std::string(kMap) + "?fieldManager=shop&force=true"));
  EXPECT_EQ(transport_.Requests()[1].content_type, "application/apply-patch+yaml");
  EXPECT_EQ(json::parse(transport_.Requests()[1].body),
            json::parse(R"({"apiVersion":"v1","kind":"ConfigMap",
                            "metadata":{"name":"a","namespace":"shop","uid":"u-1"}})"));
}

TEST_F(FormerFieldManagersTest, BothWritesAreReported) {
  RespondWith(Entry("shop", "Apply"));
  CountingObserver observer;

  client_.WithWriteObserver(observer).Apply<ConfigMap>(Map());

  EXPECT_THAT(observer.versions, ElementsAre("7", "7"));
}

TEST_F(FormerFieldManagersTest, AnApplyIsOneRequestIfTheFormerManagerHasAppliedNothing) {
  for (const std::string& entries :
       {Entry("shop/foo", "Apply"), Entry("shop", "Update"), Entry("workshop", "Apply"),
        Entry("shop", "Apply", "status"), std::string()}) {
    const std::size_t before = transport_.Requests().size();
    RespondWith(entries);

    client_.Apply<ConfigMap>(Map());

    EXPECT_EQ(transport_.Requests().size(), before + 1) << entries;
  }
}

TEST_F(FormerFieldManagersTest, OnlyFieldsOfTheAppliedSubresourceAreTakenOver) {
  const std::string status = std::string(kMap) + "/status";
  RespondWith(Entry("shop", "Apply"), status);
  client_.Apply<ConfigMap>(Map(), {.subresource = "status"});
  EXPECT_EQ(transport_.Requests().size(), 1U);

  RespondWith(Entry("shop", "Apply", "status"), status);
  client_.Apply<ConfigMap>(Map(), {.subresource = "status"});

  EXPECT_EQ(Targets().back(), status + "?fieldManager=shop&force=true");
}

TEST_F(FormerFieldManagersTest, DryRunsAndCallsWithAFieldManagerOfTheirOwnTakeNothingOver) {
  RespondWith(Entry("shop", "Apply"));

  client_.Apply<ConfigMap>(Map(), {.field_manager = "painter"});
  client_.Apply<ConfigMap>(Map(), {.dry_run = true});
  client_.WithDryRun().Apply<ConfigMap>(Map());
  client_.WithFieldManager("shop/bar").Apply<ConfigMap>(Map());

  EXPECT_EQ(transport_.Requests().size(), 4U);
}

TEST_F(FormerFieldManagersTest, TheOwnFieldManagerIsNotAFormerOne) {
  RespondWith(Entry("shop", "Apply"));

  client_.WithFieldManager("shop", {"shop", ""}).Apply<ConfigMap>(Map());

  EXPECT_EQ(transport_.Requests().size(), 1U);
}

TEST_F(FormerFieldManagersTest, EachFormerManagerIsReleased) {
  RespondWith(Entry("one", "Apply") + ',' + Entry("two", "Apply"));

  client_.WithFieldManager("shop", {"one", "two", "three"}).Apply<ConfigMap>(Map());

  EXPECT_THAT(Targets(), ElementsAre(std::string(kMap) + "?fieldManager=shop&force=true",
                                     std::string(kMap) + "?fieldManager=one&force=true",
                                     std::string(kMap) + "?fieldManager=two&force=true"));
}

TEST_F(FormerFieldManagersTest, TheFirstErrorIsThrownIfTheFormerManagerIsNotItsCause) {
  transport_.On("PATCH", kMap, [](const ApiRequest& request) -> ApiResponse {
    const bool is_former = request.target.find("=shop&") != std::string::npos;
    const json status{{"kind", "Status"},
                      {"code", is_former ? 404 : 422},
                      {"reason", is_former ? "NotFound" : "Invalid"}};
    return {.status = status["code"], .body = status.dump()};
  });

  try {
    client_.Apply<ConfigMap>(Map());
    FAIL() << "no exception";
  } catch (const ApiError& error) {
    EXPECT_TRUE(error.IsInvalid()) << error.what();
  }
  EXPECT_EQ(transport_.Requests().size(), 3U) << "with a read of the metadata";
}

TEST_F(FormerFieldManagersTest, AnInvalidApplyIsNotSentAsAManagerThatHasAppliedNothing) {
  transport_.Respond("PATCH", kMap, 422, R"({"kind":"Status","status":"Failure",
                                             "reason":"Invalid","code":422})");
  transport_.Respond("GET", kMap, 200,
                     R"({"metadata":{"name":"a","namespace":"shop","managedFields":[)" +
                         Entry("shop/foo", "Apply") + "]}}");

  EXPECT_THROW(client_.Apply<ConfigMap>(Map()), ApiError);

  EXPECT_THAT(Targets(), ElementsAre(std::string(kMap) + "?fieldManager=shop%2Ffoo&force=true",
                                     std::string(kMap)));
}

TEST_F(FormerFieldManagersTest, OtherErrorsAreThrownAtOnce) {
  transport_.Respond("PATCH", kMap, 403, R"({"kind":"Status","status":"Failure",
                                             "reason":"Forbidden","code":403})");

  EXPECT_THROW(client_.Apply<ConfigMap>(Map()), ApiError);

  EXPECT_EQ(transport_.Requests().size(), 1U);
}

}  // namespace
}  // namespace kopp
