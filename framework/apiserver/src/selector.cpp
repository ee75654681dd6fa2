#include "selector.hpp"

#include "names.hpp"

#include <algorithm>
#include <charconv>
#include <optional>
#include <stdexcept>

namespace kopp::apiserver {
namespace {

std::optional<long long> IntegerOf(const std::string& text) {
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

/// The grammar of label selectors: words, and the signs ( ) , ! = == != < >
class LabelSelectorReader {
 public:
  explicit LabelSelectorReader(std::string_view text) : text_(text) { Next(); }

  Selector Read() {
    Selector selector;
    while (!AtEnd()) {
      if (IsSign() && token_ != "!") {
        Fail("found '" + token_ + "', expected: !, identifier, or 'end of string'");
      }
      selector.requirements_.push_back(ReadRequirement());
      if (AtEnd()) break;
      if (token_ != ",") Fail("found '" + token_ + "', expected: ',' or 'end of string'");
      Next();
      if (AtEnd() || (IsSign() && token_ != "!")) {
        Fail("found '" + token_ + "', expected: identifier after ','");
      }
    }
    return selector;
  }

 private:
  using Operator = Selector::Operator;

  [[nodiscard]] bool AtEnd() const { return token_.empty(); }
  [[nodiscard]] bool IsSign() const {
    return !token_.empty() &&
           std::string_view("(),!=<>").find(token_.front()) != std::string_view::npos;
  }

  void Next() {
    constexpr std::string_view kSpace = " \t\r\n";
    text_.remove_prefix(std::min(text_.find_first_not_of(kSpace), text_.size()));
    std::size_t size = std::min(text_.find_first_of(" \t\r\n(),!=<>"), text_.size());
    if (size == 0 && !text_.empty()) {
      size = text_.starts_with("==") || text_.starts_with("!=") ? 2 : 1;
    }
    token_ = text_.substr(0, size);
    text_.remove_prefix(size);
  }

  Selector::Requirement ReadRequirement() {
    Selector::Requirement requirement;
    const bool negated = token_ == "!";
    if (negated) Next();
    if (AtEnd() || IsSign()) FailRequirement("found '" + token_ + "', expected: identifier");
    requirement.name = token_;
    if (const auto problems = QualifiedNameProblems(requirement.name); !problems.empty()) {
      FailRequirement("<nil>: Invalid value: \"" + requirement.name + "\": " + problems.front());
    }
    Next();
    if (negated || AtEnd() || token_ == ",") {
      requirement.op = negated ? Operator::kDoesNotExist : Operator::kExists;
      return requirement;
    }
    ReadOperator(requirement);
    for (std::size_t i = 0; i < requirement.values.size(); ++i) CheckValue(requirement, i);
    return requirement;
  }

  void ReadOperator(Selector::Requirement& requirement) {
    const std::string op = token_;
    if (op == "in" || op == "notin") {
      requirement.op = op == "in" ? Operator::kIn : Operator::kNotIn;
      Next();
      return ReadValues(requirement.values);
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
    Next();
    if (AtEnd() || token_ == ",") {
      requirement.values.emplace_back();
    } else {
      if (IsSign()) FailRequirement("found '" + token_ + "', expected: identifier");
      requirement.values.push_back(token_);
      Next();
    }
  }

  void ReadValues(std::vector<std::string>& values) {
    if (token_ != "(") FailRequirement("found '" + token_ + "' expected: '('");
    Next();
    if (token_ == ")") {
      values.emplace_back();
      return Next();
    }
    for (;;) {
      values.push_back(IsSign() ? "" : token_);
      if (!IsSign()) Next();
      if (token_ == ")") return Next();
      if (token_ != ",") FailRequirement("found '" + token_ + "', expected: ',' or ')'");
      Next();
    }
  }

  static void CheckValue(const Selector::Requirement& requirement, std::size_t i) {
    const std::string& value = requirement.values[i];
    const std::string where = "values[" + std::to_string(i) + ']';
    if (requirement.op == Operator::kGreaterThan || requirement.op == Operator::kLessThan) {
      if (!IntegerOf(value)) {
        FailRequirement(where + ": Invalid value: \"" + value +
                        "\": for 'Gt', 'Lt' operators, the value must be an integer");
      }
    } else if (const Why why = NotALabelValue(value)) {
      FailRequirement(where + '[' + requirement.name + "]: Invalid value: \"" + value +
                      "\": " + *why);
    }
  }

  std::string_view text_;
  std::string token_;
};

Selector Selector::OfLabels(std::string_view text) { return LabelSelectorReader(text).Read(); }

// A backslash takes the next character as it is.
Selector Selector::OfFields(std::string_view text) {
  Selector selector;
  while (!text.empty()) {
    std::string term;
    std::optional<std::size_t> equals;
    std::size_t at = 0;
    for (; at < text.size() && text[at] != ','; ++at) {
      if (text[at] == '\\' && at + 1 < text.size()) ++at;
      if (text[at] == '=' && equals && term.size() > *equals + 1) {
        throw std::invalid_argument("invalid field selector: unescaped character in value: 61");
      }
      if (text[at] == '=' && !equals) equals = term.size();
      term += text[at];
    }
    text.remove_prefix(std::min(at + 1, text.size()));
    if (term.empty()) continue;
    if (!equals) {
      throw std::invalid_argument("invalid selector: '" + term + "'; can't understand '" + term +
                                  '\'');
    }
    const bool negated = *equals > 0 && term[*equals - 1] == '!';
    const bool doubled = term.compare(*equals, 2, "==") == 0;
    selector.requirements_.push_back({term.substr(0, negated ? *equals - 1 : *equals),
                                      negated ? Operator::kNotIn : Operator::kIn,
                                      {term.substr(*equals + (doubled ? 2 : 1))}});
  }
  return selector;
}

bool Selector::Matches(
    const std::function<const std::string*(const std::string& name)>& find) const {
  return std::all_of(requirements_.begin(), requirements_.end(),
                     [&](const Requirement& each) { return Meets(each, find(each.name)); });
}

bool Selector::Matches(const std::map<std::string, std::string>& values) const {
  return Matches([&](const std::string& name) {
    const auto found = values.find(name);
    return found == values.end() ? nullptr : &found->second;
  });
}

bool Selector::Meets(const Requirement& requirement, const std::string* value) {
  const std::vector<std::string>& wanted = requirement.values;
  const auto is_wanted = [&] {
    return value != nullptr && std::find(wanted.begin(), wanted.end(), *value) != wanted.end();
  };
  switch (requirement.op) {
    case Operator::kIn:
      return is_wanted();
    case Operator::kNotIn:
      return !is_wanted();
    case Operator::kExists:
      return value != nullptr;
    case Operator::kDoesNotExist:
      return value == nullptr;
    case Operator::kGreaterThan:
    case Operator::kLessThan:
      break;
  }
  const auto number = value == nullptr ? std::nullopt : IntegerOf(*value);
  if (!number) return false;
  const long long bound = *IntegerOf(wanted.front());
  return requirement.op == Operator::kGreaterThan ? *number > bound : *number < bound;
}

std::vector<std::string> Selector::Names() const {
  std::vector<std::string> names;
  for (const Requirement& each : requirements_) names.push_back(each.name);
  return names;
}

}  // namespace kopp::apiserver
