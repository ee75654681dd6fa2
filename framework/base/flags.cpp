#include "base/duration.hpp"
#include "base/quoted.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>
#include <stdexcept>
#include <utility>

#include <kopp/flags.hpp>

namespace kopp {
namespace {

// The parsers return nullopt for an invalid text.

std::optional<std::string> ParseFlagValue(const std::string& text, std::string*) { return text; }

std::optional<Duration> ParseFlagValue(const std::string& text, Duration*) {
  return detail::ParseDuration(text);
}

// As strconv.ParseBool in Go.
std::optional<bool> ParseFlagValue(const std::string& text, bool*) {
  for (const char* yes : {"true", "1", "t", "T", "TRUE", "True"}) {
    if (text == yes) return true;
  }
  for (const char* no : {"false", "0", "f", "F", "FALSE", "False"}) {
    if (text == no) return false;
  }
  return std::nullopt;
}

template <typename Number>
std::optional<Number> ParseFlagValue(const std::string& text, Number*) {
  Number number{};
  const char* const end = text.data() + text.size();
  const auto [parsed_end, error] = std::from_chars(text.data(), end, number);
  const bool is_finite = std::isfinite(static_cast<double>(number));
  if (error != std::errc() || parsed_end != end || !is_finite) return std::nullopt;
  return number;
}

std::string FlagText(const std::string& value) { return value; }
std::string FlagText(bool value) { return value ? "true" : ""; }
std::string FlagText(Duration value) { return detail::FormatDuration(value); }
template <typename Number>
std::string FlagText(Number value) {
  std::string text(32, '\0');
  text.resize(static_cast<std::size_t>(
      std::to_chars(text.data(), text.data() + text.size(), value).ptr - text.data()));
  return text;
}

struct TypeText {
  const char* type;
  const char* advice;
};
constexpr TypeText kStringText{"TEXT", "write another text"};
constexpr TypeText kListText{"LIST", "write texts separated by commas"};
constexpr TypeText kIntText{"NUMBER", "write a whole number, such as 4"};
constexpr TypeText kDoubleText{"NUMBER", "write a number, such as 0.5"};
constexpr TypeText kDurationText{"DURATION",
                                 "write a duration with its unit, such as 500ms, 30s or 1m30s"};
constexpr TypeText kBoolText{"", "write true or false"};

Flag WithDefaults(Flag flag, const TypeText& text) {
  if (flag.type.empty()) flag.type = text.type;
  if (flag.advice.empty()) flag.advice = text.advice;
  return flag;
}

template <typename T, typename IsValid>
Flags::Entry NewEntry(Flag flag, T& value, IsValid is_valid, const TypeText& text) {
  Flags::Entry entry{.flag = WithDefaults(std::move(flag), text), .default_text = FlagText(value)};
  entry.set = [&value, is_valid = std::move(is_valid),
               advice = entry.flag.advice](const std::vector<std::string>& values) {
    auto parsed = ParseFlagValue(values.back(), static_cast<T*>(nullptr));
    if (!parsed || (is_valid && !is_valid(*parsed))) throw std::invalid_argument(advice);
    value = *std::move(parsed);
  };
  return entry;
}

bool IsValidName(std::string_view name) {
  return !name.empty() && name.front() != '-' && std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-';
  });
}

}  // namespace

Flags& Flags::Add(Flag flag, std::string& value, std::function<bool(const std::string&)> is_valid) {
  return AddEntry(NewEntry(std::move(flag), value, std::move(is_valid), kStringText));
}

Flags& Flags::Add(Flag flag, int& value, std::function<bool(int)> is_valid) {
  return AddEntry(NewEntry(std::move(flag), value, std::move(is_valid), kIntText));
}

Flags& Flags::Add(Flag flag, double& value, std::function<bool(double)> is_valid) {
  return AddEntry(NewEntry(std::move(flag), value, std::move(is_valid), kDoubleText));
}

Flags& Flags::Add(Flag flag, Duration& value, std::function<bool(Duration)> is_valid) {
  return AddEntry(NewEntry(std::move(flag), value, std::move(is_valid), kDurationText));
}

Flags& Flags::Add(Flag flag, bool& value) {
  Entry entry = NewEntry(std::move(flag), value, std::function<bool(bool)>(), kBoolText);
  entry.is_switch = true;
  return AddEntry(std::move(entry));
}

Flags& Flags::Add(Flag flag, std::vector<std::string>& values,
                  std::function<bool(const std::string&)> is_valid) {
  flag = WithDefaults(std::move(flag), kListText);
  const auto parse = [&values, is_valid = std::move(is_valid),
                      advice = flag.advice](const std::vector<std::string>& texts) {
    std::vector<std::string> elements = detail::SplitList(detail::JoinList(texts));
    if (is_valid && !std::all_of(elements.begin(), elements.end(), is_valid)) {
      throw std::invalid_argument(advice);
    }
    values = std::move(elements);
  };
  return AddParsedList(std::move(flag), detail::JoinList(values), parse);
}

Flags& Flags::AddParsed(Flag flag, std::string default_text,
                        std::function<void(const std::string&)> parse) {
  const auto set = [parse = std::move(parse)](const std::vector<std::string>& values) {
    parse(values.back());
  };
  return AddEntry({.flag = WithDefaults(std::move(flag), kStringText),
                   .default_text = std::move(default_text),
                   .set = set});
}

Flags& Flags::AddParsedList(Flag flag, std::string default_text,
                            std::function<void(const std::vector<std::string>&)> parse) {
  return AddEntry({.flag = WithDefaults(std::move(flag), kListText),
                   .is_list = true,
                   .default_text = std::move(default_text),
                   .set = std::move(parse)});
}

Flags& Flags::Append(const Flags& other) {
  for (const Entry& entry : other.entries_) AddEntry(entry);
  return *this;
}

const Flags::Entry* Flags::Find(std::string_view name) const {
  const auto found = std::ranges::find_if(entries_, [&](const Entry& entry) {
    const auto& aliases = entry.flag.aliases;
    return entry.flag.name == name || std::ranges::find(aliases, name) != aliases.end();
  });
  return found == entries_.end() ? nullptr : &*found;
}

Flags& Flags::AddEntry(Entry entry) {
  std::vector<std::string> names = entry.flag.aliases;
  names.push_back(entry.flag.name);
  for (const std::string& name : names) {
    if (!IsValidName(name)) throw std::logic_error("\"" + name + "\" is not a name for a flag");
    if (name == "h" || name == "help" || name == "version" || Find(name) != nullptr) {
      throw std::logic_error("there are two flags with the name --" + name + ": rename one");
    }
  }
  entries_.push_back(std::move(entry));
  return *this;
}

}  // namespace kopp
