#include "schema/yaml.hpp"
#include "types.hpp"

#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <kopp/crd.hpp>

// Compares the CustomResourceDefinitions of types.hpp with those that controller-gen makes from the
// same types in Go. The differences below are intended; docs/crds.md gives the reasons.

namespace {

using nlohmann::json;

json Expected(const std::string& plural) {
  const std::string path = EXPECTED_FOLDER "/example.com_" + plural + ".yaml";
  std::ifstream file(path);
  if (!file) throw std::runtime_error("cannot read " + path);
  std::ostringstream text;
  text << file.rdbuf();
  json expected = kopp::schema::ParseYaml(text.str());
  // controller-gen writes its version.
  json& annotations = expected["metadata"]["annotations"];
  annotations.erase("controller-gen.kubebuilder.io/version");
  if (annotations.empty()) expected["metadata"].erase("annotations");
  return expected;
}

/// Returns the differences of a definition to that of controller-gen, as JSON Patch operations.
template <typename T>
std::vector<std::string> DifferencesOf(const std::string& plural) {
  const json made = kopp::CustomResourceDefinitionOf<T>().object();
  std::vector<std::string> differences;
  for (const json& difference : json::diff(Expected(plural), made)) {
    const std::string value = difference.contains("value") ? ' ' + difference["value"].dump() : "";
    differences.push_back(difference["op"].get<std::string>() + ' ' +
                          difference["path"].get<std::string>() + value);
  }
  return differences;
}

using testing::ElementsAre;
using testing::IsEmpty;

const std::string schema_path = "/spec/versions/0/schema/openAPIV3Schema/properties";

TEST(ControllerGenTest, KubebuildersCronJobIsEqual) {
  EXPECT_THAT(DifferencesOf<crd_types::CronJob>("cronjobs"), IsEmpty());
}

// Go's int has no format. C++'s has 32 bits.
TEST(ControllerGenTest, ACertificateIsEqualApartFromTheFormatOfIntegers) {
  EXPECT_THAT(DifferencesOf<crd_types::Certificate>("certificates"),
              ElementsAre("add " + schema_path +
                              "/spec/properties/privateKey/properties/size/format \"int32\"",
                          "add " + schema_path + "/status/properties/revision/format \"int32\""));
}

TEST(ControllerGenTest, TheFooOfTheSampleControllerIsEqual) {
  EXPECT_THAT(DifferencesOf<crd_types::Foo>("foos"), IsEmpty());
}

TEST(ControllerGenTest, AMemcachedWithExclusiveLimitsIsEqual) {
  EXPECT_THAT(DifferencesOf<crd_types::Memcached>("memcacheds"), IsEmpty());
}

TEST(ControllerGenTest, AClusterScopedGuestbookIsEqual) {
  EXPECT_THAT(DifferencesOf<crd_types::Guestbook>("guestbooks"), IsEmpty());
}

TEST(ControllerGenTest, ATenantWithCelRulesIsEqual) {
  EXPECT_THAT(DifferencesOf<crd_types::Tenant>("tenants"), IsEmpty());
}

TEST(ControllerGenTest, AWebAppWithScaleAndIntOrStringIsEqual) {
  EXPECT_THAT(DifferencesOf<crd_types::WebApp>("webapps"), IsEmpty());
}

TEST(ControllerGenTest, AGatewayWithListTypesIsEqual) {
  EXPECT_THAT(DifferencesOf<crd_types::Gateway>("gateways"), IsEmpty());
}

TEST(ControllerGenTest, AWidgetWithDefaultsIsEqual) {
  EXPECT_THAT(DifferencesOf<crd_types::Widget>("widgets"), IsEmpty());
}

TEST(ControllerGenTest, APluginWithEmbeddedResourcesIsEqual) {
  EXPECT_THAT(DifferencesOf<crd_types::Plugin>("plugins"), IsEmpty());
}

}  // namespace
