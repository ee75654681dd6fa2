#pragma once

#include "json/schema_names.hpp"
#include "schema/field_ref.hpp"

#include <map>
#include <string>

namespace kopp::apiserver {

/// What the validation of the parts of a Pod spec needs to know about the whole.
struct PodContext {
  FieldRef spec;
  bool is_pod = false;                        ///< a Pod, not a Pod template
  std::string pod_name{};                     ///< "" in a Pod template
  std::map<std::string, FieldRef> volumes{};  ///< the valid volumes by name
};

}  // namespace kopp::apiserver
