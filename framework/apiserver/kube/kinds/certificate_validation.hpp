#pragma once

#include "strategy/kind_strategy.hpp"

namespace kopp::apiserver {

/// Adds the strategies of CertificateSigningRequests.
void AddCertificateStrategies(StrategiesByKind& strategies);

}  // namespace kopp::apiserver
