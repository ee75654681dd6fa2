#pragma once

#include "conformance.hpp"

#include <string>

namespace kopp::conformance {

/// metadata.managedFields without the times, so that it can be compared whole.
inline json ManagedFields(const Answer& answer) {
  json entries = answer.at("/metadata/managedFields");
  for (json& entry : entries) entry.erase("time");
  return entries;
}

/// An entry of ManagedFields(). `fields` is JSON text, as in R"({"f:data": {"f:k": {}}})".
inline json Entry(const std::string& manager, const std::string& operation,
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

/// One ConfigMap that several managers apply or write.
class SharedObjectTest : public ConformanceTest {
 protected:
  std::string Object() { return Path("configmaps") + "/a"; }

  Answer ApplyData(const json& data, const std::string& manager, const std::string& more = "") {
    return Apply(Object(),
                 {{"apiVersion", "v1"},
                  {"kind", "ConfigMap"},
                  {"metadata", {{"name", "a"}}},
                  {"data", data}},
                 manager, more);
  }
};

}  // namespace kopp::conformance
