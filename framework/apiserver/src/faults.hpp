#pragma once

#include "exchange.hpp"
#include "fault_plan.hpp"
#include "world.hpp"

#include <cstdint>

#include <kopp/testing/fault.hpp>

namespace kopp::apiserver {

/// Stands before a server and does wrong what it is told to. Safe to use from any thread.
class Faults final : public Answerer {
 public:
  Faults(World& world, Answerer& server, std::uint64_t seed)
      : world_(world), server_(server), plan_(seed) {}

  Reply Answer(const Ask& ask) override;

  /// Throws std::invalid_argument for a fault that cannot be.
  void Inject(testing::Fault fault);
  void Clear() { plan_.Clear(); }

 private:
  Reply AnswerSomehow(const Ask& ask);
  Reply AnswerBadly(const Ask& ask, const testing::Fault& fault);
  Reply StaleList(const Ask& ask, Version versions);

  World& world_;
  Answerer& server_;
  FaultPlan plan_;
};

}  // namespace kopp::apiserver
