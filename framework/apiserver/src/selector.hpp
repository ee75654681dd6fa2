#pragma once

#include "store.hpp"

#include <functional>
#include <map>
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

  /// `find` gives the value of a field or label; nullptr: there is none.
  [[nodiscard]] bool Matches(
      const std::function<const std::string*(const std::string& name)>& find) const;
  [[nodiscard]] bool Matches(const std::map<std::string, std::string>& values) const;
  [[nodiscard]] bool empty() const { return requirements_.empty(); }
  /// The fields or labels that it names.
  [[nodiscard]] std::vector<std::string> Names() const;

 private:
  friend class LabelSelectorReader;
  enum class Operator { kIn, kNotIn, kExists, kDoesNotExist, kGreaterThan, kLessThan };
  struct Requirement {
    std::string name{};
    Operator op = Operator::kIn;
    std::vector<std::string> values{};
  };
  static bool Meets(const Requirement& requirement, const std::string* value);

  std::vector<Requirement> requirements_;
};

}  // namespace kopp::apiserver
