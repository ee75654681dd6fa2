#include "http_rules.hpp"

#include <algorithm>
#include <charconv>
#include <stdexcept>

namespace kopp::detail {
namespace {

using Kind = TransportError::Kind;

bool IsLetterOrDigit(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

bool IsHex(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

bool IsValueCharacter(char c) { return (c >= ' ' && c < '\x7f') || c == '\t'; }

bool EqualsIgnoringCase(std::string_view left, std::string_view right) {
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; };
  return std::equal(left.begin(), left.end(), right.begin(), right.end(),
                    [lower](char a, char b) { return lower(a) == lower(b); });
}

std::string_view Trim(std::string_view text) {
  const auto first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

// Seconds only: the API server sends no dates. Anything else counts as nothing said.
std::optional<Duration> ParseRetryAfter(std::string_view value) {
  value = Trim(value);
  std::uint32_t seconds = 0;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), seconds);
  if (error != std::errc() || end != value.data() + value.size()) return std::nullopt;
  return std::chrono::seconds(seconds);
}

// Takes `"…"`, with its \-escapes, from the front of `rest`; false when there is none.
bool TakeQuoted(std::string_view& rest, std::string& text) {
  if (!rest.starts_with('"')) return false;
  text.clear();
  for (std::size_t i = 1; i < rest.size(); ++i) {
    if (rest[i] == '"') {
      rest.remove_prefix(i + 1);
      return true;
    }
    if (rest[i] == '\\' && i + 1 < rest.size()) ++i;
    text += rest[i];
  }
  return false;
}

// Content-Encoding, or a Transfer-Encoding other than the plain chunks.
bool IsEncoding(std::string_view name, std::string_view value) {
  return (EqualsIgnoringCase(name, "Content-Encoding") && !EqualsIgnoringCase(value, "identity")) ||
         (EqualsIgnoringCase(name, "Transfer-Encoding") && !EqualsIgnoringCase(value, "chunked"));
}

// `299 - "text"` and its like, one or several with commas between: RFC 7234, 5.5. What does not
// look so is skipped, as client-go does.
void ParseWarnings(std::string_view rest, std::vector<std::string>& warnings) {
  std::string text;
  std::string date;
  for (rest = Trim(rest); !rest.empty(); rest = Trim(rest)) {
    const bool ours = rest.starts_with("299 ");
    const auto quote = rest.find('"');
    if (quote == std::string_view::npos) return;
    rest.remove_prefix(quote);
    if (!TakeQuoted(rest, text)) return;
    if (ours) warnings.push_back(text);
    rest = Trim(rest);
    TakeQuoted(rest, date);
    rest = Trim(rest);
    if (!rest.starts_with(',')) return;
    rest.remove_prefix(1);
  }
}

}  // namespace

bool IsTarget(std::string_view text) {
  if (!text.starts_with('/') || text.starts_with("//")) return false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '%') {
      if (i + 2 >= text.size() || !IsHex(text[i + 1]) || !IsHex(text[i + 2])) return false;
    } else if (!IsLetterOrDigit(text[i]) &&
               std::string_view("-._~!$&'()*+,;=:@/?").find(text[i]) == std::string_view::npos) {
      return false;
    }
  }
  return true;
}

void CheckRequest(const Request& request) {
  const auto all = [](std::string_view text, auto allowed) {
    return std::all_of(text.begin(), text.end(), allowed);
  };
  if (request.method.empty() || !all(request.method, IsLetterOrDigit)) {
    throw std::invalid_argument("an HTTP method that is none");
  }
  if (!IsTarget(request.target)) {
    throw std::invalid_argument("a target must be a path from / on, percent-encoded");
  }
  if (!all(request.content_type, IsValueCharacter) || !all(request.accept, IsValueCharacter)) {
    throw std::invalid_argument("a control character in a header");
  }
}

std::vector<Header> HeadersOf(const Request& request, std::string_view user_agent,
                              std::string_view authorization) {
  std::vector<Header> headers;
  headers.reserve(4);
  headers.push_back({"User-Agent", user_agent});
  if (!request.accept.empty()) headers.push_back({"Accept", request.accept});
  if (!authorization.empty()) headers.push_back({"Authorization", authorization});
  if (!request.body.empty()) headers.push_back({"Content-Type", request.content_type});
  return headers;
}

std::string Authorization(const std::string& token) {
  return token.empty() ? std::string() : "Bearer " + token;
}

bool IsRepeatable(const Request& request) { return request.method == "GET"; }

void CheckStatus(int status) {
  if (status < 300 || status >= 400) return;
  throw TransportError(Kind::kMalformed, "the server answered with a redirect (" +
                                             std::to_string(status) +
                                             "), and kopp follows none: give it the address of "
                                             "the API server itself");
}

void TakeHeader(std::string_view name, std::string_view value, Response& response) {
  if (EqualsIgnoringCase(name, "Retry-After")) {
    response.retry_after = ParseRetryAfter(value);
  } else if (EqualsIgnoringCase(name, "Warning")) {
    ParseWarnings(value, response.warnings);
  } else if (IsEncoding(name, Trim(value))) {
    throw TransportError(Kind::kMalformed,
                         "the answer is encoded, which was not asked for: is there a proxy "
                         "between that compresses?");
  }
}

TransportError Explain(const TransportError& error, const Request& request,
                       const Endpoint& endpoint, const std::stop_token& stop) {
  const std::string asked =
      request.method + " " + endpoint.Origin() + endpoint.base_path + request.target + ": ";
  if (stop.stop_requested()) return {Kind::kCancelled, asked + "stopped"};
  return {error.kind(), asked + error.what()};
}

}  // namespace kopp::detail
