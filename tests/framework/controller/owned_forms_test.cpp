// Tests which form of the owned objects the cache has.
#include "controller/controller_fixture.hpp"

#include <optional>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <kopp/controller/channel.hpp>
#include <kopp/informer/predicates.hpp>
#include <kopp/kinds.hpp>

namespace kopp {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::ThrowsMessage;

struct Spec {
  std::optional<int> replicas;
};
KOPP_FIELDS(Spec, replicas)

struct DeploymentView {
  static constexpr Kind kKind = Deployment::kKind;
  ObjectMeta metadata;
  Spec spec;
};
KOPP_FIELDS(DeploymentView, metadata, spec)

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

TEST_F(OwnedFormsTest, AnOwnedKindIsCachedAsMetadata) {
  manager_.AddController<Pod>().Owns<DeploymentView>().Reconcile(
      [this](const Pod&, Context& context) {
        RecordCall(context.cache.Get<MetadataOnly<DeploymentView>>({"ns", "d"})->metadata.name);
        EXPECT_THROW((void)context.cache.Get<DeploymentView>({"ns", "d"}), std::logic_error);
        return Result{};
      });
  Start();
  AwaitCalls(1);

  EXPECT_THAT(AcceptedForm(), HasSubstr("as=PartialObjectMetadata"));

  SendDeployment("e", 1);
  EXPECT_THAT(AwaitCalls(2), ElementsAre("d", "d"));
}

TEST_F(OwnedFormsTest, ACachedOwnedKindHasOneInformerWithItsFields) {
  manager_.AddController<Pod>().Owns<DeploymentView>().Cached().Reconcile(
      [this](const Pod&, Context& context) {
        const auto read = context.cache.Get<DeploymentView>({"ns", "d"});
        RecordCall(std::to_string(read->spec.replicas.value_or(0)));
        return Result{};
      });
  Start();

  EXPECT_THAT(AwaitCalls(1), ElementsAre("3"));
  EXPECT_THAT(AcceptedForm(), Not(HasSubstr("PartialObjectMetadata")));
  EXPECT_EQ(manager_.cache().Kinds().size(), 2) << "Pods and Deployments";
}

TEST_F(OwnedFormsTest, CachedConcernsOnlyTheLastOwnedKind) {
  manager_.AddController<Pod>()
      .Owns<Secret>()
      .Owns<DeploymentView>()
      .Cached()
      .Owns<ConfigMap>()
      .Reconcile(Recorder());

  EXPECT_THAT(manager_.cache().Kinds().size(), 4);
  EXPECT_TRUE(manager_.cache().Remove<MetadataOnly<Secret>>());
  EXPECT_TRUE(manager_.cache().Remove<DeploymentView>());
  EXPECT_TRUE(manager_.cache().Remove<MetadataOnly<ConfigMap>>());
}

TEST_F(OwnedFormsTest, APredicateForACachedKindSeesItsFields) {
  manager_.AddController<Pod>()
      .Owns<DeploymentView>()
      .Cached()
      .Where(PredicateOf<DeploymentView>(
          [](const DeploymentView& deployment) { return deployment.spec.replicas == 2; }))
      .Reconcile(Recorder());
  Start();
  AwaitCalls(1);

  SendDeployment("ignored", 1);
  SendDeployment("e", 2);

  EXPECT_THAT(AwaitCalls(2), ElementsAre("a", "a"));
}

TEST_F(OwnedFormsTest, APredicateForAKindThatIsNotCachedIsAnErrorThatSaysWhatToWrite) {
  auto builder = manager_.AddController<Pod>();
  builder.Owns<DeploymentView>();
  EXPECT_THAT([&] { builder.Where(PredicateOf<DeploymentView>([](const auto&) { return true; })); },
              ThrowsMessage<std::logic_error>(HasSubstr("write .Owns<KIND>().Cached().Where(…)")));
}

TEST_F(OwnedFormsTest, CachedMustFollowOwnsDirectly) {
  const auto after_a_predicate = [this] {
    manager_.AddController<Pod>({.name = "a"})
        .Owns<DeploymentView>()
        .Where(GenerationChanged())  // may be for the metadata
        .Cached();
  };
  EXPECT_THAT(after_a_predicate, ThrowsMessage<std::logic_error>(HasSubstr("directly")));
  const auto of_metadata = [this] {
    manager_.AddController<Pod>({.name = "b"}).Owns<MetadataOnly<DeploymentView>>().Cached();
  };
  EXPECT_THAT(of_metadata, ThrowsMessage<std::logic_error>(HasSubstr("MetadataOnly")));
  const auto twice = [this] {
    manager_.AddController<Pod>({.name = "c"}).Owns<DeploymentView>().Cached().Cached();
  };
  EXPECT_THAT(twice, ThrowsMessage<std::logic_error>(HasSubstr("twice")));
}

TEST_F(OwnedFormsTest, OwnsAfterReconcileIsAnError) {
  auto builder = manager_.AddController<Pod>();
  builder.Reconcile(Recorder());
  EXPECT_THROW(builder.Owns<Secret>(), std::logic_error);
  static_assert(!std::is_copy_constructible_v<ControllerBuilder<Pod>>,
                "a copy could lose the handler of Owns");
}

TEST_F(OwnedFormsTest, EachOwnedKindIsHandledWhateverFollowsIt) {
  const Channel<ObjectKey> channel;
  manager_.AddController<Pod>()
      .Owns<DeploymentView>()
      .WatchesChannel(channel)
      .Owns<ConfigMap>()
      .Reconcile(Recorder());
  transport_->Respond("GET", "/api/v1/configmaps", 200,
                      R"({"kind":"ConfigMapList","metadata":{"resourceVersion":"5"},"items":[]})");
  transport_->Respond(
      "GET", "/api/v1", 200,
      R"({"kind":"APIResourceList","resources":[{"name":"pods","kind":"Pod","namespaced":true},)"
      R"({"name":"configmaps","kind":"ConfigMap","namespaced":true}]})");
  Start();
  AwaitCalls(1);

  SendDeployment("e", 1);
  EXPECT_THAT(AwaitCalls(2), ElementsAre("a", "a"));
  transport_->Await("WATCH", "/api/v1/configmaps");
  std::string map = DeploymentJson("m", 1);
  map.replace(0, map.find(R"("metadata")"), R"({"kind":"ConfigMap","apiVersion":"v1",)");
  transport_->SendToWatch("/api/v1/configmaps", R"({"type":"ADDED","object":)" + map + "}\n");
  EXPECT_THAT(AwaitCalls(3), ElementsAre("a", "a", "a"));
}

TEST_F(OwnedFormsTest, CachedWithoutOwnsIsAnError) {
  EXPECT_THROW(manager_.AddController<Pod>({.name = "a"}).Cached(), std::logic_error);
  EXPECT_THROW(manager_.AddController<Pod>({.name = "b"})
                   .Owns<Secret>()
                   .Watches<Secret>([](const Secret&) { return std::vector<ObjectKey>{}; })
                   .Cached(),
               std::logic_error);
}

TEST_F(OwnedFormsTest, AKindThatIsOwnedCachedAndWatchedHasOneInformer) {
  manager_.AddController<Pod>()
      .Owns<DeploymentView>()
      .Cached()
      .Watches<DeploymentView>([this](const DeploymentView& deployment) {
        RecordCall(std::to_string(deployment.spec.replicas.value_or(0)));
        return std::vector<ObjectKey>{};
      })
      .Reconcile([](const ObjectKey&, Context&) { return Result{}; });
  Start();

  EXPECT_THAT(AwaitCalls(1), ElementsAre("3"));
  EXPECT_EQ(manager_.cache().Kinds().size(), 2) << "Pods and Deployments";
}

TEST_F(OwnedFormsTest, AKindThatIsKnownAtRunTimeCanBeCached) {
  manager_.AddController<Pod>()
      .Owns(OwningKind(Deployment::kKind))
      .Cached()
      .Reconcile([this](const Pod&, Context& context) {
        RecordCall(context.cache.Get(Deployment::kKind, {"ns", "d"})->At("/spec/replicas").dump());
        return Result{};
      });
  Start();

  EXPECT_THAT(AwaitCalls(1), ElementsAre("3"));
}

}  // namespace
}  // namespace kopp
