#include "definition_parts.hpp"

#include "schema_rules.hpp"

#include <algorithm>
#include <set>
#include <vector>

namespace kopp::apiserver {

using nlohmann::json;

void CheckScale(const json& scale, const std::string& at, Causes& causes) {
  struct Path {
    const char* name;
    std::vector<std::string> parents;
    const char* why;
  };
  const Path paths[] = {
      {"specReplicasPath", {".spec."}, "should be a json path under .spec"},
      {"statusReplicasPath", {".status."}, "should be a json path under .status"},
      {"labelSelectorPath",
       {".spec.", ".status."},
       "should be a json path under either .spec or .status"},
  };
  for (const auto& [name, parents, why] : paths) {
    const std::string path = SaidText(scale, name);
    if (path.empty()) {
      if (parents.size() == 1) causes.push_back(Required(at + name, ""));
    } else if (!path.starts_with('.')) {
      causes.push_back(InvalidValue(at + name, path, "must be a simple json path starting with ."));
    } else if (std::none_of(parents.begin(), parents.end(),
                            [&](const std::string& parent) { return path.starts_with(parent); })) {
      causes.push_back(InvalidValue(at + name, path, why));
    }
  }
}

void CheckColumn(const json& column, const std::string& at, Causes& causes) {
  const std::string types = "must be one of boolean,date,integer,number,string";
  const std::set<std::string> known{"boolean", "date", "integer", "number", "string"};
  const std::set<std::string> formats{"",      "byte",  "date",  "date-time", "double",
                                      "float", "int32", "int64", "password"};
  if (SaidText(column, "name").empty()) causes.push_back(Required(at + "name", ""));
  if (const std::string type = SaidText(column, "type"); type.empty()) {
    causes.push_back(Required(at + "type", types));
  } else if (!known.contains(type)) {
    causes.push_back(InvalidValue(at + "type", type, types));
  }
  if (const std::string format = SaidText(column, "format"); !formats.contains(format)) {
    causes.push_back(
        InvalidValue(at + "format", format,
                     "must be one of byte,date,date-time,double,float,int32,int64,password"));
  }
  if (const std::string path = SaidText(column, "jsonPath"); path.empty()) {
    causes.push_back(Required(at + "JSONPath", ""));
  } else if (!path.starts_with('.')) {
    causes.push_back(
        InvalidValue(at + "JSONPath", path, "must be a simple json path starting with ."));
  }
}

}  // namespace kopp::apiserver
