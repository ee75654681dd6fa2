#pragma once

#include "store.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace kopp::apiserver {

/// Which objects a client asks for.
class Selector {
 public:
  /// Everything.
  Selector() = default;

  /// Reads "app=web,tier in (a,b),!old". Throws std::invalid_argument, in the real server's words.
  static Selector OfLabels(std::string_view text);
  /// Reads "metadata.name=a,status.phase!=Failed". Throws likewise.
  static Selector OfFields(std::string_view text);

  [[nodiscard]] bool Matches(const std::map<std::string, std::string>& values) const;
  [[nodiscard]] bool empty() const { return requirements_.empty(); }
  /// The fields or labels that it names.
  [[nodiscard]] std::vector<std::string> Names() const;
  /// The one value that `name` may have; "" where it may have several.
  [[nodiscard]] std::string ValueOf(std::string_view name) const;

 private:
  friend class LabelSelectorReader;
  enum class Operator { kIn, kNotIn, kExists, kDoesNotExist, kGreaterThan, kLessThan };
  struct Requirement {
    std::string name{};
    Operator op = Operator::kIn;
    std::vector<std::string> values{};
  };
  static bool Meets(const Requirement& requirement,
                    const std::map<std::string, std::string>& values);

  std::vector<Requirement> requirements_;
};

}  // namespace kopp::apiserver
