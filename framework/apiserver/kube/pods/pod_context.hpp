#pragma once

#include "json/schema_names.hpp"
#include "schema/field_ref.hpp"

#include <map>
#include <string>

// Each function of this folder that validates a part adds the errors that it finds to `errors`, in
// the order of kube-apiserver.

namespace kopp::apiserver {

/// The whole Pod spec, for the validation of its parts.
struct PodContext {
  FieldRef spec;
  bool is_pod = false;                        ///< a Pod, not a Pod template
  std::string pod_name{};                     ///< "" in a Pod template
  std::map<std::string, FieldRef> volumes{};  ///< the valid volumes by name
};

}  // namespace kopp::apiserver
