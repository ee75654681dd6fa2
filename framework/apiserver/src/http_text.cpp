#include "http_text.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <utility>

#include <boost/beast/http/rfc7230.hpp>
#include <boost/beast/http/status.hpp>

namespace kopp::apiserver {
namespace {

namespace http = boost::beast::http;
using boost::beast::iequals;

std::string_view View(boost::beast::string_view text) { return {text.data(), text.size()}; }

constexpr std::size_t kLongestAuditId = 64;  // as in the real server

bool IsVisible(char c) { return c > ' ' && c < '\x7f'; }

bool IsHex(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

/// Each % begins the two digits of a byte.
bool IsEncoded(std::string_view path) {
  for (std::size_t at = path.find('%'); at != std::string_view::npos; at = path.find('%', at + 1)) {
    if (at + 2 >= path.size() || !IsHex(path[at + 1]) || !IsHex(path[at + 2])) return false;
  }
  return true;
}

/// The path and query: a target may name the server too, as for a proxy.
std::string_view PathIn(std::string_view target) {
  for (const std::string_view scheme : {"http://", "https://"}) {
    if (!target.starts_with(scheme)) continue;
    const auto path = target.find('/', scheme.size());
    return path == std::string_view::npos ? "/" : target.substr(path);
  }
  return target;
}

/// "Mon, 02 Jan 2006 15:04:05 GMT".
std::string InHttp(WallTime time) {
  using namespace std::chrono;
  constexpr std::array kDays{"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
  constexpr std::array kMonths{"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                               "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  const auto day = floor<days>(time);
  const year_month_day date(day);
  const hh_mm_ss clock(floor<seconds>(time - day));
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%s, %02u %s %04d %02d:%02d:%02d GMT",
                kDays.at(weekday(day).c_encoding()), unsigned{date.day()},
                kMonths.at(unsigned{date.month()} - 1), int{date.year()},
                static_cast<int>(clock.hours().count()), static_cast<int>(clock.minutes().count()),
                static_cast<int>(clock.seconds().count()));
  return text.data();
}

/// As a quoted string, without what no header can hold.
std::string Quoted(std::string_view text) {
  std::string quoted = "\"";
  for (const char c : text) {
    if (static_cast<unsigned char>(c) < ' ' || c == '\x7f') continue;
    if (c == '"' || c == '\\') quoted += '\\';
    quoted += c;
  }
  return quoted + '"';
}

}  // namespace

std::optional<Objection> ObjectionTo(const HttpRequest& request) {
  const auto hosts = request.count(http::field::host);
  if (hosts > 1) return Objection{400, "too many Host headers"};
  if (hosts == 0 && request.version() >= 11) return Objection{400, "missing required Host header"};
  const bool is_encoded_otherwise = request.count(http::field::transfer_encoding) > 0 &&
                                    !iequals(request[http::field::transfer_encoding], "chunked");
  if (is_encoded_otherwise) return Objection{501, "a body is sent whole or in chunks"};
  const auto expected = request[http::field::expect];
  if (!expected.empty() && !iequals(expected, "100-continue")) {
    return Objection{417, "only 100-continue can be expected"};
  }
  const std::string_view target = PathIn(View(request.target()));
  if (!target.starts_with('/')) return Objection{400, "a target begins with /"};
  if (!IsEncoded(target.substr(0, target.find('?')))) {
    return Objection{400, "a % in a path is followed by two hexadecimal digits"};
  }
  return std::nullopt;
}

std::string HeaderOf(const HttpRequest& request, std::string_view name) {
  std::string values;
  const auto [first, last] = request.equal_range({name.data(), name.size()});
  for (auto each = first; each != last; ++each) {
    values.append(values.empty() ? "" : ", ").append(View(each->value()));
  }
  std::replace_if(
      values.begin(), values.end(), [](char c) { return !IsVisible(c) && c != ' '; }, '?');
  return values;
}

Ask ReadAsk(HttpRequest& request) {
  return {.method = std::string(View(request.method_string())),
          .target = ParseTarget(PathIn(View(request.target()))),
          .body = std::move(request.body()),
          .content_type = HeaderOf(request, "Content-Type"),
          .accept = HeaderOf(request, "Accept"),
          .user_agent = HeaderOf(request, "User-Agent"),
          .audit_id = HeaderOf(request, "Audit-ID").substr(0, kLongestAuditId)};
}

std::string HeadOf(const Reply& reply, const HeadOptions& options) {
  const auto reason = http::obsolete_reason(static_cast<http::status>(reply.status));
  std::string head = options.http10 ? "HTTP/1.0 " : "HTTP/1.1 ";
  const auto add = [&head](std::string_view name, std::string_view value) {
    head.append(name).append(": ").append(value).append("\r\n");
  };
  head.append(std::to_string(reply.status)).append(" ").append(View(reason)).append("\r\n");
  if (!options.audit_id.empty()) add("Audit-Id", options.audit_id);
  add("Cache-Control", "no-cache, private");
  if (!reply.content_type.empty()) add("Content-Type", reply.content_type);
  if (reply.retry_after) add("Retry-After", std::to_string(*reply.retry_after));
  for (const std::string& warning : reply.warnings) add("Warning", "299 - " + Quoted(warning));
  add("Date", InHttp(options.now));
  if (options.length) {
    add("Content-Length", std::to_string(*options.length));
  } else if (!options.http10) {
    add("Transfer-Encoding", "chunked");
  }
  if (options.keep_alive == options.http10) {  // not what goes without saying
    add("Connection", options.keep_alive ? "keep-alive" : "close");
  }
  return head + "\r\n";
}

std::string Chunk(std::string_view bytes) {
  std::array<char, 16> digits{};
  const auto [end, error] =
      std::to_chars(digits.data(), digits.data() + digits.size(), bytes.size(), 16);
  std::string chunk(digits.data(), end);
  return chunk.append("\r\n").append(bytes).append("\r\n");
}

}  // namespace kopp::apiserver
