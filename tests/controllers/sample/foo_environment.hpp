#pragma once

#include "foo.hpp"
#include "foo_reconciler.hpp"

#include <string>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <kopp/kinds.hpp>
#include <kopp/testing/environment.hpp>

namespace sample {

/// A server that knows Foos, and the controller of them; the Foo "foo" asks for the Deployment
/// "web".
class FooEnvironment : public ::testing::Test {
 protected:
  using What = kopp::testing::Fault::What;

  static constexpr const char* kDefinition = "crd-status-subresource.yaml";
  static constexpr const char* kSynced = "Normal Synced: Foo synced successfully";

  explicit FooEnvironment(const char* definition = kDefinition) {
    env_.Install(std::string(MANIFESTS "/") + definition);
  }

  Foo MakeFoo(const nlohmann::json& spec = {{"deploymentName", "web"}, {"replicas", 1}}) {
    return env_.client().Create<Foo>(
        {{"metadata", {{"name", "foo"}, {"namespace", "default"}}}, {"spec", spec}});
  }
  void Scale(int replicas) {
    env_.client().Patch<Foo>(foo_, kopp::Patch::Merge({{"spec", {{"replicas", replicas}}}}));
  }
  /// As the Deployment's own controller says it.
  void SayAvailable(int replicas) {
    const nlohmann::json status{
        {"replicas", replicas}, {"readyReplicas", replicas}, {"availableReplicas", replicas}};
    env_.client().PatchStatus<kopp::Deployment>(web_, kopp::Patch::Merge({{"status", status}}));
  }
  auto Web() { return env_.client().Get<kopp::Deployment>(web_); }

  const kopp::ObjectKey foo_{"default", "foo"};
  const kopp::ObjectKey web_{"default", "web"};
  kopp::testing::Environment env_{{.name = "sample-controller"}};
};

}  // namespace sample
