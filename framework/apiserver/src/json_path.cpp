#include "json_path.hpp"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>

namespace kopp::apiserver {
namespace {

using nlohmann::json;
using Found = JsonPath::Found;
using Step = JsonPath::Step;
using Steps = JsonPath::Steps;

constexpr std::ptrdiff_t kMostBrackets = 100;  // one in the other, they need a stack

// The steps. None of them minds a value of another type: it leads nowhere.

Found Walk(const Steps& steps, const json& root) {
  Found found{&root};
  for (const Step& step : steps) {
    Found next;
    for (const json* each : found) step(*each, next);
    found = std::move(next);
  }
  return found;
}

Step Field(std::string name) {
  return [name = std::move(name)](const json& from, Found& found) {
    if (!from.is_object()) return;
    if (const auto field = from.find(name); field != from.end()) found.push_back(&*field);
  };
}

void Children(const json& from, Found& found) {
  if (!from.is_structured()) return;
  for (const json& child : from) found.push_back(&child);
}

void Items(const json& from, Found& found) {
  if (from.is_array()) Children(from, found);
}

void WithDescendants(const json& from, Found& found) {
  found.push_back(&from);
  if (!from.is_structured()) return;
  for (const json& child : from) WithDescendants(child, found);
}

/// What all of the paths lead to.
Step Union(std::vector<Steps> paths) {
  return [paths = std::move(paths)](const json& from, Found& found) {
    for (const Steps& path : paths) {
      for (const json* each : Walk(path, from)) found.push_back(each);
    }
  };
}

/// Indices below 0 are counted from behind.
Step Slice(std::int64_t first, std::int64_t end, std::int64_t step) {
  return [first, end, step](const json& from, Found& found) {
    if (!from.is_array()) return;
    const auto size = static_cast<std::int64_t>(from.size());
    const auto in_list = [&](std::int64_t index) {
      return std::clamp<std::int64_t>(index < 0 ? index + size : index, 0, size);
    };
    const std::int64_t stop = in_list(end);
    for (std::int64_t i = in_list(first); i < stop; i += step) {
      found.push_back(&from[static_cast<std::size_t>(i)]);
    }
  };
}

Step Item(std::int64_t index) {
  return [index](const json& from, Found& found) {
    if (!from.is_array()) return;
    const auto size = static_cast<std::int64_t>(from.size());
    const std::int64_t at = index < 0 ? index + size : index;
    if (at >= 0 && at < size) found.push_back(&from[static_cast<std::size_t>(at)]);
  };
}

/// Leads to `value`, whatever it starts from.
Step Literal(json value) {
  return [value = std::make_shared<const json>(std::move(value))](const json&, Found& found) {
    found.push_back(value.get());
  };
}

bool Holds(const json& left, std::string_view op, const json& right) {
  if (left.type() != right.type() && !(left.is_number() && right.is_number())) return false;
  if (op == "==") return left == right;
  if (op == "!=") return left != right;
  if (op == "<") return left < right;
  if (op == "<=") return left <= right;
  return op == ">" ? left > right : left >= right;
}

/// The items for which the comparison holds; without one, those that have something at `left`.
Step Filter(Steps left, std::string op, Steps right) {
  return [left = std::move(left), op = std::move(op), right = std::move(right)](const json& from,
                                                                                Found& found) {
    if (!from.is_array()) return;
    for (const json& item : from) {
      const Found lefts = Walk(left, item);
      const Found rights = Walk(right, item);
      if (lefts.empty() || rights.empty()) continue;
      if (op.empty() || Holds(*lefts.front(), op, *rights.front())) found.push_back(&item);
    }
  };
}

// Reading them. What cannot be read is a std::invalid_argument.

Steps ReadSteps(std::string_view text);

[[noreturn]] void Unreadable(std::string_view text) {
  throw std::invalid_argument("no JSONPath: " + std::string(text));
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

std::int64_t ReadInteger(std::string_view text) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) Unreadable(text);
  return number;
}

/// The text in front of `end`, which `text` loses with it; quoted or in brackets it is no end.
std::string_view TakeUntil(std::string_view& text, char end) {
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
  const std::string_view taken = text.substr(0, i);
  text.remove_prefix(std::min(i + 1, text.size()));
  return taken;
}

/// One side of a comparison.
Steps ReadSide(std::string_view text) {
  text = Trimmed(text);
  if (text.starts_with('@')) return ReadSteps(text.substr(1));
  if (text.starts_with('.')) return ReadSteps(text);
  if (IsQuoted(text, '\'') || IsQuoted(text, '"')) return {Literal(std::string(Unquoted(text)))};
  json value = json::parse(text, nullptr, false);
  if (!value.is_number() && !value.is_boolean()) Unreadable(text);
  return {Literal(std::move(value))};
}

// @.a=="b"
Step ReadFilter(std::string_view text) {
  constexpr std::string_view kOps[] = {"==", "!=", "<=", ">=", "<", ">"};
  const auto at = text.find_first_of("!<>=");
  if (at == std::string_view::npos) return Filter(ReadSide(text), "", {});
  for (const std::string_view op : kOps) {
    if (!text.substr(at).starts_with(op)) continue;
    return Filter(ReadSide(text.substr(0, at)), std::string(op),
                  ReadSide(text.substr(at + op.size())));
  }
  Unreadable(text);
}

// FIRST:END:STEP
Step ReadSlice(std::string_view text) {
  const std::string_view first = TakeUntil(text, ':');
  const std::string_view end = TakeUntil(text, ':');
  const std::int64_t step = text.empty() ? 1 : ReadInteger(text);
  if (step < 1) Unreadable(text);
  return Slice(first.empty() ? 0 : ReadInteger(first),
               end.empty() ? std::numeric_limits<std::int64_t>::max() : ReadInteger(end), step);
}

Step ReadItem(std::string_view text) {
  if (text == "*") return Items;
  if (text.find(':') != std::string_view::npos && !IsQuoted(text, '\'')) return ReadSlice(text);
  return Item(ReadInteger(text));
}

/// What stands between '[' and ']'.
Step ReadBrackets(std::string_view text) {
  if (text.starts_with("?(") && text.ends_with(')')) {
    return ReadFilter(text.substr(2, text.size() - 3));
  }
  std::vector<Steps> paths;
  do {
    const std::string_view each = TakeUntil(text, ',');
    paths.push_back(IsQuoted(each, '\'') ? ReadSteps('.' + std::string(Unquoted(each)))
                                         : Steps{ReadItem(each)});
  } while (!text.empty());
  return Union(std::move(paths));
}  // NOLINT(clang-analyzer-cplusplus.NewDeleteLeaks): loses sight of what the vector holds

/// A backslash in front of a character makes it part of the name.
std::string TakeName(std::string_view& text) {
  std::string name;
  while (!text.empty() && std::string_view(".[] ,$@{}").find(text.front()) == text.npos) {
    if (text.front() == '\\' && text.size() > 1) text.remove_prefix(1);
    name += text.front();
    text.remove_prefix(1);
  }
  return name;
}

Steps ReadSteps(std::string_view text) {
  Steps steps;
  text = Trimmed(text);
  while (!text.empty()) {
    if (text.front() == '[') {
      text.remove_prefix(1);
      steps.push_back(ReadBrackets(TakeUntil(text, ']')));
      continue;
    }
    if (text.front() != '.') Unreadable(text);
    text.remove_prefix(1);
    if (text.starts_with('.')) {
      steps.emplace_back(WithDescendants);
      text.remove_prefix(1);
    }
    std::string name = TakeName(text);
    steps.push_back(name == "*" ? Step(Children) : Field(std::move(name)));
  }
  return steps;
}

}  // namespace

std::optional<JsonPath> JsonPath::Read(std::string_view text) {
  if (std::count(text.begin(), text.end(), '[') > kMostBrackets) return std::nullopt;
  try {
    return JsonPath(ReadSteps(text));
  } catch (const std::invalid_argument&) {
    return std::nullopt;
  }
}

Found JsonPath::Follow(const json& root) const { return Walk(steps_, root); }

}  // namespace kopp::apiserver
