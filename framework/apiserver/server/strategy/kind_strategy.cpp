#include "strategy/kind_strategy.hpp"

namespace kopp::apiserver {

const KindStrategy& StrategyOf(const Resource& resource) {
  static const KindStrategy default_strategy;
  return resource.strategy == nullptr ? default_strategy : *resource.strategy;
}

}  // namespace kopp::apiserver
