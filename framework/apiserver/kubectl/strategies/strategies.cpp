#include "kubectl/strategies/strategies.hpp"

namespace kopp::apiserver {

StrategiesByKind FurtherStrategies() {
  StrategiesByKind strategies;
  AddEndpointsStrategies(strategies);
  AddEndpointSliceStrategies(strategies);
  AddWebhookStrategies(strategies);
  AddAdmissionPolicyStrategies(strategies);
  AddStorageStrategies(strategies);
  AddCertificateStrategies(strategies);
  AddClusterStrategies(strategies);
  return strategies;
}

}  // namespace kopp::apiserver
