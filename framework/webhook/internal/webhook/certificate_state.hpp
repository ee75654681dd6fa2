#pragma once

#include <chrono>
#include <string>

#include <kopp/workqueue/clock.hpp>

namespace kopp {

/// The longest time between two checks of the certificates. A check notices a certificate that has
/// expired, a clock change or a missed watch event.
inline constexpr Duration kCertificateCheckInterval = std::chrono::minutes(10);

/// The result of a check of the webhook certificates.
struct CertificateState {
  std::string problem{};  ///< why API servers cannot call the webhooks; "": they can
  std::string error{};    ///< what failed without changing `problem`; "": nothing
  WallTime next{};        ///< when the next check is due

  /// Appends to `problem`; does nothing if `text` is empty.
  void AddProblem(const std::string& text) {
    if (!problem.empty() && !text.empty()) problem += "; ";
    problem += text;
  }
};

}  // namespace kopp
