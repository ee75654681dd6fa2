#include "conformance.hpp"
#include "types.hpp"

#include <string>
#include <vector>

#include <kopp/client.hpp>
#include <kopp/crd.hpp>
#include <kopp/dynamic_client.hpp>
#include <kopp/informer/api_error.hpp>
#include <kopp/validate.hpp>

// The server accepts the CustomResourceDefinitions that kopp makes from structs, and defaults,
// prunes and refuses as the markers say.

namespace kopp::conformance {

namespace versions {

struct OldSite {
  static constexpr Kind kKind{"installed.example.com/v1beta1", "Site", "sites"};
  ObjectMeta metadata;
};
KOPP_FIELDS(OldSite, metadata)
KOPP_CRD(OldSite)

struct NewSite {
  static constexpr Kind kKind{"installed.example.com/v1", "Site", "sites"};
  ObjectMeta metadata;
};
KOPP_FIELDS(NewSite, metadata)
KOPP_CRD(NewSite, StorageVersion())

}  // namespace versions

namespace {

using ::testing::HasSubstr;

class StructCrdsTest : public ConformanceTest {
 protected:
  static void SetUpTestSuite() {
    Install<crd_types::CronJob>();
    Install<crd_types::Certificate>();
    Install<crd_types::Foo>();
    Install<crd_types::Memcached>();
    Install<crd_types::Guestbook>();
    Install<crd_types::Tenant>();
    Install<crd_types::WebApp>();
    Install<crd_types::Gateway>();
    Install<crd_types::Widget>();
    Install<crd_types::Plugin>();
  }
  static void TearDownTestSuite() {
    for (const std::string& path : installed) Delete(path);
    installed.clear();
  }

  template <typename T>
  static void Install() {
    const CustomResourceDefinition all[] = {CustomResourceDefinitionOf<T>()};
    InstallCrds(Client(ServerTransport()), all);
    installed.push_back("/apis/apiextensions.k8s.io/v1/customresourcedefinitions/" + all[0].name());
  }

  /// Creates an object, and returns its spec as the server stored it.
  template <typename T>
  json Create(const json& spec) {
    const Kind kind = T::kKind;
    json metadata{{"name", UniqueName("one")}};
    if (kind.scope == Scope::kNamespaced) metadata["namespace"] = ns();
    return Client(ServerTransport())
        .WithFieldValidation(FieldValidation::kIgnore)
        .Dynamic(kind)
        .Create({{"metadata", metadata}, {"spec", spec}})
        .At("/spec");
  }
  template <typename T>
  std::string ErrorOf(const json& spec) {
    try {
      return "created: " + Create<T>(spec).dump();
    } catch (const ApiError& error) {
      return error.what();
    }
  }

 private:
  inline static std::vector<std::string> installed;
};

// The definition is established before its second installation.
TEST_F(StructCrdsTest, EachVersionIsServedWhenTheInstallationReturns) {
  const Client client(ServerTransport());
  const CustomResourceDefinition one[] = {CustomResourceDefinitionOf<versions::OldSite>()};
  InstallCrds(client, one);
  EXPECT_TRUE(client.List<versions::OldSite>().empty());
  const CustomResourceDefinition two[] = {
      CustomResourceDefinitionOf<versions::OldSite, versions::NewSite>()};
  InstallCrds(client, two);
  EXPECT_TRUE(client.List<versions::NewSite>().empty());
  Delete("/apis/apiextensions.k8s.io/v1/customresourcedefinitions/" + two[0].name());
}

TEST_F(StructCrdsTest, DefaultsAreSetByTheServer) {
  const json listeners = Create<crd_types::Gateway>({{"listeners", {{{"port", 80}}}}})["listeners"];
  EXPECT_EQ(listeners, json::parse(R"([{"port": 80, "protocol": "TCP"}])"));
  EXPECT_EQ(Create<crd_types::WebApp>(json::object()), json({{"port", "http"}, {"replicas", 1}}));
  EXPECT_EQ(
      Create<crd_types::CronJob>({{"schedule", ""}, {"jobTemplate", json::object()}}),
      json({{"schedule", ""}, {"jobTemplate", json::object()}, {"concurrencyPolicy", "Allow"}}));
}

TEST_F(StructCrdsTest, UnknownFieldsArePrunedUnlessTheyArePreserved) {
  EXPECT_EQ(Create<crd_types::Foo>({{"deploymentName", "web"}, {"unknown", 1}}),
            json({{"deploymentName", "web"}}));
  const json pod{{"apiVersion", "v1"}, {"kind", "Pod"}, {"spec", {{"nodeName", "a"}}}};
  const json plugin{{"template", pod},
                    {"any", json::array({1, "a"})},
                    {"tree", {{"leaf", {{"x", 1}}}}},
                    {"open", {{"region", "eu"}, {"zone", "a"}, {"more", true}}}};
  EXPECT_EQ(Create<crd_types::Plugin>(plugin), plugin);
}

TEST_F(StructCrdsTest, ValuesAreRefusedAsTheMarkersSay) {
  EXPECT_THAT(ErrorOf<crd_types::Foo>({{"deploymentName", "web"}, {"replicas", 11}}),
              HasSubstr("spec.replicas in body should be less than or equal to 10"));
  EXPECT_THAT(ErrorOf<crd_types::Foo>(json::object()),
              HasSubstr("spec.deploymentName: Required value"));
  EXPECT_THAT(ErrorOf<crd_types::Memcached>({{"containerPort", 65536}}),
              HasSubstr("spec.containerPort in body should be less than 65536"));
  EXPECT_THAT(ErrorOf<crd_types::Tenant>({{"owner", "9"}, {"limits", {{"min", 1}, {"max", 2}}}}),
              HasSubstr("spec.owner in body should match '^[a-z][a-z0-9-]*$'"));
  EXPECT_THAT(ErrorOf<crd_types::Gateway>({{"listeners", json::array()}}),
              HasSubstr("spec.listeners in body should have at least 1 items"));
  EXPECT_THAT(
      ErrorOf<crd_types::Gateway>({{"listeners", {{{"port", 80}}}}, {"addresses", {"a", "a"}}}),
      HasSubstr("spec.addresses[1]: Duplicate value: \"a\""));
  EXPECT_THAT(ErrorOf<crd_types::Certificate>({{"secretName", "s"},
                                               {"issuerRef", {{"name", "i"}}},
                                               {"dnsNames", {"a"}},
                                               {"ipAddresses", {"300.0.0.1"}}}),
              HasSubstr("must be of type ipv4"));
  EXPECT_THAT(ErrorOf<crd_types::CronJob>({{"schedule", "* * * * *"},
                                           {"jobTemplate", json::object()},
                                           {"concurrencyPolicy", "Maybe"}}),
              HasSubstr("supported values: \"Allow\", \"Forbid\", \"Replace\""));
}

TEST_F(StructCrdsTest, ValidateInProcessHasTheErrorsOfTheServer) {
  crd_types::Gateway gateway;
  gateway.spec.listeners = {{.port = 0, .protocol = "SCTP", .hostname = {}}};
  gateway.spec.addresses = {"", std::string(64, 'x')};
  const auto errors = Validate(gateway);
  ASSERT_FALSE(errors.empty());
  const std::string from_server = ErrorOf<crd_types::Gateway>(json(gateway)["spec"]);
  for (const FieldError& error : errors) {
    EXPECT_THAT(from_server, HasSubstr(error.ToString()));
  }
}

// kopp's server does not evaluate CEL rules: see DIFFERENCES.md.
TEST_F(StructCrdsTest, CelRulesAreEvaluatedByARealServerOnly) {
  const json tenant{{"owner", "a"}, {"limits", {{"min", 2}, {"max", 1}}}};
  EXPECT_THAT(ErrorOf<crd_types::Tenant>(tenant),
              HasSubstr(IsRealServer() ? "min must not exceed max" : "created: "));
}

}  // namespace
}  // namespace kopp::conformance
