#pragma once

#include <optional>

#include <kopp/informer/object.hpp>
#include <kopp/kinds.hpp>

namespace sample {

/// The fields of a Deployment that the controller reads. The cache has no others.
struct DeploymentView {
  static constexpr kopp::Kind kKind = kopp::Deployment::kKind;
  struct Spec {
    std::optional<int> replicas = {};
  };
  struct Status {
    int availableReplicas = 0;
  };
  kopp::ObjectMeta metadata = {};
  Spec spec = {};
  Status status = {};
};
KOPP_FIELDS(DeploymentView::Spec, replicas)
KOPP_FIELDS(DeploymentView::Status, availableReplicas)
KOPP_FIELDS(DeploymentView, metadata, spec, status)

}  // namespace sample
