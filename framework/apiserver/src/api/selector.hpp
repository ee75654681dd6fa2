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
  /// Creates an empty selector, which matches every object.
  Selector() = default;

  /// Parses a label selector such as "app=web,tier in (a,b),!old". Throws std::invalid_argument,
  /// with the same message as kube-apiserver.
  static Selector ParseLabelSelector(std::string_view text);
  /// Parses a field selector such as "metadata.name=a,status.phase!=Failed". A backslash escapes
  /// the next character. Does not check that the fields are selectable. Throws
  /// std::invalid_argument, with the same message as kube-apiserver.
  static Selector ParseFieldSelector(std::string_view text);

  /// Returns whether an object satisfies all requirements. `find_value` returns the value of a
  /// field or label, or nullptr if the object does not have it. The pointer must stay valid until
  /// the next call of `find_value` or the return of Matches().
  [[nodiscard]] bool Matches(
      const std::function<const std::string*(const std::string& name)>& find_value) const;
  /// Returns whether an object with these fields or labels, by name, satisfies all requirements.
  [[nodiscard]] bool Matches(const std::map<std::string, std::string>& values) const;
  /// Returns whether the selector has no requirements, so that it matches every object.
  [[nodiscard]] bool empty() const { return requirements_.empty(); }
  /// Returns the names of the fields or labels in the selector.
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
