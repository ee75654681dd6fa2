#include "targets.hpp"

#include <algorithm>
#include <map>
#include <stdexcept>
#include <string>

#include <kopp/informer/selector.hpp>

namespace kopp::fuzz {
namespace {

using Fields = std::map<std::string, std::string>;

std::string_view ConsumeLine(std::string_view& text) {
  const std::string_view line = text.substr(0, text.find('\n'));
  text.remove_prefix(std::min(line.size() + 1, text.size()));
  return line;
}

Fields ParseFields(std::string_view text) {
  Fields fields;
  while (!text.empty()) {
    const std::string_view line = ConsumeLine(text);
    const auto equals = line.find('=');
    if (equals != std::string_view::npos)
      fields.emplace(line.substr(0, equals), line.substr(equals + 1));
  }
  return fields;
}

bool Matches(const LabelSelector& selector, const Fields& labels) {
  return selector.Matches(labels);
}

bool Matches(const FieldSelector& selector, const Fields& fields) {
  return selector.Matches([&](const std::string& name) -> const std::string* {
    const auto found = fields.find(name);
    return found == fields.end() ? nullptr : &found->second;
  });
}

/// Checks that the selector that is parsed from `text` is the same after it was printed.
template <typename Selector>
void CheckRoundTrip(std::string_view text, const Fields& fields) {
  Selector selector;
  try {
    selector = Selector::Parse(text);
  } catch (const std::invalid_argument&) {
    return;
  }
  const std::string printed = selector.ToString();
  const Selector again = Selector::Parse(printed);  // must not throw
  if (again != selector || again.ToString() != printed) {
    throw Finding("\"" + std::string(text) + "\" is printed as \"" + printed + "\"");
  }
  if (Matches(again, fields) != Matches(selector, fields)) {
    throw Finding("\"" + printed + "\" matches different objects");
  }
  if (selector.empty() && !Matches(selector, fields)) {
    throw Finding("the empty selector does not match");
  }
}

}  // namespace

void FuzzSelector(std::string_view input) {
  const std::string_view text = ConsumeLine(input);
  const Fields fields = ParseFields(input);
  CheckRoundTrip<LabelSelector>(text, fields);
  CheckRoundTrip<FieldSelector>(text, fields);
}

}  // namespace kopp::fuzz
