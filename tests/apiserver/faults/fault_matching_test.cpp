// Tests which requests a fault applies to, and how often.
#include "faulty_server.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>

#include <gmock/gmock.h>

#include <kopp/informer/api_error.hpp>

namespace kopp {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class FaultMatchingTest : public FaultyServer {
 protected:
  FaultMatchingTest() { Create("a"); }
};

TEST_F(FaultMatchingTest, AFaultWithoutTimesAppliesUntilClearFaults) {
  server_.Inject({.type = Type::kServerError});
  EXPECT_THAT(Statuses(3), ElementsAre(500, 500, 500));

  server_.ClearFaults();

  EXPECT_THAT(Statuses(1), ElementsAre(200));
}

TEST_F(FaultMatchingTest, TimesLimitsHowOftenAFaultApplies) {
  server_.Inject({.type = Type::kServerError, .times = 2});

  EXPECT_THAT(Statuses(3), ElementsAre(500, 500, 200));
}

TEST_F(FaultMatchingTest, RequestsThatDoNotMatchDoNotCountTowardsTimes) {
  server_.Inject({.type = Type::kServerError, .verb = "list", .times = 1});

  EXPECT_THAT(Statuses(2), ElementsAre(200, 200));
  EXPECT_THAT(Statuses(2, kMaps), ElementsAre(500, 200));
}

TEST_F(FaultMatchingTest, ResourceRestrictsAFaultToThatResource) {
  server_.Inject({.type = Type::kServerError, .resource = "configmaps"});

  EXPECT_EQ(Call("/api/v1/namespaces/default/configmaps").status, 500);
  EXPECT_EQ(Call("/api/v1/namespaces/default/secrets").status, 200);
}

TEST_F(FaultMatchingTest, ResourceMayIncludeTheApiGroup) {
  server_.Inject({.type = Type::kServerError, .resource = "deployments.apps"});
  server_.Inject({.type = Type::kServerError, .resource = "events.events.k8s.io"});

  EXPECT_EQ(Call("/apis/apps/v1/deployments").status, 500);
  EXPECT_EQ(Call("/api/v1/events").status, 200);
}

TEST_F(FaultMatchingTest, AResourceThatIsNotServedIsRejectedWithTheNearMatch) {
  const auto error_of = [&](const std::string& resource) -> std::string {
    try {
      server_.Inject({.type = Type::kServerError, .resource = resource});
    } catch (const std::invalid_argument& error) {
      return error.what();
    }
    return "none";
  };

  EXPECT_EQ(error_of("deploymnets"),
            "invalid fault: the server does not serve the resource \"deploymnets\": did you mean "
            "\"deployments\"?; install a CustomResourceDefinition before the fault");
  EXPECT_THAT(error_of("jobs.apps"), HasSubstr("the resource \"jobs.apps\""));
  EXPECT_THAT(error_of("ConfigMap"), HasSubstr("did you mean \"configmaps\"?"));
  EXPECT_THAT(error_of("po"), HasSubstr("did you mean \"pods\"?"));
  EXPECT_THAT(error_of("foos"), HasSubstr("\"foos\"; install a CustomResourceDefinition"));
}

TEST_F(FaultMatchingTest, NamespaceRestrictsAFaultToThatNamespace) {
  server_.Inject({.type = Type::kServerError, .ns = "kube-system"});

  EXPECT_EQ(Call("/api/v1/namespaces/kube-system/pods").status, 500);
  EXPECT_EQ(Call("/api/v1/namespaces/default/pods").status, 200);
}

TEST_F(FaultMatchingTest, NameRestrictsAFaultToThatObject) {
  Create("b");
  server_.Inject({.type = Type::kServerError, .name = "a"});

  EXPECT_EQ(Call(std::string(kMaps) + "/a").status, 500);
  EXPECT_EQ(Call(std::string(kMaps) + "/b").status, 200);
}

TEST_F(FaultMatchingTest, NameMatchesTheObjectOfACreate) {
  server_.Inject({.type = Type::kConflict, .verb = "create", .name = "c"});

  EXPECT_NO_THROW(Create("b"));
  EXPECT_THROW(Create("c"), ApiError);
}

TEST_F(FaultMatchingTest, UserRestrictsAFaultToThatUser) {
  server_.Inject({.type = Type::kServerError, .user = "jane"});

  EXPECT_EQ(server_.TransportAs("jane")->Call({.target = kMaps}).status, 500);
  EXPECT_EQ(Call(kMaps).status, 200);
}

TEST_F(FaultMatchingTest, TheFirstInjectedFaultThatMatchesApplies) {
  server_.Inject({.type = Type::kServerError, .times = 1, .status = 503});
  server_.Inject({.type = Type::kServerError, .times = 1, .status = 504});

  EXPECT_THAT(Statuses(3), ElementsAre(503, 504, 200));
}

TEST_F(FaultMatchingTest, ShareIsTheFractionOfMatchesThatAFaultAppliesTo) {
  server_.Inject({.type = Type::kServerError, .share = 0.25});

  const std::vector<int> statuses = Statuses(400);

  EXPECT_NEAR(static_cast<double>(std::count(statuses.begin(), statuses.end(), 500)), 100, 30);
}

TEST_F(FaultMatchingTest, ShareSelectsTheSameMatchesInEachRunDespiteOtherRequests) {
  server_.Inject({.type = Type::kServerError, .verb = "get", .share = 0.5});
  const std::vector<int> statuses = Statuses(50);

  testing::ApiServer other({.clock = clock_});
  other.Inject({.type = Type::kServerError, .verb = "get", .share = 0.5});
  std::vector<int> others;
  for (int i = 0; i < 50; ++i) {
    other.transport().Call({.target = kMaps});
    others.push_back(other.transport().Call({.target = std::string(kMaps) + "/a"}).status);
  }

  std::replace(others.begin(), others.end(), 404, 200);  // the other server has no object "a"
  EXPECT_EQ(statuses, others);
}

TEST_F(FaultMatchingTest, TimesCountsOnlyTheMatchesSelectedByShare) {
  server_.Inject({.type = Type::kServerError, .times = 3, .share = 0.5});

  const std::vector<int> statuses = Statuses(100);

  EXPECT_EQ(std::count(statuses.begin(), statuses.end(), 500), 3);
}

TEST_F(FaultMatchingTest, InjectThrowsForAnInvalidFault) {
  EXPECT_THROW(server_.Inject({.type = Type::kLatency, .share = 1.5}), std::invalid_argument);
  EXPECT_THROW(server_.Inject({.type = Type::kLatency, .share = std::nan("")}),
               std::invalid_argument);
  EXPECT_THROW(server_.Inject({.type = Type::kServerError, .status = 404}), std::invalid_argument);
  EXPECT_THROW(server_.Inject({.type = Type::kReset, .times = 0}), std::invalid_argument);
}

}  // namespace
}  // namespace kopp
