#pragma once

#include "deployment_view.hpp"
#include "foo.hpp"
#include "foo_reconciler.hpp"

#include <chrono>
#include <string>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <kopp/kinds.hpp>
#include <kopp/testing/environment.hpp>

namespace sample {

/// Fixture with an API server on which the CRD of Foo is installed. The tests use the Foo "foo",
/// which requests the Deployment "web".
class FooEnvironment : public ::testing::Test {
 protected:
  using Type = kopp::testing::Fault::Type;

  static constexpr const char* kCrd = "crd-status-subresource.yaml";
  static constexpr const char* kSynced = "Normal Synced: Foo synced successfully";

  explicit FooEnvironment(const char* crd = kCrd) {
    env_.Install(std::string(MANIFESTS "/") + crd);
  }

  Foo CreateFoo(const nlohmann::json& spec = {{"deploymentName", "web"}, {"replicas", 1}}) {
    return env_.client().Create<Foo>(
        {{"metadata", {{"name", "foo"}, {"namespace", "default"}}}, {"spec", spec}});
  }
  void ScaleFoo(int replicas) {
    env_.client().Patch<Foo>(foo_, kopp::Patch::Merge({{"spec", {{"replicas", replicas}}}}));
  }
  /// Writes the status that the Deployment controller writes when Pods become available.
  void SetAvailableReplicas(int replicas) {
    const nlohmann::json status{
        {"replicas", replicas}, {"readyReplicas", replicas}, {"availableReplicas", replicas}};
    env_.client().PatchStatus<kopp::Deployment>(web_, kopp::Patch::Merge({{"status", status}}));
  }
  auto GetWeb() { return env_.client().Get<kopp::Deployment>(web_); }

  const kopp::ObjectKey foo_{"default", "foo"};
  const kopp::ObjectKey web_{"default", "web"};
  kopp::testing::Environment env_{
      {.name = "sample-controller", .timeout = std::chrono::seconds(60)}};
};

}  // namespace sample
