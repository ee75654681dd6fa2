#include "decoding/defaults.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace kopp::apiserver {
namespace {

using nlohmann::json;

const Schema& Type(const char* name) { return *Schemas::BuiltIn().Find(name); }

json WithDefaults(const char* type, json value) {
  ApplyBuiltInDefaults(value, Type(type));
  return value;
}

TEST(DefaultsTest, ConditionalDefaultDependsOnAnotherField) {
  EXPECT_EQ(WithDefaults("DeploymentStrategy", {{"type", "Recreate"}}),
            json({{"type", "Recreate"}}));
  EXPECT_EQ(WithDefaults("DeploymentStrategy", json::object()),
            R"({"type": "RollingUpdate",
                "rollingUpdate": {"maxSurge": "25%", "maxUnavailable": "25%"}})"_json);
}

TEST(DefaultsTest, FalseIsRemovedFromAFieldWithOmitempty) {
  EXPECT_EQ(WithDefaults("VolumeMount", {{"name", "a"}, {"mountPath", "/a"}, {"readOnly", false}}),
            json({{"name", "a"}, {"mountPath", "/a"}}));
}

TEST(DefaultsTest, ZeroIsReplacedByTheDefault) {
  EXPECT_EQ(WithDefaults("Probe", {{"periodSeconds", 0}}).at("periodSeconds"), 10);
}

TEST(DefaultsTest, DefaultIsCopiedFromAnotherField) {
  EXPECT_EQ(WithDefaults("ServicePort", {{"port", 80}}),
            R"({"port": 80, "protocol": "TCP", "targetPort": 80})"_json);
}

TEST(DefaultsTest, JobDefaultsDoNotApplyToAJobTemplate) {
  EXPECT_EQ(WithDefaults("Job", {{"spec", json::object()}}).at("/spec/backoffLimit"_json_pointer),
            6);
  EXPECT_FALSE(WithDefaults("JobTemplateSpec", {{"spec", json::object()}})
                   .at("spec")
                   .contains("backoffLimit"));
}

TEST(DefaultsTest, QuantitiesAreConvertedToTheCanonicalForm) {
  EXPECT_EQ(WithDefaults("ResourceRequirements", {{"limits", {{"memory", "1024Mi"}}}}),
            R"({"limits": {"memory": "1Gi"}})"_json);
}

TEST(DefaultsTest, LimitRangeDefaultsAreDerivedFromMax) {
  EXPECT_EQ(WithDefaults("LimitRangeItem", R"({"type": "Container", "max": {"cpu": "2"}})"_json),
            R"({"type": "Container", "max": {"cpu": "2"}, "default": {"cpu": "2"},
                "defaultRequest": {"cpu": "2"}})"_json);
}

TEST(DefaultsTest, ApplyingDefaultsTwiceChangesNothing) {
  const json once = WithDefaults("Pod", R"({"metadata": {"name": "a"},
                                      "spec": {"containers": [{"name": "c", "image": "i"}]}})"_json);

  EXPECT_EQ(WithDefaults("Pod", once), once);
}

TEST(ZeroObjectTest, RequiredFieldsHaveZeroValues) {
  EXPECT_EQ(ZeroObject(Type("DaemonSet")).at("status"),
            R"({"currentNumberScheduled": 0, "desiredNumberScheduled": 0,
                "numberMisscheduled": 0, "numberReady": 0})"_json);
}

}  // namespace
}  // namespace kopp::apiserver
