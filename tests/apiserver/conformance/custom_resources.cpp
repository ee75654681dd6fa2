#include "custom_resources.hpp"

namespace kopp::conformance {

std::string CustomResourceTest::own_group;

std::string DefinitionOfWidgets(const std::string& group) {
  return definitions + "/widgets." + group;
}

json ADefinition(const std::string& group, const json& schema, const json& more) {
  json version{{"name", "v1"},
               {"served", true},
               {"storage", true},
               {"schema", {{"openAPIV3Schema", schema}}}};
  version.update(more);
  return {{"metadata", {{"name", "widgets." + group}}},
          {"spec",
           {{"group", group},
            {"scope", "Namespaced"},
            {"names", {{"plural", "widgets"}, {"kind", "Widget"}}},
            {"versions", json::array({version})}}}};
}

json AnObject(const json& properties) { return {{"type", "object"}, {"properties", properties}}; }

json Anything() { return {{"type", "object"}, {"x-kubernetes-preserve-unknown-fields", true}}; }

void CustomResourceTest::Define(const json& schema, const json& more) {
  const std::string group = UniqueGroup();
  DefineIn(group, ADefinition(group, schema, more));
}

void CustomResourceTest::DefineIn(const std::string& group, const json& definition) {
  const Answer made = Post(definitions, definition);
  ASSERT_EQ(made.status, 201) << made.text;
  own_group = group;
  for (const json& version : definition["spec"]["versions"]) {
    if (!version["served"]) continue;
    const std::string all =
        "/apis/" + group + "/" + version["name"].get<std::string>() + "/widgets?resourceVersion=0";
    ASSERT_EQ(Eventually(200, [&] { return Get(all); }).status, 200) << all;
  }
}

void CustomResourceTest::Undefine() {
  if (!own_group.empty()) Delete(Definition());
  own_group.clear();
}

json CustomResourceTest::AWidget(const std::string& name, const json& spec,
                                 const std::string& version) {
  json widget{{"apiVersion", own_group + "/" + version},
              {"kind", "Widget"},
              {"metadata", {{"name", name}}}};
  if (!spec.is_null()) widget["spec"] = spec;
  return widget;
}

}  // namespace kopp::conformance
