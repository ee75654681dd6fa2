#include "types.hpp"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <kopp/crd.hpp>
#include <kopp/informer/api_error.hpp>
#include <kopp/testing/environment.hpp>
#include <kopp/validate.hpp>

// An API server accepts each definition, and defaults, prunes and refuses as the markers say.

namespace {

using nlohmann::json;
using testing::HasSubstr;

/// An API server with the definitions of all types.
class ServedCrdsTest : public testing::Test {
 protected:
  ServedCrdsTest() {
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

  template <typename T>
  void Install() {
    const kopp::CustomResourceDefinition all[] = {kopp::CustomResourceDefinitionOf<T>()};
    kopp::InstallCrds(client(), all);
  }
  const kopp::Client& client() { return env_.client(); }

  template <typename T>
  json Create(const json& spec) {
    const kopp::Kind kind = T::kKind;
    json metadata{{"name", "one"}};
    if (kind.scope == kopp::Scope::kNamespaced) metadata["namespace"] = "default";
    return client()
        .WithFieldValidation(kopp::FieldValidation::kIgnore)
        .Create(kind, {{"metadata", metadata}, {"spec", spec}})["spec"];
  }
  template <typename T>
  std::string ErrorOf(const json& spec) {
    try {
      return "created: " + Create<T>(spec).dump();
    } catch (const kopp::ApiError& error) {
      return error.what();
    }
  }

 private:
  kopp::testing::Environment env_;
};

TEST_F(ServedCrdsTest, DefaultsAreSetByTheServer) {
  const json listeners = Create<crd_types::Gateway>({{"listeners", {{{"port", 80}}}}})["listeners"];
  EXPECT_EQ(listeners, json::parse(R"([{"port": 80, "protocol": "TCP"}])"));
  EXPECT_EQ(Create<crd_types::WebApp>({}), json({{"port", "http"}, {"replicas", 1}}));
  EXPECT_EQ(
      Create<crd_types::CronJob>({{"schedule", ""}, {"jobTemplate", json::object()}}),
      json({{"schedule", ""}, {"jobTemplate", json::object()}, {"concurrencyPolicy", "Allow"}}));
}

TEST_F(ServedCrdsTest, UnknownFieldsArePrunedUnlessTheyArePreserved) {
  EXPECT_EQ(Create<crd_types::Foo>({{"deploymentName", "web"}, {"unknown", 1}}),
            json({{"deploymentName", "web"}}));
  const json pod{{"apiVersion", "v1"}, {"kind", "Pod"}, {"spec", {{"nodeName", "a"}}}};
  const json plugin{{"template", pod},
                    {"any", json::array({1, "a"})},
                    {"tree", {{"leaf", {{"x", 1}}}}},
                    {"open", {{"region", "eu"}, {"zone", "a"}, {"more", true}}}};
  EXPECT_EQ(Create<crd_types::Plugin>(plugin), plugin);
}

TEST_F(ServedCrdsTest, ValuesAreRefusedAsTheMarkersSay) {
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

TEST_F(ServedCrdsTest, ValidateInProcessHasTheErrorsOfTheServer) {
  crd_types::Gateway gateway;
  gateway.metadata = {.name = "one", .ns = "default"};
  gateway.spec.listeners = {{.port = 0, .protocol = "SCTP", .hostname = {}}};
  gateway.spec.addresses = {"", std::string(64, 'x')};
  const auto errors = kopp::Validate(gateway);
  ASSERT_FALSE(errors.empty());
  const std::string from_server = ErrorOf<crd_types::Gateway>(json(gateway)["spec"]);
  for (const kopp::FieldError& error : errors) {
    EXPECT_THAT(from_server, HasSubstr(error.ToString()));
  }
}

}  // namespace
