#include "client/served_kinds.hpp"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <kopp/discovery.hpp>
#include <kopp/testing/fake_clock.hpp>
#include <kopp/testing/scripted_transport.hpp>

namespace kopp::detail {
namespace {

using ::testing::HasSubstr;

/// A server that serves widgets of example.com/v1 and v1beta1, with the subresource scale.
class ServedKindsTest : public ::testing::Test {
 protected:
  ServedKindsTest() {
    transport_.Respond(
        "GET", "/apis/example.com/v1", 200,
        R"({"kind": "APIResourceList", "groupVersion": "example.com/v1", "resources": [
                           {"name": "widgets", "kind": "Widget", "namespaced": true},
                           {"name": "widgets/scale", "kind": "Scale", "namespaced": true}]})");
    transport_.Respond("GET", "/apis/example.com/v2", 404, "{}");
    transport_.Respond("GET", "/apis/other.com/v1", 404, "{}");
    transport_.Respond("GET", "/api", 200, R"({"kind": "APIGroupDiscoveryList", "items": []})");
    transport_.Respond("GET", "/apis", 200, R"({"kind": "APIGroupDiscoveryList", "items": [
        {"metadata": {"name": "example.com"}, "versions": [
            {"version": "v1", "resources": [
                {"resource": "widgets", "scope": "Namespaced", "verbs": ["list"],
                 "responseKind": {"group": "", "version": "", "kind": "Widget"}}]},
            {"version": "v1beta1", "resources": [
                {"resource": "widgets", "scope": "Namespaced", "verbs": ["list"],
                 "responseKind": {"group": "", "version": "", "kind": "Widget"}}]}]}]})");
  }

  testing::FakeClock clock_;
  testing::ScriptedTransport transport_{clock_};
  ServedKinds served_{DiscoveryClient(transport_)};
};

TEST_F(ServedKindsTest, AKindThatIsServedAsDeclaredHasNoDifference) {
  EXPECT_EQ(served_.FindDifference(Kind{"example.com/v1", "Widget", "widgets"}), "");
}

TEST_F(ServedKindsTest, AnotherVersionOfTheKindIsNamed) {
  EXPECT_EQ(served_.FindDifference(Kind{"example.com/v2", "Widget", "widgets"}),
            "does not serve widgets of example.com/v2, but widgets of example.com/v1, widgets of "
            "example.com/v1beta1: change the program or the CustomResourceDefinition");
}

TEST_F(ServedKindsTest, AnotherPluralOfTheKindIsNamed) {
  EXPECT_THAT(served_.FindDifference(Kind{"example.com/v1", "Widget", "widgetes"}),
              HasSubstr("does not serve widgetes of example.com/v1, but widgets of"));
}

TEST_F(ServedKindsTest, AnotherKindOfTheResourceIsNamed) {
  EXPECT_EQ(served_.FindDifference(Kind{"example.com/v1", "Gadget", "widgets"}),
            "serves widgets of example.com/v1 as kind Widget, not Gadget: change the program or "
            "the CustomResourceDefinition");
}

TEST_F(ServedKindsTest, AnotherScopeIsNamed) {
  EXPECT_EQ(served_.FindDifference(Kind{"example.com/v1", "Widget", "widgets", Scope::kCluster}),
            "serves widgets of example.com/v1 as namespaced, not cluster-scoped: change the "
            "program or the CustomResourceDefinition");
}

TEST_F(ServedKindsTest, AMissingGroupHasTheAdviceToInstallTheDefinition) {
  EXPECT_EQ(served_.FindDifference(Kind{"other.com/v1", "Site", "sites"}),
            "does not serve sites of other.com/v1: install the CustomResourceDefinition of Site "
            "with kubectl apply");
}

TEST_F(ServedKindsTest, AServerWithoutDiscoveryOfGroupsHasTheSameAdvice) {
  transport_.Respond("GET", "/apis", 403, "{}");

  EXPECT_THAT(served_.FindDifference(Kind{"example.com/v2", "Widget", "widgets"}),
              HasSubstr("install the CustomResourceDefinition of Widget"));
}

TEST_F(ServedKindsTest, AMissingSubresourceIsNamed) {
  const OwningKind widget = Kind{"example.com/v1", "Widget", "widgets"};
  EXPECT_EQ(served_.FindMissingSubresource(widget, "scale"), "");
  EXPECT_EQ(served_.FindMissingSubresource(widget, "status"),
            "serves widgets of example.com/v1 without the subresource status: add it to the "
            "CustomResourceDefinition");
}

}  // namespace
}  // namespace kopp::detail
