#include "manager_fixture.hpp"

#include <algorithm>
#include <chrono>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <kopp/controller/watch_handle.hpp>
#include <kopp/kinds.hpp>

namespace kopp {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::UnorderedElementsAre;

class RuntimeWatchTest : public ManagerTest {
 protected:
  static std::vector<ObjectKey> SameName(const Deployment& deployment) {
    return {{"from-deployment", deployment.metadata.name}};
  }
  static std::string DeploymentJson(const std::string& name) {
    return R"({"kind":"Deployment","apiVersion":"apps/v1","metadata":{"name":")" + name +
           R"(","namespace":"ns","uid":"d-)" + name + R"(","resourceVersion":"6"}})";
  }
  /// Adds the controller, starts the manager and waits for its watch.
  Controller& StartController() {
    auto builder = manager_.AddController<Pod>();
    builder.Reconcile([this](const ObjectKey& key, Context&) {
      RecordCall(key.ToString());
      return Result{};
    });
    Start();
    transport_->Await("WATCH", kPods);
    return builder.controller();
  }
  [[nodiscard]] bool DeploymentsAreCached() {
    try {
      (void)manager_.cache().List<Deployment>();
      return true;
    } catch (const std::logic_error&) {
      return false;
    }
  }
  std::size_t CountErrors() {
    constexpr const char* kError = R"("Reflector error" kind="Deployment")";
    const std::string log = LogText();
    std::size_t count = 0;
    for (auto at = log.find(kError); at != std::string::npos; at = log.find(kError, at + 1)) {
      ++count;
    }
    return count;
  }
};

TEST_F(RuntimeWatchTest, AWatchThatIsStartedAtRunTimeReconcilesAndEndsWithItsHandle) {
  transport_->Respond("GET", kDeployments, 200,
                      R"({"kind":"DeploymentList","metadata":{"resourceVersion":"5"},"items":[)" +
                          DeploymentJson("existing") + "]}");
  Controller& controller = StartController();
  EXPECT_FALSE(DeploymentsAreCached());

  std::optional<WatchHandle> handle(controller.Watch<Deployment>(&SameName));

  EXPECT_TRUE(handle->active());
  EXPECT_TRUE(handle->WaitForSync({}));
  EXPECT_THAT(AwaitCalls(1), ElementsAre("from-deployment/existing"));
  transport_->Await("WATCH", kDeployments);
  transport_->SendToWatch(kDeployments,
                          R"({"type":"ADDED","object":)" + DeploymentJson("new") + "}\n");
  EXPECT_THAT(AwaitCalls(2), ElementsAre("from-deployment/existing", "from-deployment/new"));
  EXPECT_TRUE(DeploymentsAreCached());

  handle.reset();

  EXPECT_FALSE(DeploymentsAreCached());
  SendPodEvent("ADDED", PodJson("a"));
  EXPECT_EQ(AwaitCalls(3).back(), "ns/a");
}

TEST_F(RuntimeWatchTest, TheLastOfSeveralHandlesEndsTheWatch) {
  Controller& controller = StartController();
  WatchHandle first = controller.Watch<Deployment>(&SameName);
  WatchHandle second =
      controller.Watch<Deployment>({.on_add = [](const Deployment&, const EventQueue& queue) {
        queue.Add({"", "second"});
      }});
  transport_->Await("WATCH", kDeployments);

  first.Stop();
  EXPECT_FALSE(first.active());
  transport_->SendToWatch(kDeployments,
                          R"({"type":"ADDED","object":)" + DeploymentJson("x") + "}\n");

  EXPECT_THAT(AwaitCalls(1), ElementsAre("second"));
  EXPECT_TRUE(DeploymentsAreCached());
  first = std::move(second);
  EXPECT_TRUE(DeploymentsAreCached());
  first.Stop();
  EXPECT_FALSE(DeploymentsAreCached());
}

TEST_F(RuntimeWatchTest, AHandleDoesNotEndTheWatchOfAController) {
  auto builder = manager_.AddController<Pod>();
  builder.Owns<Deployment>().Cached().Reconcile(
      [](const ObjectKey&, Context&) { return Result{}; });
  Start();
  transport_->Await("WATCH", kDeployments);

  { const WatchHandle handle = builder.controller().Watch<Deployment>(&SameName); }

  EXPECT_TRUE(DeploymentsAreCached());
}

TEST_F(RuntimeWatchTest, AnEndedWatchCanBeStartedAgain) {
  Controller& controller = StartController();
  { const WatchHandle handle = controller.Watch<Deployment>(&SameName); }

  const WatchHandle again = controller.Watch<Deployment>(&SameName);

  EXPECT_TRUE(again.WaitForSync({}));
  EXPECT_TRUE(DeploymentsAreCached());
}

TEST_F(RuntimeWatchTest, APredicateFiltersTheEventsOfAWatch) {
  Controller& controller = StartController();
  const WatchHandle handle = controller.Watch<Deployment>(
      &SameName, PredicateOf<Deployment>([](const Deployment& deployment) {
        return deployment.metadata.name != "ignored";
      }));
  transport_->Await("WATCH", kDeployments);

  for (const char* name : {"ignored", "b"}) {
    transport_->SendToWatch(kDeployments,
                            R"({"type":"ADDED","object":)" + DeploymentJson(name) + "}\n");
  }

  EXPECT_THAT(AwaitCalls(1), ElementsAre("from-deployment/b"));
}

TEST_F(RuntimeWatchTest, AWatchWithAPredicateOfAnotherViewThrowsAndWatchesNothing) {
  Controller& controller = StartController();
  const AnyPredicate of_pods = PredicateOf<Pod>([](const Pod&) { return true; });

  EXPECT_THROW((void)controller.Watch<Deployment>(&SameName, of_pods), std::logic_error);
  EXPECT_THROW((void)controller.Watch<Deployment>(HandlerFunctions<Deployment>{}, of_pods),
               std::logic_error);
  EXPECT_THROW((void)controller.Watch(
                   OwningKind(Deployment::kKind),
                   [](const Unstructured&) { return std::vector<ObjectKey>{}; }, of_pods),
               std::logic_error);

  EXPECT_FALSE(DeploymentsAreCached());
}

TEST_F(RuntimeWatchTest, AKindThatIsOnlyKnownAtRunTimeCanBeWatched) {
  Controller& controller = StartController();
  const WatchHandle handle =
      controller.Watch(OwningKind(Deployment::kKind), [](const Unstructured& object) {
        return std::vector<ObjectKey>{{"dynamic", object.metadata.name}};
      });
  transport_->Await("WATCH", kDeployments);

  transport_->SendToWatch(kDeployments,
                          R"({"type":"ADDED","object":)" + DeploymentJson("x") + "}\n");

  EXPECT_THAT(AwaitCalls(1), ElementsAre("dynamic/x"));
}

TEST_F(RuntimeWatchTest, AKindThatIsNotServedAnyMoreIsReportedOnceUntilItsWatchEnds) {
  Controller& controller = StartController();
  WatchHandle handle = controller.Watch<Deployment>(&SameName);
  transport_->Await("WATCH", kDeployments);
  const auto not_found = [](const ApiRequest&) {
    return ApiResponse{.status = 404,
                       .body = R"({"kind":"Status","code":404,"reason":"NotFound"})"};
  };
  transport_->On("GET", kDeployments, not_found);  // the CustomResourceDefinition was deleted
  transport_->On("WATCH", kDeployments, not_found);
  transport_->EndWatch(kDeployments);
  const auto requests = [&] {
    return std::ranges::count_if(transport_->Requests(), [](const ApiRequest& request) {
      return request.target.starts_with(kDeployments);
    });
  };
  for (int minute = 0; minute < 5; ++minute) {
    clock_.AwaitSleepers(4);  // both informers, the queue and the manager
    clock_.Advance(1min);
  }
  clock_.AwaitSleepers(4);
  EXPECT_EQ(CountErrors(), 1) << LogText();
  EXPECT_GE(requests(), 5);

  handle.Stop();

  const auto requests_before = requests();
  for (int minute = 0; minute < 5; ++minute) {
    AwaitIdle();
    clock_.Advance(1min);
  }
  AwaitIdle();
  EXPECT_EQ(requests(), requests_before);
}

}  // namespace
}  // namespace kopp
