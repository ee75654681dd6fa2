#include "custom_resources.hpp"

namespace kopp::conformance {

std::string CustomResourceTest::crd_group;

std::string WidgetCrdPath(const std::string& group) { return crds_path + "/widgets." + group; }

json MakeWidgetCrd(const std::string& group, const json& schema, const json& version_fields) {
  json version{{"name", "v1"},
               {"served", true},
               {"storage", true},
               {"schema", {{"openAPIV3Schema", schema}}}};
  version.update(version_fields);
  return {{"metadata", {{"name", "widgets." + group}}},
          {"spec",
           {{"group", group},
            {"scope", "Namespaced"},
            {"names", {{"plural", "widgets"}, {"kind", "Widget"}}},
            {"versions", json::array({version})}}}};
}

json ObjectSchema(const json& properties) {
  return {{"type", "object"}, {"properties", properties}};
}

json AnyObjectSchema() {
  return {{"type", "object"}, {"x-kubernetes-preserve-unknown-fields", true}};
}

void CustomResourceTest::CreateCrd(const json& schema, const json& version_fields) {
  const std::string group = UniqueGroup();
  CreateCrdInGroup(group, MakeWidgetCrd(group, schema, version_fields));
}

void CustomResourceTest::CreateCrdInGroup(const std::string& group, const json& crd) {
  const JsonResponse created = Post(crds_path, crd);
  ASSERT_EQ(created.status, 201) << created.text;
  crd_group = group;
  for (const json& version : crd["spec"]["versions"]) {
    if (!version["served"]) continue;
    const std::string widgets =
        "/apis/" + group + "/" + version["name"].get<std::string>() + "/widgets?resourceVersion=0";
    ASSERT_EQ(Eventually(200, [&] { return Get(widgets); }).status, 200) << widgets;
  }
}

void CustomResourceTest::DeleteCrd() {
  if (!crd_group.empty()) Delete(CrdPath());
  crd_group.clear();
}

json CustomResourceTest::MakeWidget(const std::string& name, const json& spec,
                                    const std::string& version) {
  json widget{{"apiVersion", crd_group + "/" + version},
              {"kind", "Widget"},
              {"metadata", {{"name", name}}}};
  if (!spec.is_null()) widget["spec"] = spec;
  return widget;
}

}  // namespace kopp::conformance
