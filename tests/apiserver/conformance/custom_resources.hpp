#pragma once

#include "conformance.hpp"

#include <string>
#include <string_view>

namespace kopp::conformance {

inline const std::string definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";

/// "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/widgets.GROUP"
std::string DefinitionOfWidgets(const std::string& group);

/// A CustomResourceDefinition of Widgets in `group`, with the one version v1 of `schema`; `more` is
/// added to that version.
json ADefinition(const std::string& group, const json& schema, const json& more = json::object());

/// The schema of an object that has these properties and no others.
json AnObject(const json& properties);
/// The least schema: an object of anything.
json Anything();

/// Defines Widgets in a group of its own.
class CustomResourceTest : public ConformanceTest {
 protected:
  /// A group that no other test has.
  static std::string UniqueGroup() { return Unique("g") + ".example.com"; }

  /// Has the server serve Widgets in a new group, the one that group() gives from then on.
  static void Define(const json& schema, const json& more = json::object());
  /// The same for a definition of Widgets in `group` that is more than ADefinition makes.
  static void DefineIn(const std::string& group, const json& definition);
  static void Undefine();

  static const std::string& group() { return own_group; }
  static std::string Definition() { return DefinitionOfWidgets(own_group); }

  /// A Widget of group(), with `spec` unless that is null.
  static json AWidget(const std::string& name, const json& spec = nullptr,
                      const std::string& version = "v1");
  std::string Widgets(const std::string& version = "v1") {
    return Path(own_group + "/" + version, "widgets");
  }

 private:
  static std::string own_group;
};

/// Each test defines what it needs. (A suite whose tests share one definition makes it in
/// SetUpTestSuite: the real server takes a second until it serves one.)
class DefinitionTest : public CustomResourceTest {
 protected:
  void TearDown() override { Undefine(); }
};

}  // namespace kopp::conformance
