#include "names.hpp"

#include <fstream>
#include <set>
#include <string>

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
  EXPECT_EQ(SnakeCase("My--dashed-Kind"), "my_dashed_kind");
}

TEST(NamesTest, IdentifierAvoidsWordsThatCppReserves) {
  EXPECT_EQ(Identifier("replicas"), "replicas");
  EXPECT_EQ(Identifier("namespace"), "namespace_");
  EXPECT_EQ(Identifier("linux"), "linux_");
  EXPECT_EQ(Identifier("std"), "std_");
  EXPECT_EQ(Identifier("typeof"), "typeof_");
}

TEST(NamesTest, IdentifierAvoidsNamesThatMacrosMayHave) {
  EXPECT_EQ(Identifier("EOF"), "EOF_");
  EXPECT_EQ(Identifier("INT_MAX"), "INT_MAX_");
  EXPECT_EQ(Identifier("SYS_read"), "SYS_read_");
  EXPECT_EQ(Identifier("PRId64"), "PRId64_");
  EXPECT_EQ(Identifier("st_mtime"), "st_mtime_");
  EXPECT_EQ(Identifier("CONFIG_H"), "CONFIG_H_name");
  EXPECT_EQ(Identifier("EOF_"), "EOF_name");
}

TEST(NamesTest, IdentifierKeepsOrdinaryNames) {
  for (const char* name : {"clusterIP", "aCL", "Kind", "scrape_interval", "x509", "Private_key"}) {
    EXPECT_EQ(Identifier(name), name);
  }
}

// The build lists the macros of the compiler, of the standard headers and of those of kopp.
TEST(NamesTest, NoIdentifierIsAMacro) {
  std::ifstream macros(KOPP_MACROS);
  int count = 0;
  for (std::string line; std::getline(macros, line);) {
    const std::string definition = line.substr(std::string("#define ").size());
    std::string name = definition.substr(0, definition.find_first_of(" ("));
    const bool is_function = definition[name.size()] == '(';
    if (is_function || name.starts_with('_')) continue;
    ++count;
    EXPECT_NE(Identifier(name), name);
    EXPECT_NE(TypeName(name), name);
    if (!name.ends_with('_')) continue;
    name.pop_back();
    EXPECT_NE(Identifier(name), name + '_');
  }
  EXPECT_GT(count, 1000);
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
  EXPECT_EQ(TypeName("NULL"), "NULL_");
}

TEST(NamesTest, StructNameAvoidsNamesThatKoppFieldsUses) {
  EXPECT_EQ(StructName("website"), "Website");
  EXPECT_EQ(StructName("default"), "Default_");
  EXPECT_EQ(StructName("KoppFields"), "KoppFields_");
}

TEST(NamesTest, NamespaceNameAvoidsTypesOfTheCLibrary) {
  EXPECT_EQ(NamespaceName("apps.example.com"), "apps_example_com");
  EXPECT_EQ(NamespaceName("size.t"), "size_t_");
}

TEST(NamesTest, EqualNamesGetDifferentEnds) {
  std::set<std::string> names;
  EXPECT_EQ(AddUnique(names, "a_b"), "a_b");
  EXPECT_EQ(AddUnique(names, "a_b"), "a_b_");
  EXPECT_EQ(AddUnique(names, "a_b"), "a_b_2");
  EXPECT_EQ(AddUnique(names, "a_b_"), "a_b_3");
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
  EXPECT_TRUE(IsLegalKind("website"));
  EXPECT_TRUE(IsLegalKind("My-Kind2"));
  EXPECT_FALSE(IsLegalKind("2Kind"));
  EXPECT_FALSE(IsLegalKind("Kind-"));
}

}  // namespace
}  // namespace kopp::command
