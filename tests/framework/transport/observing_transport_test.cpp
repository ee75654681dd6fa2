#include "skipping_clock.hpp"

#include <algorithm>
#include <chrono>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <kopp/testing/scripted_transport.hpp>
#include <kopp/transport/observing_transport.hpp>

namespace kopp::testing {
namespace {

using namespace std::chrono_literals;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ErrorKind = TransportError::Kind;

constexpr const char* kWebDeployment = "/apis/apps/v1/namespaces/shop/deployments/web";

class ObservingTransportTest : public ::testing::Test {
 protected:
  ObservingTransport Observed(RequestObserver observer) {
    return {scripted_, {std::move(observer)}, "10.0.0.1:6443", clock_};
  }
  Logger Log() {
    return Logger({.write = [this](std::string_view line) { log_ += line; }});
  }
  void RespondWithWarnings(const std::vector<std::string>& warnings) {
    scripted_->On("PATCH", kWebDeployment, [warnings](const ApiRequest&) {
      return ApiResponse{.status = 200, .body = "{}", .warnings = warnings};
    });
  }

  SkippingClock clock_;
  std::shared_ptr<ScriptedTransport> scripted_ = std::make_shared<ScriptedTransport>(clock_);
  std::string log_;
};

TEST_F(ObservingTransportTest, ACallIsReportedWithItsResponse) {
  scripted_->On("PATCH", kWebDeployment, [this](const ApiRequest&) {
    clock_.Advance(30ms);
    return ApiResponse{.status = 409, .body = "conflict"};
  });
  int events = 0;
  auto transport = Observed([&](const RequestEvent& event) {
    ++events;
    EXPECT_EQ(event.method, "PATCH");
    EXPECT_EQ(event.path, kWebDeployment);
    EXPECT_EQ(event.path_template, "/apis/apps/v1/namespaces/{namespace}/deployments/{name}");
    EXPECT_EQ(event.host, "10.0.0.1:6443");
    EXPECT_EQ(event.attempt, 3);
    EXPECT_FALSE(event.stream);
    EXPECT_EQ(event.duration, 30ms);
    EXPECT_EQ(event.status, 409);
    EXPECT_EQ(event.error, std::nullopt);
    EXPECT_EQ(event.request_bytes, 2U);
    EXPECT_EQ(event.response_bytes, 8U);
  });

  transport.Call({.method = "PATCH",
                  .target = std::string(kWebDeployment) + "?fieldManager=me",
                  .body = "{}",
                  .attempt = 3});

  EXPECT_EQ(events, 1);
}

TEST_F(ObservingTransportTest, AFailedCallIsReportedWithTheKindOfItsError) {
  scripted_->On("GET", kWebDeployment, [](const ApiRequest&) -> ApiResponse {
    throw TransportError(ErrorKind::kBroken, "broken");
  });
  std::vector<std::pair<int, std::optional<ErrorKind>>> results;
  auto transport =
      Observed([&](const RequestEvent& event) { results.emplace_back(event.status, event.error); });

  EXPECT_THROW(transport.Call({.target = kWebDeployment}), TransportError);
  EXPECT_THROW(transport.Open({.target = kWebDeployment}), TransportError);

  const std::pair<int, std::optional<ErrorKind>> broken{0, ErrorKind::kBroken};
  EXPECT_THAT(results, ElementsAre(broken, broken));
}

TEST_F(ObservingTransportTest, AStreamIsReportedWhenItIsOpen) {
  std::vector<std::string> statuses;
  auto transport = Observed([&](const RequestEvent& event) {
    statuses.push_back(std::to_string(event.status) + (event.stream ? " stream" : ""));
  });

  const auto watch = transport.Open({.target = "/api/v1/pods?watch=true"});

  EXPECT_THAT(statuses, ElementsAre("200 stream"));
}

TEST_F(ObservingTransportTest, ARequestThatWasNotSentIsNotReported) {
  scripted_->On("GET", kWebDeployment, [](const ApiRequest&) -> ApiResponse {
    throw std::invalid_argument("bad target");
  });
  int events = 0;
  auto transport = Observed([&](const RequestEvent&) { ++events; });

  EXPECT_THROW(transport.Call({.target = kWebDeployment}), std::invalid_argument);

  EXPECT_EQ(events, 0);
}

TEST_F(ObservingTransportTest, PathTemplateReplacesNames) {
  EXPECT_EQ(PathTemplate("/api/v1/pods?limit=500"), "/api/v1/pods");
  EXPECT_EQ(PathTemplate("/api/v1/namespaces/shop"), "/api/v1/namespaces/{name}");
  EXPECT_EQ(PathTemplate("/api/v1/namespaces/shop/finalize"), "/api/v1/namespaces/{name}/finalize");
  EXPECT_EQ(PathTemplate("/api/v1/namespaces/shop/pods"), "/api/v1/namespaces/{namespace}/pods");
  EXPECT_EQ(PathTemplate(std::string(kWebDeployment) + "/status"),
            "/apis/apps/v1/namespaces/{namespace}/deployments/{name}/status");
  EXPECT_EQ(PathTemplate("/api/v1/nodes/n/proxy/a/b"), "/api/v1/nodes/{name}/proxy");
}

TEST_F(ObservingTransportTest, PathTemplateKeepsDiscoveryPathsAndShortensOthers) {
  EXPECT_EQ(PathTemplate("/api"), "/api");
  EXPECT_EQ(PathTemplate("/apis/apps/v1"), "/apis/apps/v1");
  EXPECT_EQ(PathTemplate("/version?timeout=32s"), "/version");
  EXPECT_EQ(PathTemplate("/openapi/v3/apis/apps/v1"), "/openapi/{path}");
}

TEST_F(ObservingTransportTest, LogRequestsWritesNeitherQueryNorBodies) {
  scripted_->Respond("PATCH", kWebDeployment, 200, "secret-response");
  auto transport = Observed(LogRequests(Log()));

  transport.Call({.method = "PATCH",
                  .target = std::string(kWebDeployment) + "?secret-query=1",
                  .body = "secret-request",
                  .attempt = 2});

  EXPECT_THAT(log_,
              AllOf(HasSubstr("\"Response\" verb=\"PATCH\" path=\"" + std::string(kWebDeployment) +
                              "\" status=200 milliseconds=0 attempt=2\n"),
                    Not(HasSubstr("secret"))));
}

TEST_F(ObservingTransportTest, LogRequestsWritesTheKindOfAnError) {
  scripted_->On("GET", kWebDeployment, [](const ApiRequest&) -> ApiResponse {
    throw TransportError(ErrorKind::kUnreachable, "refused");
  });
  auto transport = Observed(LogRequests(Log()));

  EXPECT_THROW(transport.Call({.target = kWebDeployment}), TransportError);

  EXPECT_THAT(log_, HasSubstr("error=\"unreachable\""));
}

TEST_F(ObservingTransportTest, AWarningIsLoggedOnceWithItsRequest) {
  RespondWithWarnings({"unknown field \"spec.x\"", "deprecated"});
  auto transport = Observed(LogWarnings(Log()));

  for (int i = 0; i < 3; ++i) {
    transport.Call({.method = "PATCH", .target = std::string(kWebDeployment) + "?dryRun=All"});
  }

  EXPECT_EQ(std::count(log_.begin(), log_.end(), '\n'), 2);
  EXPECT_THAT(log_, HasSubstr("\"Warning of the API server\" warning=\"unknown field "
                              "\\\"spec.x\\\"\" verb=\"PATCH\" path=\"" +
                              std::string(kWebDeployment) + "\"\n"));
}

TEST_F(ObservingTransportTest, ALongWarningIsLoggedTruncatedBetweenTwoCharacters) {
  const std::string begin(1023, 'x');
  RespondWithWarnings({begin + "\u00e9 the end"});

  Observed(LogWarnings(Log())).Call({.method = "PATCH", .target = kWebDeployment});

  EXPECT_THAT(log_, HasSubstr(" warning=\"" + begin + "...\" verb="));
}

TEST_F(ObservingTransportTest, WarningsWithACommonStartAreDifferent) {
  const std::string begin(2000, 'x');
  RespondWithWarnings({begin + "1", begin + "2"});

  Observed(LogWarnings(Log())).Call({.method = "PATCH", .target = kWebDeployment});

  EXPECT_EQ(std::count(log_.begin(), log_.end(), '\n'), 2);
}

TEST_F(ObservingTransportTest, After1000DifferentWarningsTheFirstIsLoggedAgain) {
  auto transport = Observed(LogWarnings(Log()));
  const auto warn = [&](const std::string& text) {
    RespondWithWarnings({text});
    transport.Call({.method = "PATCH", .target = kWebDeployment});
  };
  for (int i = 0; i < 1000; ++i) warn(std::to_string(i));
  warn("0");
  EXPECT_EQ(std::count(log_.begin(), log_.end(), '\n'), 1000);

  warn("one more");
  warn("0");
  EXPECT_EQ(std::count(log_.begin(), log_.end(), '\n'), 1002);
}

}  // namespace
}  // namespace kopp::testing
