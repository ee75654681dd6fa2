#include "printers/json_path.hpp"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <stdexcept>
#include <string>

namespace kopp::apiserver {
namespace {

using nlohmann::json;
using Values = JsonPath::Values;
using Step = JsonPath::Step;
using Steps = JsonPath::Steps;

constexpr std::ptrdiff_t kMaxBrackets = 100;  // limits the recursion for nested brackets

// Steps. A step selects nothing from a value of an unsuitable type.

Values Walk(const Steps& steps, const json& root) {
  Values values{&root};
  for (const Step& step : steps) {
    Values next;
    for (const json* value : values) step(*value, next);
    values = std::move(next);
  }
  return values;
}

Step FieldStep(std::string name) {
  return [name = std::move(name)](const json& from, Values& values) {
    if (!from.is_object()) return;
    if (const auto field = from.find(name); field != from.end()) values.push_back(&*field);
  };
}

void Children(const json& from, Values& values) {
  if (!from.is_structured()) return;
  for (const json& child : from) values.push_back(&child);
}

void Items(const json& from, Values& values) {
  if (from.is_array()) Children(from, values);
}

void WithDescendants(const json& from, Values& values) {
  values.push_back(&from);
  if (!from.is_structured()) return;
  for (const json& child : from) WithDescendants(child, values);
}

/// Selects the values of all paths.
Step Union(std::vector<Steps> paths) {
  return [paths = std::move(paths)](const json& from, Values& values) {
    for (const Steps& path : paths) {
      for (const json* value : Walk(path, from)) values.push_back(value);
    }
  };
}

/// Selects a slice of a list. A negative index counts from the end of the list.
Step Slice(std::int64_t first, std::int64_t end, std::int64_t step) {
  return [first, end, step](const json& from, Values& values) {
    if (!from.is_array()) return;
    const auto size = static_cast<std::int64_t>(from.size());
    const auto in_list = [&](std::int64_t index) {
      return std::clamp<std::int64_t>(index < 0 ? index + size : index, 0, size);
    };
    const std::int64_t stop = in_list(end);
    for (std::int64_t i = in_list(first); i < stop; i += step) {
      values.push_back(&from[static_cast<std::size_t>(i)]);
    }
  };
}

Step Item(std::int64_t index) {
  return [index](const json& from, Values& values) {
    if (!from.is_array()) return;
    const auto size = static_cast<std::int64_t>(from.size());
    const std::int64_t at = index < 0 ? index + size : index;
    if (at >= 0 && at < size) values.push_back(&from[static_cast<std::size_t>(at)]);
  };
}

/// Selects `value` itself, independent of the input.
Step Literal(json value) {
  return [value = std::make_shared<const json>(std::move(value))](const json&, Values& values) {
    values.push_back(value.get());
  };
}

bool Compare(const json& left, std::string_view op, const json& right) {
  if (left.type() != right.type() && !(left.is_number() && right.is_number())) return false;
  if (op == "==") return left == right;
  if (op == "!=") return left != right;
  if (op == "<") return left < right;
  if (op == "<=") return left <= right;
  return op == ">" ? left > right : left >= right;
}

/// Selects the items for which the comparison is true. Without an operator, selects the items that
/// have a value at `left`.
Step Filter(Steps left, std::string op, Steps right) {
  return [left = std::move(left), op = std::move(op), right = std::move(right)](const json& from,
                                                                                Values& values) {
    if (!from.is_array()) return;
    for (const json& item : from) {
      const Values lefts = Walk(left, item);
      const Values rights = Walk(right, item);
      if (lefts.empty() || rights.empty()) continue;
      if (op.empty() || Compare(*lefts.front(), op, *rights.front())) values.push_back(&item);
    }
  };
}

// Parser. It throws std::invalid_argument on a syntax error.

Steps ParseSteps(std::string_view text);

[[noreturn]] void ThrowSyntaxError(std::string_view text) {
  throw std::invalid_argument("invalid JSONPath: " + std::string(text));
}

std::string_view Trimmed(std::string_view text) {
  while (text.starts_with(' ')) text.remove_prefix(1);
  while (text.ends_with(' ')) text.remove_suffix(1);
  return text;
}

bool IsQuoted(std::string_view text, char quote) {
  return text.size() > 1 && text.front() == quote && text.back() == quote;
}

std::string_view Unquoted(std::string_view text) { return text.substr(1, text.size() - 2); }

std::int64_t ParseInteger(std::string_view text) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) ThrowSyntaxError(text);
  return number;
}

/// Removes and returns the text before the next `end`, and removes the `end` itself. Ignores an
/// `end` inside quotes or brackets.
std::string_view ConsumeUntilUnnested(std::string_view& text, char end) {
  int depth = 0;
  char quote = '\0';
  std::size_t i = 0;
  for (; i < text.size(); ++i) {
    const char c = text[i];
    if (quote == '\0' && depth == 0 && c == end) break;
    if (quote == '\0' && c == '[') ++depth;
    if (quote == '\0' && c == ']') --depth;
    if (c == quote) {
      quote = '\0';
    } else if (quote == '\0' && (c == '\'' || c == '"')) {
      quote = c;
    }
  }
  const std::string_view consumed = text.substr(0, i);
  text.remove_prefix(std::min(i + 1, text.size()));
  return consumed;
}

/// Parses one operand of a comparison.
Steps ParseOperand(std::string_view text) {
  text = Trimmed(text);
  if (text.starts_with('@')) return ParseSteps(text.substr(1));
  if (text.starts_with('.')) return ParseSteps(text);
  if (IsQuoted(text, '\'') || IsQuoted(text, '"')) return {Literal(std::string(Unquoted(text)))};
  json value = json::parse(text, nullptr, false);
  if (!value.is_number() && !value.is_boolean()) ThrowSyntaxError(text);
  return {Literal(std::move(value))};
}

// Parses a filter such as @.a=="b".
Step ParseFilter(std::string_view text) {
  constexpr std::string_view kOps[] = {"==", "!=", "<=", ">=", "<", ">"};
  const auto at = text.find_first_of("!<>=");
  if (at == std::string_view::npos) return Filter(ParseOperand(text), "", {});
  for (const std::string_view op : kOps) {
    if (!text.substr(at).starts_with(op)) continue;
    return Filter(ParseOperand(text.substr(0, at)), std::string(op),
                  ParseOperand(text.substr(at + op.size())));
  }
  ThrowSyntaxError(text);
}

// Parses a slice FIRST:END:STEP.
Step ParseSlice(std::string_view text) {
  const std::string_view first = ConsumeUntilUnnested(text, ':');
  const std::string_view end = ConsumeUntilUnnested(text, ':');
  const std::int64_t step = text.empty() ? 1 : ParseInteger(text);
  if (step < 1) ThrowSyntaxError(text);
  return Slice(first.empty() ? 0 : ParseInteger(first),
               end.empty() ? std::numeric_limits<std::int64_t>::max() : ParseInteger(end), step);
}

Step ParseItem(std::string_view text) {
  if (text == "*") return Items;
  if (text.find(':') != std::string_view::npos && !IsQuoted(text, '\'')) return ParseSlice(text);
  return Item(ParseInteger(text));
}

/// Parses the text between '[' and ']'.
Step ParseBrackets(std::string_view text) {
  if (text.starts_with("?(") && text.ends_with(')')) {
    return ParseFilter(text.substr(2, text.size() - 3));
  }
  std::vector<Steps> paths;
  do {
    const std::string_view element = ConsumeUntilUnnested(text, ',');
    paths.push_back(IsQuoted(element, '\'') ? ParseSteps('.' + std::string(Unquoted(element)))
                                            : Steps{ParseItem(element)});
  } while (!text.empty());
  return Union(std::move(paths));
}  // NOLINT(clang-analyzer-cplusplus.NewDeleteLeaks): false positive about the vector

/// Removes and returns a field name. A backslash makes the next character part of the name.
std::string ConsumeName(std::string_view& text) {
  std::string name;
  while (!text.empty() && std::string_view(".[] ,$@{}").find(text.front()) == text.npos) {
    if (text.front() == '\\' && text.size() > 1) text.remove_prefix(1);
    name += text.front();
    text.remove_prefix(1);
  }
  return name;
}

Steps ParseSteps(std::string_view text) {
  Steps steps;
  text = Trimmed(text);
  while (!text.empty()) {
    if (text.front() == '[') {
      text.remove_prefix(1);
      steps.push_back(ParseBrackets(ConsumeUntilUnnested(text, ']')));
      continue;
    }
    if (text.front() != '.') ThrowSyntaxError(text);
    text.remove_prefix(1);
    if (text.starts_with('.')) {
      steps.emplace_back(WithDescendants);
      text.remove_prefix(1);
    }
    std::string name = ConsumeName(text);
    steps.push_back(name == "*" ? Step(Children) : FieldStep(std::move(name)));
  }
  return steps;
}

}  // namespace

std::optional<JsonPath> JsonPath::Parse(std::string_view text) {
  if (std::count(text.begin(), text.end(), '[') > kMaxBrackets) return std::nullopt;
  try {
    return JsonPath(ParseSteps(text));
  } catch (const std::invalid_argument&) {
    return std::nullopt;
  }
}

Values JsonPath::Evaluate(const json& root) const { return Walk(steps_, root); }

}  // namespace kopp::apiserver
