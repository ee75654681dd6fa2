#pragma once

#include "conformance.hpp"

#include <ostream>
#include <string>
#include <vector>

namespace kopp::conformance {

/// A merge patch of a valid Pod spec or container in a Deployment, and the expected causes.
struct InvalidPodSpec {
  std::string test_name{};
  json patch{};
  std::vector<std::string> causes{};

  friend void PrintTo(const InvalidPodSpec& invalid, std::ostream* out) { *out << invalid.patch; }
};

/// Sends Deployments with invalid Pod specs. Instantiated for each part of a Pod spec.
class PodSpecValidationTest : public ConformanceTest,
                              public ::testing::WithParamInterface<InvalidPodSpec> {};

/// Returns causes whose fields are given relative to the Pod spec of a Deployment.
inline std::vector<std::string> InPodSpec(std::vector<std::string> causes) {
  for (std::string& cause : causes) {
    const bool is_pod_spec = cause.find(" :") == cause.find(' ');
    cause.insert(cause.find(' ') + 1, is_pod_spec ? "spec.template.spec" : "spec.template.spec.");
  }
  return causes;
}

}  // namespace kopp::conformance
