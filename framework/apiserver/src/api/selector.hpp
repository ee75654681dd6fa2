#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace kopp::apiserver {

/// A label selector or field selector. Immutable and thread-safe.
class Selector {
 public:
  /// Matches everything.
  Selector() = default;

  /// Parses a label selector such as "app=web,tier in (a,b),!old". Throws std::invalid_argument,
  /// with the same message as kube-apiserver.
  static Selector ParseLabelSelector(std::string_view text);
  /// Parses a field selector such as "metadata.name=a,status.phase!=Failed". Throws likewise.
  static Selector ParseFieldSelector(std::string_view text);

  /// `find` returns the value of a field or label, or nullptr if there is none.
  [[nodiscard]] bool Matches(
      const std::function<const std::string*(const std::string& name)>& find) const;
  [[nodiscard]] bool Matches(const std::map<std::string, std::string>& values) const;
  [[nodiscard]] bool empty() const { return requirements_.empty(); }
  /// The names of the fields or labels in the selector.
  [[nodiscard]] std::vector<std::string> Names() const;

 private:
  friend class LabelSelectorParser;
  enum class Operator { kIn, kNotIn, kExists, kDoesNotExist, kGreaterThan, kLessThan };
  struct Requirement {
    std::string name{};
    Operator op = Operator::kIn;
    std::vector<std::string> values{};
  };
  static bool Satisfies(const Requirement& requirement, const std::string* value);

  std::vector<Requirement> requirements_;
};

}  // namespace kopp::apiserver
