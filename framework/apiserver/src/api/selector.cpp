#include "api/selector.hpp"

#include "json/names.hpp"

#include <algorithm>
#include <charconv>
#include <optional>
#include <stdexcept>

#include <fmt/format.h>

namespace kopp::apiserver {
namespace {

std::optional<long long> ParseInteger(const std::string& text) {
  long long value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() ? std::optional(value)
                                                                  : std::nullopt;
}

[[noreturn]] void Fail(const std::string& message) { throw std::invalid_argument(message); }
[[noreturn]] void FailRequirement(const std::string& message) {
  Fail("unable to parse requirement: " + message);
}

}  // namespace

/// Parses label selectors. A token is an identifier or one of the operators "(", ")", ",", "!",
/// "=",
/// "==", "!=", "<" and ">". For the tokenizer, "in" and "notin" are identifiers.
class LabelSelectorParser {
 public:
  explicit LabelSelectorParser(std::string_view text) : text_(text) { ReadToken(); }

  Selector Parse() {
    Selector selector;
    while (!AtEnd()) {
      if (IsOperator() && token_ != "!") {
        Fail("found '" + token_ + "', expected: !, identifier, or 'end of string'");
      }
      selector.requirements_.push_back(ParseRequirement());
      if (AtEnd()) break;
      if (token_ != ",") Fail("found '" + token_ + "', expected: ',' or 'end of string'");
      ReadToken();
      if (AtEnd() || (IsOperator() && token_ != "!")) {
        Fail("found '" + token_ + "', expected: identifier after ','");
      }
    }
    return selector;
  }

 private:
  using Operator = Selector::Operator;

  [[nodiscard]] bool AtEnd() const { return token_.empty(); }
  [[nodiscard]] bool IsOperator() const {
    return !token_.empty() &&
           std::string_view("(),!=<>").find(token_.front()) != std::string_view::npos;
  }

  void ReadToken() {
    constexpr std::string_view kSpace = " \t\r\n";
    text_.remove_prefix(std::min(text_.find_first_not_of(kSpace), text_.size()));
    std::size_t size = std::min(text_.find_first_of(" \t\r\n(),!=<>"), text_.size());
    if (size == 0 && !text_.empty()) {
      size = text_.starts_with("==") || text_.starts_with("!=") ? 2 : 1;
    }
    token_ = text_.substr(0, size);
    text_.remove_prefix(size);
  }

  Selector::Requirement ParseRequirement() {
    Selector::Requirement requirement;
    const bool negated = token_ == "!";
    if (negated) ReadToken();
    if (AtEnd() || IsOperator()) FailRequirement("found '" + token_ + "', expected: identifier");
    requirement.name = token_;
    if (const auto errors = ValidateQualifiedName(requirement.name); !errors.empty()) {
      FailRequirement(
          fmt::format(R"(<nil>: Invalid value: "{}": {})", requirement.name, errors.front()));
    }
    ReadToken();
    if (negated || AtEnd() || token_ == ",") {
      requirement.op = negated ? Operator::kDoesNotExist : Operator::kExists;
      return requirement;
    }
    ParseOperator(requirement);
    for (std::size_t i = 0; i < requirement.values.size(); ++i) CheckValue(requirement, i);
    return requirement;
  }

  void ParseOperator(Selector::Requirement& requirement) {
    const std::string op = token_;
    if (op == "in" || op == "notin") {
      requirement.op = op == "in" ? Operator::kIn : Operator::kNotIn;
      ReadToken();
      return ParseValues(requirement.values);
    }
    if (op == "=" || op == "==") {
      requirement.op = Operator::kIn;
    } else if (op == "!=") {
      requirement.op = Operator::kNotIn;
    } else if (op == ">") {
      requirement.op = Operator::kGreaterThan;
    } else if (op == "<") {
      requirement.op = Operator::kLessThan;
    } else {
      FailRequirement("found '" + op + "', expected: in, notin, =, ==, !=, gt, lt");
    }
    ReadToken();
    if (AtEnd() || token_ == ",") {
      requirement.values.emplace_back();
    } else {
      if (IsOperator()) FailRequirement("found '" + token_ + "', expected: identifier");
      requirement.values.push_back(token_);
      ReadToken();
    }
  }

  void ParseValues(std::vector<std::string>& values) {
    if (token_ != "(") FailRequirement("found '" + token_ + "' expected: '('");
    ReadToken();
    if (token_ == ")") {
      values.emplace_back();
      return ReadToken();
    }
    for (;;) {
      values.push_back(IsOperator() ? "" : token_);
      if (!IsOperator()) ReadToken();
      if (token_ == ")") return ReadToken();
      if (token_ != ",") FailRequirement("found '" + token_ + "', expected: ',' or ')'");
      ReadToken();
    }
  }

  static void CheckValue(const Selector::Requirement& requirement, std::size_t i) {
    const std::string& value = requirement.values[i];
    const std::string path = "values[" + std::to_string(i) + ']';
    if (requirement.op == Operator::kGreaterThan || requirement.op == Operator::kLessThan) {
      if (!ParseInteger(value)) {
        FailRequirement(fmt::format(
            R"({}: Invalid value: "{}": for 'Gt', 'Lt' operators, the value must be an integer)",
            path, value));
      }
    } else if (const NameError error = ValidateLabelValue(value)) {
      FailRequirement(
          fmt::format(R"({}[{}]: Invalid value: "{}": {})", path, requirement.name, value, *error));
    }
  }

  std::string_view text_;
  std::string token_;
};

Selector Selector::ParseLabelSelector(std::string_view text) {
  return LabelSelectorParser(text).Parse();
}

Selector Selector::ParseFieldSelector(std::string_view text) {
  Selector selector;
  while (!text.empty()) {
    std::string term;
    std::optional<std::size_t> operator_position;
    std::size_t i = 0;
    for (; i < text.size() && text[i] != ','; ++i) {
      if (text[i] == '\\' && i + 1 < text.size()) ++i;
      if (text[i] == '=' && operator_position && term.size() > *operator_position + 1) {
        throw std::invalid_argument("invalid field selector: unescaped character in value: 61");
      }
      if (text[i] == '=' && !operator_position) operator_position = term.size();
      term += text[i];
    }
    text.remove_prefix(std::min(i + 1, text.size()));
    if (term.empty()) continue;
    if (!operator_position) {
      throw std::invalid_argument("invalid selector: '" + term + "'; can't understand '" + term +
                                  '\'');
    }
    const bool negated = *operator_position > 0 && term[*operator_position - 1] == '!';
    const bool doubled = term.compare(*operator_position, 2, "==") == 0;
    selector.requirements_.push_back(
        {term.substr(0, negated ? *operator_position - 1 : *operator_position),
         negated ? Operator::kNotIn : Operator::kIn,
         {term.substr(*operator_position + (doubled ? 2 : 1))}});
  }
  return selector;
}

bool Selector::Matches(
    const std::function<const std::string*(const std::string& name)>& find_value) const {
  return std::all_of(requirements_.begin(), requirements_.end(),
                     [&](const Requirement& requirement) {
                       return Satisfies(requirement, find_value(requirement.name));
                     });
}

bool Selector::Matches(const std::map<std::string, std::string>& values) const {
  return Matches([&](const std::string& name) {
    const auto found = values.find(name);
    return found == values.end() ? nullptr : &found->second;
  });
}

bool Selector::Satisfies(const Requirement& requirement, const std::string* value) {
  const std::vector<std::string>& values = requirement.values;
  const auto is_in_values = [&] {
    return value != nullptr && std::find(values.begin(), values.end(), *value) != values.end();
  };
  switch (requirement.op) {
    case Operator::kIn:
      return is_in_values();
    case Operator::kNotIn:
      return !is_in_values();
    case Operator::kExists:
      return value != nullptr;
    case Operator::kDoesNotExist:
      return value == nullptr;
    case Operator::kGreaterThan:
    case Operator::kLessThan:
      break;
  }
  const auto number = value == nullptr ? std::nullopt : ParseInteger(*value);
  if (!number) return false;
  const long long bound = *ParseInteger(values.front());
  return requirement.op == Operator::kGreaterThan ? *number > bound : *number < bound;
}

std::vector<std::string> Selector::Names() const {
  std::vector<std::string> names;
  for (const Requirement& requirement : requirements_) names.push_back(requirement.name);
  return names;
}

}  // namespace kopp::apiserver
