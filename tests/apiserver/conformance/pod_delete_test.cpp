#include "conformance.hpp"

namespace kopp::conformance {
namespace {

/// Pods that a kubelet would run: whoever deletes one has to wait until it has stopped.
class PodDeleteTest : public ConformanceTest {
 protected:
  void Create(const json& spec, const json& metadata = json::object()) {
    json pod = APod("a");
    pod["spec"].update(spec);
    pod["metadata"].update(metadata);
    const Answer made = Post(Pods(), pod);
    EXPECT_EQ(made.status, 201) << made.text;
  }
  std::string Pod() { return Path("pods") + "/a"; }

  const json placed_ = {{"nodeName", "n1"}};
};

TEST_F(PodDeleteTest, WithoutANodeItGoesAtOnce) {
  Create(json::object());
  const Answer deleted = Delete(Pod());

  EXPECT_EQ(deleted.status, 200);
  EXPECT_EQ(deleted.str("/kind"), "Pod");
  EXPECT_EQ(deleted.at("/metadata/deletionGracePeriodSeconds"), 0);
  EXPECT_EQ(Get(Pod()).status, 404);
}

TEST_F(PodDeleteTest, OnANodeItWaitsForItsGracePeriod) {
  Create(placed_);
  const Answer deleted = Delete(Pod());

  EXPECT_EQ(deleted.status, 200);
  EXPECT_EQ(deleted.at("/metadata/deletionGracePeriodSeconds"), 30);
  EXPECT_NE(deleted.str("/metadata/deletionTimestamp"), "");
  EXPECT_EQ(deleted.at("/metadata/generation"), 2);
  EXPECT_EQ(deleted.body, Get(Pod()).body);
}

TEST_F(PodDeleteTest, TheGracePeriodIsThatOfItsSpec) {
  Create({{"nodeName", "n1"}, {"terminationGracePeriodSeconds", 7}});

  EXPECT_EQ(Delete(Pod()).at("/metadata/deletionGracePeriodSeconds"), 7);
}

TEST_F(PodDeleteTest, TheMarkLiesAheadByTheGracePeriod) {
  Create({{"nodeName", "n1"}, {"terminationGracePeriodSeconds", 100'000'000}});

  // Three years and two months: no clock's tick makes the difference.
  EXPECT_GT(Delete(Pod()).str("/metadata/deletionTimestamp").substr(0, 4),
            Get("/api/v1/namespaces/" + ns()).str("/metadata/creationTimestamp").substr(0, 4));
}

TEST_F(PodDeleteTest, WhoDeletesMaySetTheGracePeriod) {
  Create(placed_);

  EXPECT_EQ(Delete(Pod() + "?gracePeriodSeconds=5").at("/metadata/deletionGracePeriodSeconds"), 5);
}

TEST_F(PodDeleteTest, AGracePeriodBelowZeroIsOneSecond) {
  Create(placed_);

  EXPECT_EQ(Delete(Pod(), {{"gracePeriodSeconds", -3}}).at("/metadata/deletionGracePeriodSeconds"),
            1);
}

TEST_F(PodDeleteTest, AGracePeriodThatIsNoNumberIsABadRequest) {
  Create(placed_);
  const Answer deleted = Delete(Pod() + "?gracePeriodSeconds=x");

  EXPECT_EQ(deleted.status, 400);
  EXPECT_EQ(deleted.message(), R"(strconv.ParseInt: parsing "x": invalid syntax)");
}

TEST_F(PodDeleteTest, ALaterDeleteMayShortenTheGracePeriod) {
  Create(placed_);
  Delete(Pod());

  EXPECT_EQ(Delete(Pod(), {{"gracePeriodSeconds", 5}}).at("/metadata/deletionGracePeriodSeconds"),
            5);
}

TEST_F(PodDeleteTest, ALaterDeleteMayNotProlongTheGracePeriod) {
  Create(placed_);
  const Answer first = Delete(Pod());

  EXPECT_EQ(Delete(Pod(), {{"gracePeriodSeconds", 40}}).body, first.body);
}

TEST_F(PodDeleteTest, WithoutAGracePeriodItGoesAtOnce) {
  Create(placed_);
  Delete(Pod(), {{"gracePeriodSeconds", 0}});

  EXPECT_EQ(Get(Pod()).status, 404);
}

TEST_F(PodDeleteTest, WhatThenRemainsGoesAtZero) {
  Create(placed_);
  Delete(Pod());
  const Answer deleted = Delete(Pod(), {{"gracePeriodSeconds", 0}});

  EXPECT_EQ(deleted.status, 200);
  EXPECT_EQ(Get(Pod()).status, 404);
}

TEST_F(PodDeleteTest, OneThatHasEndedGoesAtOnce) {
  Create(placed_);
  MergePatch(Pod() + "/status", {{"status", {{"phase", "Succeeded"}}}});
  Delete(Pod());

  EXPECT_EQ(Get(Pod()).status, 404);
}

TEST_F(PodDeleteTest, AFinalizerOutlivesTheGracePeriod) {
  Create(placed_, {{"finalizers", {"example.com/x"}}});
  Delete(Pod());
  const Answer deleted = Delete(Pod(), {{"gracePeriodSeconds", 0}});
  EXPECT_EQ(deleted.at("/metadata/deletionGracePeriodSeconds"), 0);
  EXPECT_EQ(Get(Pod()).status, 200);

  MergePatch(Pod(), {{"metadata", {{"finalizers", nullptr}}}});

  EXPECT_EQ(Get(Pod()).status, 404);
}

TEST_F(PodDeleteTest, TheGracePeriodOutlivesAFinalizer) {
  Create(placed_, {{"finalizers", {"example.com/x"}}});
  Delete(Pod());
  MergePatch(Pod(), {{"metadata", {{"finalizers", nullptr}}}});

  const Answer left = Get(Pod());
  EXPECT_EQ(left.status, 200);
  EXPECT_EQ(left.at("/metadata/deletionGracePeriodSeconds"), 30);
}

}  // namespace
}  // namespace kopp::conformance
