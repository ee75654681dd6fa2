#pragma once

#include "conformance.hpp"

#include <string>
#include <string_view>

namespace kopp::conformance {

inline const std::string crds_path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";

/// Returns "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/widgets.GROUP".
std::string WidgetCrdPath(const std::string& group);

/// Returns a CustomResourceDefinition of Widgets in `group` with one version, v1, of `schema`. The
/// members of `version_fields` are merged into that version.
json MakeWidgetCrd(const std::string& group, const json& schema,
                   const json& version_fields = json::object());

/// Returns the schema of an object with exactly these properties.
json ObjectSchema(const json& properties);
/// Returns a minimal schema, of an object that preserves all unknown fields.
json AnyObjectSchema();

/// Fixture of tests that create the CRD of Widgets in a unique API group.
class CustomResourceTest : public ConformanceTest {
 protected:
  /// Returns an API group name that is unique among all tests.
  static std::string UniqueGroup() { return UniqueName("g") + ".example.com"; }

  /// Creates the CRD of MakeWidgetCrd() in a unique group and waits until Widgets are served.
  /// group() returns that group afterwards.
  static void CreateCrd(const json& schema, const json& version_fields = json::object());
  /// Like CreateCrd(), for a caller that builds the CRD `crd` of Widgets in `group` itself.
  static void CreateCrdInGroup(const std::string& group, const json& crd);
  static void DeleteCrd();

  static const std::string& group() { return crd_group; }
  static std::string CrdPath() { return WidgetCrdPath(crd_group); }

  /// Returns a Widget of group(), with `spec` unless that is null.
  static json MakeWidget(const std::string& name, const json& spec = nullptr,
                         const std::string& version = "v1");
  /// Returns the path of the Widgets in this test's namespace.
  std::string Widgets(const std::string& version = "v1") {
    return Path(crd_group + "/" + version, "widgets");
  }

 private:
  static std::string crd_group;
};

/// Fixture of tests that each create their own CRD; TearDown() deletes it. A suite whose tests can
/// share one CRD creates it in SetUpTestSuite() instead, because a real kube-apiserver needs about
/// a second until it serves a new CRD.
class CrdPerTest : public CustomResourceTest {
 protected:
  void TearDown() override { DeleteCrd(); }
};

}  // namespace kopp::conformance
