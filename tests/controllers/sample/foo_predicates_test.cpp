// Tests of predicates with a running controller and an API server that counts generations.
#include "foo_environment.hpp"

#include <mutex>
#include <string>
#include <vector>

#include <gmock/gmock.h>

#include <kopp/informer/predicates.hpp>

namespace sample {
namespace {

using ::testing::ElementsAre;

class FooPredicatesTest : public FooEnvironment {};

TEST_F(FooPredicatesTest, OwnStatusWritesCauseNoReconcileWhenGenerationChangedIsThePredicate) {
  std::mutex mutex;
  std::vector<std::string> reconciled;
  const auto reconcile = [&](const Foo& foo, kopp::Context& context) -> kopp::Result {
    const int replicas = foo.spec.replicas.value_or(0);
    context.client.ApplyStatus(foo, {.availableReplicas = replicas});
    const std::lock_guard lock(mutex);
    reconciled.push_back(foo.metadata.name + " " + std::to_string(replicas));
    return {};
  };
  env_.manager().AddController<Foo>().Where(kopp::GenerationChanged()).Reconcile(reconcile);
  env_.Start();
  const auto eventually_available = [&](const kopp::ObjectKey& key, int replicas) {
    return env_.Eventually<Foo>(
        key, [=](const Foo& foo) { return foo.status.availableReplicas == replicas; });
  };
  CreateFoo();
  ASSERT_TRUE(eventually_available(foo_, 1));
  ScaleFoo(2);
  ASSERT_TRUE(eventually_available(foo_, 2));

  // The events of a kind arrive in order: when this object is reconciled, the controller has got
  // the events of both status writes.
  env_.client().Create<Foo>({{"metadata", {{"name", "last"}, {"namespace", "default"}}},
                             {"spec", {{"deploymentName", "web"}, {"replicas", 7}}}});
  ASSERT_TRUE(eventually_available({"default", "last"}, 7));

  env_.Stop();
  EXPECT_THAT(reconciled, ElementsAre("foo 1", "foo 2", "last 7"));
}

}  // namespace
}  // namespace sample
