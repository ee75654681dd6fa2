#include "names.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kopp::command {
namespace {

TEST(NamesTest, PluralOfAKindFollowsEnglishSpelling) {
  EXPECT_EQ(PluralOf("Website"), "websites");
  EXPECT_EQ(PluralOf("Policy"), "policies");
  EXPECT_EQ(PluralOf("Gateway"), "gateways");
  EXPECT_EQ(PluralOf("Ingress"), "ingresses");
  EXPECT_EQ(PluralOf("Patch"), "patches");
}

TEST(NamesTest, SnakeCaseKeepsAbbreviationsTogether) {
  EXPECT_EQ(SnakeCase("StaticSite"), "static_site");
  EXPECT_EQ(SnakeCase("HTTPRoute"), "http_route");
  EXPECT_EQ(SnakeCase("BackendTLSPolicy"), "backend_tls_policy");
}

TEST(NamesTest, IdentifierAvoidsWordsThatCppReserves) {
  EXPECT_EQ(Identifier("replicas"), "replicas");
  EXPECT_EQ(Identifier("namespace"), "namespace_");
  EXPECT_EQ(Identifier("linux"), "linux_");
  EXPECT_EQ(Identifier("std"), "std_");
}

TEST(NamesTest, IdentifierReplacesCharactersThatCppDoesNotAllow) {
  EXPECT_EQ(Identifier("k8s-app"), "k8s_app");
  EXPECT_EQ(Identifier("$ref"), "ref");
  EXPECT_EQ(Identifier("3scale"), "x3scale");
  EXPECT_EQ(Identifier("a__b"), "a_b");
  EXPECT_EQ(Identifier("größe"), "gr_e");
  EXPECT_EQ(Identifier("-"), "x");
}

TEST(NamesTest, TypeNameStartsEachWordWithAnUpperCaseLetter) {
  EXPECT_EQ(TypeName("issuerRef"), "IssuerRef");
  EXPECT_EQ(TypeName("k8s-app.name"), "K8sAppName");
  EXPECT_EQ(TypeName("3scale"), "X3scale");
  EXPECT_EQ(TypeName("null"), "Null");
}

TEST(NamesTest, OnlyTheFormsThatKubernetesAllowsAreValid) {
  EXPECT_TRUE(IsDnsLabel("my-operator"));
  EXPECT_FALSE(IsDnsLabel("My_operator"));
  EXPECT_TRUE(IsGroup("apps.example.com"));
  EXPECT_FALSE(IsGroup("example"));
  EXPECT_TRUE(IsVersion("v1alpha1"));
  EXPECT_FALSE(IsVersion("1.0"));
  EXPECT_TRUE(IsKind("Website"));
  EXPECT_FALSE(IsKind("website"));
}

}  // namespace
}  // namespace kopp::command
