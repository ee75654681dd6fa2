// Tests the operator with kopp's API server in memory.
#include "greeting.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <kopp/crd.hpp>
#include <kopp/testing/environment.hpp>

TEST(GreetingTest, ReconcileAppliesTheConfigMap) {
  kopp::testing::Environment env;
  env.InstallObject(kopp::CustomResourceDefinitionOf<Greeting>().object());
  env.client().Create<Greeting>(
      {{"metadata", {{"name", "first"}, {"namespace", "default"}}}, {"spec", {{"to", "world"}}}});

  env.Reconcile<Greeting>({"default", "first"}, Reconcile);

  EXPECT_THAT(env.Writes(), testing::ElementsAre("patch configmaps default/first"));
}
