// The subresource "eviction" of Pods.
#include "conformance.hpp"

#include <string>

namespace kopp::conformance {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// Fixture of tests of the eviction of the Pod `pod`, which runs on a node.
class EvictionTest : public ConformanceTest {
 protected:
  EvictionTest() : pods_(PodsPath()) {}

  /// Creates a running Pod with the label app=NAME.
  void CreateRunningPod(const std::string& name, bool ready = true) {
    json pod = MakePod(name);
    pod["metadata"]["labels"] = {{"app", name}};
    pod["spec"]["nodeName"] = "node-1";
    Post(pods_, pod);
    MergePatch(pods_ + '/' + name + "/status",
               {{"status",
                 {{"phase", "Running"},
                  {"conditions", {{{"type", "Ready"}, {"status", ready ? "True" : "False"}}}}}}});
  }
  void CreateBudget(const std::string& name, const std::string& app) {
    Post(Budgets(),
         {{"metadata", {{"name", name}}},
          {"spec", {{"minAvailable", 1}, {"selector", {{"matchLabels", {{"app", app}}}}}}}});
  }
  void SetBudgetStatus(const std::string& name, int allowed, int healthy, int desired) {
    MergePatch(Budgets() + '/' + name + "/status", {{"status",
                                                     {{"observedGeneration", 1},
                                                      {"disruptionsAllowed", allowed},
                                                      {"currentHealthy", healthy},
                                                      {"desiredHealthy", desired},
                                                      {"expectedPods", healthy}}}});
  }
  std::string Budgets() { return Path("policy/v1", "poddisruptionbudgets"); }

  JsonResponse Evict(const std::string& name, const json& options = nullptr,
                     const std::string& query = "") {
    json eviction{
        {"apiVersion", "policy/v1"}, {"kind", "Eviction"}, {"metadata", {{"name", name}}}};
    if (!options.is_null()) eviction["deleteOptions"] = options;
    return Post(pods_ + '/' + name + "/eviction" + query, eviction);
  }
  JsonResponse GetPod(const std::string& name) { return Get(pods_ + '/' + name); }

  std::string pods_;
};

TEST_F(EvictionTest, PendingPodIsDeleted) {
  Post(pods_, MakePod("a"));

  const JsonResponse evicted = Evict("a");

  EXPECT_EQ(evicted.status, 201);
  EXPECT_EQ(evicted.body, json({{"kind", "Status"},
                                {"apiVersion", "v1"},
                                {"metadata", json::object()},
                                {"status", "Success"},
                                {"code", 201}}));
  EXPECT_EQ(GetPod("a").status, 404);
}

TEST_F(EvictionTest, RunningPodWithoutABudgetTerminatesWithTheConditionDisruptionTarget) {
  CreateRunningPod("a");

  EXPECT_EQ(Evict("a", {{"gracePeriodSeconds", 5}}).status, 201);

  const JsonResponse pod = GetPod("a");
  EXPECT_EQ(pod.at("/metadata/deletionGracePeriodSeconds"), 5);
  json condition = pod.at("/status/conditions/1");
  condition.erase("lastTransitionTime");
  EXPECT_EQ(condition, json({{"type", "DisruptionTarget"},
                             {"status", "True"},
                             {"lastProbeTime", nullptr},
                             {"reason", "EvictionByEvictionAPI"},
                             {"message", "Eviction API: evicting"}}));
}

TEST_F(EvictionTest, MissingPodIsNotFound) {
  const JsonResponse evicted = Evict("missing");

  EXPECT_EQ(evicted.status, 404);
  EXPECT_EQ(evicted.message(), "pods \"missing\" not found");
}

TEST_F(EvictionTest, OtherNameInTheBodyIsABadRequest) {
  Post(pods_, MakePod("a"));

  const JsonResponse evicted = Post(pods_ + "/a/eviction", {{"metadata", {{"name", "b"}}}});

  EXPECT_EQ(evicted.status, 400);
  EXPECT_EQ(evicted.message(), "name in URL does not match name in Eviction object");
}

TEST_F(EvictionTest, DryRunKeepsThePod) {
  Post(pods_, MakePod("a"));

  EXPECT_EQ(Evict("a", nullptr, "?dryRun=All").status, 201);
  EXPECT_EQ(Evict("a", {{"dryRun", {"All"}}}).status, 201);

  const JsonResponse pod = GetPod("a");
  EXPECT_EQ(pod.status, 200);
  EXPECT_FALSE(pod.at("/status").contains("conditions"));
}

TEST_F(EvictionTest, OtherUidInThePreconditionsIsAConflict) {
  Post(pods_, MakePod("a"));

  const JsonResponse evicted = Evict("a", {{"preconditions", {{"uid", "b"}}}});

  EXPECT_EQ(evicted.status, 409);
  EXPECT_THAT(evicted.message(), HasSubstr("the UID in the precondition (b) does not match"));
  EXPECT_EQ(GetPod("a").status, 200);
}

TEST_F(EvictionTest, InvalidPropagationPolicyIsRejected) {
  Post(pods_, MakePod("a"));

  EXPECT_EQ(Evict("a", {{"propagationPolicy", "Later"}}).status, 422);
}

TEST_F(EvictionTest, UnknownFieldIsRejectedByStrictFieldValidation) {
  Post(pods_, MakePod("a"));

  const JsonResponse evicted = Post(pods_ + "/a/eviction?fieldValidation=Strict",
                                    {{"metadata", {{"name", "a"}}}, {"colour", "red"}});

  EXPECT_EQ(evicted.status, 400);
  EXPECT_THAT(evicted.message(), HasSubstr("unknown field \"colour\""));
}

TEST_F(EvictionTest, BudgetThatNobodyHasProcessedAsksToRetryLater) {
  CreateRunningPod("a");
  CreateBudget("budget", "a");

  const JsonResponse evicted = Evict("a");

  EXPECT_EQ(evicted.status, 429);
  EXPECT_EQ(evicted.reason(), "TooManyRequests");
  EXPECT_EQ(evicted.retry_after, 10s);
  EXPECT_EQ(evicted.message(), "Cannot evict pod as it would violate the pod's disruption budget.");
  EXPECT_EQ(evicted.str("/details/causes/0/reason"), "DisruptionBudget");
  EXPECT_EQ(evicted.str("/details/causes/0/message"),
            "The disruption budget budget is still being processed by the server.");
}

TEST_F(EvictionTest, BudgetWithoutAllowedDisruptionsRejectsTheEviction) {
  CreateRunningPod("a");
  CreateBudget("budget", "a");
  SetBudgetStatus("budget", 0, 1, 1);

  const JsonResponse evicted = Evict("a");

  EXPECT_EQ(evicted.status, 429);
  EXPECT_FALSE(evicted.retry_after.has_value());
  EXPECT_EQ(evicted.str("/details/causes/0/message"),
            "The disruption budget budget needs 1 healthy pods and has 1 currently");
  EXPECT_EQ(GetPod("a").at("/metadata/deletionTimestamp"), json());
}

TEST_F(EvictionTest, EvictionTakesAnAllowedDisruptionFromTheBudget) {
  CreateRunningPod("a");
  CreateBudget("budget", "a");
  SetBudgetStatus("budget", 1, 2, 1);

  EXPECT_EQ(Evict("a").status, 201);

  const JsonResponse budget = Get(Budgets() + "/budget");
  EXPECT_EQ(budget.at("/status/disruptionsAllowed"), 0);
  EXPECT_TRUE(budget.at("/status/disruptedPods").contains("a"));
  json condition = budget.at("/status/conditions/0");
  condition.erase("lastTransitionTime");
  EXPECT_EQ(condition, json({{"type", "DisruptionAllowed"},
                             {"status", "False"},
                             {"observedGeneration", 1},
                             {"reason", "InsufficientPods"},
                             {"message", ""}}));
  EXPECT_EQ(budget.str("/metadata/managedFields/2/manager"), "kube-apiserver");
}

TEST_F(EvictionTest, DryRunTakesNoDisruptionFromTheBudget) {
  CreateRunningPod("a");
  CreateBudget("budget", "a");
  SetBudgetStatus("budget", 1, 2, 1);

  EXPECT_EQ(Evict("a", nullptr, "?dryRun=All").status, 201);

  EXPECT_EQ(Get(Budgets() + "/budget").at("/status/disruptionsAllowed"), 1);
}

TEST_F(EvictionTest, TwoBudgetsForAPodAreAnError) {
  CreateRunningPod("a");
  CreateBudget("one", "a");
  CreateBudget("two", "a");

  const JsonResponse evicted = Evict("a");

  EXPECT_EQ(evicted.status, 500);
  EXPECT_EQ(evicted.message(),
            "This pod has more than one PodDisruptionBudget, which the eviction subresource does "
            "not support.");
}

TEST_F(EvictionTest, UnreadyPodIsEvictedIfEnoughOthersAreHealthy) {
  CreateRunningPod("a", false);
  CreateBudget("budget", "a");
  SetBudgetStatus("budget", 0, 1, 2);
  EXPECT_EQ(Evict("a").status, 429);

  SetBudgetStatus("budget", 0, 1, 1);

  EXPECT_EQ(Evict("a").status, 201);
  EXPECT_EQ(Get(Budgets() + "/budget").at("/status/disruptedPods"), json());
}

TEST_F(EvictionTest, TerminatingPodIsEvictedAgain) {
  CreateRunningPod("a");
  CreateBudget("budget", "a");
  SetBudgetStatus("budget", 0, 1, 1);
  Delete(pods_ + "/a");

  EXPECT_EQ(Evict("a").status, 201);
}

}  // namespace
}  // namespace kopp::conformance
