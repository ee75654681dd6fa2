#pragma once

#include "conformance.hpp"

#include <string>

namespace kopp::conformance {

/// Returns metadata.managedFields without the `time` members, so that tests can compare the rest
/// exactly.
inline json ManagedFields(const JsonResponse& response) {
  json entries = response.at("/metadata/managedFields");
  for (json& entry : entries) entry.erase("time");
  return entries;
}

/// Returns an expected entry of ManagedFields(). `fields` is JSON text, for example
/// R"({"f:data": {"f:k": {}}})".
inline json ManagedFieldsEntry(const std::string& manager, const std::string& operation,
                               const std::string& version, const std::string& fields,
                               const std::string& subresource = "") {
  json entry{{"manager", manager},
             {"operation", operation},
             {"apiVersion", version},
             {"fieldsType", "FieldsV1"},
             {"fieldsV1", json::parse(fields)}};
  if (!subresource.empty()) entry["subresource"] = subresource;
  return entry;
}

/// Fixture of tests in which several field managers apply or write one ConfigMap.
class SharedObjectTest : public ConformanceTest {
 protected:
  std::string ObjectPath() { return Path("configmaps") + "/a"; }

  JsonResponse ApplyData(const json& data, const std::string& manager,
                         const std::string& extra_query = "") {
    return Apply(ObjectPath(),
                 {{"apiVersion", "v1"},
                  {"kind", "ConfigMap"},
                  {"metadata", {{"name", "a"}}},
                  {"data", data}},
                 manager, extra_query);
  }
};

}  // namespace kopp::conformance
