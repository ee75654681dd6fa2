#pragma once

#include <functional>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

namespace kopp::apiserver {

/// A JSONPath, as the printer columns of CustomResourceDefinitions have them:
///
///     .spec.replicas   .metadata.labels.example\.com/app   .spec['a','b']   .spec.*   ..name
///     .list[0]   [-1]   [1:3]   [::2]   [0,2]   [*]   .list[?(@.type=="Ready")].status
class JsonPath {
 public:
  using Found = std::vector<const nlohmann::json*>;
  /// From a value to others.
  using Step = std::function<void(const nlohmann::json& from, Found& found)>;
  using Steps = std::vector<Step>;

  /// None where `text` is no such path.
  [[nodiscard]] static std::optional<JsonPath> Read(std::string_view text);

  /// All that it leads to, in order: parts of `root`, which has to live on.
  [[nodiscard]] Found Follow(const nlohmann::json& root) const;

 private:
  explicit JsonPath(Steps steps) : steps_(std::move(steps)) {}

  Steps steps_;
};

}  // namespace kopp::apiserver
