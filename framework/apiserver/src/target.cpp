#include "target.hpp"

#include "status.hpp"
#include "utf8.hpp"

#include <algorithm>
#include <charconv>
#include <system_error>
#include <utility>

namespace kopp::apiserver {
namespace {

/// The text in front of `end`, which `text` loses with it.
std::string_view Take(std::string_view& text, char end) {
  const std::string_view taken = text.substr(0, text.find(end));
  text.remove_prefix(std::min(taken.size() + 1, text.size()));
  return taken;
}

}  // namespace

std::string PercentDecoded(std::string_view text, bool plus_is_space) {
  std::string decoded;
  for (std::size_t i = 0; i < text.size(); ++i) {
    unsigned char byte = 0;
    if (text[i] == '%' && i + 2 < text.size() &&
        std::from_chars(text.data() + i + 1, text.data() + i + 3, byte, 16).ptr ==
            text.data() + i + 3) {
      decoded += static_cast<char>(byte);
      i += 2;
    } else {
      decoded += plus_is_space && text[i] == '+' ? ' ' : text[i];
    }
  }
  return AsUtf8(std::move(decoded));
}

Query::Query(std::string_view text) {
  while (!text.empty()) {
    std::string_view pair = Take(text, '&');
    const std::string_view name = Take(pair, '=');
    values_.emplace(PercentDecoded(name, true), PercentDecoded(pair, true));
  }
}

std::string Query::Get(std::string_view name) const {
  const auto found = values_.lower_bound(name);
  return found == values_.end() || found->first != name ? "" : found->second;
}

bool Query::IsTrue(std::string_view name) const {
  if (!Has(name)) return false;
  const std::string value = Get(name);
  return value != "false" && value != "0";
}

std::int64_t Query::Integer(std::string_view name) const {
  const std::string text = Get(name);
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc() && end == text.data() + text.size()) return value;
  throw BadRequest(
      "strconv.ParseInt: parsing \"" + text +
      "\": " + (error == std::errc::result_out_of_range ? "value out of range" : "invalid syntax"));
}

std::vector<std::string> Query::All(std::string_view name) const {
  std::vector<std::string> values;
  const auto [first, last] = values_.equal_range(name);
  for (auto each = first; each != last; ++each) values.push_back(each->second);
  return values;
}

Target ParseTarget(std::string_view text) {
  Target target;
  target.text = AsUtf8(std::string(text));
  std::string_view path = Take(text, '?');
  target.query = Query(text);
  target.path = AsUtf8(std::string(path));
  target.has_empty_part = path.find("//") != std::string_view::npos;
  while (!path.empty()) {
    const std::string_view part = Take(path, '/');
    if (!part.empty()) target.parts.push_back(PercentDecoded(part, false));
  }

  auto part = target.parts.begin();
  const auto end = target.parts.end();
  const auto next = [&] { return part == end ? std::string() : *part++; };
  const std::string root = next();
  if (root == "apis") {
    target.group = next();
  } else if (root != "api") {
    return target;
  }
  target.version = next();
  if (part != end && *part == "watch") {
    target.watch_prefix = true;
    ++part;
  }
  if (part == end) return target;
  target.is_resource = true;
  target.plural = next();
  if (target.plural == "namespaces" && end - part >= 2 && part[1] != "status" &&
      part[1] != "finalize") {
    target.ns = next();
    target.plural = next();
  }
  target.name = next();
  while (part != end) target.subresource += (target.subresource.empty() ? "" : "/") + next();
  return target;
}

}  // namespace kopp::apiserver
