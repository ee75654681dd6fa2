#include "api/request_info.hpp"

#include "api/status.hpp"
#include "net/url_query.hpp"
#include "schema/consume_until.hpp"
#include "schema/utf8.hpp"

#include <charconv>
#include <system_error>

#include <fmt/format.h>

namespace kopp::apiserver {

std::string PercentDecode(std::string_view text, bool plus_is_space) {
  return ToValidUtf8(detail::DecodePercent(text, plus_is_space));
}

Query::Query(std::string_view text) {
  while (!text.empty()) {
    std::string_view pair = ConsumeUntil(text, '&');
    const std::string_view name = ConsumeUntil(pair, '=');
    values_.emplace(PercentDecode(name, true), PercentDecode(pair, true));
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
  throw BadRequest(fmt::format(
      R"(strconv.ParseInt: parsing "{}": {})", text,
      error == std::errc::result_out_of_range ? "value out of range" : "invalid syntax"));
}

std::vector<std::string> Query::All(std::string_view name) const {
  std::vector<std::string> values;
  const auto [first, last] = values_.equal_range(name);
  for (auto each = first; each != last; ++each) values.push_back(each->second);
  return values;
}

RequestInfo ParseRequestInfo(std::string_view text) {
  RequestInfo target;
  target.raw = ToValidUtf8(std::string(text));
  std::string_view path = ConsumeUntil(text, '?');
  target.query = Query(text);
  target.path = ToValidUtf8(std::string(path));
  target.has_empty_segment = path.find("//") != std::string_view::npos;
  while (!path.empty()) {
    const std::string_view field = ConsumeUntil(path, '/');
    if (!field.empty()) target.path_segments.push_back(PercentDecode(field, false));
  }

  auto field = target.path_segments.begin();
  const auto end = target.path_segments.end();
  const auto next = [&] { return field == end ? std::string() : *field++; };
  const std::string root = next();
  if (root == "apis") {
    target.group = next();
  } else if (root != "api") {
    return target;
  }
  target.version = next();
  if (field != end && *field == "watch") {
    target.watch_prefix = true;
    ++field;
  }
  if (field == end) return target;
  target.is_resource = true;
  target.plural = next();
  if (target.plural == "namespaces" && end - field >= 2 && field[1] != "status" &&
      field[1] != "finalize") {
    target.ns = next();
    target.plural = next();
  }
  target.name = next();
  while (field != end) target.subresource += (target.subresource.empty() ? "" : "/") + next();
  return target;
}

}  // namespace kopp::apiserver
