// To whom faults happen, and how often.
#include "faulty_server.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include <gmock/gmock.h>

#include <kopp/informer/api_error.hpp>

namespace kopp {
namespace {

using ::testing::ElementsAre;

class FaultMatchingTest : public FaultyServer {
 protected:
  FaultMatchingTest() { Make("a"); }
};

TEST_F(FaultMatchingTest, AFaultHappensUntilItIsCleared) {
  server_.Inject({.what = What::kServerError});
  EXPECT_THAT(Statuses(3), ElementsAre(500, 500, 500));

  server_.ClearFaults();

  EXPECT_THAT(Statuses(1), ElementsAre(200));
}

TEST_F(FaultMatchingTest, AFaultHappensSoManyTimes) {
  server_.Inject({.what = What::kServerError, .times = 2});

  EXPECT_THAT(Statuses(3), ElementsAre(500, 500, 200));
}

TEST_F(FaultMatchingTest, WhatDoesNotFitDoesNotCount) {
  server_.Inject({.what = What::kServerError, .verb = "list", .times = 1});

  EXPECT_THAT(Statuses(2), ElementsAre(200, 200));
  EXPECT_THAT(Statuses(2, kMaps), ElementsAre(500, 200));
}

TEST_F(FaultMatchingTest, AFaultOfAResourceLeavesTheOthersAlone) {
  server_.Inject({.what = What::kServerError, .resource = "configmaps"});

  EXPECT_EQ(Ask("/api/v1/namespaces/default/configmaps").status, 500);
  EXPECT_EQ(Ask("/api/v1/namespaces/default/secrets").status, 200);
}

TEST_F(FaultMatchingTest, AResourceMayBeNamedWithItsGroup) {
  server_.Inject({.what = What::kServerError, .resource = "deployments.apps"});
  server_.Inject({.what = What::kServerError, .resource = "jobs.apps"});

  EXPECT_EQ(Ask("/apis/apps/v1/deployments").status, 500);
  EXPECT_EQ(Ask("/apis/batch/v1/jobs").status, 200);
}

TEST_F(FaultMatchingTest, AFaultOfANamespaceLeavesTheOthersAlone) {
  server_.Inject({.what = What::kServerError, .ns = "kube-system"});

  EXPECT_EQ(Ask("/api/v1/namespaces/kube-system/pods").status, 500);
  EXPECT_EQ(Ask("/api/v1/namespaces/default/pods").status, 200);
}

TEST_F(FaultMatchingTest, AFaultOfANameLeavesTheOthersAlone) {
  Make("b");
  server_.Inject({.what = What::kServerError, .name = "a"});

  EXPECT_EQ(Ask(std::string(kMaps) + "/a").status, 500);
  EXPECT_EQ(Ask(std::string(kMaps) + "/b").status, 200);
}

TEST_F(FaultMatchingTest, WhatIsToBeCreatedHasANameToo) {
  server_.Inject({.what = What::kConflict, .verb = "create", .name = "c"});

  EXPECT_NO_THROW(Make("b"));
  EXPECT_THROW(Make("c"), ApiError);
}

TEST_F(FaultMatchingTest, AFaultOfAUserLeavesTheOthersAlone) {
  server_.Inject({.what = What::kServerError, .user = "jane"});

  EXPECT_EQ(server_.TransportAs("jane")->Call({.target = kMaps}).status, 500);
  EXPECT_EQ(Ask(kMaps).status, 200);
}

TEST_F(FaultMatchingTest, OfSeveralThatFitTheFirstHappensAndCounts) {
  server_.Inject({.what = What::kServerError, .times = 1, .status = 503});
  server_.Inject({.what = What::kServerError, .times = 1, .status = 504});

  EXPECT_THAT(Statuses(3), ElementsAre(503, 504, 200));
}

TEST_F(FaultMatchingTest, AFaultOfAShareHappensAboutAsOften) {
  server_.Inject({.what = What::kServerError, .share = 0.25});

  const std::vector<int> statuses = Statuses(400);

  EXPECT_NEAR(static_cast<double>(std::count(statuses.begin(), statuses.end(), 500)), 100, 30);
}

TEST_F(FaultMatchingTest, AShareIsDrawnAlikeInEachRunWhateverElseIsAsked) {
  server_.Inject({.what = What::kServerError, .verb = "get", .share = 0.5});
  const std::vector<int> statuses = Statuses(50);

  testing::ApiServer other({.clock = clock_});
  other.Inject({.what = What::kServerError, .verb = "get", .share = 0.5});
  std::vector<int> others;
  for (int i = 0; i < 50; ++i) {
    other.transport().Call({.target = kMaps});
    others.push_back(other.transport().Call({.target = std::string(kMaps) + "/a"}).status);
  }

  std::replace(others.begin(), others.end(), 404, 200);  // it has no such object
  EXPECT_EQ(statuses, others);
}

TEST_F(FaultMatchingTest, TimesCountsThoseThatAShareTakes) {
  server_.Inject({.what = What::kServerError, .times = 3, .share = 0.5});

  const std::vector<int> statuses = Statuses(100);

  EXPECT_EQ(std::count(statuses.begin(), statuses.end(), 500), 3);
}

TEST_F(FaultMatchingTest, AFaultThatCannotBeIsRefused) {
  EXPECT_THROW(server_.Inject({.what = What::kLatency, .share = 1.5}), std::invalid_argument);
  EXPECT_THROW(server_.Inject({.what = What::kLatency, .share = std::nan("")}),
               std::invalid_argument);
  EXPECT_THROW(server_.Inject({.what = What::kServerError, .status = 404}), std::invalid_argument);
  EXPECT_THROW(server_.Inject({.what = What::kReset, .times = 0}), std::invalid_argument);
}

}  // namespace
}  // namespace kopp
