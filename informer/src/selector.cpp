#include <algorithm>
#include <charconv>
#include <optional>
#include <stdexcept>
#include <utility>

#include <kopp/informer/detail/names.hpp>
#include <kopp/informer/selector.hpp>

namespace kopp {
namespace {

using Operator = LabelSelector::Operator;

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

std::string InvalidValue(const std::string& path, const std::string& value,
                         const std::string& problem) {
  return path + ": Invalid value: \"" + value + "\": " + problem;
}

bool ComparesIntegers(Operator op) {
  return op == Operator::kGreaterThan || op == Operator::kLessThan;
}

void ValidateKey(const std::string& key) {
  const auto errors = ValidateQualifiedName(key);
  if (!errors.empty()) FailRequirement(InvalidValue("<nil>", key, errors.front()));
}

void ValidateValues(const LabelSelector::Requirement& requirement) {
  for (std::size_t i = 0; i < requirement.values.size(); ++i) {
    const std::string& value = requirement.values[i];
    const std::string path = "values[" + std::to_string(i) + ']';
    if (ComparesIntegers(requirement.op)) {
      if (!ParseInteger(value)) {
        FailRequirement(
            InvalidValue(path, value, "for 'Gt', 'Lt' operators, the value must be an integer"));
      }
    } else if (const NameError error = ValidateLabelValue(value)) {
      FailRequirement(InvalidValue(path + '[' + requirement.key + ']', value, *error));
    }
  }
}

/// Parses label selectors. A token is an identifier or one of the operators "(", ")", ",", "!",
/// "=",
/// "==", "!=", "<" and ">". For the tokenizer, "in" and "notin" are identifiers.
class LabelSelectorParser {
 public:
  explicit LabelSelectorParser(std::string_view text) : text_(text) { ReadToken(); }

  std::vector<LabelSelector::Requirement> Parse() {
    std::vector<LabelSelector::Requirement> requirements;
    while (!AtEnd()) {
      if (IsOperator() && token_ != "!") {
        Fail("found '" + token_ + "', expected: !, identifier, or 'end of string'");
      }
      requirements.push_back(ParseRequirement());
      if (AtEnd()) break;
      if (token_ != ",") Fail("found '" + token_ + "', expected: ',' or 'end of string'");
      ReadToken();
      if (AtEnd() || (IsOperator() && token_ != "!")) {
        Fail("found '" + token_ + "', expected: identifier after ','");
      }
    }
    return requirements;
  }

 private:
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

  LabelSelector::Requirement ParseRequirement() {
    LabelSelector::Requirement requirement;
    const bool negated = token_ == "!";
    if (negated) ReadToken();
    if (AtEnd() || IsOperator()) FailRequirement("found '" + token_ + "', expected: identifier");
    requirement.key = token_;
    ValidateKey(requirement.key);
    ReadToken();
    if (negated || AtEnd() || token_ == ",") {
      requirement.op = negated ? Operator::kDoesNotExist : Operator::kExists;
      return requirement;
    }
    ParseOperator(requirement);
    ValidateValues(requirement);
    return requirement;
  }

  void ParseOperator(LabelSelector::Requirement& requirement) {
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

  std::string_view text_;
  std::string token_;
};

bool Satisfies(const LabelSelector::Requirement& requirement, const std::string* value) {
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

std::string ToText(const LabelSelector::Requirement& requirement) {
  const auto& [key, op, values] = requirement;
  switch (op) {
    case Operator::kExists:
      return key;
    case Operator::kDoesNotExist:
      return '!' + key;
    case Operator::kGreaterThan:
      return key + '>' + values.front();
    case Operator::kLessThan:
      return key + '<' + values.front();
    case Operator::kIn:
    case Operator::kNotIn:
      break;
  }
  const bool in = op == Operator::kIn;
  if (values.size() == 1) return key + (in ? "=" : "!=") + values.front();
  std::string text = key + (in ? " in (" : " notin (");
  for (const std::string& value : values) text += (&value == &values.front() ? "" : ",") + value;
  return text + ')';
}

// Escapes the characters that end a value.
std::string EscapeFieldValue(const std::string& value) {
  std::string escaped;
  for (const char c : value) {
    if (c == '\\' || c == ',' || c == '=') escaped += '\\';
    escaped += c;
  }
  return escaped;
}

std::string UnescapeFieldValue(std::string_view text) {
  std::string value;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool special = text[i] == ',' || text[i] == '=';
    if (text[i] == '\\') {
      const std::string_view escaped = text.substr(i + 1, 1);
      if (escaped != "\\" && escaped != "," && escaped != "=") {
        Fail("invalid field selector: invalid escape sequence: \\" + std::string(escaped));
      }
      ++i;
    } else if (special) {
      Fail("invalid field selector: unescaped character in value: " + std::to_string(text[i]));
    }
    value += text[i];
  }
  return value;
}

// Returns the text up to the first comma that has no backslash before it.
std::string_view FirstTerm(std::string_view text) {
  std::size_t end = 0;
  while (end < text.size() && text[end] != ',') end += text[end] == '\\' ? 2 : 1;
  return text.substr(0, end);
}

template <typename Requirements, typename F>
std::string JoinRequirements(const Requirements& requirements, F text_of) {
  std::string text;
  for (const auto& requirement : requirements) {
    if (!text.empty()) text += ',';
    text += text_of(requirement);
  }
  return text;
}

}  // namespace

LabelSelector::LabelSelector(const std::map<std::string, std::string>& labels) {
  for (const auto& [key, value] : labels) Equals(key, value);
}

LabelSelector LabelSelector::Parse(std::string_view text) {
  LabelSelector selector;
  selector.requirements_ = LabelSelectorParser(text).Parse();
  return selector;
}

LabelSelector& LabelSelector::Add(Requirement requirement) {
  ValidateKey(requirement.key);
  ValidateValues(requirement);
  requirements_.push_back(std::move(requirement));
  return *this;
}

LabelSelector& LabelSelector::Equals(const std::string& key, const std::string& value) {
  return Add({key, Operator::kIn, {value}});
}

LabelSelector& LabelSelector::NotEquals(const std::string& key, const std::string& value) {
  return Add({key, Operator::kNotIn, {value}});
}

LabelSelector& LabelSelector::In(const std::string& key, const std::vector<std::string>& values) {
  if (values.empty()) Fail("label selector: " + key + " in () needs at least one value");
  return Add({key, Operator::kIn, values});
}

LabelSelector& LabelSelector::NotIn(const std::string& key,
                                    const std::vector<std::string>& values) {
  if (values.empty()) Fail("label selector: " + key + " notin () needs at least one value");
  return Add({key, Operator::kNotIn, values});
}

LabelSelector& LabelSelector::Exists(const std::string& key) {
  return Add({key, Operator::kExists, {}});
}

LabelSelector& LabelSelector::DoesNotExist(const std::string& key) {
  return Add({key, Operator::kDoesNotExist, {}});
}

LabelSelector& LabelSelector::GreaterThan(const std::string& key, long long bound) {
  return Add({key, Operator::kGreaterThan, {std::to_string(bound)}});
}

LabelSelector& LabelSelector::LessThan(const std::string& key, long long bound) {
  return Add({key, Operator::kLessThan, {std::to_string(bound)}});
}

bool LabelSelector::Matches(const std::map<std::string, std::string>& labels) const {
  return std::all_of(
      requirements_.begin(), requirements_.end(), [&](const Requirement& requirement) {
        const auto found = labels.find(requirement.key);
        return Satisfies(requirement, found == labels.end() ? nullptr : &found->second);
      });
}

std::string LabelSelector::ToString() const { return JoinRequirements(requirements_, ToText); }

FieldSelector FieldSelector::Parse(std::string_view text) {
  FieldSelector selector;
  for (std::string_view rest = text; !rest.empty();) {
    const std::string_view term = FirstTerm(rest);
    rest.remove_prefix(std::min(term.size() + 1, rest.size()));
    if (term.empty()) continue;
    const auto op = std::min(term.find("!="), term.find('='));
    if (op == std::string_view::npos) {
      Fail("invalid selector: '" + std::string(text) + "'; can't understand '" + std::string(term) +
           '\'');
    }
    const std::size_t size = term.substr(op).starts_with("==") || term[op] == '!' ? 2 : 1;
    selector.requirements_.push_back({std::string(term.substr(0, op)), term[op] == '=',
                                      UnescapeFieldValue(term.substr(op + size))});
  }
  return selector;
}

FieldSelector& FieldSelector::Equals(std::string field, std::string value) {
  requirements_.push_back({std::move(field), true, std::move(value)});
  return *this;
}

FieldSelector& FieldSelector::NotEquals(std::string field, std::string value) {
  requirements_.push_back({std::move(field), false, std::move(value)});
  return *this;
}

bool FieldSelector::Matches(const FindValue& find) const {
  return std::all_of(
      requirements_.begin(), requirements_.end(), [&](const Requirement& requirement) {
        const std::string* value = find(requirement.field);
        return (value != nullptr && *value == requirement.value) == requirement.equals;
      });
}

std::string FieldSelector::ToString() const {
  return JoinRequirements(requirements_, [](const Requirement& requirement) {
    return requirement.field + (requirement.equals ? "=" : "!=") +
           EscapeFieldValue(requirement.value);
  });
}

}  // namespace kopp
