// Tests which form of the owned objects the cache has. Whether a program reads a view depends on
// all of its code, so each test has a view of its own.
#include "controller/controller_fixture.hpp"

#include <optional>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <kopp/kinds.hpp>

namespace kopp {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

struct Spec {
  std::optional<int> replicas;
};
KOPP_FIELDS(Spec, replicas)

struct UnreadDeployment {
  static constexpr Kind kKind = Deployment::kKind;
  ObjectMeta metadata;
  Spec spec;
};
KOPP_FIELDS(UnreadDeployment, metadata, spec)

struct ReadDeployment {
  static constexpr Kind kKind = Deployment::kKind;
  ObjectMeta metadata;
  Spec spec;
};
KOPP_FIELDS(ReadDeployment, metadata, spec)

struct FilteredDeployment {
  static constexpr Kind kKind = Deployment::kKind;
  ObjectMeta metadata;
  Spec spec;
};
KOPP_FIELDS(FilteredDeployment, metadata, spec)

struct WatchedDeployment {
  static constexpr Kind kKind = Deployment::kKind;
  ObjectMeta metadata;
  Spec spec;
};
KOPP_FIELDS(WatchedDeployment, metadata, spec)

struct DeploymentReadInTwoForms {
  static constexpr Kind kKind = Deployment::kKind;
  ObjectMeta metadata;
  Spec spec;
};
KOPP_FIELDS(DeploymentReadInTwoForms, metadata, spec)

class OwnedFormsTest : public ControllerTest {
 protected:
  OwnedFormsTest() {
    SetPods({PodJson("a")});
    transport_->Respond("GET", kDeployments, 200,
                        R"({"kind":"DeploymentList","metadata":{"resourceVersion":"5"},"items":[)" +
                            DeploymentJson("d", 3) + "]}");
  }

  /// Returns a Deployment that the Pod "a" owns.
  static std::string DeploymentJson(const std::string& name, int replicas) {
    return R"({"kind":"Deployment","apiVersion":"apps/v1","metadata":{"name":")" + name +
           R"(","namespace":"ns","resourceVersion":"6","ownerReferences":[{"apiVersion":"v1",
           "kind":"Pod","name":"a","uid":"u-a","controller":true}]},"spec":{"replicas":)" +
           std::to_string(replicas) + "}}";
  }
  void SendDeployment(const std::string& name, int replicas) {
    transport_->Await("WATCH", kDeployments);
    transport_->SendToWatch(
        kDeployments, R"({"type":"ADDED","object":)" + DeploymentJson(name, replicas) + "}\n");
  }
  /// Returns the media types that the list of Deployments accepts.
  std::string AcceptedForm() { return transport_->Await("GET", kDeployments).accept; }

  Reconciler Recorder() {
    return [this](const ObjectKey& key, Context&) {
      RecordCall(key.name);
      return Result{};
    };
  }
};

TEST_F(OwnedFormsTest, AnOwnedKindThatTheProgramDoesNotReadIsCachedAsMetadata) {
  manager_.AddController<Pod>().Owns<UnreadDeployment>().Reconcile(Recorder());
  Start();
  AwaitCalls(1);

  EXPECT_THAT(AcceptedForm(), HasSubstr("as=PartialObjectMetadata"));

  SendDeployment("e", 1);
  EXPECT_THAT(AwaitCalls(2), ElementsAre("a", "a"));
}

TEST_F(OwnedFormsTest, AnOwnedKindThatTheProgramReadsHasOneInformerWithItsFields) {
  manager_.AddController<Pod>().Owns<ReadDeployment>().Reconcile(
      [this](const Pod&, Context& context) {
        const auto read = context.cache.Get<ReadDeployment>({"ns", "d"});
        RecordCall(std::to_string(read->spec.replicas.value_or(0)));
        return Result{};
      });
  Start();

  EXPECT_THAT(AwaitCalls(1), ElementsAre("3"));
  EXPECT_THAT(AcceptedForm(), Not(HasSubstr("PartialObjectMetadata")));
  EXPECT_EQ(manager_.cache().Kinds().size(), 2) << "Pods and Deployments";
}

TEST_F(OwnedFormsTest, APredicateForAnOwnedKindSeesItsFields) {
  manager_.AddController<Pod>()
      .Owns<FilteredDeployment>()
      .Where(PredicateOf<FilteredDeployment>(
          [](const FilteredDeployment& deployment) { return deployment.spec.replicas == 2; }))
      .Reconcile(Recorder());
  Start();
  AwaitCalls(1);

  SendDeployment("ignored", 1);
  SendDeployment("e", 2);

  EXPECT_THAT(AwaitCalls(2), ElementsAre("a", "a"));
}

TEST_F(OwnedFormsTest, AnOwnedKindMayBeReadWithItsFieldsAndAsMetadata) {
  manager_.AddController<Pod>().Owns<DeploymentReadInTwoForms>().Reconcile(
      [this](const Pod&, Context& context) {
        const ObjectKey key{"ns", "d"};
        const auto read = context.cache.Get<DeploymentReadInTwoForms>(key);
        const auto metadata = context.cache.Get<MetadataOnly<DeploymentReadInTwoForms>>(key);
        RecordCall(metadata->metadata.name + std::to_string(read->spec.replicas.value_or(0)));
        return Result{};
      });
  Start();

  EXPECT_THAT(AwaitCalls(1), ElementsAre("d3"));
}

TEST_F(OwnedFormsTest, AKindThatIsOwnedAndWatchedHasOneInformer) {
  manager_.AddController<Pod>()
      .Owns<WatchedDeployment>()
      .Watches<WatchedDeployment>([this](const WatchedDeployment& deployment) {
        RecordCall(std::to_string(deployment.spec.replicas.value_or(0)));
        return std::vector<ObjectKey>{};
      })
      .Reconcile([](const ObjectKey&, Context&) { return Result{}; });
  Start();

  EXPECT_THAT(AwaitCalls(1), ElementsAre("3"));
  EXPECT_EQ(manager_.cache().Kinds().size(), 2) << "Pods and Deployments";
}

}  // namespace
}  // namespace kopp
