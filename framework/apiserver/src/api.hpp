#pragma once

#include "exchange.hpp"
#include "reads.hpp"
#include "registrar.hpp"
#include "world.hpp"
#include "writes.hpp"

#include <functional>

namespace kopp::apiserver {

/// The Kubernetes API over a World: every request has its answer. Safe to use from any thread.
class Api final : public Answerer {
 public:
  explicit Api(World& world);

  Reply Answer(const Ask& ask) override;

 private:
  /// `warnings`: what comes with the answer, be it a refusal.
  Reply AnswerOrRefuse(const Ask& ask, Warnings& warnings);
  Reply Route(const Ask& ask, Warnings& warnings);
  Reply OfResource(const Ask& ask, const Catalog& catalog, Warnings& warnings);
  Reply OfObjects(const Ask& ask, const Catalog::Entry& resource, Warnings& warnings);
  Reply OfObject(const Ask& ask, const Catalog::Entry& resource, Warnings& warnings);
  /// What `write` answers, in the form that is asked for; nothing is written where there is none.
  Reply Write(const Ask& ask, const Resource& resource, const std::function<Reply()>& write);

  World& world_;
  Reads reads_;
  Writes writes_;
  Registrar registrar_;
};

}  // namespace kopp::apiserver
