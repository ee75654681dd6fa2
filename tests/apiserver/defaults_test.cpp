#include "defaults.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace kopp::apiserver {
namespace {

using nlohmann::json;

const Schema& Type(const char* name) { return *Schemas::BuiltIn().Find(name); }

json Filled(const char* type, json value) {
  FillIn(value, Type(type));
  return value;
}

TEST(DefaultsTest, AConditionLooksAtAnotherField) {
  EXPECT_EQ(Filled("DeploymentStrategy", {{"type", "Recreate"}}), json({{"type", "Recreate"}}));
  EXPECT_EQ(Filled("DeploymentStrategy", json::object()),
            R"({"type": "RollingUpdate",
                "rollingUpdate": {"maxSurge": "25%", "maxUnavailable": "25%"}})"_json);
}

TEST(DefaultsTest, WhatATypeCannotTellFromNothingIsLeftOut) {
  EXPECT_EQ(Filled("VolumeMount", {{"name", "a"}, {"mountPath", "/a"}, {"readOnly", false}}),
            json({{"name", "a"}, {"mountPath", "/a"}}));
}

TEST(DefaultsTest, NothingWhereATypeHasToSayMoreIsItsDefault) {
  EXPECT_EQ(Filled("Probe", {{"periodSeconds", 0}}).at("periodSeconds"), 10);
}

TEST(DefaultsTest, AValueOfAnotherFieldIsTaken) {
  EXPECT_EQ(Filled("ServicePort", {{"port", 80}}),
            R"({"port": 80, "protocol": "TCP", "targetPort": 80})"_json);
}

TEST(DefaultsTest, OfAJobAreNotThoseOfAJobsTemplate) {
  EXPECT_EQ(Filled("Job", {{"spec", json::object()}}).at("/spec/backoffLimit"_json_pointer), 6);
  EXPECT_FALSE(
      Filled("JobTemplateSpec", {{"spec", json::object()}}).at("spec").contains("backoffLimit"));
}

TEST(DefaultsTest, AmountsHaveOneForm) {
  EXPECT_EQ(Filled("ResourceRequirements", {{"limits", {{"memory", "1024Mi"}}}}),
            R"({"limits": {"memory": "1Gi"}})"_json);
}

TEST(DefaultsTest, OfLimitsFollowFromTheMost) {
  EXPECT_EQ(Filled("LimitRangeItem", R"({"type": "Container", "max": {"cpu": "2"}})"_json),
            R"({"type": "Container", "max": {"cpu": "2"}, "default": {"cpu": "2"},
                "defaultRequest": {"cpu": "2"}})"_json);
}

TEST(DefaultsTest, FilledInAgainNothingChanges) {
  const json once = Filled("Pod", R"({"metadata": {"name": "a"},
                                      "spec": {"containers": [{"name": "c", "image": "i"}]}})"_json);

  EXPECT_EQ(Filled("Pod", once), once);
}

TEST(BlankTest, HasWhatEveryObjectHas) {
  EXPECT_EQ(Blank(Type("DaemonSet")).at("status"),
            R"({"currentNumberScheduled": 0, "desiredNumberScheduled": 0,
                "numberMisscheduled": 0, "numberReady": 0})"_json);
}

}  // namespace
}  // namespace kopp::apiserver
