#pragma once

#include "exchange.hpp"
#include "world.hpp"

#include <kopp/testing/fault.hpp>

namespace kopp::apiserver {

/// Stands before a server and does wrong what it is told to. Safe to use from any thread.
class Faults final : public Answerer {
 public:
  Faults(World& world, Answerer& server) : world_(world), server_(server) {}

  Reply Answer(const Ask& ask) override;

  void Inject(testing::Fault fault);
  void Clear();

 private:
  World& world_;
  Answerer& server_;
};

}  // namespace kopp::apiserver
