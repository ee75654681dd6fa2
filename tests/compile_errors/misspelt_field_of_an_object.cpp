// error: ‘kopp::k8s::apps::v1::DeploymentSpec’ has no non-static data member named ‘replica’
#include <kopp/kinds.hpp>
// clang: error: field designator 'replica' does not refer to any field in type 'DeploymentSpec';
// did you mean 'replicas'?

// The style of README.md: the type stands before the braces.
kopp::Deployment Desired(const std::map<std::string, std::string>& labels) {
  const kopp::k8s::core::v1::Container nginx{.image = "nginx:1.27", .name = "nginx"};
  return kopp::Deployment{
      .metadata = {.name = "web"},
      .spec = {.replica = 1,
               .selector = {.matchLabels = labels},
               .template_ = {.metadata = {.labels = labels}, .spec = {.containers = {nginx}}}}};
}

// the only error
