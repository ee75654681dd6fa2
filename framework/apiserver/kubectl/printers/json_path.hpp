#pragma once

#include <functional>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

namespace kopp::apiserver {

/// A JSONPath, as used in the additionalPrinterColumns of CustomResourceDefinitions:
///
///     .spec.replicas   .metadata.labels.example\.com/app   .spec['a','b']   .spec.*   ..name
///     .list[0]   [-1]   [1:3]   [::2]   [0,2]   [*]   .list[?(@.type=="Ready")].status
///
/// Immutable and thread-safe.
class JsonPath {
 public:
  using Values = std::vector<const nlohmann::json*>;
  /// Appends the values that one step of the path selects from `from`.
  using Step = std::function<void(const nlohmann::json& from, Values& values)>;
  using Steps = std::vector<Step>;

  /// Returns std::nullopt if `text` is not a valid path.
  [[nodiscard]] static std::optional<JsonPath> Parse(std::string_view text);

  /// Returns the selected values in order. The pointers point into `root`, or into this path for
  /// literals.
  [[nodiscard]] Values Evaluate(const nlohmann::json& root) const;

 private:
  explicit JsonPath(Steps steps) : steps_(std::move(steps)) {}

  Steps steps_;
};

}  // namespace kopp::apiserver
